//! Counts the failures of each item.

use core::hash::Hash;

use crate::storage::{Bucket, Full, Places, Seed, Slab, Storage, Table};

/// The number of failures per item. An item without failures takes no room.
pub(super) struct Failures<K, S: Storage> {
    seed: Seed,
    counts: Places<S, (K, u32)>,
    table: Table<S::Cells<Bucket>>,
}

impl<K, S: Storage> Failures<K, S> {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            counts: Slab::default(),
            table: Table::default(),
        }
    }
}

impl<K: Clone + Eq + Hash, S: Storage> Failures<K, S> {
    pub(super) fn of(&self, item: &K) -> u32 {
        let count = self.find(self.seed.hash(item), item);
        let count = count.and_then(|at| self.counts.linked(at));
        count.map_or(0, |(_, failures)| *failures)
    }

    pub(super) fn reserve(&mut self, item: &K) -> Result<(), Full> {
        if self.of(item) > 0 {
            return Ok(());
        }
        self.table.reserve()?;
        self.counts.reserve()
    }

    /// Counts one more failure, and returns how many there were before.
    pub(super) fn count(&mut self, item: &K) -> Result<u32, Full> {
        let hash = self.seed.hash(item);
        if let Some(at) = self.find(hash, item)
            && let Some((_, failures)) = self.counts.linked_mut(at)
        {
            let before = *failures;
            *failures = before.saturating_add(1);
            return Ok(before);
        }
        self.table.reserve()?;
        let at = self.counts.insert((item.clone(), 1))?;
        self.table.insert_reserved(hash, at);
        Ok(0)
    }

    pub(super) fn forget(&mut self, item: &K) {
        let hash = self.seed.hash(item);
        if let Some(at) = self.find(hash, item) {
            self.table.remove_entered(hash, at);
            self.counts.remove_linked(at);
        }
    }

    fn find(&self, hash: u32, item: &K) -> Option<u32> {
        self.table.find(hash, |at| {
            let count = self.counts.linked(at);
            count.is_some_and(|(counted, _)| counted == item)
        })
    }
}

debug_fields!([K, S: Storage] Failures[K, S], self: items = self.counts.len());
