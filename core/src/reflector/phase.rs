//! What a reflector is doing: one struct for each phase, with only what that phase needs.

use core::time::Duration;

use super::pages::Pages;
use crate::failure::Failure;
use crate::time::Instant;
use crate::transport::{ExchangeId, OwnedAt as At, OwnedRequest as Request};

/// What the reflector is doing.
#[derive(Clone, Debug)]
pub(super) enum State<X> {
    /// Not started.
    Idle,
    Listing(Listing<X>),
    Streaming(Streaming<X>),
    Watching(Watching<X>),
    Waiting(Waiting),
    /// Over, for good.
    Stopped,
}

impl<X> State<X> {
    pub(super) const fn exchange(&self) -> Option<&Exchange<X>> {
        match self {
            Self::Listing(listing) => Some(&listing.exchange),
            Self::Streaming(streaming) => Some(&streaming.exchange),
            Self::Watching(watching) => Some(&watching.exchange),
            Self::Idle | Self::Waiting(_) | Self::Stopped => None,
        }
    }

    pub(super) const fn exchange_mut(&mut self) -> Option<&mut Exchange<X>> {
        match self {
            Self::Listing(listing) => Some(&mut listing.exchange),
            Self::Streaming(streaming) => Some(&mut streaming.exchange),
            Self::Watching(watching) => Some(&mut watching.exchange),
            Self::Idle | Self::Waiting(_) | Self::Stopped => None,
        }
    }

    /// What it is, for people and probes. A request that is held back is a wait, and `cause` says why
    /// there had to be so many.
    pub(super) fn phase(&self, cause: Failure) -> Phase {
        let (exchange, then, phase) = match self {
            Self::Idle => return Phase::Idle,
            Self::Stopped => return Phase::Stopped,
            Self::Waiting(waiting) => {
                let Waiting { until, then, cause } = *waiting;
                return Phase::Waiting { until, cause, then };
            }
            Self::Listing(listing) => {
                let (items, remaining) = (listing.items, listing.remaining);
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

/// A full state is read by a list.
#[derive(Clone, Debug)]
pub(super) struct Listing<X> {
    pub(super) exchange: Exchange<X>,
    /// The version asked for with the first page.
    pub(super) at: At<X>,
    pub(super) limit: Option<u32>,
    /// The version of the list, which is that of its first page, if it has one.
    pub(super) version: Option<X>,
    /// The one list without pages that follows an expired token.
    pub(super) unpaged: bool,
    /// The one list at the newest version that follows a version which the server does not have.
    pub(super) retried: bool,
    pub(super) items: u64,
    pub(super) remaining: Option<u64>,
    pub(super) pages: Pages<X>,
}

/// A full state is read by a watch that begins with it.
#[derive(Clone, Debug)]
pub(super) struct Streaming<X> {
    /// It begins with its answer: the time in which an answer is held back is not the server's.
    pub(super) exchange: Exchange<X>,
    pub(super) events: u64,
    /// When the last event came.
    pub(super) last_event: Instant,
}

/// The state is known, and changes are followed.
#[derive(Clone, Debug)]
pub(super) struct Watching<X> {
    /// It begins with its request, as proxies hold back heads; behind a streamed state, where that ends.
    pub(super) exchange: Exchange<X>,
    pub(super) events: u64,
    /// Whether the versions of ADDED events say how far we are. Not at the beginning of a watch that
    /// starts without a version: it shows the present state in no order of versions.
    pub(super) adopts_added: bool,
}

/// Nothing is asked until a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) until: Instant,
    pub(super) then: AfterWait,
    pub(super) cause: Failure,
}

/// What follows a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum AfterWait {
    /// The full state is read, in whichever way is configured.
    FullState,
    /// A streamed state is asked for again.
    Stream,
    /// The watch goes on from where it was.
    Watch,
}

/// One request, and what has come of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange<X> {
    pub(super) id: ExchangeId,
    pub(super) request: Request<X>,
    /// The command is held back until then: too many requests came before it.
    pub(super) due: Option<Instant>,
    /// When it began: at first when the command was taken. Nothing is timed before that.
    pub(super) began: Option<Instant>,
    pub(super) opened: bool,
    /// When something was last heard, or the command was taken.
    pub(super) heard: Instant,
}

impl<X> Exchange<X> {
    pub(super) const fn new(id: ExchangeId, request: Request<X>, due: Option<Instant>) -> Self {
        Self {
            id,
            request,
            due,
            began: None,
            opened: false,
            heard: Instant::from_micros(0),
        }
    }

    /// Whether less than `duration` has passed since it began.
    pub(super) fn is_younger_than(&self, duration: Duration, now: Instant) -> bool {
        self.began.is_none_or(|began| now.since(began) < duration)
    }

    /// The answer has begun. Says whether that is news.
    pub(super) const fn open(&mut self, now: Instant) -> bool {
        self.heard = now;
        !core::mem::replace(&mut self.opened, true)
    }
}

/// What a reflector is doing, for people and probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Phase {
    /// It was not started.
    Idle,
    /// It reads the full state by a list.
    Listing {
        /// Objects received so far.
        items: u64,
        /// Objects on pages to come, if the server told.
        remaining: Option<u64>,
    },
    /// It reads the full state by a watch.
    Streaming {
        /// Events received so far.
        items: u64,
    },
    /// It watches for changes, or asks for a watch: `following` in the status says which.
    Watching,
    /// It waits before it asks again.
    Waiting {
        /// Until when.
        until: Instant,
        /// Why.
        cause: Failure,
        /// What it will do then.
        then: AfterWait,
    },
    /// It was stopped.
    Stopped,
}
