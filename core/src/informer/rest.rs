//! A rest of the informer, or of one of its listeners. Nothing is lost meanwhile.

use super::Informer;
use super::source::Source;
use crate::decode::Decode;
use crate::processor::ListenerId;
use crate::storage::Storage;
use crate::time::Instant;

impl<D: Decode, S: Storage> Source<D, S> {
    fn suspend(&mut self, now: Instant) {
        self.reflector.suspend(now);
        // Nobody may believe that the store has reached the version of what is dropped.
        self.gaps.incomplete |= !self.queue.is_empty();
        self.queue.reset();
    }
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Suspends the informer: it aborts its request and sends no other, and listeners get nothing. The store
    /// stays as it is and is readable, and so does everything that waits for the listeners. Only changes
    /// that the store does not show yet are dropped: [`resume`](Self::resume) reads them again. Does nothing
    /// before the start and after a stop.
    pub fn suspend(&mut self, now: Instant) {
        let now = self.tick(now);
        if !self.started || self.suspended || self.is_stopped() {
            return;
        }
        self.suspended = true;
        for at in 0..self.sources.bound() {
            let source = self.sources.get_mut(at);
            if let Some(source) = source.filter(|source| !source.leaving) {
                source.suspend(now);
            }
        }
        self.processor.hold();
        self.resync_at = None;
        self.settle_if_settled();
    }

    /// Goes on after a [suspension](Self::suspend). It reads the full state. Each listener gets what has
    /// waited for it, and then the difference between the store and the new state. Does nothing if the
    /// informer is not suspended.
    pub fn resume(&mut self, now: Instant) {
        let now = self.tick(now);
        if core::mem::take(&mut self.suspended) {
            self.each_source(|source| source.reflector.resume(now));
            self.processor.release();
            self.pump();
        }
    }

    /// Whether it is [suspended](Self::suspend).
    #[must_use]
    pub const fn is_suspended(&self) -> bool {
        self.suspended
    }

    /// Notes that the definition of the kind was deleted. Its objects were deleted before, but the watch may have
    /// ended before it could report that. So the next list that is answered with 404 empties the store, also
    /// with [`WhenGone::Keep`](crate::reflector::WhenGone::Keep).
    pub fn definition_deleted(&mut self, now: Instant) {
        let now = self.tick(now);
        self.each_source(|source| source.reflector.definition_deleted(now));
    }

    /// Reads the full state now, if the informer waits for its next try to do so; with several sources, each
    /// that does. The request is still paced. For example, a CRD was just installed, and the informer would look for its kind in a minute.
    pub fn hurry(&mut self, now: Instant) {
        let now = self.tick(now);
        self.each_source(|source| source.reflector.hurry(now));
    }

    /// Pauses a listener: it gets nothing until it is [resumed](Self::resume_listener). What waits for it is
    /// subject to its [policy](crate::processor::Backlog) as ever: with
    /// [`Stall`](crate::processor::Backlog::Stall) it will hold up the informer. Returns whether the listener
    /// exists.
    pub fn pause_listener(&mut self, listener: ListenerId) -> bool {
        self.processor.pause(listener)
    }

    /// Ends the [pause](Self::pause_listener) of a listener. Returns whether the listener exists.
    pub fn resume_listener(&mut self, listener: ListenerId) -> bool {
        self.processor.resume(listener)
    }
}
