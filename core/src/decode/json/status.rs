//! Status objects in JSON.

use core::time::Duration;

use super::text::{JsonCursor, JsonKind, JsonStr, TextError};
use crate::decode::status::{Grounds, TOO_LARGE_CAUSE, TOO_LARGE_PHRASE, known_reason};
use crate::failure::Failure;

/// The deepest nesting of a Status.
const DEPTH: usize = 128;

/// A Status object, with which the API server reports a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct ApiStatus<'a> {
    /// The HTTP status code; 0 if it is missing.
    pub code: u32,
    /// The reason, one word for programs.
    pub reason: Option<JsonStr<'a>>,
    /// The message for people.
    pub message: Option<JsonStr<'a>>,
    /// `details.retryAfterSeconds`
    pub retry_after: Option<Duration>,
    /// Whether a cause in `details.causes` has the type `ResourceVersionTooLarge`.
    pub has_too_large_cause: bool,
    /// Whether the message of a cause in `details.causes` is `Too large resource version`.
    pub has_too_large_phrase: bool,
}

impl<'a> ApiStatus<'a> {
    /// Reads a Status; `None` if `json` is not one.
    ///
    /// ```
    /// use informer_core::Failure;
    /// use informer_core::decode::json::status::ApiStatus;
    ///
    /// let status = ApiStatus::read(br#"{"kind":"Status","code":403,"reason":"Forbidden"}"#).unwrap();
    /// assert_eq!(status.code, 403);
    /// assert_eq!(status.classify(), Failure::Forbidden);
    /// assert!(ApiStatus::read(br#"{"kind":"Pod"}"#).is_none());
    /// ```
    #[must_use]
    pub fn read(json: &'a [u8]) -> Option<Self> {
        let mut status = Self::default();
        let mut is_status = false;
        let mut cursor = JsonCursor::new(json);
        let read = each_member(&mut cursor, DEPTH, |name, cursor, depth| {
            if name.eq_str("kind") {
                is_status = text(cursor, depth)?.is_some_and(|kind| kind.eq_str("Status"));
            } else if name.eq_str("code") {
                status.code = cursor.skip_integer(depth)?.unwrap_or(0);
            } else if name.eq_str("reason") {
                status.reason = text(cursor, depth)?;
            } else if name.eq_str("message") {
                status.message = text(cursor, depth)?;
            } else if name.eq_str("details") {
                status.read_details(cursor, depth)?;
            } else {
                cursor.skip_value(depth)?;
            }
            Ok(())
        });
        (read.and_then(|()| cursor.end()).is_ok() && is_status).then_some(status)
    }

    fn read_details(&mut self, cursor: &mut JsonCursor<'a>, depth: usize) -> Result<(), TextError> {
        each_member(cursor, depth, |name, cursor, depth| {
            if name.eq_str("retryAfterSeconds") {
                let seconds = cursor
                    .skip_integer(depth)?
                    .filter(|seconds: &u32| *seconds > 0);
                self.retry_after = seconds.map(|seconds| Duration::from_secs(seconds.into()));
            } else if name.eq_str("causes") && cursor.kind()? == JsonKind::Array {
                let mut causes = cursor.enter_array(depth)?;
                while causes.next(cursor)? {
                    self.read_cause(cursor, depth.saturating_sub(1))?;
                }
            } else {
                cursor.skip_value(depth)?;
            }
            Ok(())
        })
    }

    fn read_cause(&mut self, cursor: &mut JsonCursor<'a>, depth: usize) -> Result<(), TextError> {
        each_member(cursor, depth, |name, cursor, depth| {
            // In JSON, the type of a cause is called `reason`.
            if name.eq_str("reason") {
                let cause = text(cursor, depth)?;
                self.has_too_large_cause |=
                    cause.is_some_and(|cause| cause.eq_str(TOO_LARGE_CAUSE));
            } else if name.eq_str("message") {
                let said = text(cursor, depth)?;
                self.has_too_large_phrase |= said.is_some_and(|said| said.eq_str(TOO_LARGE_PHRASE));
            } else {
                cursor.skip_value(depth)?;
            }
            Ok(())
        })
    }

    /// Classifies the failure.
    #[must_use]
    pub fn classify(&self) -> Failure {
        let in_message = |text: JsonStr<'_>| text.contains(TOO_LARGE_PHRASE);
        Grounds {
            code: self.code,
            reason: known_reason(|known| self.reason.is_some_and(|reason| reason.eq_str(known))),
            retry_after: self.retry_after,
            has_too_large_cause: self.has_too_large_cause,
            has_too_large_phrase: self.has_too_large_phrase || self.message.is_some_and(in_message),
        }
        .classify()
    }
}

/// Calls `visit` with every member of an object; it must skip or read the value. Skips anything
/// that is not an object.
fn each_member<'a>(
    cursor: &mut JsonCursor<'a>,
    depth: usize,
    mut visit: impl FnMut(JsonStr<'a>, &mut JsonCursor<'a>, usize) -> Result<(), TextError>,
) -> Result<(), TextError> {
    if cursor.kind()? != JsonKind::Object {
        return cursor.skip_value(depth).map(|_| ());
    }
    let mut members = cursor.enter_object(depth)?;
    while let Some(name) = members.next(cursor)? {
        visit(name, cursor, depth.saturating_sub(1))?;
    }
    Ok(())
}

/// Reads a string; skips anything else.
fn text<'a>(cursor: &mut JsonCursor<'a>, depth: usize) -> Result<Option<JsonStr<'a>>, TextError> {
    if cursor.kind()? == JsonKind::String {
        return cursor.string().map(Some);
    }
    cursor.skip_value(depth).map(|_| None)
}
