//! The contract between the core and whoever moves its bytes.
//!
//! A transport executes [`Command`]s and reports [`Signal`]s; it makes no decision. Both are plain
//! data, so a run can be recorded and replayed. One transport value serves one reflector: it is made
//! for a `Target` (the resource, the namespace, the selectors and the content), and a [`Request`]
//! carries only what changes from one request to the next.

// Commands that can be kept.
mod owned;

// What a transport is made for.
#[cfg(feature = "alloc")]
mod target;

use core::task::{Context, Poll};
use core::time::Duration;

use crate::encoding::Encoding;
use crate::failure::Failure;
pub use owned::{OwnedAt, OwnedCommand, OwnedRequest};
#[cfg(feature = "alloc")]
pub use target::{Content, InvalidTarget, Target, check_namespace};

/// One request and its answer. Signals that name an exchange which is no longer the current one are
/// ignored, so a transport need not be exact about what it still delivers after an abort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExchangeId(pub(crate) u64);

impl ExchangeId {
    /// The number of the exchange, counted from 1, for logs and recordings.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// What the transport shall do. Its texts are borrowed from the reflector; [`to_owned`](Self::to_owned)
/// keeps it, for a driver that shares the informer behind a lock, or one on another task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a transport must see every command"
)]
pub enum Command<'a> {
    /// Send this request. What an earlier exchange still has to say is of no interest any more.
    Open {
        /// The name under which its signals are reported.
        exchange: ExchangeId,
        /// What to ask.
        request: Request<'a>,
    },
    /// Drop this exchange: nobody will read the rest of it.
    Abort(ExchangeId),
}

/// One list or watch request, without the parts that never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a transport must see every kind of request"
)]
pub enum Request<'a> {
    /// `GET …?resourceVersion=…&limit=…&continue=…`
    ///
    /// With a limit, [`At::Version`] needs `resourceVersionMatch=NotOlderThan`, too: a server takes a
    /// limited list of a version for one of exactly that version. After an expired watch it would
    /// bring back the state from which no watch can go on, again and again.
    List {
        /// Which state is good enough.
        version: At<'a>,
        /// At most so many objects in this page; `None` for all of them.
        limit: Option<u32>,
        /// The token of the page, from the page before it. `version` is then [`At::Latest`].
        page: Option<&'a str>,
    },
    /// `GET …?watch=true&allowWatchBookmarks=true&resourceVersion=…&timeoutSeconds=…`
    Watch {
        /// The version after which events are wanted.
        version: At<'a>,
        /// When the server shall end the watch.
        timeout: Duration,
        /// Ask for the whole state first, closed by a marked bookmark:
        /// `sendInitialEvents=true&resourceVersionMatch=NotOlderThan`.
        initial_events: bool,
    },
}

/// The `resourceVersion` of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "these are the three forms the protocol knows"
)]
pub enum At<'a> {
    /// The empty version: the newest state, read through to the database.
    Latest,
    /// `0`: whatever the server has at hand.
    Any,
    /// A version seen before: that one or a newer one for lists, events after it for watches.
    Version(&'a str),
}

impl<'a> At<'a> {
    /// The form of a version as it stands in an object or a list.
    #[must_use]
    pub fn from_text(text: &'a str) -> Self {
        match text {
            "" => Self::Latest,
            "0" => Self::Any,
            _ => Self::Version(text),
        }
    }

    /// The value of the query parameter `resourceVersion`.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        match self {
            Self::Latest => "",
            Self::Any => "0",
            Self::Version(version) => version,
        }
    }
}

/// What the network did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a driver must pass on every signal"
)]
pub enum Signal<'a> {
    /// The head of a successful answer has arrived; its body comes in this encoding. If bytes come
    /// without it, they are taken for [`Encoding::Json`].
    Opened(Encoding),
    /// A piece of its body, of any size.
    Bytes(&'a [u8]),
    /// The body is complete.
    Closed,
    /// The exchange failed: an unsuccessful answer, or the connection broke.
    Failed {
        /// The class of the failure.
        failure: Failure,
        /// What a person needs to know: which certificate, which right. Only the first
        /// [`MAX_MESSAGE`](crate::failure::MAX_MESSAGE) bytes are kept.
        message: &'a str,
    },
}

/// Something that executes commands and reports signals.
pub trait Transport {
    /// Begins to carry out `command`. Must not block.
    fn execute(&mut self, command: Command<'_>);

    /// Shows the next signal, or arranges for a wake-up. It is a peek: the same signal is shown
    /// again until it is consumed.
    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)>;

    /// Takes `n` bytes off a [`Signal::Bytes`], or any other signal away. Bytes that are left are
    /// shown again, in front of what follows.
    fn consume(&mut self, n: usize);
}

impl<T: Transport + ?Sized> Transport for &mut T {
    fn execute(&mut self, command: Command<'_>) {
        (**self).execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        (**self).poll_signal(cx)
    }

    fn consume(&mut self, n: usize) {
        (**self).consume(n);
    }
}

#[cfg(feature = "alloc")]
impl<T: Transport + ?Sized> Transport for alloc::boxed::Box<T> {
    fn execute(&mut self, command: Command<'_>) {
        (**self).execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        (**self).poll_signal(cx)
    }

    fn consume(&mut self, n: usize) {
        (**self).consume(n);
    }
}
