//! Moves changes forward: queue → store → listeners.

use super::{Informer, SameVersion};
use crate::decode::Decode;
use crate::flow::{Cause, Delta, Notification};
use crate::indexer::{Applied, Indexer};
use crate::object::Resource;
use crate::processor::{Audience, Moment};
#[cfg(feature = "alloc")]
use crate::queue::Queued;
use crate::queue::{Epoch, Step};
use crate::storage::{Full, Storage};

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Applies what is queued until nothing is left (`true`) or a listener asks for patience
    /// (`false`). The store changes before anybody is told.
    pub(super) fn pump(&mut self) -> bool {
        if self.stopped {
            return true;
        }
        while self.processor.has_room() {
            let applied = if let Some((notification, moment)) = self.undelivered.pop() {
                self.tell(&notification, moment)
            } else if let Some(step) = self.queue.next() {
                self.apply(step)
            } else {
                break;
            };
            if let Err(Full) = applied {
                self.incomplete = true;
                if !self.queue.note_overflow() {
                    self.overflow(self.now);
                }
            }
        }
        let drained = self.is_drained();
        if drained {
            if self.config.store_version && !self.queue.tells_version() {
                self.follow_version();
            }
            if self.queue.is_synced() {
                self.processor.set_synced();
            }
        }
        drained
    }

    /// Whether everything that was taken in is in the store and with its listeners.
    pub(super) fn is_drained(&self) -> bool {
        self.queue.is_empty() && self.undelivered.len() == 0
    }

    fn apply(&mut self, step: Step<D::Object>) -> Result<(), Full> {
        match step {
            Step::Delta {
                delta,
                initial,
                seen,
            } => self.apply_delta(delta, initial, seen),
            #[cfg(feature = "alloc")]
            Step::InOrder(entry, initial) => self.apply_in_order(entry, initial),
        }
    }

    fn apply_delta(
        &mut self,
        delta: Delta<D::Object>,
        initial: bool,
        seen: Epoch,
    ) -> Result<(), Full> {
        let applied = self.store.apply(delta, initial, seen, self.config.rules)?;
        if matches!(applied, Applied::Nothing) {
            self.counts.suppressed += 1;
        }
        for notification in applied {
            self.tell(&notification, self.processor.moment())?;
        }
        Ok(())
    }

    /// An entry of an in-order queue says itself which version the store has reached with it.
    #[cfg(feature = "alloc")]
    fn apply_in_order(&mut self, entry: Queued<D::Object>, initial: bool) -> Result<(), Full> {
        match entry {
            Queued::Delta(delta) => {
                let object = delta.object().cloned();
                self.apply_delta(delta, initial, Epoch::NEVER)?;
                if let Some(object) = object {
                    show_version(&mut self.store, object.version());
                }
            }
            Queued::ReplacedAll(state) => {
                let rules = self.config.rules;
                let applied = self.store.apply_full_state(state, initial, rules);
                self.counts.suppressed += applied.unchanged as u64;
                self.undelivered
                    .extend(applied.told, self.processor.moment());
                if applied.left_out > 0 {
                    return Err(Full);
                }
            }
            Queued::SyncAll => {
                let shown = self.store.iter().map(|object| Notification::Updated {
                    old: object.clone(),
                    new: object.clone(),
                    cause: Cause::Resync,
                });
                self.undelivered.extend(shown, self.processor.moment());
            }
            Queued::Bookmark(version) => show_version(&mut self.store, &version),
        }
        Ok(())
    }

    fn tell(&mut self, notification: &Notification<D::Object>, moment: Moment) -> Result<(), Full> {
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
        self.processor.publish_as_of(notification, audience, moment)
    }

    /// Everything that was reported is in the store, so the store is at the version reported last.
    fn follow_version(&mut self) {
        let version = self.reflector.version().unwrap_or_default();
        if self.reflector.is_live() && self.store.version() != version {
            show_version(&mut self.store, version);
        }
    }
}

/// The store has reached `version`.
fn show_version<T: Resource + Clone, S: Storage>(store: &mut Indexer<T, S>, version: &str) {
    // A version that does not fit is not shown; the one before it is not wrong.
    let _ = store.set_version(version);
}
