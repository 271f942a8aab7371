//! How the program ends.

use std::error::Error;
use std::io;
use std::process::ExitCode;

use crate::screen::printable;

/// The question is answered with no.
pub(crate) const NO: u8 = 1;

/// The command cannot run. Clap ends with the same status if the flags make no sense.
pub(crate) const CANNOT_RUN: u8 = 2;

/// Turns the result of a command into its exit status.
pub(crate) fn exit(result: Result<ExitCode, Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(status) => status,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&*error);
            ExitCode::from(CANNOT_RUN)
        }
    }
}

/// Says in one sentence on standard error why something cannot be done.
#[expect(clippy::print_stderr, reason = "programs report why they fail")]
pub(crate) fn complain(error: &(dyn Error + 'static)) {
    // The message may quote a server, whose text must not control the terminal.
    eprintln!("error: {}", printable(&error.to_string()));
}

/// Whether the reader of a pipe is gone, which is not a failure.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
