//! What is missing from the store, and why.

use core::fmt;

use super::reports::Reports;
use super::status::RejectedObject;
use super::unshown::Unshown;
use crate::flow::{Change, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;

/// What is missing from the store, and why.
pub(super) struct Gaps<K, S: Storage> {
    pub(super) reports: Reports<K, S>,
    pub(super) unshown: Unshown<K, S>,
    /// Something is missing because it had no room.
    pub(super) incomplete: bool,
    /// How many objects the store held when it was full.
    pub(super) full_at: Option<usize>,
    /// A full state that did not fit was read again at once, and none has fitted since.
    hurried: bool,
    /// The newest full state contained an object without a readable key, so nothing was swept.
    pub(super) unswept: bool,
}

impl<K: Clone + PartialEq, S: Storage> Gaps<K, S> {
    pub(super) fn new() -> Self {
        Self {
            reports: Reports::new(),
            unshown: Unshown::new(),
            incomplete: false,
            full_at: None,
            hurried: false,
            unswept: false,
        }
    }

    /// Reports an object that is left out. All events up to the version `before` were seen. `lost` means
    /// that the store does not show the write, whatever its kind.
    pub(super) fn leave_out(
        &mut self,
        rejected: &Rejected<'_, K>,
        reason: &dyn fmt::Display,
        before: Option<&str>,
        lost: bool,
    ) {
        let report = RejectedObject::of(rejected, reason);
        if lost || is_write(rejected) {
            self.unshown.note(report.clone(), rejected.version, before);
        }
        self.reports.keep(report);
    }

    /// Whether to relist at once, now that the store holds `objects`. A full state that did not fit may
    /// have made room, because the sweep runs only at its end. This is true only once, since the next
    /// full state may not fit either.
    pub(super) fn room_was_made(&mut self, objects: usize) -> bool {
        if !self.incomplete {
            (self.full_at, self.hurried) = (None, false);
            return false;
        }
        if self.full_at.is_none_or(|full| objects >= full) {
            return false;
        }
        self.full_at = None;
        !core::mem::replace(&mut self.hurried, true)
    }

    /// Follows the changes on their way into the queue. `overflowed` means that part of the full state
    /// that ends here had no room.
    pub(super) fn follow<T: Resource<Key = K>>(&mut self, change: &Change<T>, overflowed: bool) {
        match change {
            Change::ReplaceBegin { .. } => {
                self.unswept = false;
                self.unshown.begin_state();
            }
            Change::ReplaceUnreadable(None) => self.unswept = true,
            Change::ReplaceEnd => {
                self.incomplete = overflowed;
                self.unshown.end_state();
            }
            Change::ReplaceAbandon => self.unshown.abandon_state(),
            // As a full state without objects.
            Change::KindGone => {
                (self.unswept, self.incomplete) = (false, false);
                self.unshown.begin_state();
                self.unshown.end_state();
            }
            Change::DeletedUnreadable(key) => self.unshown.resolve(key),
            // Objects count only after the transform: see `resolved_by`.
            Change::ReplaceItem(_)
            | Change::ReplaceRemove(_)
            | Change::Added(_)
            | Change::Updated(_)
            | Change::Deleted(_)
            | Change::ReplaceUnreadable(Some(_))
            | Change::Displaced(_)
            | Change::Bookmark => {}
        }
    }

    /// The key whose writes are shown or obsolete once the queue has taken `change`.
    pub(super) fn resolved_by<T: Resource<Key = K>>(&self, change: &mut Change<T>) -> Option<K> {
        if self.unshown.is_empty() {
            return None;
        }
        change.object_mut().map(|object| object.key().clone())
    }
}

/// Whether the store does not show a write because of this rejection. A deletion still deletes, and an
/// event of an unknown type matters only if it names an object.
const fn is_write<K>(rejected: &Rejected<'_, K>) -> bool {
    match rejected.place {
        Place::Item | Place::Upsert => true,
        Place::Unknown => rejected.key.is_some(),
        Place::Delete => false,
    }
}
