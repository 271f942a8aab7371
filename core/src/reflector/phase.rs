//! The phases of a reflector: one struct per phase, with only what that phase needs.

use core::fmt;
use core::time::Duration;

use super::pages::Pages;
use crate::failure::Failure;
use crate::time::Instant;
use crate::transport::{ExchangeId, OwnedAt, OwnedRequest};

/// The current phase and its data.
#[derive(Clone, Debug)]
pub(super) enum State<X> {
    /// Not started.
    Idle,
    Listing(Listing<X>),
    Streaming(Streaming<X>),
    Watching(Watching<X>),
    Waiting(Waiting),
    /// At rest until it is resumed.
    Suspended,
    /// Stopped for good.
    Stopped,
}

impl<X> State<X> {
    pub(super) const fn exchange(&self) -> Option<&Exchange<X>> {
        match self {
            Self::Listing(Listing { exchange, .. })
            | Self::Streaming(Streaming { exchange, .. })
            | Self::Watching(Watching { exchange, .. }) => Some(exchange),
            Self::Idle | Self::Waiting(_) | Self::Suspended | Self::Stopped => None,
        }
    }

    pub(super) const fn exchange_mut(&mut self) -> Option<&mut Exchange<X>> {
        match self {
            Self::Listing(Listing { exchange, .. })
            | Self::Streaming(Streaming { exchange, .. })
            | Self::Watching(Watching { exchange, .. }) => Some(exchange),
            Self::Idle | Self::Waiting(_) | Self::Suspended | Self::Stopped => None,
        }
    }

    /// Returns the public phase. A request that is held back counts as a wait; `cause` says why it is
    /// held back.
    pub(super) fn phase(&self, cause: Failure) -> Phase {
        let (exchange, then, phase) = match self {
            Self::Idle => return Phase::Idle,
            Self::Suspended => return Phase::Suspended,
            Self::Stopped => return Phase::Stopped,
            Self::Waiting(waiting) => {
                let Waiting { until, then, cause } = *waiting;
                return Phase::Waiting { until, cause, then };
            }
            Self::Listing(listing) => {
                let (items, remaining) = (listing.pages.items, listing.remaining);
                let phase = Phase::Listing { items, remaining };
                (&listing.exchange, AfterWait::FullState, phase)
            }
            Self::Streaming(streaming) => {
                let items = streaming.events;
                let phase = Phase::Streaming { items };
                (&streaming.exchange, AfterWait::Stream, phase)
            }
            Self::Watching(watching) => (&watching.exchange, AfterWait::Watch, Phase::Watching),
        };
        let held_back = |until| Phase::Waiting { until, cause, then };
        exchange.due.map_or(phase, held_back)
    }
}

/// Reading a full state with a list.
#[derive(Clone, Debug)]
pub(super) struct Listing<X> {
    pub(super) exchange: Exchange<X>,
    /// The version that the request for the first page carries.
    pub(super) at: OwnedAt<X>,
    pub(super) limit: Option<u32>,
    /// The version of the list, from its first page. `None` if that page has no version.
    pub(super) version: Option<X>,
    /// This is the one list without pages that follows an expired token.
    pub(super) unpaged: bool,
    /// This is the one list at the newest version that follows a version the server does not have.
    pub(super) retried: bool,
    pub(super) remaining: Option<u64>,
    pub(super) pages: Pages<X>,
}

/// Reading a full state with a watch that begins with it.
#[derive(Clone, Debug)]
pub(super) struct Streaming<X> {
    /// Its time starts with the answer: the transport may hold the request back, which is not the
    /// server's fault.
    pub(super) exchange: Exchange<X>,
    pub(super) events: u64,
    /// When the last event arrived.
    pub(super) last_event: Instant,
}

/// Following changes after a full state.
#[derive(Clone, Debug)]
pub(super) struct Watching<X> {
    /// Its time starts with the request, because proxies hold back response heads. After a streamed
    /// state it starts at the end of that state.
    pub(super) exchange: Exchange<X>,
    pub(super) events: u64,
    /// Whether the versions of ADDED events are adopted. False at the start of a watch without a
    /// version: that watch begins with the current objects, in no order of versions.
    pub(super) adopts_added: bool,
}

/// Sending no request until a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) until: Instant,
    pub(super) then: AfterWait,
    pub(super) cause: Failure,
}

/// The request that follows a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum AfterWait {
    /// A request for the full state, streamed or listed as configured.
    FullState,
    /// A request for a streamed state.
    Stream,
    /// A watch from the last known version.
    Watch,
}

/// One request and its answer so far.
#[derive(Clone, Debug)]
pub(super) struct Exchange<X> {
    pub(super) id: ExchangeId,
    pub(super) request: OwnedRequest<X>,
    /// The command is held back until then, because there were too many requests before it.
    pub(super) due: Option<Instant>,
    /// When the time of the exchange started: when the command was taken, unless the phase moves it.
    /// Nothing is timed before that.
    pub(super) began: Option<Instant>,
    pub(super) opened: bool,
    /// When something was last received, or else when the command was taken.
    pub(super) heard: Instant,
}

impl<X> Exchange<X> {
    /// Whether less than `duration` has passed since the exchange began.
    pub(super) fn is_younger_than(&self, duration: Duration, now: Instant) -> bool {
        self.began.is_none_or(|began| now.since(began) < duration)
    }

    /// Records that the answer has begun. Returns whether it is the first time.
    pub(super) const fn open(&mut self, now: Instant) -> bool {
        self.heard = now;
        !core::mem::replace(&mut self.opened, true)
    }
}

/// The current activity of a reflector, for status pages and probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Phase {
    /// Not started.
    Idle,
    /// Reading the full state with a list.
    Listing {
        /// Objects received so far.
        items: u64,
        /// Objects on later pages, if the server reports it.
        remaining: Option<u64>,
    },
    /// Reading the full state with a watch.
    Streaming {
        /// Events received so far.
        items: u64,
    },
    /// Watching for changes, or opening a watch. `following` in the status tells the two apart.
    Watching,
    /// Waiting before the next request.
    Waiting {
        /// When the wait ends.
        until: Instant,
        /// Why the reflector waits.
        cause: Failure,
        /// The request that follows.
        then: AfterWait,
    },
    /// At rest until it is resumed.
    Suspended,
    /// Stopped for good.
    Stopped,
}

impl Phase {
    /// One word for metrics and data. It never changes.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Listing { .. } => "listing",
            Self::Streaming { .. } => "streaming",
            Self::Watching => "watching",
            Self::Waiting { .. } => "waiting",
            Self::Suspended => "suspended",
            Self::Stopped => "stopped",
        }
    }
}

/// A few words for people. `until` is left out of a wait: it is a point on the clock of the program.
impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle => f.write_str("not started"),
            Self::Listing { items, remaining } => {
                write!(f, "listing, {items} received")?;
                remaining.map_or(Ok(()), |left| write!(f, ", {left} to come"))
            }
            Self::Streaming { items } => write!(f, "streaming the state, {items} received"),
            Self::Watching => f.write_str("watching"),
            Self::Waiting { cause, then, .. } => write!(f, "waiting to {then}: {cause}"),
            Self::Suspended => f.write_str("suspended"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

/// What happens then, after "waiting to".
impl fmt::Display for AfterWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullState => "read the state",
            Self::Stream => "stream the state",
            Self::Watch => "watch",
        })
    }
}
