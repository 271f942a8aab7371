//! The server's answers.

use std::time::Duration;

use informer_core::Encoding;

use crate::status::ApiError;
use crate::watch::Watch;

/// An answer: status, headers, and a body that is complete or a stream.
///
/// ```
/// use informer_core::Instant;
/// use informer_transport_mock::request::{ApiRequest, Headers};
/// use informer_transport_mock::{Server, ServerConfig};
///
/// let mut server = Server::new(ServerConfig::new(42));
/// let request = ApiRequest::parse("GET", "/api/v1/pods", "", Headers::default())?;
/// let answer = server.handle(&request, b"", Instant::default());
/// assert_eq!(answer.status, 200);
/// assert_eq!(
///     str::from_utf8(answer.bytes().unwrap())?.trim_end(),
///     r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: &'static str,
    /// The header `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// How long a real server takes before it sends this answer. The caller has to wait.
    pub delay: Duration,
    /// The body.
    pub body: AnswerBody,
}

/// The body of an answer.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no third kind of body")]
pub enum AnswerBody {
    /// A complete body.
    Complete(Vec<u8>),
    /// A stream of watch events.
    Watch(Box<Watch>),
}

impl Answer {
    pub(crate) const fn new(status: u16, encoding: Encoding, body: AnswerBody) -> Self {
        Self {
            status,
            content_type: match body {
                AnswerBody::Complete(_) => encoding.media_type(),
                AnswerBody::Watch(_) => encoding.watch_type(),
            },
            retry_after: None,
            delay: Duration::ZERO,
            body,
        }
    }

    /// The answer to a request that the server refuses, in the encoding that the client
    /// [accepts](crate::request::Accept::for_errors).
    #[must_use]
    pub fn refused(refused: &ApiError, encoding: Encoding) -> Self {
        let body = AnswerBody::Complete(refused.body(encoding));
        Self {
            content_type: refused.content_type(encoding),
            retry_after: refused.retry_after_seconds(),
            ..Self::new(refused.code(), encoding, body)
        }
    }

    /// The complete body; `None` for a watch.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.body {
            AnswerBody::Complete(bytes) => Some(bytes),
            AnswerBody::Watch(_) => None,
        }
    }
}

/// A refusal as JSON.
impl From<ApiError> for Answer {
    fn from(refused: ApiError) -> Self {
        Self::refused(&refused, Encoding::Json)
    }
}
