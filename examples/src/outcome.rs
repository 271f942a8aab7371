//! How a program ends.

use std::error::Error;
use std::process::{self, ExitCode};
use std::{io, panic};

use crate::screen::printable;

/// Turns an error into one sentence on standard error and exit status 1.
///
/// Invalid flags do not get here: clap reports them and exits with status 2.
#[expect(clippy::print_stderr, reason = "programs report why they fail")]
#[must_use]
pub fn exit(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_broken_pipe(&*error) => ExitCode::SUCCESS,
        Err(error) => {
            // The message may quote a server, whose text must not control the terminal.
            eprintln!("error: {}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Ends programs that print with `println!` quietly when the reader of a pipe is gone. Without this, the
/// macro panics.
pub(crate) fn end_with_the_reader() {
    let usual = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let text = panic.payload().downcast_ref::<String>();
        if text.is_some_and(|text| text.starts_with("failed printing to stdout: Broken pipe")) {
            process::exit(0);
        }
        usual(panic);
    }));
}

/// Whether the reader of a pipe is gone, which is not a failure.
fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
