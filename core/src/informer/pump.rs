//! Moves changes forward: queue → store → listeners.

use super::{Informer, SameVersion};
use crate::decode::Decode;
use crate::flow::{Cause, Notification};
use crate::indexer::Applied;
use crate::object::Resource;
use crate::processor::Audience;
use crate::queue::{QueueKind, Step};
use crate::storage::{Full, Storage};

impl<D: Decode, S: Storage> Informer<D, S> {
    /// Applies what is queued until nothing is left (`true`) or a listener asks for patience
    /// (`false`). The store changes before anybody is told.
    pub(super) fn pump(&mut self) -> bool {
        if self.stopped {
            return true;
        }
        while self.processor.has_room()
            && let Some(step) = self.queue.next()
        {
            if let Err(Full) = self.apply(step) {
                self.overflow(self.now);
            }
        }
        let drained = self.queue.is_empty();
        if drained {
            if self.config.store_version && self.queue.kind() == QueueKind::DeltaFifo {
                self.follow_version();
            }
            if self.queue.is_synced() {
                self.processor.set_synced();
            }
        }
        drained
    }

    fn apply(&mut self, step: Step<D::Object>) -> Result<(), Full> {
        match step {
            Step::Delta {
                delta,
                initial,
                seen,
            } => {
                // In order, each change says which version the store has reached.
                if self.queue.kind() == QueueKind::InOrder
                    && let Some(object) = delta.object()
                {
                    self.store.set_version(object.version())?;
                }
                let applied = self.store.apply(delta, initial, seen, self.config.rules)?;
                if matches!(applied, Applied::Nothing) {
                    self.counts.suppressed += 1;
                }
                for notification in applied {
                    self.tell(&notification)?;
                }
            }
            Step::FullState { state, initial } => {
                let rules = self.config.rules;
                for notification in self.store.apply_full_state(state, initial, rules)? {
                    self.tell(&notification)?;
                }
            }
            Step::SyncAll => {
                let mut next = 0;
                while let Some((at, object)) = self.store.object_from(next) {
                    next = at + 1;
                    let shown = Notification::Updated {
                        old: object.clone(),
                        new: object.clone(),
                        cause: Cause::Resync,
                    };
                    self.tell(&shown)?;
                }
            }
            Step::Bookmark(version) => self.store.set_version(&version)?,
        }
        Ok(())
    }

    fn tell(&mut self, notification: &Notification<D::Object>) -> Result<(), Full> {
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
        self.processor.publish(notification, audience)
    }

    /// Everything that was reported is in the store, so the store is at the version reported last.
    fn follow_version(&mut self) {
        let version = self.reflector.version();
        if self.reflector.is_live() && self.store.version() != version {
            // A version that does not fit is not shown; what was there before is not wrong.
            let _ = self.store.set_version(version);
        }
    }
}
