//! The command line of the runner.

use std::env;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use informer_conformance::{Totals, run_path};

const USAGE: &str = "\
usage: informer-conformance PATH...

Replays conformance vectors. A PATH is a .jsonl file, or a folder with such files.

exit status: 0 if nothing failed, 1 if something failed or could not be read, 2 for wrong usage";

fn main() -> ExitCode {
    let paths: Vec<_> = env::args_os().skip(1).collect();
    let mut out = io::stdout().lock();
    if paths.iter().any(|path| path == "--help" || path == "-h") {
        return finish(writeln!(out, "{USAGE}"), ExitCode::SUCCESS);
    }
    let option = paths.iter().find(|p| p.to_string_lossy().starts_with("--"));
    if paths.is_empty() || option.is_some() {
        return finish(writeln!(io::stderr(), "{USAGE}"), ExitCode::from(2));
    }
    let mut totals = Totals::default();
    for path in &paths {
        for report in run_path(Path::new(path)) {
            totals += report.totals();
            if writeln!(out, "{report}").is_err() {
                return ExitCode::FAILURE;
            }
        }
    }
    let status = if totals.failed > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    };
    finish(writeln!(out, "{totals}"), status)
}

/// If stdout cannot be written, the run has failed.
fn finish(printed: io::Result<()>, status: ExitCode) -> ExitCode {
    match printed {
        Ok(()) => status,
        Err(_) => ExitCode::FAILURE,
    }
}
