//! Status objects in protobuf.

use core::time::Duration;

use super::envelope::{Envelope, text};
use super::wire::{Message, Value, WireError};
use crate::decode::status::{Grounds, TOO_LARGE_CAUSE, TOO_LARGE_PHRASE, known_reason};
use crate::failure::Failure;

/// A Status object, with which the API server reports a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ApiStatus<'a> {
    /// The HTTP status code; 0 if it is missing.
    pub code: u32,
    /// The reason, one word for programs.
    pub reason: Option<&'a str>,
    /// The message for people.
    pub message: Option<&'a str>,
    /// `details.retryAfterSeconds`
    pub retry_after: Option<Duration>,
    /// Whether a cause in `details.causes` has the type `ResourceVersionTooLarge`.
    pub has_too_large_cause: bool,
    /// Whether the message of a cause in `details.causes` is `Too large resource version`.
    pub has_too_large_phrase: bool,
}

impl<'a> ApiStatus<'a> {
    /// Reads a Status with its [envelope](Envelope); `None` if `bytes` are not one.
    ///
    /// ```
    /// use informer_core::Failure;
    /// use informer_core::decode::protobuf::status::ApiStatus;
    ///
    /// let bytes = b"k8s\0\x0a\x0c\x0a\x02v1\x12\x06Status\x12\x0e\x22\x09Forbidden\x30\x93\x03";
    /// let status = ApiStatus::read(bytes).unwrap();
    /// assert_eq!((status.code, status.reason), (403, Some("Forbidden")));
    /// assert_eq!(status.classify(), Failure::Forbidden);
    /// ```
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let envelope = Envelope::read(bytes).ok()?;
        if envelope.type_meta.kind != Some("Status") {
            return None;
        }
        let mut status = Self::default();
        status.fill(envelope.object).ok()?;
        Some(status)
    }

    fn fill(&mut self, bytes: &'a [u8]) -> Result<(), WireError> {
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match (field.number, field.value) {
                (3, value) => self.message = text(value).flatten(),
                (4, value) => self.reason = text(value).flatten(),
                (5, Value::Bytes(details)) => self.fill_details(details)?,
                (6, Value::Number(code)) => self.code = u32::try_from(code).unwrap_or_default(),
                _ => {}
            }
        }
        Ok(())
    }

    fn fill_details(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            match (field.number, field.value) {
                (4, Value::Bytes(cause)) => self.fill_cause(cause)?,
                (5, Value::Number(seconds)) => {
                    // Negative numbers are large ones here.
                    let seconds = u32::try_from(seconds).ok().filter(|seconds| *seconds > 0);
                    self.retry_after = seconds.map(|seconds| Duration::from_secs(seconds.into()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fill_cause(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let mut message = Message::new(bytes);
        while let Some(field) = message.next()? {
            let said = text(field.value).flatten();
            match field.number {
                1 => self.has_too_large_cause |= said == Some(TOO_LARGE_CAUSE),
                2 => self.has_too_large_phrase |= said == Some(TOO_LARGE_PHRASE),
                _ => {}
            }
        }
        Ok(())
    }

    /// Classifies the failure.
    #[must_use]
    pub fn classify(&self) -> Failure {
        let in_message = |text: &str| text.contains(TOO_LARGE_PHRASE);
        Grounds {
            code: self.code,
            reason: known_reason(|known| self.reason == Some(known)),
            retry_after: self.retry_after,
            has_too_large_cause: self.has_too_large_cause,
            has_too_large_phrase: self.has_too_large_phrase || self.message.is_some_and(in_message),
        }
        .classify()
    }
}
