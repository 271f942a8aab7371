//! How a program ends.

use std::error::Error;
use std::io;
use std::process::ExitCode;

/// Success, or one sentence on the error stream and exit status 1.
///
/// Flags that make no sense never come here: clap says what is wrong with them and exits with 2.
#[expect(clippy::print_stderr, reason = "programs tell people why they end")]
#[must_use]
pub fn exit(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if nobody_reads(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader at the other end of a pipe has seen enough, which is no failure.
fn nobody_reads(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
