//! A kind that the server does not serve: its CRD is not installed yet, or no longer.

use core::time::Duration;

use super::backoff::Backoff;
use super::config::{BackoffConfig, BackoffReset, GoneConfig, WhenGone};
use super::phase::{AfterWait, State, Waiting};
use super::{Outcome, Reflector};
use crate::failure::Failure;
use crate::flow::Change;
use crate::object::Resource;
use crate::storage::Storage;
use crate::time::Instant;

/// Lists have been answered with 404, and no full state has been read since.
#[derive(Clone, Debug)]
pub(super) struct Absence {
    backoff: Backoff,
}

impl Absence {
    const fn new(config: GoneConfig, now: Instant) -> Self {
        let backoff = BackoffConfig {
            base: config.base,
            cap: config.cap,
            // Time alone does not make the delays start over.
            reset: BackoffReset::AfterHealth(Duration::MAX),
        };
        Self {
            backoff: Backoff::new(backoff, now),
        }
    }

    /// Begins again with short delays.
    pub(super) const fn start_over(&mut self, now: Instant) {
        self.backoff.start_over(now);
    }
}

impl<S: Storage> Reflector<S> {
    /// Whether the server does not serve the kind: it answered the last list with 404. After a stop, this
    /// is true only if that was the reason.
    #[must_use]
    pub const fn is_gone(&self) -> bool {
        self.absence.is_some()
    }

    /// Notes that the definition of the kind was deleted, so its objects were, too: until a full state is
    /// read, a single 404 [empties](WhenGone::Empty) the store, also with [`WhenGone::Keep`]. If the kind was
    /// [gone](Self::is_gone) already, the next list is sent now.
    pub fn definition_deleted(&mut self, now: Instant) {
        self.definition_deleted = true;
        if self.is_gone() {
            self.hurry(now);
        }
    }

    /// Handles a list that was answered with 404. Watches and streamed states that are answered so lead to
    /// a list, so only this decides that the kind is gone.
    pub(super) fn miss_kind<T: Resource>(&mut self, abandoned: Option<Change<T>>) -> Outcome<S, T> {
        let cause = Failure::NotFound;
        let Some(config) = self.config.gone else {
            return (self.leave(cause), abandoned);
        };
        let again = self.absence.is_some();
        if again && config.then == WhenGone::Stop {
            return (State::Stopped, Some(Change::KindGone));
        }
        let absence = self
            .absence
            .get_or_insert_with(|| Absence::new(config, self.now));
        let delay = absence
            .backoff
            .delay(Duration::ZERO, &mut self.rng, self.now);
        let waiting = State::Waiting(Waiting {
            until: self.now.after(delay),
            then: AfterWait::FullState,
            cause,
        });
        let is_empty = match config.then {
            WhenGone::Keep => self.definition_deleted,
            WhenGone::Empty => again || self.definition_deleted,
            WhenGone::Stop => false,
        };
        // The first pages of a list may have come in, so there may be something to delete each time.
        let change = if is_empty {
            Some(Change::KindGone)
        } else {
            abandoned
        };
        (waiting, change)
    }
}
