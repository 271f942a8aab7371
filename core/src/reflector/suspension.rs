//! A rest that can be ended: no requests, and nothing is forgotten.

use super::Reflector;
use super::phase::State;
use crate::storage::Storage;
use crate::time::Instant;

impl<S: Storage> Reflector<S> {
    /// Sends no request until [`resume`](Self::resume), and aborts the one in flight. A full state that is
    /// not complete is replaced by the next one. Does nothing before the start and after a stop.
    pub fn suspend(&mut self, now: Instant) {
        self.tick(now);
        let items = match &self.state {
            State::Idle | State::Suspended | State::Stopped => return,
            State::Listing(listing) => listing.pages.items,
            State::Streaming(streaming) => streaming.events,
            State::Watching(_) | State::Waiting(_) => 0,
        };
        self.abort_exchange();
        self.interrupt_full_state(items);
        self.attempt.suspend();
        self.absence = None;
        self.state = State::Suspended;
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
