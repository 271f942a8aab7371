//! How the program ends.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use crate::screen::printable;

/// The command cannot run. Clap ends with the same status if the flags make no sense.
const CANNOT_RUN: u8 = 2;

/// Turns an error into one sentence on standard error.
#[expect(clippy::print_stderr, reason = "programs report why they fail")]
pub(crate) fn exit(result: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // The message may quote a server, whose text must not control the terminal.
            eprintln!("error: {}", printable(&error.to_string()));
            ExitCode::from(CANNOT_RUN)
        }
    }
}

/// Whether the reader of a pipe is gone, which is not a failure.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
