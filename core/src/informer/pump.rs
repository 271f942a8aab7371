//! Applies changes: queue → store → listeners.

use super::source::Source;
use super::{Informer, SameVersion};
use crate::decode::Decode;
use crate::flow::{Cause, Delta, Notification, Step};
use crate::indexer::{Indexer, Notifications};
use crate::invariant::cannot_happen;
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
            let found = self.walk() && self.processor.has_room();
            if !found {
                break;
            }
        }
        self.others_settled = self.others_settled || self.others().all(Source::is_settled);
        if self.is_settled() {
            self.settle();
            return true;
        }
        self.is_drained()
    }

    /// As [`pump`](Self::pump), for calls that only make room. If the informer is settled, there is nothing to do.
    pub(super) fn pump_on(&mut self) {
        if !self.is_settled() {
            self.pump();
        }
    }

    fn apply_queued(&mut self) {
        while self.processor.has_room() {
            let done = if let Some(notification) = self.unpublished.notifications.next() {
                self.publish(&notification, self.unpublished.since)
            } else if let Some(step) = self.next_step() {
                self.apply_step(step)
            } else {
                break;
            };
            if let Err(Full) = done {
                self.lack_room();
            }
        }
    }

    /// The next step of any source. It is the turn of that source then.
    fn next_step(&mut self) -> Option<Step<D::Object>> {
        if self.others_settled {
            return self.sources.get_mut(self.turn)?.queue.next_step();
        }
        let bound = self.sources.bound();
        (self.turn..bound).chain(0..self.turn).find_map(|at| {
            let step = self.sources.get_mut(at)?.queue.next_step()?;
            self.turn = at;
            Some(step)
        })
    }

    /// Moves the cursors of all queues. Returns whether there may be a step now.
    fn walk(&mut self) -> bool {
        if self.others_settled {
            return self.walk_at(self.turn);
        }
        let mut found = false;
        for at in 0..self.sources.bound() {
            found |= self.walk_at(at);
        }
        found
    }

    fn walk_at(&mut self, at: u32) -> bool {
        let Some(source) = self.sources.get_mut(at) else {
            return false;
        };
        if !source.queue.has_cursor() {
            return false;
        }
        let known = source.walked(&self.store);
        source.queue.feed(&known, &mut self.places)
    }

    /// All sources but the one whose turn it is.
    fn others(&self) -> impl Iterator<Item = &Source<D, S>> {
        let sources = self.sources.iter();
        sources.filter_map(|(at, source)| (at != self.turn).then_some(source))
    }

    /// Whether this is true of the source whose turn it is, and of all others whose queues may not be empty.
    fn all_busy(&self, is: impl Fn(&Source<D, S>) -> bool) -> bool {
        self.sources.get(self.turn).is_none_or(&is)
            && (self.others_settled || self.others().all(is))
    }

    /// A step of the source whose turn it is had no room.
    fn lack_room(&mut self) {
        self.cramped = true;
        let Some((source, around)) = self.source_at(self.turn) else {
            return;
        };
        source.gaps.incomplete = true;
        if !source.queue.note_overflow() {
            source.overflow(around);
        }
    }

    /// Whether all changes are in the store and queued for their listeners. A sweep or a resync may still
    /// be running.
    pub(super) fn is_drained(&self) -> bool {
        self.unpublished.notifications.len() == 0
            && self.all_busy(|source| source.queue.is_drained())
    }

    /// Whether the store shows everything that has arrived: no change, no sweep and no resync is on its way, and
    /// no listener holds anything up.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.unpublished.notifications.len() == 0 && self.all_busy(Source::is_settled)
    }

    /// For calls that may leave nothing to pump.
    pub(super) fn settle_if_settled(&mut self) {
        if !self.is_stopped() && self.is_settled() {
            self.settle();
        }
    }

    /// Gives the store the last reported version, and says what is true now that it shows everything.
    fn settle(&mut self) {
        let (objects, now) = (self.store.len(), self.now);
        let current = self.sources.get_mut(self.turn);
        if self.cramped || current.is_some_and(|source| source.gaps.incomplete) {
            self.cramped = false;
            let mut cramped = false;
            self.each_source(|source| {
                cramped |= source.gaps.incomplete;
                if source.gaps.room_was_made(objects) {
                    source.reflector.hurry(now);
                }
            });
            self.cramped = cramped;
        }
        if self.config.store_version
            && let Some(source) = self.only_source()
            && !source.queue.is_in_order()
            && source.reflector.is_live()
        {
            self.show_version();
        }
        if self.processor.awaits_sync() && self.is_synced() {
            self.processor.set_synced();
        }
    }

    /// The only source. With several, there is no version that the store could show.
    pub(super) fn only_source(&self) -> Option<&Source<D, S>> {
        if self.sources.len() != 1 {
            return None;
        }
        let current = self.sources.get(self.turn);
        current.or_else(|| self.others().next())
    }

    /// Gives the store the version of the only source.
    pub(super) fn show_version(&mut self) {
        let Self { sources, store, .. } = self;
        if sources.len() == 1
            && let Some((_, source)) = sources.iter().next()
            && let Some(version) = source.reflector.version()
        {
            show(store, version);
        }
    }

    fn apply_step(&mut self, step: Step<D::Object>) -> Result<(), Full> {
        let Some(source) = self.sources.get(self.turn) else {
            return cannot_happen("a step without a source", Ok(()));
        };
        let in_order = source.queue.is_in_order();
        let (is_sync, object) = match &step {
            Step::Delta { delta, .. } if in_order => {
                (matches!(delta, Delta::Sync(_)), delta.object().cloned())
            }
            _ => (false, None),
        };
        let applied = self.store.apply_from(source.id, step, self.config.rules);
        self.suppressed += applied.unchanged as u64;
        self.unpublished = Unpublished {
            notifications: applied.notifications,
            since: self.processor.moment(),
        };
        if applied.left_out > 0 {
            return Err(Full);
        }
        // With an in-order queue, each change has a version of its own.
        if in_order && !is_sync && self.only_source().is_some() {
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

/// Gives the store this version.
pub(super) fn show<T: Resource + Clone, S: Storage>(store: &mut Indexer<T, S>, version: &str) {
    if store.version() != version {
        // If the version does not fit, the store keeps the previous one, which is still true.
        let _ = store.set_version(version);
    }
}
