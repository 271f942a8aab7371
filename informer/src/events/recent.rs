//! Entries by key, in the order of their last use.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Entries by key, in the order of their last use. The owner decides when it is too large.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: HashMap<K, Entry<V>>,
    /// The keys by the number of their last use.
    order: BTreeMap<u64, K>,
    uses: u64,
}

#[derive(Debug)]
struct Entry<V> {
    used: u64,
    value: V,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(super) fn new() -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            uses: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|entry| &entry.value)
    }

    /// Does not count as a use.
    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key).map(|entry| &mut entry.value)
    }

    /// Makes an entry the newest.
    pub(super) fn touch(&mut self, key: &K) -> Option<&mut V> {
        let entry = self.entries.get_mut(key)?;
        self.uses += 1;
        if let Some(key) = self.order.remove(&entry.used) {
            self.order.insert(self.uses, key);
        }
        entry.used = self.uses;
        Some(&mut entry.value)
    }

    /// Adds an entry as the newest. There must be none with this key.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.uses += 1;
        let used = self.uses;
        self.order.insert(used, key.clone());
        self.entries.insert(key, Entry { used, value });
    }

    pub(super) fn remove(&mut self, key: &K) -> Option<V> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.used);
        Some(entry.value)
    }

    /// The entry whose last use is the longest ago.
    pub(super) fn oldest(&self) -> Option<(&K, &V)> {
        let key = self.order.values().next()?;
        Some((key, self.get(key)?))
    }

    /// The keys, the oldest first.
    pub(super) fn keys(&self) -> impl Iterator<Item = &K> {
        self.order.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_one_that_was_not_used() {
        let mut recent = Recent::new();
        for key in ["a", "b", "c"] {
            recent.insert(key, 0);
        }
        *recent.touch(&"a").unwrap() += 1;
        *recent.get_mut(&"b").unwrap() += 5;
        assert_eq!(recent.touch(&"d"), None);
        assert_eq!(recent.keys().collect::<Vec<_>>(), [&"b", &"c", &"a"]);
        assert_eq!(recent.oldest(), Some((&"b", &5)));
        assert_eq!(recent.remove(&"b"), Some(5));
        assert_eq!(recent.remove(&"b"), None);
        assert_eq!(recent.oldest(), Some((&"c", &0)));
        assert_eq!((recent.len(), recent.get(&"a")), (2, Some(&1)));
        assert_eq!(recent.order.len(), 2);
    }
}
