//! One request with one whole answer: how single objects are read and written.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::pin::Pin;
use core::time::Duration;

use crate::failure::{Failure, message};

/// A request for one object.
///
/// Its `Debug` shows no body: that of a Secret is secret.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers read every field")]
pub struct Call {
    /// What to do.
    pub method: Method,
    /// The path and the query, relative to the address of the server: see [`Target::object`].
    ///
    /// [`Target::object`]: super::Target::object
    pub path: String,
    /// The `Content-Type` of the body; empty if there is none.
    pub content_type: &'static str,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
}

impl Call {
    /// A request without a body.
    #[must_use]
    pub const fn new(method: Method, path: String) -> Self {
        Self {
            method,
            path,
            content_type: "",
            body: Vec::new(),
        }
    }

    /// Adds a body.
    #[must_use]
    pub fn with_body(self, content_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            content_type,
            body,
            ..self
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("content_type", &self.content_type)
            .field("bytes", &self.body.len())
            .finish()
    }
}

/// What a [`Call`] does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "callers handle every method")]
pub enum Method {
    /// Reads an object.
    Get,
    /// Creates an object.
    Post,
    /// Replaces an object.
    Put,
    /// Changes a part of an object.
    Patch,
    /// Deletes an object.
    Delete,
}

impl Method {
    /// The name in HTTP.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// The answer to a [`Call`], successful or not.
///
/// Its `Debug` shows no body.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "callers set every field")]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// How long the server asks to wait (`Retry-After`).
    pub retry_after: Option<Duration>,
    /// The whole body.
    pub body: Vec<u8>,
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("status", &self.status)
            .field("retry_after", &self.retry_after)
            .field("bytes", &self.body.len())
            .finish()
    }
}

/// Why a [`Call`] has no answer, or none but that the server does not know the client (401).
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Unanswered {
    /// The kind of failure.
    pub failure: Failure,
    /// The explanation for people.
    pub message: String,
}

impl Unanswered {
    /// A failure, and what to say about it.
    #[must_use]
    pub fn new(failure: Failure, about: impl fmt::Display) -> Self {
        Self {
            failure,
            message: message(about),
        }
    }

    /// Whether a server may have carried the request out.
    #[must_use]
    pub const fn may_be_done(&self) -> bool {
        !matches!(
            self.failure,
            Failure::Unreachable | Failure::Credentials | Failure::Unauthorized | Failure::Invalid
        )
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl core::error::Error for Unanswered {}

/// An answer to come. If it is dropped, nobody waits for the answer; the server may carry the request out
/// nevertheless.
pub type Calling = Pin<Box<dyn Future<Output = Result<Reply, Unanswered>> + Send>>;

/// Sends calls to one API server.
///
/// A caller repeats only what no server has looked at, and a request that was refused with 401 if it has
/// newer credentials.
///
/// ```
/// use informer_core::transport::{Call, Caller, Calling, Method, Reply};
///
/// /// A server without objects.
/// struct Empty;
///
/// impl Caller for Empty {
///     fn call(&self, call: Call) -> Calling {
///         assert_eq!(call.method, Method::Get);
///         Box::pin(async { Ok(Reply { status: 404, retry_after: None, body: Vec::new() }) })
///     }
/// }
///
/// let call = Call::new(Method::Get, "/api/v1/namespaces/web/pods/shop-1".into());
/// let answer = Empty.call(call);
/// # let _ = answer;
/// ```
pub trait Caller: Send + Sync {
    /// Sends a request. An answer is not an error, whatever its status.
    fn call(&self, call: Call) -> Calling;
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn bodies_are_not_shown() {
        let call =
            Call::new(Method::Post, "/x".into()).with_body("text/plain", b"hunter2".to_vec());
        assert_eq!(
            format!("{call:?}"),
            r#"Call { method: Post, path: "/x", content_type: "text/plain", bytes: 7 }"#
        );
        let reply = Reply {
            status: 200,
            retry_after: None,
            body: b"hunter2".to_vec(),
        };
        assert!(!format!("{reply:?}").contains("hunter2"));
    }

    #[test]
    fn what_was_not_sent_is_not_done() {
        let done = |failure| Unanswered::new(failure, "").may_be_done();
        assert!(!done(Failure::Unreachable));
        assert!(!done(Failure::Credentials));
        assert!(!done(Failure::Unauthorized));
        assert!(!done(Failure::Invalid));
        assert!(done(Failure::Broken));
        assert!(done(Failure::TimedOut));
    }
}
