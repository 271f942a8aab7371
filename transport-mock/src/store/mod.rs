//! The server's state: objects, versions, history.

// Metadata rules.
pub(crate) mod metadata;

// Validation of names and labels.
mod validation;

// Custom resource definitions.
pub(crate) mod definition;

// Leases and events.
mod typed;

// An object at one version.
pub(crate) mod object;

// Changes, for watches and for lists of the past.
pub(crate) mod history;

// Server-side apply.
mod apply;

// JSON patches.
mod json_patch;

// Patches.
pub(crate) mod patch;

// The scale of objects.
pub(crate) mod scale;

// Create, update, delete.
pub(crate) mod write;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use crate::api::KindId;
use crate::names::Names;
use crate::store::history::{Change, History};
use crate::store::object::StoredObject;

/// The objects of one kind and their history.
#[derive(Debug)]
pub(crate) struct Table {
    objects: BTreeMap<String, Arc<StoredObject>>,
    pub(crate) history: History,
    /// The kind is no longer served.
    pub(crate) is_removed: bool,
}

/// All objects, and the single version counter.
#[derive(Debug)]
pub(crate) struct Store {
    tables: Vec<Table>,
    version: u64,
    /// Lists at an older version are refused.
    compacted: u64,
    /// How many changes of a kind can be watched.
    window: usize,
    names: Names,
    /// Whether the owners of fields are known from the first write on, and not from the first apply.
    tracks_owners: bool,
}

impl Store {
    /// An empty store. Its first write gets the version after `version`.
    pub(crate) const fn new(version: u64, window: usize, seed: u64, tracks_owners: bool) -> Self {
        Self {
            tables: Vec::new(),
            version,
            compacted: 0,
            window,
            names: Names::new(seed),
            tracks_owners,
        }
    }

    /// Adds a table for the kind with the next [`KindId`].
    pub(crate) fn add_table(&mut self) {
        self.tables.push(Table {
            objects: BTreeMap::new(),
            history: History::new(self.version),
            is_removed: false,
        });
    }

    pub(crate) fn table(&self, id: KindId) -> Option<&Table> {
        self.tables.get(id.0)
    }

    /// The version of the newest write to any kind.
    pub(crate) const fn version(&self) -> u64 {
        self.version
    }

    pub(crate) const fn compacted(&self) -> u64 {
        self.compacted
    }

    /// Drops the history before `version`, for lists.
    pub(crate) fn compact(&mut self, version: u64) {
        self.compacted = self.compacted.max(version.min(self.version));
        for table in &mut self.tables {
            table.history.drop_unneeded(self.compacted);
        }
    }

    /// Drops all changes, for watches.
    pub(crate) fn forget_changes(&mut self) {
        for table in &mut self.tables {
            table.history.forget(self.version, self.compacted);
        }
    }

    pub(crate) fn get(&self, id: KindId, key: &str) -> Option<&Arc<StoredObject>> {
        self.table(id)?.objects.get(key)
    }

    /// Takes the next version without a write, as a write to another resource does.
    pub(crate) const fn next_version(&mut self) -> u64 {
        self.version += 1;
        self.version
    }

    /// Deletes every object of a kind that is no longer served.
    pub(crate) fn clear(&mut self, id: KindId) {
        let keys: Vec<String> = match self.tables.get(id.0) {
            Some(table) => table.objects.keys().cloned().collect(),
            None => return,
        };
        for key in keys {
            self.next_version();
            self.record(id, &key, None);
        }
        if let Some(table) = self.tables.get_mut(id.0) {
            table.is_removed = true;
        }
    }

    /// Records a write at the newest version: stores `object`, or deletes `key`.
    fn record(&mut self, id: KindId, key: &str, object: Option<Arc<StoredObject>>) {
        let (version, window, compacted) = (self.version, self.window, self.compacted);
        let Some(table) = self.tables.get_mut(id.0) else {
            return;
        };
        let before = match &object {
            Some(object) => table.objects.insert(key.to_owned(), Arc::clone(object)),
            None => table.objects.remove(key),
        };
        let change = Change {
            version,
            before,
            after: object,
        };
        table.history.push(change, window, compacted);
    }
}

impl Table {
    /// The version of the newest change.
    pub(crate) fn newest(&self) -> u64 {
        self.history.newest()
    }

    /// The current objects from `start` on whose key begins with `prefix`, in key order.
    pub(crate) fn present<'a>(
        &'a self,
        prefix: &str,
        start: &str,
    ) -> impl Iterator<Item = &'a Arc<StoredObject>> {
        let from = if start.is_empty() { prefix } else { start };
        self.objects
            .range::<str, _>((Bound::Included(from), Bound::Unbounded))
            .take_while(move |(key, _)| key.starts_with(prefix))
            .map(|(_, object)| object)
    }

    /// The same, as of `version`.
    pub(crate) fn past<'a>(
        &'a self,
        prefix: &str,
        start: &str,
        version: u64,
    ) -> Vec<&'a Arc<StoredObject>> {
        let then = self.history.undo_to(version);
        let mut objects: Vec<&Arc<StoredObject>> = self
            .present(prefix, start)
            .filter(|object| !then.contains_key(object.key()))
            .collect();
        let undone = then.len();
        let is_meant = |key: &str| key.starts_with(prefix) && key >= start;
        objects.extend(
            then.into_iter()
                .filter(|(key, _)| is_meant(key))
                .filter_map(|(_, object)| object),
        );
        if undone > 0 {
            objects.sort_by(|a, b| a.key().cmp(b.key()));
        }
        objects
    }
}
