//! What can go wrong in the world, classified once.

use core::fmt::{self, Write as _};
use core::time::Duration;

use crate::invariant::cannot_happen;

/// Why an exchange with the server failed: small enough to decide by.
///
/// Inside this crate every `match` on it names every class, so that a new one does not compile until
/// each stage has decided what it means there.
///
/// The text for people travels beside it. HTTP statuses and Status bodies become a `Failure` in
/// [`decode`](crate::decode) and nowhere else.
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
    /// The server could not be reached: its name, the address, the proxy or TLS. Nothing was said to
    /// it.
    Unreachable,
    /// What is configured here to connect with cannot be used: a file of authorities, a certificate, a
    /// key, a token file or an exec plugin. Nothing was said to the server.
    Credentials,
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
    TransformFailed,
    /// A limit of the store, or a bound of its storage, was reached.
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
            Self::Unreachable => "the server could not be reached",
            Self::Credentials => {
                "the credentials or certificates configured here cannot be used; the server was not asked"
            }
            Self::Unauthorized => "not authenticated; check the credentials",
            Self::Forbidden => {
                "forbidden; grant the missing right, usually `list` and `watch` on the resource"
            }
            Self::NotFound => {
                "no such resource on this server; check its name, group and version, and the CRD of a custom one"
            }
            Self::Invalid => "the request is invalid",
            Self::Internal => "internal error of the server",
            Self::Unavailable => "the server is unavailable",
            Self::TimedOut => "timed out",
            Self::Broken => "the connection broke",
            Self::Undecodable => "the answer could not be decoded",
            Self::Idle => "nothing was received within the idle deadline",
            Self::ShortWatch => "the watch ended at once, without events",
            Self::NoEndBookmark => "the streamed list did not announce its end in time",
            Self::TransformFailed => "the transform refused an object of the list",
            Self::Full => {
                "there is more than the store has room for; give it more room, or follow less"
            }
            Self::TooFast => "the server ends its answers too soon; the next request waits",
            Self::Other => "the request failed",
        }
    }
}

impl Failure {
    /// How long the server wants us to wait, if it said so.
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

/// The longest message for people that is kept with a failure, in bytes.
pub const MAX_MESSAGE: usize = 512;

/// `message`, cut at a character border so that it has at most [`MAX_MESSAGE`] bytes.
#[must_use]
pub fn bounded(message: &str) -> &str {
    let mut end = message.len().min(MAX_MESSAGE);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let cut = message.get(..end);
    cut.unwrap_or_else(|| cannot_happen("a cut within a character", ""))
}

/// What `text` displays, as it is kept for people: at most [`MAX_MESSAGE`] bytes, and
/// [printable](Printable).
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

/// A text of somebody else, fit for a terminal and for one line of a log.
///
/// Line ends and tabs become spaces. Other control characters, and those that hide or reorder what
/// stands around them, are written as `\u{…}`: a terminal obeys them, and people are deceived.
///
/// ```
/// use informer_core::failure::Printable;
///
/// assert_eq!(Printable("web-1\u{1b}[2J").to_string(), "web-1\\u{1b}[2J");
/// assert_eq!(Printable("two\nlines").to_string(), "two lines");
/// assert_eq!(Printable("größer als 10 µs").to_string(), "größer als 10 µs");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "this is all there is to it")]
pub struct Printable<'a>(pub &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_printable(self.0, f)
    }
}

fn write_printable(text: &str, to: &mut dyn fmt::Write) -> fmt::Result {
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => to.write_char(' ')?,
            hidden if is_hidden(hidden) => write!(to, "{}", hidden.escape_unicode())?,
            other => to.write_char(other)?,
        }
    }
    Ok(())
}

/// Whether a terminal obeys a character instead of showing it, or people cannot see what it does.
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

/// A printable text of at most [`MAX_MESSAGE`] bytes, on the stack.
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
        let _ = write!(Sieve(&mut message), "{text}");
        message
    }

    pub(crate) fn as_str(&self) -> &str {
        let bytes = self.bytes.get(..self.len);
        let bytes = bytes.unwrap_or_else(|| cannot_happen("a message beyond its bound", &[]));
        // A character may have been cut at the end.
        bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid())
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

/// Lets only what is printable through.
pub(crate) struct Sieve<'a>(pub(crate) &'a mut dyn fmt::Write);

impl fmt::Write for Sieve<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        write_printable(text, self.0)
    }
}
