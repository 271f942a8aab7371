//! Errors and what is behind them.

use std::error::Error;
use std::io;

/// An error and its sources in one sentence, without repetitions.
#[must_use]
pub fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = beneath(error);
    while let Some(error) = next {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = beneath(error);
    }
    text
}

/// The first `E` in a chain of errors.
#[must_use]
pub fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        next = beneath(error);
    }
    None
}

/// The error that an error wraps. `io::Error::source` skips the wrapped error itself, so ask for it.
fn beneath<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return error.get_ref().map(|inner| inner as _);
    }
    error.source()
}
