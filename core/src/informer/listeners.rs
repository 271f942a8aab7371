//! Adding and polling listeners.

use super::pump::PLACES;
use super::{AddListenerError, Informer, KeyOf, RejectedObject};
use crate::decode::Decode;
use crate::flow::Notification;
use crate::processor::{ListenerConfig, ListenerId};
use crate::storage::Storage;
use crate::time::Instant;

/// Listeners, and what they receive.
impl<D: Decode, S: Storage> Informer<D, S> {
    /// Adds a listener. It first gets all objects that are in the store.
    ///
    /// # Errors
    /// The informer has been stopped, or there is no room.
    pub fn add_listener(
        &mut self,
        config: ListenerConfig,
        now: Instant,
    ) -> Result<ListenerId, AddListenerError> {
        if self.is_stopped() {
            return Err(AddListenerError::Stopped);
        }
        let now = self.tick(now);
        Ok(self.processor.add_listener(config, &self.store, now)?)
    }

    /// Leaves out what a listener has not seen yet of the store as it was when it joined. It still gets
    /// every change since then.
    pub fn skip_replay(&mut self, listener: ListenerId) {
        self.places = PLACES;
        self.processor.skip_replay(listener);
        self.pump_on();
    }

    /// Removes a listener and drops everything that waits for it. Returns whether it existed.
    pub fn remove_listener(&mut self, listener: ListenerId) -> bool {
        self.places = PLACES;
        let removed = self.processor.remove_listener(listener);
        self.pump_on();
        removed
    }

    /// A listener that has new notifications, or that became synced when the informer did, since this last
    /// returned it.
    pub fn poll_ready_listener(&mut self) -> Option<ListenerId> {
        self.processor.poll_ready_listener()
    }

    /// Takes the next notification of a listener, and acknowledges those before.
    #[must_use = "a notification is delivered once"]
    pub fn poll_notification(&mut self, listener: ListenerId) -> Option<Notification<D::Object>> {
        let mut next = None;
        self.poll_notifications(listener, 1, |notification| next = Some(notification));
        next
    }

    /// Takes up to `most` notifications of a listener, acknowledges those of earlier calls, and returns
    /// how many there were.
    pub fn poll_notifications(
        &mut self,
        listener: ListenerId,
        most: usize,
        give: impl FnMut(Notification<D::Object>),
    ) -> usize {
        self.places = PLACES;
        let given = self
            .processor
            .poll_notifications(listener, &self.store, most, give);
        self.pump_on();
        given
    }

    /// Takes a report of an object that could not be used. The newest 64 of each source are kept.
    #[must_use = "a report is delivered once"]
    pub fn poll_rejected(&mut self) -> Option<RejectedObject<KeyOf<D>, S::Text>> {
        (0..self.sources.bound()).find_map(|at| self.sources.get_mut(at)?.gaps.reports.pop())
    }
}
