//! From Status objects and HTTP status codes to [`Failure`]: the only place that decides this.

use core::time::Duration;

use crate::failure::Failure;

/// The type of a cause in a Status.
pub(super) const TOO_LARGE_CAUSE: &str = "ResourceVersionTooLarge";

/// Servers before 1.17 have no such cause, only this phrase in the message of a timeout.
pub(super) const TOO_LARGE_PHRASE: &str = "Too large resource version";

/// The parts of a Status that decide the class of the failure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grounds {
    /// The HTTP status code; 0 if it is missing.
    pub(super) code: u32,
    /// The reason, if it is a [known](known_reason) one; otherwise empty.
    pub(super) reason: &'static str,
    /// `details.retryAfterSeconds`
    pub(super) retry_after: Option<Duration>,
    /// Whether a cause has the type [`TOO_LARGE_CAUSE`].
    pub(super) has_too_large_cause: bool,
    /// Whether [`TOO_LARGE_PHRASE`] is the message of a cause, or part of the message of the
    /// Status.
    pub(super) has_too_large_phrase: bool,
}

impl Grounds {
    /// Classifies the failure like apimachinery's `errors` package: by the reason, or by the code
    /// if the reason is unknown.
    pub(super) fn classify(&self) -> Failure {
        match (self.reason, self.code) {
            ("Expired" | "Gone", _) | ("", 410) => Failure::Expired,
            _ if self.is_too_large() => Failure::VersionTooLarge,
            ("TooManyRequests", _) | (_, 429) => Failure::Throttled {
                retry_after: self.retry_after,
            },
            // As in client-go, a server that fails and says how long to wait is like one that is busy.
            (
                "" | "InternalError" | "Timeout" | "ServerTimeout" | "ServiceUnavailable",
                500..=599,
            ) if self.retry_after.is_some_and(|wait| !wait.is_zero()) => Failure::Throttled {
                retry_after: self.retry_after,
            },
            ("InternalError", _) | ("", 500) => Failure::Internal,
            ("Unauthorized", _) | ("", 401) => Failure::Unauthorized,
            ("Forbidden", _) | ("", 403) => Failure::Forbidden,
            ("NotFound", _) | ("", 404) => Failure::NotFound,
            ("BadRequest" | "Invalid" | "NotAcceptable" | "UnsupportedMediaType", _)
            | ("", 400 | 406 | 415 | 422) => Failure::Invalid,
            ("Timeout" | "ServerTimeout", _) | ("", 504) => Failure::TimedOut,
            ("ServiceUnavailable", _) | ("", 501..=599) => Failure::Unavailable,
            _ => Failure::Other,
        }
    }

    fn is_too_large(&self) -> bool {
        let is_timeout = self.reason == "Timeout" || (self.reason.is_empty() && self.code == 504);
        self.has_too_large_cause || is_timeout && self.has_too_large_phrase
    }
}

/// The reason, if apimachinery knows it; otherwise empty.
pub(super) fn known_reason(is: impl Fn(&str) -> bool) -> &'static str {
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
    KNOWN
        .into_iter()
        .find(|known| is(known))
        .unwrap_or_default()
}
