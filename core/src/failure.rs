//! Why an exchange with a server fails.

use core::fmt::{self, Write as _};
use core::time::Duration;

use crate::invariant::cannot_happen;

/// Why an exchange with the server failed.
///
/// This is the class of a failure, small enough to decide by. A message for people travels beside
/// it. HTTP statuses and Status bodies become a `Failure` in [`decode`](crate::decode) and nowhere
/// else.
///
/// Inside this crate, every `match` names every class. A new class does not compile until each
/// stage handles it.
///
/// ```
/// use informer_core::Failure;
/// use informer_core::decode::answer::failure_of_answer;
///
/// let (failure, message) = failure_of_answer(403, b"no access", None);
/// assert_eq!(failure, Failure::Forbidden);
/// assert_eq!(message, "HTTP 403: no access");
/// assert_eq!(
///     failure.to_string(),
///     "forbidden; grant the missing right, usually `list` and `watch` on the resource"
/// );
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The server no longer has the requested version or page (410).
    Expired,
    /// The server has not reached the requested version yet.
    VersionTooLarge,
    /// The server asks the client to slow down (429, or 5xx with a `Retry-After`).
    Throttled {
        /// How long to wait, if the server said so.
        retry_after: Option<Duration>,
    },
    /// The server could not be reached: name, address, proxy or TLS. It received no request.
    Unreachable,
    /// The local configuration cannot be used: a CA file, a certificate, a key, a token file or an
    /// exec plugin. The server received no request.
    Credentials,
    /// The server does not know the client (401).
    Unauthorized,
    /// The client lacks a permission (403).
    Forbidden,
    /// The server does not serve the kind (404).
    NotFound,
    /// The server rejects the request as malformed (400, 406, 415, 422).
    Invalid,
    /// The server failed (500), and did not say how long to wait.
    Internal,
    /// The server, or a proxy before it, cannot answer now (502, 503, other 5xx).
    Unavailable,
    /// A deadline passed at the server (504) or in the transport.
    TimedOut,
    /// The connection broke in the middle of an answer.
    Broken,
    /// The answer could not be decoded.
    Undecodable,
    /// Nothing arrived within the idle deadline.
    Idle,
    /// A watch ended in less than a second without an event.
    ShortWatch,
    /// A streamed list did not announce its end in time.
    NoEndBookmark,
    /// The transform refused an object of a list.
    TransformFailed,
    /// A limit of the store, or the capacity of its storage, was reached.
    Full,
    /// Requests followed one another too fast, so the next one waits.
    TooFast,
    /// Any other failure.
    Other,
}

impl Failure {
    /// The failure in words, with the usual remedy.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Expired => "the requested version has expired; the full state is read again",
            Self::VersionTooLarge => "the server has not reached the requested version yet",
            Self::Throttled { .. } => "the server asks the client to slow down",
            Self::Unreachable => "the server could not be reached",
            Self::Credentials => {
                "the configured credentials or certificates cannot be used; no request was sent"
            }
            Self::Unauthorized => "not authenticated; check the credentials",
            Self::Forbidden => {
                "forbidden; grant the missing right, usually `list` and `watch` on the resource"
            }
            Self::NotFound => {
                "the server does not serve this kind (404); check its name, group and version; the CRD of a custom one may not be installed yet"
            }
            Self::Invalid => "the request is invalid",
            Self::Internal => "the server reports an internal error",
            Self::Unavailable => "the server is unavailable",
            Self::TimedOut => "timed out",
            Self::Broken => "the connection broke",
            Self::Undecodable => "the answer could not be decoded",
            Self::Idle => "nothing arrived within the idle deadline",
            Self::ShortWatch => "the watch ended at once, without an event",
            Self::NoEndBookmark => "the streamed list did not announce its end in time",
            Self::TransformFailed => "the transform refused an object of the list",
            Self::Full => "the store is full; raise its limits, or watch fewer objects",
            Self::TooFast => "requests follow one another too fast; the next one waits",
            Self::Other => "the request failed",
        }
    }

    /// One word for metrics and data. It never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::VersionTooLarge => "version_too_large",
            Self::Throttled { .. } => "throttled",
            Self::Unreachable => "unreachable",
            Self::Credentials => "credentials",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::Internal => "internal",
            Self::Unavailable => "unavailable",
            Self::TimedOut => "timed_out",
            Self::Broken => "broken",
            Self::Undecodable => "undecodable",
            Self::Idle => "idle",
            Self::ShortWatch => "short_watch",
            Self::NoEndBookmark => "no_end_bookmark",
            Self::TransformFailed => "transform_failed",
            Self::Full => "full",
            Self::TooFast => "too_fast",
            Self::Other => "other",
        }
    }

    /// One failure of each class, in the order of [`index`](Self::index).
    pub(crate) const ALL: [Self; 21] = [
        Self::Expired,
        Self::VersionTooLarge,
        Self::Throttled { retry_after: None },
        Self::Unreachable,
        Self::Credentials,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::Invalid,
        Self::Internal,
        Self::Unavailable,
        Self::TimedOut,
        Self::Broken,
        Self::Undecodable,
        Self::Idle,
        Self::ShortWatch,
        Self::NoEndBookmark,
        Self::TransformFailed,
        Self::Full,
        Self::TooFast,
        Self::Other,
    ];

    /// The place of its class in [`ALL`](Self::ALL).
    pub(crate) const fn index(self) -> usize {
        match self {
            Self::Expired => 0,
            Self::VersionTooLarge => 1,
            Self::Throttled { .. } => 2,
            Self::Unreachable => 3,
            Self::Credentials => 4,
            Self::Unauthorized => 5,
            Self::Forbidden => 6,
            Self::NotFound => 7,
            Self::Invalid => 8,
            Self::Internal => 9,
            Self::Unavailable => 10,
            Self::TimedOut => 11,
            Self::Broken => 12,
            Self::Undecodable => 13,
            Self::Idle => 14,
            Self::ShortWatch => 15,
            Self::NoEndBookmark => 16,
            Self::TransformFailed => 17,
            Self::Full => 18,
            Self::TooFast => 19,
            Self::Other => 20,
        }
    }

    /// How long to wait, if the server said so.
    pub(crate) const fn asked_wait(self) -> Option<Duration> {
        match self {
            Self::Throttled { retry_after } => retry_after,
            Self::Expired
            | Self::VersionTooLarge
            | Self::Unreachable
            | Self::Credentials
            | Self::Unauthorized
            | Self::Forbidden
            | Self::NotFound
            | Self::Invalid
            | Self::Internal
            | Self::Unavailable
            | Self::TimedOut
            | Self::Broken
            | Self::Undecodable
            | Self::Idle
            | Self::ShortWatch
            | Self::NoEndBookmark
            | Self::TransformFailed
            | Self::Full
            | Self::TooFast
            | Self::Other => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

impl core::error::Error for Failure {}

/// The longest message that is kept with a failure, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// Cuts `message` to at most [`MAX_MESSAGE`] bytes, at a character boundary.
#[must_use]
pub fn bounded(message: &str) -> &str {
    let cut = message.as_bytes().get(..MAX_MESSAGE);
    cut.map_or(message, whole_characters)
}

/// The text without its last character if that was cut.
fn whole_characters(cut: &[u8]) -> &str {
    cut.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Formats `text` as a message: [printable](Printable) and at most [`MAX_MESSAGE`] bytes long.
///
/// ```
/// use informer_core::failure::message;
///
/// let said = "not now\n\u{1b}]0;gotcha\u{7}";
/// assert_eq!(message(format_args!("HTTP {}: {said}", 503)), "HTTP 503: not now \\u{1b}]0;gotcha\\u{7}");
/// ```
#[cfg(feature = "alloc")]
#[must_use]
pub fn message(text: impl fmt::Display) -> alloc::string::String {
    Message::of(&text).as_str().into()
}

/// Displays untrusted text safely on one line of a log or a terminal.
///
/// Line ends and tabs become spaces. Other control characters, and characters that hide or reorder
/// text, become `\u{…}`: a terminal would obey them, and people would be misled.
///
/// ```
/// use informer_core::failure::Printable;
///
/// assert_eq!(Printable("web-1\u{1b}[2J").to_string(), "web-1\\u{1b}[2J");
/// assert_eq!(Printable("two\nlines").to_string(), "two lines");
/// assert_eq!(Printable("größer als 10 µs").to_string(), "größer als 10 µs");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a plain wrapper")]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Sieve(f).write_str(self.0)
    }
}

/// Whether a character controls a terminal or is invisible to people.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

/// A printable message of at most [`MAX_MESSAGE`] bytes, on the stack.
pub(crate) struct Message {
    bytes: [u8; MAX_MESSAGE],
    len: usize,
}

impl Message {
    /// Formats `text`, cut to the longest message.
    pub(crate) fn of(text: &dyn fmt::Display) -> Self {
        let mut message = Self {
            bytes: [0; MAX_MESSAGE],
            len: 0,
        };
        // The only possible error is a full buffer; the rest is cut.
        let _ = write!(Sieve(&mut message), "{text}");
        message
    }

    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len);
        let bytes = bytes.unwrap_or_else(|| cannot_happen("a message beyond its bound", &[]));
        whole_characters(bytes)
    }
}

impl fmt::Write for Message {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..);
        let room = room.unwrap_or_else(|| cannot_happen("a message beyond its bound", &mut []));
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

/// Passes on text in printable form.
pub(crate) struct Sieve<'a>(pub(crate) &'a mut dyn fmt::Write);

impl fmt::Write for Sieve<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '\n' | '\r' | '\t' => self.0.write_char(' ')?,
                hidden if is_hidden(hidden) => write!(self.0, "{}", hidden.escape_unicode())?,
                other => self.0.write_char(other)?,
            }
        }
        Ok(())
    }
}
