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
    pub(super) const fn phase(&self, cause: Failure) -> Phase {
        if let Some(Exchange {
            due: Some(until), ..
        }) = self.exchange()
        {
            return Phase::Waiting {
                until: *until,
                cause,
                then: match self {
                    Self::Watching(_) => Next::Watch,
                    Self::Streaming(_) => Next::Stream,
                    _ => Next::FullState,
                },
            };
        }
        match self {
            Self::Idle => Phase::Idle,
            Self::Listing(listing) => Phase::Listing {
                items: listing.items,
                remaining: listing.remaining,
            },
            Self::Streaming(streaming) => Phase::Streaming {
                items: streaming.events,
            },
            Self::Watching(_) => Phase::Watching,
            Self::Waiting(waiting) => Phase::Waiting {
                until: waiting.until,
                cause: waiting.cause,
                then: waiting.then,
            },
            Self::Stopped => Phase::Stopped,
        }
    }
}

/// A full state is read by a list.
#[derive(Clone, Debug)]
pub(super) struct Listing<X> {
    pub(super) exchange: Exchange<X>,
    /// The version asked for with the first page.
    pub(super) at: At<X>,
    pub(super) limit: Option<u32>,
    /// The version of the list, which is that of its first page. `None` during the first page.
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
    pub(super) exchange: Exchange<X>,
    /// When its answer began; as long as there is none, when the command was taken. The time in which an
    /// answer is held back is not the server's.
    pub(super) since: Option<Instant>,
    pub(super) events: u64,
    /// When the last event came.
    pub(super) last_event: Instant,
}

impl<X> Streaming<X> {
    /// Whether less than `duration` has passed since it began.
    pub(super) fn is_younger_than(&self, duration: Duration, now: Instant) -> bool {
        self.since.is_none_or(|since| now.since(since) < duration)
    }
}

/// The state is known, and changes are followed.
#[derive(Clone, Debug)]
pub(super) struct Watching<X> {
    pub(super) exchange: Exchange<X>,
    /// When the watch began; the request counts, as proxies hold back heads.
    pub(super) since: Option<Instant>,
    pub(super) events: u64,
    /// Whether the versions of ADDED events say how far we are. Not at the beginning of a watch that
    /// starts without a version: it shows the present state in no order of versions.
    pub(super) adopts_added: bool,
}

/// Nothing is asked until a point in time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) until: Instant,
    pub(super) then: Next,
    pub(super) cause: Failure,
}

/// What follows a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Next {
    /// Reading the full state, in whichever way is configured.
    FullState,
    /// Asking again for a streamed state.
    Stream,
    /// Watching on from where we were.
    Watch,
}

/// One request, and what has come of it.
#[derive(Clone, Debug)]
pub(super) struct Exchange<X> {
    pub(super) id: ExchangeId,
    pub(super) request: Request<X>,
    /// The command is held back until then: too many requests came before it.
    pub(super) due: Option<Instant>,
    /// Whether the command was taken. Nothing is timed before that.
    pub(super) taken: bool,
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
            taken: false,
            opened: false,
            heard: Instant::from_micros(0),
        }
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
        then: Next,
    },
    /// It was stopped.
    Stopped,
}
