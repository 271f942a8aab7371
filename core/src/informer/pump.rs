//! Applies changes: queue → store → listeners.

use super::{Informer, SameVersion};
use crate::decode::Decode;
use crate::flow::{Cause, Delta, Notification, Step};
use crate::indexer::{Indexer, Notifications};
use crate::object::Resource;
use crate::processor::{Audience, Moment};
use crate::storage::{Full, Storage};

/// How many places of the store one call visits for a sweep or a resync.
pub(super) const PLACES: u32 = 256;

/// The notifications of an applied step that wait until all listeners have room. The store already
/// shows the step.
pub(super) struct Unpublished<T: Resource> {
    pub(super) notifications: Notifications<T>,
    /// When the store began to show the step.
    since: Moment,
}

impl<T: Resource> Unpublished<T> {
    pub(super) const fn nothing(since: Moment) -> Self {
        Self {
            notifications: Notifications::Nothing,
            since,
        }
    }
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Applies queued changes and the findings of a sweep or a resync, until nothing is left (`true`) or a
    /// listener is full (`false`). The store changes before listeners are notified. One call of the
    /// informer visits at most [`PLACES`] places of the store, so that no call gets slower as the store
    /// grows.
    pub(super) fn pump(&mut self) -> bool {
        if self.is_stopped() {
            return true;
        }
        loop {
            self.apply_queued();
            // The walk itself needs no room in the backlogs; only its findings do.
            let found = self.queue.has_cursor()
                && self.queue.feed(&*self.store, &mut self.places)
                && self.processor.has_room();
            if !found {
                break;
            }
        }
        self.settle();
        self.is_drained()
    }

    fn apply_queued(&mut self) {
        while self.processor.has_room() {
            let done = if let Some(notification) = self.unpublished.notifications.next() {
                self.publish(&notification, self.unpublished.since)
            } else if let Some(step) = self.queue.next_step() {
                self.apply_step(step)
            } else {
                break;
            };
            if let Err(Full) = done {
                self.gaps.incomplete = true;
                if !self.queue.note_overflow() {
                    self.overflow();
                }
            }
        }
    }

    /// Whether all changes are in the store and queued for their listeners. A sweep or a resync may still
    /// be running.
    pub(super) fn is_drained(&self) -> bool {
        self.queue.is_drained() && self.unpublished.notifications.len() == 0
    }

    /// Whether nothing is running any more.
    pub(super) fn is_settled(&self) -> bool {
        self.queue.is_empty() && self.unpublished.notifications.len() == 0
    }

    /// Once all reported changes are in the store, gives it the last reported version.
    fn settle(&mut self) {
        if !self.is_settled() {
            return;
        }
        if self.gaps.room_was_made(self.store.len()) {
            self.reflector.hurry(self.now);
        }
        if self.config.store_version && !self.queue.is_in_order() && self.reflector.is_live() {
            self.show_version();
        }
        if self.queue.is_synced() {
            self.processor.set_synced();
        }
    }

    /// Gives the store the version of the reflector.
    pub(super) fn show_version(&mut self) {
        if let Some(version) = self.reflector.version() {
            show(&mut self.store, version);
        }
    }

    fn apply_step(&mut self, step: Step<D::Object>) -> Result<(), Full> {
        let in_order = self.queue.is_in_order();
        let (is_sync, object) = match &step {
            Step::Delta { delta, .. } if in_order => {
                (matches!(delta, Delta::Sync(_)), delta.object().cloned())
            }
            _ => (false, None),
        };
        let applied = self.store.apply(step, self.config.rules);
        self.heard.counts.suppressed += applied.unchanged as u64;
        self.unpublished = Unpublished {
            notifications: applied.notifications,
            since: self.processor.moment(),
        };
        if applied.left_out > 0 {
            return Err(Full);
        }
        // With an in-order queue, each change has a version of its own.
        if in_order && !is_sync {
            match object {
                Some(object) => show(&mut self.store, object.version()),
                None => self.show_version(),
            }
        }
        Ok(())
    }

    fn publish(
        &mut self,
        notification: &Notification<D::Object>,
        since: Moment,
    ) -> Result<(), Full> {
        let resync = match notification {
            Notification::Updated { old, new, cause } => match self.config.same_version {
                SameVersion::ByCause => *cause == Cause::Resync,
                SameVersion::IsResync => old.version() == new.version(),
            },
            Notification::Added { .. } | Notification::Deleted { .. } => false,
        };
        let audience = if resync {
            Audience::Resyncing
        } else {
            Audience::Everybody
        };
        self.processor.publish_as_of(notification, audience, since)
    }
}

fn show<T: Resource + Clone, S: Storage>(store: &mut Indexer<T, S>, version: &str) {
    if store.version() != version {
        // If the version does not fit, the store keeps the previous one, which is still true.
        let _ = store.set_version(version);
    }
}
