//! The changes to the objects of one kind, for watches and for lists of the past.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::store::object::StoredObject;

/// One write.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) version: u64,
    /// The object before the write; `None` for a create.
    pub(crate) before: Option<Arc<StoredObject>>,
    /// The object after the write; `None` for a delete.
    pub(crate) after: Option<Arc<StoredObject>>,
}

/// The writes to one kind, oldest first.
///
/// It has two kinds of readers, which forget at their own pace, like a real server's watch cache
/// and etcd. Watches see a window of the newest changes. Lists at a past version need all changes
/// back to the compacted version.
#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Change>,
    /// How many changes at the front are outside the window and visible to lists only.
    outside: usize,
    /// The version at which the window began.
    begun_at: u64,
    /// Whether a change has left the window since it began.
    has_overflowed: bool,
    /// The version of the newest change that no watch can see any more.
    last_lost: u64,
}

impl History {
    pub(crate) const fn new(version: u64) -> Self {
        Self {
            changes: VecDeque::new(),
            outside: 0,
            begun_at: version,
            has_overflowed: false,
            last_lost: 0,
        }
    }

    /// Adds the newest change. The window keeps `window` changes.
    pub(crate) fn push(&mut self, change: Change, window: usize, compacted: u64) {
        self.changes.push_back(change);
        while self.changes.len() - self.outside > window.max(1) {
            self.last_lost = self
                .changes
                .get(self.outside)
                .map_or(0, |lost| lost.version);
            self.outside += 1;
            self.has_overflowed = true;
        }
        self.drop_unneeded(compacted);
    }

    /// The oldest version from which a watch can start.
    ///
    /// Once a change has left the window, this is the version just before the oldest remaining
    /// change, although an older one might miss nothing. The real server does not know what
    /// happened between two changes of this kind.
    pub(crate) fn oldest_watchable(&self) -> u64 {
        match self.changes.get(self.outside) {
            Some(oldest) if self.has_overflowed => oldest.version - 1,
            _ => self.begun_at,
        }
    }

    /// Whether a watch that has seen everything up to `version` can continue.
    pub(crate) const fn can_resume(&self, version: u64) -> bool {
        version >= self.last_lost
    }

    /// The version of the newest change; 0 if there was none.
    pub(crate) fn newest(&self) -> u64 {
        let newest = self.changes.back().map_or(0, |change| change.version);
        newest.max(self.last_lost)
    }

    /// The first change after `version`.
    pub(crate) fn next_after(&self, version: u64) -> Option<&Change> {
        let at = self
            .changes
            .partition_point(|change| change.version <= version);
        self.changes.get(at)
    }

    /// Restarts the window at `version`. No watch can start from an older version.
    pub(crate) fn forget(&mut self, version: u64, compacted: u64) {
        if let Some(newest) = self.changes.back() {
            self.last_lost = newest.version;
        }
        self.outside = self.changes.len();
        self.begun_at = version;
        self.has_overflowed = false;
        self.drop_unneeded(compacted);
    }

    /// Drops the changes that neither watches nor lists at a version from `compacted` on need.
    pub(crate) fn drop_unneeded(&mut self, compacted: u64) {
        while self.outside > 0
            && self
                .changes
                .front()
                .is_some_and(|oldest| oldest.version <= compacted)
        {
            self.changes.pop_front();
            self.outside -= 1;
        }
    }

    /// What to undo in the current state to get the state at `version`: the old state of each key
    /// written since.
    pub(crate) fn undo_to(&self, version: u64) -> BTreeMap<&str, Option<&Arc<StoredObject>>> {
        let mut then = BTreeMap::new();
        let later = self.changes.iter().rev();
        for change in later.take_while(|change| change.version > version) {
            let key = change.before.as_ref().or(change.after.as_ref());
            if let Some(object) = key {
                then.insert(object.key(), change.before.as_ref());
            }
        }
        then
    }
}
