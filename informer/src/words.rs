//! Numbers, durations and errors as text, for logs and messages.

use std::error::Error;
use std::fmt::{self, Write as _};
use std::time::Duration;

/// A count with its noun: "1 failure", "2 failures".
pub(crate) fn counted(count: impl fmt::Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// A duration, rounded down to whole seconds or milliseconds: "12s", "340ms".
pub(crate) fn roughly(time: Duration) -> String {
    let rounded = if time < Duration::from_secs(1) {
        Duration::from_millis(time.as_millis() as u64)
    } else {
        Duration::from_secs(time.as_secs())
    };
    match rounded {
        Duration::ZERO => "0ms".to_owned(),
        rounded => format!("{rounded:?}"),
    }
}

/// An error with all its causes. Skips a cause that the error before it already quotes at its end.
pub(crate) fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            // Writing to a `String` cannot fail.
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
    fn only_one_is_singular() {
        assert_eq!(counted(0_u32, "failure"), "0 failures");
        assert_eq!(counted(1_u32, "failure"), "1 failure");
        assert_eq!(counted(2_u32, "failure"), "2 failures");
    }

    #[test]
    fn durations_are_rounded_down() {
        assert_eq!(roughly(Duration::from_micros(12_345_678)), "12s");
        assert_eq!(roughly(Duration::from_micros(345_678)), "345ms");
        assert_eq!(roughly(Duration::from_micros(678)), "0ms");
    }
}
