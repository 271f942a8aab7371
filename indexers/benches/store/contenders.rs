//! Our store and the others, behind one trait.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::{
    Arc, LockResult, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard, TryLockResult,
};
use std::time::{Duration, Instant};

use informer_core::ObjectKey;
use informer_core::indexer::{IndexFn, Indexer, Subject, View, Write};
use informer_core::storage::{Heap, Seed};
use informer_indexers::Query;
use informer_indexers::selector::LabelSelector;

use super::objects::{By, INDICES, Small};

/// A store shared by threads.
pub trait Store: Sync {
    /// Applies several writes, from the only writer.
    fn transaction(&self, writes: Vec<Write<Small>>);

    /// Like `transaction`, but returns how long the writer waited for locks. Measuring that takes time
    /// itself.
    fn stood_still(&self, writes: Vec<Write<Small>>) -> Duration;

    fn get(&self, key: &ObjectKey) -> Option<Small>;

    fn list(&self) -> Vec<Small>;

    fn by_index(&self, index: &str, value: &str) -> Vec<Small>;

    /// The objects that pass `test`, found by a full scan.
    fn scan(&self, test: &dyn Fn(&Small) -> bool) -> Vec<Small>;

    /// The objects that match a selector. By default a full scan, as in client-go.
    fn select(&self, selector: &LabelSelector) -> Vec<Small> {
        self.scan(&|object| selector.matches_labels(object.labels()))
    }
}

/// Takes a lock. If it is contended, adds the waiting time to `waited`; otherwise reads no clock.
fn acquire<G>(
    at_once: TryLockResult<G>,
    patiently: impl FnOnce() -> LockResult<G>,
    waited: &mut Duration,
) -> G {
    at_once.unwrap_or_else(|_| {
        let start = Instant::now();
        let guard = patiently().unwrap();
        *waited += start.elapsed();
        guard
    })
}

/// Our store: one indexer, and the latest published snapshot. A reader copies a pointer to it.
pub struct Published {
    indexer: Mutex<Indexer<Small, Heap>>,
    published: Mutex<Arc<View<Small, Heap>>>,
}

impl Published {
    pub fn new(objects: Vec<Small>, indices: usize) -> Self {
        let mut indexer = Indexer::new(Seed::new(42));
        for By { name, value } in &INDICES[..indices] {
            let function = IndexFn::new(move |object: &Small, file: &mut dyn FnMut(&[u8])| {
                if let Some(value) = value(object) {
                    file(value.as_bytes());
                }
            });
            // The other indices have the names of labels.
            let subject = match *name {
                "namespace" => Subject::Namespace,
                label => Subject::Label(label.into()),
            };
            indexer.add_index(name, function.about(subject)).unwrap();
        }
        indexer.replace(objects, "1").unwrap();
        let published = Mutex::new(Arc::new(indexer.snapshot()));
        Self {
            indexer: Mutex::new(indexer),
            published,
        }
    }

    pub fn into_indexer(self) -> Indexer<Small, Heap> {
        self.indexer.into_inner().unwrap()
    }

    fn write<'a>(
        &'a self,
        writes: Vec<Write<Small>>,
        lock: impl FnOnce() -> MutexGuard<'a, Arc<View<Small, Heap>>>,
    ) {
        let mut indexer = self.indexer.lock().unwrap();
        indexer.write_all(writes).unwrap();
        let snapshot = Arc::new(indexer.snapshot());
        let before = std::mem::replace(&mut *lock(), snapshot);
        // The previous snapshot is freed here, outside of the lock.
        drop(before);
    }

    pub fn latest(&self) -> Arc<View<Small, Heap>> {
        let published = self.published.lock();
        Arc::clone(&published.unwrap_or_else(PoisonError::into_inner))
    }
}

impl Store for Published {
    fn transaction(&self, writes: Vec<Write<Small>>) {
        self.write(writes, || self.published.lock().unwrap());
    }

    fn stood_still(&self, writes: Vec<Write<Small>>) -> Duration {
        let mut waited = Duration::ZERO;
        let lock = &self.published;
        self.write(writes, || {
            acquire(lock.try_lock(), || lock.lock(), &mut waited)
        });
        waited
    }

    fn get(&self, key: &ObjectKey) -> Option<Small> {
        self.latest().get(key).cloned()
    }

    fn list(&self) -> Vec<Small> {
        let view = self.latest();
        let mut list = Vec::with_capacity(view.len());
        list.extend(view.iter().cloned());
        list
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<Small> {
        let view = self.latest();
        let mut list = Vec::with_capacity(view.count(index, value).unwrap());
        list.extend(view.by_index(index, value).unwrap().cloned());
        list
    }

    fn scan(&self, test: &dyn Fn(&Small) -> bool) -> Vec<Small> {
        let view = self.latest();
        view.iter().filter(|object| test(object)).cloned().collect()
    }

    fn select(&self, selector: &LabelSelector) -> Vec<Small> {
        let view = self.latest();
        let query = Query::new().labels(selector);
        query.select(&view).cloned().collect()
    }
}

/// How often a writer of the [`Locked`] map takes the lock.
#[derive(Clone, Copy)]
pub enum Locking {
    /// As client-go and kube-rs do.
    EachWrite,
    EachTransaction,
}

/// The store of client-go: a map from keys to objects, and for each index a map from values to sets of
/// keys, behind one lock for readers and writers. kube-rs has only the first map.
pub struct Locked<H> {
    state: RwLock<Maps<H>>,
    locking: Locking,
}

/// With the default hasher of `HashMap`.
pub type StdLocked = Locked<RandomState>;

/// With the hasher of our store.
pub type FastLocked = Locked<foldhash::fast::FixedState>;

struct Maps<H> {
    items: HashMap<ObjectKey, Small, H>,
    indices: Vec<KeysBy<H>>,
}

struct KeysBy<H> {
    by: By,
    keys: HashMap<Box<str>, HashSet<ObjectKey, H>, H>,
}

impl<H: BuildHasher + Default> Locked<H> {
    pub fn new(objects: Vec<Small>, indices: usize, locking: Locking) -> Self {
        let index = |by: &By| KeysBy {
            by: *by,
            keys: HashMap::default(),
        };
        let mut maps = Maps {
            items: HashMap::default(),
            indices: INDICES[..indices].iter().map(index).collect(),
        };
        for object in objects {
            maps.write(Write::Put(object));
        }
        Self {
            state: RwLock::new(maps),
            locking,
        }
    }

    fn write<'a>(
        &'a self,
        writes: Vec<Write<Small>>,
        mut lock: impl FnMut() -> RwLockWriteGuard<'a, Maps<H>>,
    ) {
        match self.locking {
            Locking::EachWrite => {
                for write in writes {
                    lock().write(write);
                }
            }
            Locking::EachTransaction => {
                let mut maps = lock();
                for write in writes {
                    maps.write(write);
                }
            }
        }
    }
}

impl<H: BuildHasher + Default> Maps<H> {
    fn write(&mut self, write: Write<Small>) {
        match write {
            Write::Put(object) => {
                let key = object.key().clone();
                let before = self.items.insert(key, object.clone());
                self.refile(object.key(), before.as_ref(), Some(&object));
            }
            Write::Remove(key) => {
                if let Some(before) = self.items.remove(&key) {
                    self.refile(&key, Some(&before), None);
                }
            }
        }
    }

    /// Like client-go's `updateIndices`: computes the values before and after, and does nothing if they are
    /// equal.
    fn refile(&mut self, key: &ObjectKey, before: Option<&Small>, after: Option<&Small>) {
        for KeysBy { by, keys } in &mut self.indices {
            let before = before.and_then(by.value);
            let after = after.and_then(by.value);
            if before == after {
                continue;
            }
            if let Some(value) = before
                && let Some(set) = keys.get_mut(value)
            {
                set.remove(key);
                if set.is_empty() {
                    keys.remove(value);
                }
            }
            if let Some(value) = after {
                match keys.get_mut(value) {
                    Some(set) => {
                        set.insert(key.clone());
                    }
                    None => {
                        let set = HashSet::from_iter([key.clone()]);
                        keys.insert(value.into(), set);
                    }
                }
            }
        }
    }
}

impl<H: BuildHasher + Default + Send + Sync> Store for Locked<H> {
    fn transaction(&self, writes: Vec<Write<Small>>) {
        self.write(writes, || self.state.write().unwrap());
    }

    fn stood_still(&self, writes: Vec<Write<Small>>) -> Duration {
        let mut waited = Duration::ZERO;
        let lock = &self.state;
        self.write(writes, || {
            acquire(lock.try_write(), || lock.write(), &mut waited)
        });
        waited
    }

    fn get(&self, key: &ObjectKey) -> Option<Small> {
        self.state.read().unwrap().items.get(key).cloned()
    }

    fn list(&self) -> Vec<Small> {
        let maps = self.state.read().unwrap();
        maps.items.values().cloned().collect()
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<Small> {
        let maps = self.state.read().unwrap();
        let index = maps.indices.iter().find(|keys| keys.by.name == index);
        let Some(keys) = index.unwrap().keys.get(value) else {
            return Vec::new();
        };
        let mut list = Vec::with_capacity(keys.len());
        list.extend(keys.iter().filter_map(|key| maps.items.get(key)).cloned());
        list
    }

    fn scan(&self, test: &dyn Fn(&Small) -> bool) -> Vec<Small> {
        let maps = self.state.read().unwrap();
        let found = maps.items.values().filter(|object| test(object));
        found.cloned().collect()
    }
}
