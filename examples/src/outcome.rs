//! How a program ends.

use std::error::Error;
use std::process::{self, ExitCode};
use std::{io, panic};

use crate::screen::printable;

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
            // It may quote somebody who should not move our cursor.
            eprintln!("error: {}", printable(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// For programs that print with `println!`, which panics when the reader at the other end of a pipe has
/// seen enough: they end then, without a word.
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

/// Whether the reader at the other end of a pipe has seen enough, which is no failure.
fn nobody_reads(error: &(dyn Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
