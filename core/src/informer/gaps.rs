//! What the store lacks, and why.

use core::fmt;

use super::reports::Reports;
use super::status::RejectedObject;
use super::unshown::Unshown;
use crate::flow::{Change, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;

/// What the store lacks, and why.
pub(super) struct Gaps<K, S: Storage> {
    pub(super) reports: Reports<K, S>,
    pub(super) unshown: Unshown<K, S>,
    /// The store lacks something for which it had no room.
    pub(super) incomplete: bool,
    /// The newest full state contained something that could not even be named, so nothing was swept.
    pub(super) unswept: bool,
}

impl<K: Clone + PartialEq, S: Storage> Gaps<K, S> {
    pub(super) fn new() -> Self {
        Self {
            reports: Reports::new(),
            unshown: Unshown::new(),
            incomplete: false,
            unswept: false,
        }
    }

    /// An object is left out. Up to the version `before` every event was seen. `lost`: the store lacks
    /// the write whatever it was.
    pub(super) fn leave_out(
        &mut self,
        rejected: &Rejected<'_, K>,
        reason: &dyn fmt::Display,
        before: &str,
        lost: bool,
    ) {
        let report = RejectedObject::of(rejected, reason);
        if lost || is_write(rejected) {
            self.unshown.note(report.clone(), rejected.version, before);
        }
        self.reports.keep(report);
    }

    /// Follows the changes on their way into the queue. `overflowed`: of a full state that ends here,
    /// something had no room.
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
            Change::DeletedUnreadable(key) => self.unshown.resolve(key),
            // Objects count when the transform has let them pass: see `resolved_by`.
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

    /// Whose writes the store will show, or need not show any more, once the queue has taken `change`.
    pub(super) fn resolved_by<T: Resource<Key = K>>(&self, change: &mut Change<T>) -> Option<K> {
        if self.unshown.is_empty() {
            return None;
        }
        change.object_mut().map(|object| object.key().clone())
    }
}

/// Whether the store lacks a write because of this. A deletion deletes all the same, and an event of an
/// unknown type says something only if it names an object.
const fn is_write<K>(rejected: &Rejected<'_, K>) -> bool {
    match rejected.place {
        Place::Item | Place::Upsert => true,
        Place::Unknown => rejected.key.is_some(),
        Place::Delete => false,
    }
}
