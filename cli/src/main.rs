//! `kubectl-informer`.

use std::process::ExitCode;

fn main() -> ExitCode {
    informer_cli::main()
}
