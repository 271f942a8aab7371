//! Moves changes forward: queue → store → listeners.

use super::{Informer, SameVersion};
use crate::decode::Decode;
use crate::flow::{Cause, Delta, Notification, Step};
use crate::indexer::{Indexer, Told};
use crate::object::Resource;
use crate::processor::{Audience, Moment};
use crate::storage::{Full, Storage};

/// How many places of the store one call looks at for a sweep or a resync.
pub(super) const PLACES: u32 = 256;

/// Notifications of a step that was applied at once, until listeners have room for them. The store
/// shows them already.
pub(super) struct Telling<T: Resource> {
    pub(super) told: Told<T>,
    /// When the store began to show them.
    since: Moment,
}

impl<T: Resource> Telling<T> {
    pub(super) const fn nothing(since: Moment) -> Self {
        Self {
            told: Told::Nothing,
            since,
        }
    }
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Applies what is queued, and what a sweep or a resync finds, until nothing is left (`true`) or a
    /// listener is full (`false`). The store changes before anybody is told. One call of the informer
    /// looks at no more than [`PLACES`] places of the store, so none takes longer the more it holds.
    pub(super) fn pump(&mut self) -> bool {
        if self.is_stopped() {
            return true;
        }
        loop {
            self.apply_queued();
            // To look takes no room; what was found waits until there is some.
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
            let done = if let Some(notification) = self.telling.told.next() {
                self.tell(&notification, self.telling.since)
            } else if let Some(step) = self.queue.next_step() {
                self.apply_step(step)
            } else {
                break;
            };
            if let Err(Full) = done {
                self.gaps.incomplete = true;
                if !self.queue.note_overflow() {
                    self.overflow(self.now);
                }
            }
        }
    }

    /// Whether everything that was taken in is in the store and with its listeners. A sweep or a resync
    /// may still be under way.
    pub(super) fn is_drained(&self) -> bool {
        self.queue.is_drained() && self.telling.told.len() == 0
    }

    /// Whether nothing at all is under way.
    pub(super) fn is_settled(&self) -> bool {
        self.queue.is_empty() && self.telling.told.len() == 0
    }

    /// Once everything that was reported is in the store, the store is at the version reported last.
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

    /// The store shows everything up to the version of the reflector.
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
        self.telling = Telling {
            told: applied.told,
            since: self.processor.moment(),
        };
        if applied.left_out > 0 {
            return Err(Full);
        }
        // Each change of an in-order queue brings the store to a version of its own.
        if in_order && !is_sync {
            match object {
                Some(object) => show(&mut self.store, object.version()),
                None => self.show_version(),
            }
        }
        Ok(())
    }

    fn tell(&mut self, notification: &Notification<D::Object>, since: Moment) -> Result<(), Full> {
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
        // A version that does not fit is not shown; the one before it is not wrong.
        let _ = store.set_version(version);
    }
}
