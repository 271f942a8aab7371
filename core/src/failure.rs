//! What can go wrong in the world, classified once.

use core::fmt::{self, Write as _};
use core::time::Duration;

/// Why an exchange with the server failed: small enough to decide by.
///
/// The text for people travels beside it. HTTP statuses and Status bodies become a `Failure` in
/// [`decode::status`](crate::decode::status) and nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The server no longer has the version or the page that was asked for (410).
    Expired,
    /// The server has not reached the version that was asked for.
    VersionTooLarge,
    /// The server asks for patience (429).
    Throttled {
        /// How long the server wants us to wait, if it said so.
        retry_after: Option<Duration>,
    },
    /// Nobody listens at the address.
    Refused,
    /// The server does not know who we are (401).
    Unauthorized,
    /// We lack a right (403).
    Forbidden,
    /// There is no such resource (404).
    NotFound,
    /// The server does not accept the request as it is (400, 406, 415, 422).
    Invalid,
    /// The server failed (500).
    Internal,
    /// The server, or something before it, cannot answer now (502, 503, other 5xx).
    Unavailable,
    /// Somebody ran out of time (504, or a deadline of the transport).
    TimedOut,
    /// The connection ended in the middle of something.
    Broken,
    /// The answer is not what we can read.
    Undecodable,
    /// Nothing was heard for longer than the idle deadline.
    Idle,
    /// A watch ended in less than a second without a single event.
    ShortWatch,
    /// A streamed list never said that it is complete.
    NoEndBookmark,
    /// The user's transform refused an object of a list.
    Refusal,
    /// A bound of the storage was reached.
    Full,
    /// Requests followed one another so fast that the next one waits.
    TooFast,
    /// Anything else.
    Other,
}

impl Failure {
    /// The failure in words, with what usually mends it.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Expired => "the requested version has expired; the full state is read again",
            Self::VersionTooLarge => "the server has not reached the requested version yet",
            Self::Throttled { .. } => "the server asks to slow down",
            Self::Refused => "connection refused; is the API server running at this address?",
            Self::Unauthorized => "not authenticated; check the credentials",
            Self::Forbidden => "forbidden; grant the rights `list` and `watch` on this resource",
            Self::NotFound => "no such resource; is the CRD installed and the group/version right?",
            Self::Invalid => "the server rejected the request as invalid",
            Self::Internal => "internal error of the server",
            Self::Unavailable => "the server is unavailable",
            Self::TimedOut => "timed out",
            Self::Broken => "the connection broke",
            Self::Undecodable => "the answer could not be decoded",
            Self::Idle => "nothing was received within the idle deadline",
            Self::ShortWatch => "the watch ended at once, without events",
            Self::NoEndBookmark => "the streamed list did not announce its end in time",
            Self::Refusal => "the transform refused an object of the list",
            Self::Full => "the storage is full; give it room for more objects",
            Self::TooFast => "the server ends its answers too soon; the next request waits",
            Self::Other => "the request failed",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// The longest message for people that is kept with a failure, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// `message`, cut at a character border so that it has at most [`MAX_MESSAGE`] bytes.
#[must_use]
pub fn bounded(message: &str) -> &str {
    let mut end = message.len().min(MAX_MESSAGE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.get(..end).unwrap_or_default()
}

/// A text of at most [`MAX_MESSAGE`] bytes, on the stack.
pub(crate) struct Message {
    bytes: [u8; MAX_MESSAGE],
    len: usize,
}

impl Message {
    /// As much of what `text` displays as a message may be long.
    pub(crate) fn of(text: &dyn fmt::Display) -> Self {
        let mut message = Self {
            bytes: [0; MAX_MESSAGE],
            len: 0,
        };
        // It stops when it is full, which is all that can go wrong.
        let _ = write!(message, "{text}");
        message
    }

    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len).unwrap_or_default();
        // A character may have been cut at the end.
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
    }
}

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..).unwrap_or_default();
        let taken = text.len().min(room.len());
        for (to, from) in room.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        self.len += taken;
        if taken < text.len() {
            Err(fmt::Error)
        } else {
            Ok(())
        }
    }
}
