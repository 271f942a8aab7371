//! Sends requests.

use std::fmt;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http::response::Parts;
use informer_core::transport::Method;
use tokio::runtime::Handle;

use crate::budget::Budget;
use crate::failed::Failed;

/// What to request, and how.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Question<'a> {
    /// What to do. What is not a [`Get`](Method::Get) must not be sent twice, unless no server has looked
    /// at it.
    pub method: Method,
    /// The path below the address of the server, with the query.
    pub path: &'a str,
    /// The `Accept` header.
    pub accept: &'a str,
    /// The `Content-Type` of the body; empty if there is none.
    pub content_type: &'static str,
    /// The body; empty if there is none.
    pub body: &'a Bytes,
    /// What the answer is for.
    pub purpose: Purpose,
}

/// Shows no body: that of a Secret is secret.
impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("method", &self.method)
            .field("path", &self.path)
            .field("accept", &self.accept)
            .field("content_type", &self.content_type)
            .field("bytes", &self.body.len())
            .field("purpose", &self.purpose)
            .finish()
    }
}

/// What an answer is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "senders handle every purpose")]
pub enum Purpose {
    /// A list: it may be long.
    List,
    /// A watch: it goes on for minutes, perhaps without a byte.
    Watch,
    /// A single object, or what discovery asks for: somebody waits for the whole of it.
    Single,
}

impl<'a> Question<'a> {
    /// The method, in the words of the crate `http`.
    #[must_use]
    pub const fn http_method(&self) -> http::Method {
        match self.method {
            Method::Get => http::Method::GET,
            Method::Post => http::Method::POST,
            Method::Put => http::Method::PUT,
            Method::Patch => http::Method::PATCH,
            Method::Delete => http::Method::DELETE,
        }
    }

    /// A question for `path`, without a body.
    pub(crate) const fn get(path: &'a str, accept: &'a str, purpose: Purpose) -> Self {
        static NOTHING: Bytes = Bytes::new();
        Self {
            method: Method::Get,
            path,
            accept,
            content_type: "",
            body: &NOTHING,
            purpose,
        }
    }
}

/// An answer whose body has not been read yet.
pub trait Answer: Send + Unpin + 'static {
    /// The status and the headers.
    fn head(&self) -> &Parts;

    /// The next piece of the body, as it arrives; `None` at its end.
    ///
    /// Bytes that nobody asks for must stay with the server: this is the back-pressure. See [`poll_data`] for
    /// bodies made of frames.
    ///
    /// [`poll_data`]: crate::poll_data
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failed>>>;

    /// The body is a full state. Bytes may gather for a moment before they are read, so that fewer reads
    /// bring more.
    fn rest(&mut self) {}

    /// The state is complete. From here on, what arrives is an event that somebody waits for.
    fn hurry(&mut self) {}
}

/// Sends requests to one API server.
pub trait Sender: Send + Sync + 'static {
    /// What the server answers.
    type Answer: Answer;

    /// Sends a request. An answer is not a failure, whatever its status.
    ///
    /// # Errors
    /// There is no answer.
    fn send(
        &self,
        question: Question<'_>,
    ) -> impl Future<Output = Result<Self::Answer, Failed>> + Send;

    /// Waits for what a person may have to do before a single [request](crate::get). An informer does not
    /// call it: it tries again and reports what it waits for.
    fn prepare(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Adds what is known about a failure.
    fn explain(&self, failed: Failed) -> Failed {
        failed
    }

    /// Adds what is known about an answer with this status, which is not a success.
    fn explain_answer(&self, _status: StatusCode, failed: Failed) -> Failed {
        failed
    }

    /// The limits for answers.
    fn limits(&self) -> Limits;

    /// The slots for lists.
    fn budget(&self) -> &Budget;

    /// Where the tasks of the exchanges run.
    fn runtime(&self) -> &Handle;
}

/// Limits for answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Limits {
    /// The time to the first byte of an answer, except that of a watch. Default 90 s.
    pub head_timeout: Duration,
    /// The time for a list, from the first to the last byte. Default 10 minutes. The time that handlers take
    /// does not count.
    pub list_timeout: Duration,
    /// The size of a list in bytes, after decompression. Default 4 GiB.
    pub max_list_bytes: u64,
}

impl Limits {
    /// The default limits.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            head_timeout: Duration::from_secs(90),
            list_timeout: Duration::from_secs(600),
            max_list_bytes: 4 << 30,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}
