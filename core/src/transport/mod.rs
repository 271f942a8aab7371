//! The interface between the core and the network.
//!
//! A transport executes [`Command`]s and reports [`Signal`]s. It makes no decisions. Both are plain
//! data, so you can record and replay a run. One transport serves one reflector: it is made for one
//! `Target` (resource, namespace, selectors and content). A [`Request`] carries only what changes
//! from one request to the next.
//!
//! What is not a list or a watch is a `Call`: one request with one whole answer. A `Caller` sends it.
//! That is how objects are written.

// From borrowed to owned commands and back.
mod owned;

// One request with one whole answer.
#[cfg(feature = "alloc")]
mod call;

// What to list and watch.
#[cfg(feature = "alloc")]
mod target;

use core::task::{Context, Poll};
use core::time::Duration;

use crate::encoding::Encoding;
use crate::failure::Failure;
use crate::source::SourceId;
#[cfg(feature = "alloc")]
pub use call::{Call, Caller, Calling, Method, Reply, Unanswered};
#[cfg(feature = "alloc")]
pub use target::{Content, InvalidTarget, Target, check_namespace};

/// Identifies one request and its answer.
///
/// The core ignores signals of an exchange that is no longer current. So a transport may still
/// deliver some signals after an abort.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExchangeId(pub(crate) u64);

impl ExchangeId {
    /// Creates an id, for a driver that sends requests of its own through a transport. The numbers of one
    /// transport must differ.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number of the exchange, for logs and recordings. The first source of an informer counts from 1.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The source that sends the request.
    #[must_use]
    pub const fn source(self) -> SourceId {
        SourceId::from_high_bits(self.0)
    }
}

/// What the transport should do next.
///
/// Its texts are borrowed from the reflector. Use [`to_owned`](OwnedCommand::to_owned) to keep a command,
/// for example when the informer is behind a lock or on another task.
///
/// ```
/// use informer_core::Instant;
/// use informer_core::reflector::{Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, Request};
///
/// let now = Instant::from_micros(0);
/// let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 42)?;
/// reflector.start(now);
/// let kept = reflector.poll_command(now).unwrap().to_owned();
/// // The copy does not borrow from the reflector.
/// drop(reflector);
/// let Command::Open { exchange, request } = kept.as_command() else { panic!() };
/// assert_eq!(exchange.number(), 1);
/// assert!(matches!(request, Request::Watch { initial_events: true, .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Command<'a> = OwnedCommand<&'a str>;

/// A [`Command`] with texts of the type `X`: `String`, or a string of fixed capacity.
///
/// ```
/// use informer_core::Instant;
/// use informer_core::reflector::{Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
/// use informer_core::transport::OwnedCommand;
///
/// let now = Instant::from_micros(0);
/// let mut reflector: Reflector<Heap> = Reflector::new(ReflectorConfig::new(), 42)?;
/// reflector.start(now);
/// let command = reflector.poll_command(now).unwrap();
/// let kept: OwnedCommand<String> = command.to_owned();
/// assert_eq!(kept.as_command(), command);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "transports handle every command")]
pub enum OwnedCommand<X> {
    /// Send this request. Signals of an earlier exchange are no longer needed.
    Open {
        /// Identifies the signals of this exchange.
        exchange: ExchangeId,
        /// The request.
        request: OwnedRequest<X>,
    },
    /// Drop this exchange. Its remaining signals are not needed.
    Abort(ExchangeId),
}

impl<X> OwnedCommand<X> {
    /// The exchange that this opens or aborts.
    pub const fn exchange(&self) -> ExchangeId {
        match self {
            Self::Open { exchange, .. } | Self::Abort(exchange) => *exchange,
        }
    }
}

/// A list or watch request, without the parts that never change.
pub type Request<'a> = OwnedRequest<&'a str>;

/// A [`Request`] with texts of the type `X`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "transports handle every request")]
pub enum OwnedRequest<X> {
    /// `GET …?resourceVersion=…&limit=…&continue=…`
    ///
    /// With a limit, [`OwnedAt::Version`] also needs `resourceVersionMatch=NotOlderThan`. Otherwise the
    /// server returns exactly that version. After an expired watch this would return the expired
    /// state again and again. [`OwnedAt::Exact`] asks for that on purpose: `resourceVersionMatch=Exact`.
    List {
        /// The state to list.
        version: OwnedAt<X>,
        /// The most objects in this page; `None` for all of them.
        limit: Option<u32>,
        /// The token from the previous page. `version` is then [`OwnedAt::Latest`].
        page: Option<X>,
    },
    /// `GET …?watch=true&allowWatchBookmarks=true&resourceVersion=…&timeoutSeconds=…`
    Watch {
        /// Send the events after this version.
        version: OwnedAt<X>,
        /// When the server should end the watch.
        timeout: Duration,
        /// Send the whole state first, ended by a marked bookmark:
        /// `sendInitialEvents=true&resourceVersionMatch=NotOlderThan`.
        initial_events: bool,
    },
}

/// The `resourceVersion` of a request.
pub type At<'a> = OwnedAt<&'a str>;

/// An [`At`] with a text of the type `X`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has four forms")]
pub enum OwnedAt<X> {
    /// The empty version: the newest state, read from etcd.
    Latest,
    /// `0`: any state that the server has in memory.
    Any,
    /// A version seen before: for a list, this or a newer one; for a watch, the events after it.
    Version(X),
    /// For a list: the state at exactly this version, which a server keeps for some minutes. A watch treats
    /// it as [`Version`](Self::Version).
    Exact(X),
}

impl<X: AsRef<str>> OwnedAt<X> {
    /// Classifies the version of an object or a list.
    #[must_use]
    pub fn from_text(text: X) -> Self {
        match text.as_ref() {
            "" => Self::Latest,
            "0" => Self::Any,
            _ => Self::Version(text),
        }
    }
}

impl<'a> At<'a> {
    /// The value of the query parameter `resourceVersion`.
    #[must_use]
    pub const fn as_str(self) -> &'a str {
        match self {
            Self::Latest => "",
            Self::Any => "0",
            Self::Version(version) | Self::Exact(version) => version,
        }
    }
}

/// What happened on the network.
///
/// ```
/// use informer_core::decode::{Decoder, Lean};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, Signal};
/// use informer_core::{Failure, Informer, InformerConfig, Instant};
///
/// let now = Instant::from_micros(0);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Lean), InformerConfig::new(), 42)?;
/// informer.start(now);
/// let Some(Command::Open { exchange, .. }) = informer.poll_command(now) else { panic!() };
/// let failed = Signal::Failed { failure: Failure::Unreachable, message: "no route to host" };
/// informer.signal(exchange, failed, now);
/// let last = informer.status().last_failure.unwrap();
/// assert_eq!(last.failure, Failure::Unreachable);
/// assert_eq!(last.message, "no route to host");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "drivers pass on every signal")]
pub enum Signal<'a> {
    /// The head of a successful answer arrived, with the encoding of its body. Without this signal,
    /// the body is read as [`Encoding::Json`].
    Opened(Encoding),
    /// A piece of the body, of any size.
    Bytes(&'a [u8]),
    /// The body is complete.
    Closed,
    /// The exchange failed: the answer was not successful, or the connection broke.
    Failed {
        /// The class of the failure.
        failure: Failure,
        /// The details for people, such as the certificate or the missing permission. Only the
        /// first [`MAX_MESSAGE`](crate::failure::MAX_MESSAGE) bytes are kept.
        message: &'a str,
    },
}

/// Executes commands and reports signals.
///
/// ```
/// use core::task::{Context, Poll, Waker};
/// use informer_core::decode::{Decoder, Lean};
/// use informer_core::reflector::FirstState;
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, ExchangeId, Signal, Transport};
/// use informer_core::{Informer, InformerConfig, Instant};
///
/// /// Gives the same answer to every request.
/// struct Canned {
///     exchange: Option<ExchangeId>,
///     rest: &'static [u8],
/// }
///
/// impl Transport for Canned {
///     fn execute(&mut self, command: Command<'_>) {
///         match command {
///             Command::Open { exchange, .. } => {
///                 self.exchange = Some(exchange);
///                 self.rest = br#"{"metadata":{"resourceVersion":"7"},"items":[]}"#;
///             }
///             Command::Abort(_) => self.exchange = None,
///         }
///     }
///
///     fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
///         match self.exchange {
///             Some(exchange) if self.rest.is_empty() => Poll::Ready((exchange, Signal::Closed)),
///             Some(exchange) => Poll::Ready((exchange, Signal::Bytes(self.rest))),
///             None => Poll::Pending,
///         }
///     }
///
///     fn consume(&mut self, n: usize) {
///         match self.rest {
///             [] => self.exchange = None,
///             rest => self.rest = &rest[n..],
///         }
///     }
/// }
///
/// let now = Instant::from_micros(0);
/// let mut config = InformerConfig::new();
/// config.reflector.first_state = FirstState::Listed;
/// let mut informer: Informer<_, Heap> = Informer::new(Decoder::new(Lean), config, 42)?;
/// informer.start(now);
/// let mut transport = Canned { exchange: None, rest: b"" };
/// transport.execute(informer.poll_command(now).unwrap());
/// let mut cx = Context::from_waker(Waker::noop());
/// while let Poll::Ready((exchange, signal)) = transport.poll_signal(&mut cx) {
///     // `None` would mean that a listener is full: try again later.
///     let n = informer.signal(exchange, signal, now).unwrap();
///     transport.consume(n);
/// }
/// assert!(informer.is_synced());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Transport {
    /// Starts to execute `command`. It must not block.
    fn execute(&mut self, command: Command<'_>);

    /// Returns the next signal, or arranges a wake-up. This is a peek: it returns the same signal
    /// until [`consume`](Self::consume) removes it.
    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)>;

    /// Removes `n` bytes from a [`Signal::Bytes`], or removes any other signal. The remaining bytes
    /// are returned again, before what follows.
    fn consume(&mut self, n: usize);
}

macro_rules! transport_through_pointer {
    ($pointer:ty) => {
        impl<T: Transport + ?Sized> Transport for $pointer {
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
    };
}

transport_through_pointer!(&mut T);
#[cfg(feature = "alloc")]
transport_through_pointer!(alloc::boxed::Box<T>);
