//! Faults: what goes wrong between a server and its clients, on purpose.

// The effect of a fault on a body.
pub(crate) mod body;

// Forged answers.
pub(crate) mod forged;

// Which request gets which fault.
mod plan;

use std::time::Duration;

pub use plan::FaultPlan;

/// A fault in one request or its answer.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use informer_core::transport::{Signal, Target, Transport};
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::storage::Heap;
/// use informer_core::{Informer, InformerConfig};
/// use informer_transport_mock::fault::Fault;
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// let clock = VirtualClock::new();
/// let server = MockServer::new(ServerConfig::new(42), clock.clone());
/// server.inject(Fault::Refuse);
///
/// let mut transport = server.transport(&Target::new("", "v1", "pods"), 1);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 1)?;
/// informer.start(clock.now());
/// while let Some(command) = informer.poll_command(clock.now()) {
///     transport.execute(command);
/// }
/// let mut cx = Context::from_waker(Waker::noop());
/// let Poll::Ready((_, signal)) = transport.poll_signal(&mut cx) else { panic!() };
/// assert!(matches!(signal, Signal::Failed { .. }));
/// assert_eq!(server.fault_counts()["refuse"], 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// The connection is refused.
    Refuse,
    /// The server throttles the client: 429 with `Retry-After`.
    Throttle {
        /// The value of `Retry-After`, in seconds.
        retry_after: u32,
    },
    /// The version or the page token has expired: 410.
    Expire,
    /// The server fails: 500.
    Fail,
    /// A write is refused, because another one came first: 409. Lists and watches are answered.
    Conflict,
    /// The answer arrives this much later than it was made.
    Delay(Duration),
    /// The connection breaks in the middle of the body.
    Reset {
        /// How many bytes of the body arrive first.
        after: usize,
    },
    /// The body stops arriving, but the connection stays open.
    Stall {
        /// How many bytes of the body arrive first.
        after: usize,
    },
    /// A watch ends cleanly, before its time.
    Close {
        /// How many events arrive first.
        after: usize,
    },
    /// A watch sends no bookmarks, except the one that ends a streamed list.
    DropBookmarks,
    /// A streamed list never sends its end bookmark.
    NoEndBookmark,
    /// One object is unreadable.
    Corrupt {
        /// Which object of the list or the watch, from 0.
        nth: usize,
        /// Whether its name is unreadable too.
        nameless: bool,
    },
    /// Objects of a streamed list and bookmarks arrive twice.
    Duplicate,
    /// The objects of a list, streamed or not, arrive in another order.
    Reorder {
        /// The seed of the order.
        seed: u64,
    },
    /// A watch from a version sends one line and ends at once.
    Flicker(FlickerLine),
    /// A list has no objects, and always another page.
    EndlessPages {
        /// Whether the page token stays the same.
        repeats: bool,
    },
}

/// The line that a watch sends under [`Fault::Flicker`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum FlickerLine {
    /// A bookmark at the version where the watch began.
    Bookmark,
    /// A bookmark at a version that the server does not accept.
    Garbage,
    /// A bookmark at a version of a hundred thousand digits.
    Long,
    /// An event of an unknown type.
    Strange,
}

impl Fault {
    /// A short name, as in [`MockServer::fault_counts`](crate::MockServer::fault_counts).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Throttle { .. } => "throttle",
            Self::Expire => "expire",
            Self::Fail => "fail",
            Self::Conflict => "conflict",
            Self::Delay(_) => "delay",
            Self::Reset { .. } => "reset",
            Self::Stall { .. } => "stall",
            Self::Close { .. } => "close",
            Self::DropBookmarks => "drop-bookmarks",
            Self::NoEndBookmark => "no-end-bookmark",
            Self::Corrupt { nameless: true, .. } => "corrupt-name",
            Self::Corrupt { .. } => "corrupt",
            Self::Duplicate => "duplicate",
            Self::Reorder { .. } => "reorder",
            Self::Flicker(FlickerLine::Bookmark) => "flicker-bookmark",
            Self::Flicker(FlickerLine::Garbage) => "flicker-garbage",
            Self::Flicker(FlickerLine::Long) => "flicker-long",
            Self::Flicker(FlickerLine::Strange) => "flicker-strange",
            Self::EndlessPages { repeats: false } => "endless-pages",
            Self::EndlessPages { repeats: true } => "repeated-page",
        }
    }
}
