//! The failure and the message of an unsuccessful answer.
//!
//! ```
//! use core::time::Duration;
//! use informer_core::Failure;
//! use informer_core::decode::answer::failure_of_answer;
//!
//! let body = br#"{"kind":"Status","message":"too old","reason":"Expired","code":410}"#;
//! let (failure, message) = failure_of_answer(410, body, None);
//! assert_eq!(failure, Failure::Expired);
//! assert_eq!(message, "too old");
//!
//! let wait = Some(Duration::from_secs(3));
//! let (failure, message) = failure_of_answer(429, b"slow down\n", wait);
//! assert_eq!(failure, Failure::Throttled { retry_after: wait });
//! assert_eq!(message, "HTTP 429: slow down");
//! ```

use alloc::borrow::Cow;
use alloc::string::String;
use core::time::Duration;

use super::excerpt::Excerpt;
use super::json::status::ApiStatus;
use super::protobuf::envelope::MAGIC;
use super::protobuf::status::ApiStatus as ProtobufStatus;
use crate::failure::{Failure, MAX_MESSAGE, is_hidden, message};

/// How many bytes of an unsuccessful answer a transport should read before it calls
/// [`failure_of_answer`]. A Status is much smaller.
pub const MAX_ERROR_BODY: usize = 64 << 10;

/// Classifies an unsuccessful answer and returns a message for people.
///
/// `body` is what was read of the body, in any encoding, and `retry_after` is the value of that header. If the body
/// is not a Status, the message quotes it and the code alone decides.
#[must_use]
pub fn failure_of_answer(
    code: u16,
    body: &[u8],
    retry_after: Option<Duration>,
) -> (Failure, Cow<'_, str>) {
    if body.starts_with(MAGIC) {
        return failure_in_protobuf(code, body, retry_after);
    }
    let mut status = ApiStatus::read(body).unwrap_or_default();
    if status.code == 0 {
        status.code = u32::from(code);
    }
    status.retry_after = status.retry_after.or(retry_after);
    let text = match status.message {
        Some(text) if !text.is_empty() => cut(text.to_cow()),
        _ => quote(code, body).into(),
    };
    (status.classify(), text)
}

fn failure_in_protobuf(
    code: u16,
    body: &[u8],
    retry_after: Option<Duration>,
) -> (Failure, Cow<'_, str>) {
    let mut status = ProtobufStatus::read(body).unwrap_or_default();
    if status.code == 0 {
        status.code = u32::from(code);
    }
    status.retry_after = status.retry_after.or(retry_after);
    let text = match status.message {
        Some(text) => cut(text.into()),
        None => quote(code, body).into(),
    };
    (status.classify(), text)
}

fn quote(code: u16, body: &[u8]) -> String {
    match body.trim_ascii() {
        [] => message(format_args!("HTTP {code}")),
        body => message(format_args!("HTTP {code}: {}", Excerpt(body))),
    }
}

/// Cuts and escapes `text` like any other message.
fn cut(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.len() <= MAX_MESSAGE && !text.contains(is_hidden) {
        return text;
    }
    message(text).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_cut_at_a_character() {
        let text = message("é".repeat(400));
        assert_eq!(text, "é".repeat(256));
        let text = message(format_args!("x{}", "é".repeat(400)));
        assert_eq!(text.len(), 511);
        assert_eq!(message("short"), "short");
    }
}
