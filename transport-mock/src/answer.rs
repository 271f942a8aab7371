//! What the server answers.

use std::time::Duration;

use crate::status::ApiError;
use crate::watch::Watch;

/// An answer: a head, and a body that is complete or goes on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// The header `Content-Type`.
    pub content_type: &'static str,
    /// The header `Retry-After`, in seconds.
    pub retry_after: Option<u32>,
    /// So long the real server thinks before it answers. It is for the caller to let the time pass.
    pub delay: Duration,
    /// What follows.
    pub body: AnswerBody,
}

/// The body of an answer.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no third kind of body")]
pub enum AnswerBody {
    /// All of it.
    Complete(Vec<u8>),
    /// Lines, as things happen.
    Watch(Box<Watch>),
}

impl Answer {
    pub(crate) const fn new(status: u16, body: AnswerBody) -> Self {
        Self {
            status,
            content_type: "application/json",
            retry_after: None,
            delay: Duration::ZERO,
            body,
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

impl From<ApiError> for Answer {
    fn from(refused: ApiError) -> Self {
        Self {
            content_type: refused.content_type(),
            retry_after: refused.retry_after_seconds(),
            ..Self::new(refused.code(), AnswerBody::Complete(refused.body()))
        }
    }
}
