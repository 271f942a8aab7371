//! How things are put in words, for people who read a log or an error.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// So many of something: "1 failure", "2 failures".
pub(crate) fn counted(count: impl fmt::Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// A time, as exact as anybody wants to know it: "12s", "340ms".
pub(crate) fn roughly(time: Duration) -> String {
    let rounded = if time < Duration::from_secs(1) {
        Duration::from_millis(time.as_millis() as u64)
    } else {
        Duration::from_secs(time.as_secs())
    };
    format!("{rounded:?}")
}

/// An error and all its causes. One that the text before it ends with was quoted there already.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            // Writing to a text does not fail.
            let _ = write!(text, ": {said}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!(counted(0_u32, "failure"), "0 failures");
        assert_eq!(counted(1_u32, "failure"), "1 failure");
        assert_eq!(counted(2_u32, "failure"), "2 failures");
    }

    #[test]
    fn nobody_wants_to_know_the_microseconds() {
        assert_eq!(roughly(Duration::from_micros(12_345_678)), "12s");
        assert_eq!(roughly(Duration::from_micros(345_678)), "345ms");
    }
}
