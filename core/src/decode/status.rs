//! Status objects and HTTP statuses to [`Failure`]: the one place where this is decided.

use core::time::Duration;

use super::json_text::{Cursor, JsonStr, Kind, TextError};
use crate::failure::Failure;

const TOO_LARGE_CAUSE: &str = "ResourceVersionTooLarge";
const TOO_LARGE_PHRASE: &str = "Too large resource version";

/// How deep a Status may be.
const DEPTH: usize = 128;

/// A Status object: how the API server tells that something went wrong.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Status<'a> {
    /// The HTTP status code; 0 if it is missing.
    pub code: u32,
    /// The reason, one word for machines.
    pub reason: Option<JsonStr<'a>>,
    /// The text for people.
    pub message: Option<JsonStr<'a>>,
    /// `details.retryAfterSeconds`
    pub retry_after: Option<Duration>,
    /// Whether a cause in `details.causes` has the type `ResourceVersionTooLarge`.
    pub has_too_large_cause: bool,
    /// Whether the message of a cause in `details.causes` is `Too large resource version`.
    pub has_too_large_phrase: bool,
}

impl<'a> Status<'a> {
    /// Reads a Status; `None` if `json` is something else.
    ///
    /// ```
    /// use informer_core::Failure;
    /// use informer_core::decode::status::Status;
    ///
    /// let status = Status::read(br#"{"kind":"Status","code":403,"reason":"Forbidden"}"#).unwrap();
    /// assert_eq!(status.code, 403);
    /// assert_eq!(status.classify(), Failure::Forbidden);
    /// assert!(Status::read(br#"{"kind":"Pod"}"#).is_none());
    /// ```
    #[must_use]
    pub fn read(json: &'a [u8]) -> Option<Self> {
        let mut status = Self::default();
        let mut is_status = false;
        let mut cursor = Cursor::new(json);
        let read = each_member(&mut cursor, DEPTH, |name, cursor, depth| {
            if name.eq_str("kind") {
                is_status = text(cursor, depth)?.is_some_and(|kind| kind.eq_str("Status"));
            } else if name.eq_str("code") {
                status.code = number(cursor, depth)?;
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

    fn read_details(&mut self, cursor: &mut Cursor<'a>, depth: usize) -> Result<(), TextError> {
        each_member(cursor, depth, |name, cursor, depth| {
            if name.eq_str("retryAfterSeconds") {
                let seconds = number(cursor, depth)?;
                self.retry_after = (seconds > 0).then(|| Duration::from_secs(seconds.into()));
            } else if name.eq_str("causes") && cursor.kind()? == Kind::Array {
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

    fn read_cause(&mut self, cursor: &mut Cursor<'a>, depth: usize) -> Result<(), TextError> {
        each_member(cursor, depth, |name, cursor, depth| {
            // The type of a cause is called `reason` in JSON.
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

    /// The class of the failure, decided as apimachinery's `errors` package does: by the reason, and
    /// by the code if the reason is not one that is known.
    #[must_use]
    pub fn classify(&self) -> Failure {
        let reason = self.known_reason();
        match (reason, self.code) {
            ("Expired" | "Gone", _) | ("", 410) => return Failure::Expired,
            _ if self.is_too_large(reason) => return Failure::VersionTooLarge,
            ("TooManyRequests", _) | (_, 429) => {
                let retry_after = self.retry_after;
                return Failure::Throttled { retry_after };
            }
            _ => {}
        }
        match reason {
            "InternalError" => Failure::Internal,
            "Unauthorized" => Failure::Unauthorized,
            "Forbidden" => Failure::Forbidden,
            "NotFound" => Failure::NotFound,
            "BadRequest" | "Invalid" | "NotAcceptable" | "UnsupportedMediaType" => Failure::Invalid,
            "Timeout" | "ServerTimeout" => Failure::TimedOut,
            "ServiceUnavailable" => Failure::Unavailable,
            "" => match self.code {
                500 => Failure::Internal,
                401 => Failure::Unauthorized,
                403 => Failure::Forbidden,
                404 => Failure::NotFound,
                400 | 406 | 415 | 422 => Failure::Invalid,
                504 => Failure::TimedOut,
                501..=599 => Failure::Unavailable,
                _ => Failure::Other,
            },
            _ => Failure::Other,
        }
    }

    /// The reason, if apimachinery knows it; else empty.
    fn known_reason(&self) -> &'static str {
        const KNOWN: [&str; 19] = [
            "AlreadyExists",
            "BadRequest",
            "Conflict",
            "Expired",
            "Forbidden",
            "Gone",
            "InternalError",
            "Invalid",
            "MethodNotAllowed",
            "NotAcceptable",
            "NotFound",
            "RequestEntityTooLarge",
            "ServerTimeout",
            "ServiceUnavailable",
            "StoreReadError",
            "Timeout",
            "TooManyRequests",
            "Unauthorized",
            "UnsupportedMediaType",
        ];
        let is_ours = |known: &&str| self.reason.is_some_and(|reason| reason.eq_str(known));
        KNOWN.into_iter().find(is_ours).unwrap_or_default()
    }

    fn is_too_large(&self, reason: &str) -> bool {
        // Servers before 1.17 have no cause of this type, only a phrase in the text of a timeout.
        let is_timeout = reason == "Timeout" || (reason.is_empty() && self.code == 504);
        let in_message = |text: JsonStr<'_>| text.contains(TOO_LARGE_PHRASE);
        self.has_too_large_cause
            || is_timeout && (self.has_too_large_phrase || self.message.is_some_and(in_message))
    }
}

/// Shows every member of an object to `visit`, which must pass its value; anything else than an object
/// is passed over.
fn each_member<'a>(
    cursor: &mut Cursor<'a>,
    depth: usize,
    mut visit: impl FnMut(JsonStr<'a>, &mut Cursor<'a>, usize) -> Result<(), TextError>,
) -> Result<(), TextError> {
    if cursor.kind()? != Kind::Object {
        return cursor.skip_value(depth).map(|_| ());
    }
    let mut members = cursor.enter_object(depth)?;
    while let Some(name) = members.next(cursor)? {
        visit(name, cursor, depth.saturating_sub(1))?;
    }
    Ok(())
}

/// A string; nothing for anything else.
fn text<'a>(cursor: &mut Cursor<'a>, depth: usize) -> Result<Option<JsonStr<'a>>, TextError> {
    if cursor.kind()? == Kind::String {
        return cursor.string().map(Some);
    }
    cursor.skip_value(depth).map(|_| None)
}

/// A whole number; zero for anything else.
fn number(cursor: &mut Cursor<'_>, depth: usize) -> Result<u32, TextError> {
    let value = core::str::from_utf8(cursor.skip_value(depth)?).unwrap_or_default();
    Ok(value.parse().unwrap_or_default())
}
