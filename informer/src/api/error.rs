//! Why a request for an object failed.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use informer_core::Failure;
use informer_core::decode::answer::failure_of_answer;
use informer_core::transport::{Reply, Unanswered};
use serde::Deserialize;

/// Why a request for an object failed.
///
/// ```
/// use informer::{ApiError, ApiErrorKind};
///
/// fn is_worth_a_retry(error: &ApiError) -> bool {
///     !matches!(error.kind, ApiErrorKind::Invalid | ApiErrorKind::Forbidden)
/// }
/// # let _ = is_worth_a_retry;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ApiError {
    /// What was asked for: a verb, the resource and the key.
    pub what: String,
    /// The kind of error, to decide by.
    pub kind: ApiErrorKind,
    /// The explanation for people. Mostly the server's own.
    pub message: String,
    /// What the server found wrong, field by field.
    pub causes: Vec<FieldCause>,
}

/// The kind of an [`ApiError`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ApiErrorKind {
    /// The object has changed since it was read, a condition does not hold, or another manager owns a field
    /// (409). Read the object again, and repeat.
    Conflict,
    /// There is an object of this name already (409).
    AlreadyExists,
    /// There is no such object, or no such resource (404).
    NotFound,
    /// A permission is missing (403).
    Forbidden,
    /// The server does not know the client (401).
    Unauthorized,
    /// The object or the patch is invalid (400, 415, 422). Repeating does not help.
    Invalid,
    /// The server asks the client to slow down (429, or 5xx with a wait). It has done nothing.
    Throttled {
        /// How long to wait, if the server said so.
        retry_after: Option<Duration>,
    },
    /// No server was reached, or there were no credentials to show it. Nothing was written.
    Unreachable,
    /// There is no answer. The request **may have been carried out**: read the object before you repeat what
    /// must not happen twice.
    Unanswered,
    /// The server has carried the request out, but its answer does not fit the type.
    Unreadable,
    /// The server failed (5xx). The request may have been carried out.
    ServerFailed,
    /// The object cannot be sent, for example because it has no name. Nothing was sent.
    Unusable,
    /// The server refused for another reason.
    Refused,
}

/// What the server found wrong with a field.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct FieldCause {
    /// The path of the field, as the server names it.
    pub field: String,
    /// One word for programs, such as `FieldValueInvalid`.
    pub reason: String,
    /// The explanation for people.
    pub message: String,
}

/// The parts of a Status that are read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    reason: Option<String>,
    details: Option<Details>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Details {
    causes: Vec<FieldCause>,
}

impl ApiError {
    /// The server's refusal.
    pub(super) fn refused(what: String, reply: &Reply) -> Self {
        let (failure, message) = failure_of_answer(reply.status, &reply.body, reply.retry_after);
        let status: Status = serde_json::from_slice(&reply.body).unwrap_or_default();
        let kind = match (failure, status.reason.as_deref(), reply.status) {
            (Failure::Throttled { retry_after }, ..) => ApiErrorKind::Throttled { retry_after },
            (Failure::Unauthorized, ..) => ApiErrorKind::Unauthorized,
            (Failure::Forbidden, ..) => ApiErrorKind::Forbidden,
            (Failure::NotFound, ..) => ApiErrorKind::NotFound,
            (Failure::Invalid, ..) => ApiErrorKind::Invalid,
            (_, Some("AlreadyExists"), _) => ApiErrorKind::AlreadyExists,
            (_, Some("Conflict"), _) | (_, _, 409) => ApiErrorKind::Conflict,
            (_, _, 500..) => ApiErrorKind::ServerFailed,
            _ => ApiErrorKind::Refused,
        };
        Self {
            what,
            kind,
            message: message.into_owned(),
            causes: status.details.unwrap_or_default().causes,
        }
    }

    /// There is no answer.
    pub(super) fn unanswered(what: String, unanswered: Unanswered) -> Self {
        let kind = match unanswered.failure {
            Failure::Unauthorized => ApiErrorKind::Unauthorized,
            Failure::Invalid => ApiErrorKind::Unusable,
            _ if unanswered.may_be_done() => ApiErrorKind::Unanswered,
            _ => ApiErrorKind::Unreachable,
        };
        Self::new(what, kind, unanswered.message)
    }

    /// The answer cannot be read. What serde says of it may quote a secret, so only the path is repeated.
    pub(super) fn unreadable<K>(what: String, why: &dyn fmt::Display) -> Self {
        let (why, body) = (why.to_string(), std::any::type_name::<K>());
        let path = why.split_once(": ").map(|(path, _)| path);
        let place = match path.filter(|path| !path.contains(' ')) {
            Some(path) => format!(" at `{path}`"),
            None => String::new(),
        };
        let message = format!(
            "the server did it, but its answer does not fit the type {body}{place}; check the type"
        );
        Self::new(what, ApiErrorKind::Unreadable, message)
    }

    /// The object cannot be sent.
    pub(super) fn unusable(what: String, why: &dyn fmt::Display) -> Self {
        let message = format!("the object cannot be sent: {why}");
        Self::new(what, ApiErrorKind::Unusable, message)
    }

    const fn new(what: String, kind: ApiErrorKind, message: String) -> Self {
        Self {
            what,
            kind,
            message,
            causes: Vec::new(),
        }
    }

    /// What to do, where the message does not say it.
    const fn remedy(&self) -> &'static str {
        match self.kind {
            ApiErrorKind::Conflict => "; read the object again and repeat",
            ApiErrorKind::Forbidden => "; grant the permission with RBAC",
            ApiErrorKind::Unanswered => "; it may have been carried out nevertheless",
            _ => "",
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, message, .. } = self;
        write!(f, "cannot {what}: {message}{}", self.remedy())
    }
}

impl Error for ApiError {}
