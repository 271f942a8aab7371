//! A rest that can be ended: no requests, and nothing is forgotten.

use super::Reflector;
use super::phase::State;
use crate::flow::Change;
use crate::object::Resource;
use crate::storage::Storage;
use crate::time::Instant;

impl<S: Storage> Reflector<S> {
    /// Sends no request until [`resume`](Self::resume), and aborts the one in flight. Returns the change
    /// that this means. Does nothing before the start and after a stop.
    #[must_use = "a change is returned once"]
    pub fn suspend<T: Resource>(&mut self, now: Instant) -> Option<Change<T>> {
        self.tick(now);
        let (begun, items) = match &self.state {
            State::Idle | State::Suspended | State::Stopped => return None,
            State::Listing(listing) => {
                let begun = listing.exchange.opened || !listing.pages.is_first();
                (begun, listing.pages.items)
            }
            State::Streaming(streaming) => (streaming.exchange.opened, streaming.events),
            State::Watching(_) | State::Waiting(_) => (false, 0),
        };
        self.abort_exchange();
        self.interrupt_full_state(items);
        self.attempt.suspend();
        self.absence = None;
        self.state = State::Suspended;
        begun.then_some(Change::ReplaceAbandon)
    }

    /// Reads the full state after a [suspension](Self::suspend). It is at least as new as the version known
    /// before.
    pub fn resume(&mut self, now: Instant) {
        self.tick(now);
        if matches!(self.state, State::Suspended) {
            self.state = self.full_state();
        }
    }
}
