//! `Status` objects: the server's refusals, byte for byte.

// The API's words for refusals.
mod reason;

// A single problem.
mod cause;

// The bytes.
mod body;

use core::fmt;

use informer_core::Encoding;

use crate::api::{ApiKind, FieldRules};
use crate::protobuf;
use crate::status::body::Details;
pub(crate) use body::deleted;
pub use cause::StatusCause;
pub use reason::Reason;

/// The media types of answers.
const REPRESENTATIONS: &str = "application/json, application/vnd.kubernetes.protobuf";

/// A refusal: a `Status` of failure in the real server's words.
///
/// ```
/// use informer_transport_mock::status::{Reason, ApiError};
///
/// let refused = ApiError::too_large_version(9, 7);
/// assert_eq!((refused.code(), refused.reason()), (504, Reason::Timeout));
/// assert_eq!(refused.retry_after_seconds(), Some(1));
/// assert_eq!(refused.to_string(), "Timeout: Too large resource version: 9, current: 7");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ApiError(Box<Parts>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Parts {
    reason: Reason,
    message: String,
    /// `metadata.continue`
    resume: String,
    details: Option<Details>,
    /// The real server's mux answers unknown paths with a plain text.
    is_plain_text: bool,
}

impl ApiError {
    /// Creates a refusal without details.
    #[must_use]
    pub fn new(reason: Reason, message: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            reason,
            message: message.into(),
            resume: String::new(),
            details: None,
            is_plain_text: false,
        }))
    }

    fn with_details(mut self, details: Details) -> Self {
        self.0.details = Some(details);
        self
    }

    fn about(reason: Reason, kind: &ApiKind, name: &str, message: String) -> Self {
        Self::new(reason, message).with_details(Details {
            name: name.to_owned(),
            group: kind.group().to_owned(),
            kind: kind.plural().to_owned(),
            ..Details::default()
        })
    }

    /// 404 for an object.
    #[must_use]
    pub fn not_found(kind: &ApiKind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.resource());
        Self::about(Reason::NotFound, kind, name, message)
    }

    /// 404 for something that a built-in group does not have, such as an unknown kind.
    #[must_use]
    pub fn resource_not_found() -> Self {
        let message = "the server could not find the requested resource";
        Self::new(Reason::NotFound, message).with_details(Details::default())
    }

    /// 404 for an unknown path or group. The body is plain text.
    #[must_use]
    pub fn page_not_found() -> Self {
        let mut refused = Self::new(Reason::NotFound, "404 page not found");
        refused.0.is_plain_text = true;
        refused
    }

    /// 409 for a create of an existing object.
    #[must_use]
    pub fn already_exists(kind: &ApiKind, name: &str) -> Self {
        let message = format!("{} {name:?} already exists", kind.resource());
        Self::about(Reason::AlreadyExists, kind, name, message)
    }

    /// 409 for a generated name that is taken.
    #[must_use]
    pub fn generated_name_exists(kind: &ApiKind, name: &str) -> Self {
        let message = format!(
            "{} {name:?} already exists, the server was not able to generate a unique name for the object",
            kind.resource()
        );
        Self::about(Reason::AlreadyExists, kind, name, message).with_retry_after(1)
    }

    /// 409 for a write whose condition does not hold.
    #[must_use]
    pub fn conflict(kind: &ApiKind, name: &str, why: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} {name:?}: {why}",
            kind.resource()
        );
        Self::about(Reason::Conflict, kind, name, message)
    }

    /// 409 for applied fields that somebody else owns.
    pub(crate) fn apply_conflict(message: String, causes: Vec<StatusCause>) -> Self {
        Self::new(Reason::Conflict, message).with_details(Details {
            causes,
            ..Details::default()
        })
    }

    /// 409 for a delete whose precondition does not hold. The real server uses the kind here.
    pub(crate) fn precondition_failed(kind: &ApiKind, name: &str, why: &str) -> Self {
        Self::new(
            Reason::Conflict,
            format!(
                "Operation cannot be fulfilled on {} {name:?}: {why}",
                kind.qualified_kind()
            ),
        )
        .with_details(Details {
            name: name.to_owned(),
            group: kind.group().to_owned(),
            kind: kind.kind().to_owned(),
            ..Details::default()
        })
    }

    /// 403 for a request that is not allowed.
    #[must_use]
    pub fn forbidden(kind: &ApiKind, name: &str, why: &str) -> Self {
        let message = match name {
            "" => format!("{} is forbidden: {why}", kind.resource()),
            _ => format!("{} {name:?} is forbidden: {why}", kind.resource()),
        };
        Self::about(Reason::Forbidden, kind, name, message)
    }

    /// 401 for a request without valid credentials.
    #[must_use]
    pub fn unauthorized() -> Self {
        Self::new(Reason::Unauthorized, "Unauthorized")
    }

    /// 400 for a malformed request.
    #[must_use]
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(Reason::BadRequest, message)
    }

    /// 405 for a method that the path does not support.
    #[must_use]
    pub fn method_not_allowed() -> Self {
        Self::new(
            Reason::MethodNotAllowed,
            "the server does not allow this method on the requested resource",
        )
        .with_details(Details::default())
    }

    /// 405 for a method that a part of a custom resource does not support.
    pub(crate) fn not_supported(kind: &ApiKind, verb: &str) -> Self {
        let resource = kind.resource();
        let message = format!("{verb} is not supported on resources of kind {resource:?}");
        Self::about(Reason::MethodNotAllowed, kind, "", message)
    }

    /// 415 for a body whose type is not among `accepted`.
    #[must_use]
    pub fn unsupported_media_type(accepted: &[&str]) -> Self {
        Self::new(
            Reason::UnsupportedMediaType,
            format!(
                "the body of the request was in an unknown format - accepted media types include: {}",
                accepted.join(", ")
            ),
        )
    }

    /// 415 for an unknown patch type.
    pub(crate) fn no_such_patch() -> Self {
        Self::new(Reason::UnsupportedMediaType, "415: Unsupported Media Type")
            .with_details(Details::default())
    }

    /// 406 for an unsupported media type.
    pub(crate) fn no_such_media_type() -> Self {
        Self::new(
            Reason::NotAcceptable,
            format!("406: Not Acceptable\n\nAvailable representations: {REPRESENTATIONS}"),
        )
        .with_details(Details::default())
    }

    /// 406 for an unsupported form or encoding of the answer.
    #[must_use]
    pub fn not_acceptable() -> Self {
        Self::new(
            Reason::NotAcceptable,
            format!("only the following media types are accepted: {REPRESENTATIONS}"),
        )
    }

    /// 422 for an object of `kind`.
    #[must_use]
    pub fn invalid(kind: &ApiKind, name: &str, causes: Vec<StatusCause>) -> Self {
        // The real server validates both groups of events as one.
        let (qualified, group) = match kind.field_rules() {
            FieldRules::Event => (kind.kind().to_owned(), ""),
            _ => (kind.qualified_kind(), kind.group()),
        };
        Self::invalid_of(&qualified, group, kind.kind(), name, causes)
    }

    /// 422 where the real server names the resource instead of the kind.
    pub(crate) fn invalid_resource(kind: &ApiKind, name: &str, cause: StatusCause) -> Self {
        let resource = kind.resource();
        Self::invalid_of(&resource, kind.group(), kind.plural(), name, vec![cause])
    }

    /// 422 for the query of a request.
    pub(crate) fn invalid_options(kind: &str, causes: Vec<StatusCause>) -> Self {
        let qualified = format!("{kind}.meta.k8s.io");
        Self::invalid_of(&qualified, "meta.k8s.io", kind, "", causes)
    }

    fn invalid_of(
        qualified: &str,
        group: &str,
        kind: &str,
        name: &str,
        causes: Vec<StatusCause>,
    ) -> Self {
        // Duplicate texts appear once; a single one has no brackets.
        let mut texts: Vec<String> = Vec::new();
        for cause in &causes {
            let text = format!("{}: {}", cause.field, cause.message);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        let message = match texts.as_slice() {
            [one] => format!("{qualified} {name:?} is invalid: {one}"),
            many => format!("{qualified} {name:?} is invalid: [{}]", many.join(", ")),
        };
        Self::new(Reason::Invalid, message).with_details(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes,
            ..Details::default()
        })
    }

    /// 422 for a JSON patch that does not fit the object. The real server does not say why.
    pub(crate) fn unusable_patch() -> Self {
        let message = "the server rejected our request due to an error in our request";
        Self::new(Reason::Invalid, message).with_details(Details::default())
    }

    /// 413 for a JSON patch with too many operations.
    pub(crate) fn too_many_operations(most: usize, given: usize) -> Self {
        Self::new(
            Reason::RequestEntityTooLarge,
            format!(
                "Request entity too large: The allowed maximum operations in a JSON patch is {most}, got {given}"
            ),
        )
    }

    /// 410 for an expired version.
    #[must_use]
    pub fn expired(message: impl Into<String>) -> Self {
        Self::new(Reason::Expired, message)
    }

    /// 410 for an expired page token, with a fresh token that continues inconsistently.
    #[must_use]
    pub fn expired_continue(fresh: String) -> Self {
        let mut refused = Self::expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        );
        refused.0.resume = fresh;
        refused
    }

    /// 504 for a version that the server has not reached.
    #[must_use]
    pub fn too_large_version(asked: u64, current: u64) -> Self {
        Self::new(
            Reason::Timeout,
            format!("Timeout: Too large resource version: {asked}, current: {current}"),
        )
        .with_details(Details {
            causes: vec![StatusCause::version_too_large()],
            ..Details::default()
        })
        .with_retry_after(1)
    }

    /// 429 with the time to wait, in seconds.
    #[must_use]
    pub fn too_many_requests(message: impl Into<String>, retry_after_seconds: u32) -> Self {
        Self::new(Reason::TooManyRequests, message)
            .with_details(Details::default())
            .with_retry_after(retry_after_seconds)
    }

    /// 500 for an internal error.
    #[must_use]
    pub fn internal_error(why: &str) -> Self {
        Self::new(
            Reason::InternalError,
            format!("Internal error occurred: {why}"),
        )
        .with_details(Details {
            causes: vec![StatusCause::text(why)],
            ..Details::default()
        })
    }

    /// Adds a time to wait before the next attempt, in the details and as a header.
    #[must_use]
    pub fn with_retry_after(mut self, seconds: u32) -> Self {
        self.0
            .details
            .get_or_insert_with(Details::default)
            .retry_after_seconds = seconds;
        self
    }

    /// The HTTP status code.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.0.reason.code()
    }

    /// The machine-readable reason.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.0.reason
    }

    /// The message for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The individual problems.
    #[must_use]
    pub fn causes(&self) -> &[StatusCause] {
        match &self.0.details {
            Some(details) => &details.causes,
            None => &[],
        }
    }

    /// The page token that the server offers in place of the expired one.
    #[must_use]
    pub fn fresh_continue(&self) -> Option<&str> {
        (!self.0.resume.is_empty()).then_some(self.0.resume.as_str())
    }

    /// How long to wait before the next attempt.
    #[must_use]
    pub fn retry_after_seconds(&self) -> Option<u32> {
        let seconds = self.0.details.as_ref()?.retry_after_seconds;
        (seconds > 0).then_some(seconds)
    }

    /// The media type of [`body`](Self::body).
    #[must_use]
    pub fn content_type(&self, encoding: Encoding) -> &'static str {
        if self.0.is_plain_text {
            "text/plain; charset=utf-8"
        } else {
            encoding.media_type()
        }
    }

    /// The body of the answer, in the encoding that the client [accepts](crate::request::Accept::for_errors).
    #[must_use]
    pub fn body(&self, encoding: Encoding) -> Vec<u8> {
        let mut out = match self.0.is_plain_text {
            true => self.0.message.clone().into_bytes(),
            false => self.object(encoding),
        };
        if self.0.is_plain_text || encoding == Encoding::Json {
            out.push(b'\n');
        }
        out
    }

    /// The bare Status object, as in an ERROR event.
    pub(crate) fn object(&self, encoding: Encoding) -> Vec<u8> {
        let mut json = Vec::new();
        self.write_object(&mut json);
        match encoding {
            Encoding::Protobuf => protobuf::status(&json),
            _ => json,
        }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl core::error::Error for ApiError {}
