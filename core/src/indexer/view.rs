//! Reading a store.

use core::ops::RangeBounds;

use super::filed::{ByIndex, IndexTable};
use super::function::IndexFn;
use super::holds::Holds;
use super::index::{Index, IndexId, IndexName, IndexRef, RangeError, UnknownIndex};
use super::postings::{List, Posting, Postings};
use crate::known::{Epoch, Known};
use crate::limits::StoreLimits;
use crate::object::Resource;
use crate::storage::{
    FewSharedPlaces, NONE, Seed, SharedPlaces, SharedTable, Slab, Storage, Table,
};

/// Read access to the objects of a store and to their indices.
///
/// An [`Indexer`](super::Indexer) dereferences to its current view, as a `Vec` does to a slice.
/// [`snapshot`](super::Indexer::snapshot) returns a view that does not change when the indexer does. A
/// view shows exactly one state of the store.
///
/// Iteration is in slot order, which depends on the writes and not on hashes.
///
/// ```
/// use informer_core::indexer::{IndexFn, Indexer, View};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let pod = |namespace: &str, name: &str| Object::builder(ObjectKey::new(namespace, name))
///     .version("7")
///     .body(());
/// let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
/// let by_namespace = IndexFn::new(|pod: &Object<()>, file: &mut dyn FnMut(&[u8])| {
///     file(pod.key().namespace().as_bytes());
/// });
/// store.add_index("namespace", by_namespace)?;
/// store.put(pod("web", "a"))?;
/// store.put(pod("web", "b"))?;
/// store.put(pod("db", "a"))?;
///
/// let view: View<_, _> = store.snapshot();
/// assert_eq!((view.len(), view.version()), (3, "7"));
/// assert!(view.get(&ObjectKey::new("db", "a")).is_some());
/// assert_eq!(view.count("namespace", "web")?, 2);
/// let mut values = view.index_values("namespace")?;
/// assert!(values.any(|value| value == b"db"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct View<T: Resource + Clone, S: Storage> {
    pub(super) seed: Seed,
    pub(super) slots: SharedPlaces<S, Slot<T>>,
    pub(super) keys: SharedTable<S>,
    pub(super) indices: FewSharedPlaces<S, Index<T, S>>,
    /// How many indices have ever been added.
    pub(super) indices_made: u32,
    pub(super) postings: Postings<S>,
    pub(super) holds: Holds<S>,
    pub(super) version: S::Text,
    /// The newest full state that any object is marked with.
    pub(super) newest: Epoch,
    /// The bytes that the server sent for all objects together.
    pub(super) bytes: u64,
    pub(super) limits: StoreLimits,
}

/// The place of one object.
#[derive(Clone)]
pub(super) struct Slot<T> {
    pub(super) object: T,
    /// The [identity](Resource::identity) of its key.
    pub(super) identity: usize,
    /// The newest full state that contained it, or the first of its [holds](super::holds).
    pub(super) mark: u32,
    /// The first of its postings.
    pub(super) postings: u32,
}

impl<T: Resource> Slot<T> {
    /// Whether the object is under `key`, which has this identity. Looks at the object only if it must: the
    /// object is elsewhere in memory.
    fn is_under(&self, key: &T::Key, identity: usize) -> bool {
        (identity != 0 && identity == self.identity) || self.object.key() == key
    }
}

impl<T: Resource + Clone, S: Storage> View<T, S> {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            slots: Slab::default(),
            keys: Table::default(),
            indices: Slab::default(),
            indices_made: 0,
            postings: Postings::default(),
            holds: Holds::new(),
            version: S::Text::default(),
            newest: Epoch::NEVER,
            bytes: 0,
            limits: StoreLimits::NONE,
        }
    }

    /// How many objects there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// How many bytes the server sent for all objects together. [`StoreLimits::bytes`] limits this.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The version of the store; empty at first, and with several sources, which have versions of their own.
    #[must_use]
    pub fn version(&self) -> &str {
        self.version.as_ref()
    }

    /// The object under `key`.
    pub fn get(&self, key: &T::Key) -> Option<&T> {
        // Unlike `find_hashed`, this does not look at the slot a second time.
        let identity = T::identity(key);
        let mut found = None;
        self.keys.find(self.seed.hash(key), |at| {
            let slot = self.slots.linked(at);
            found = slot.filter(|slot| slot.is_under(key, identity));
            found.is_some()
        });
        found.map(|slot| &slot.object)
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|(_, slot)| &slot.object)
    }

    /// The objects from a cursor on, in the order of [`iter`](Self::iter). Each comes with the cursor
    /// behind it, where the next page starts.
    ///
    /// The pages of one snapshot show every object once. If the store changes between pages, objects that
    /// stay are shown once, and objects that are added or removed may be missed.
    ///
    /// ```
    /// # use informer_core::indexer::{Cursor, Indexer};
    /// # use informer_core::storage::{Heap, Seed};
    /// # use informer_core::{Object, ObjectKey};
    /// # let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
    /// # for name in ["a", "b", "c"] {
    /// #     store.put(Object::builder(ObjectKey::new("", name))
    /// #         .version("1")
    /// #         .body(()))?;
    /// # }
    /// let mut next = Cursor::default();
    /// let mut pages = Vec::new();
    /// loop {
    ///     let mut page = Vec::new();
    ///     for (behind, object) in store.iter_from(next).take(2) {
    ///         page.push(object.key().name().to_owned());
    ///         next = behind;
    ///     }
    ///     if page.is_empty() {
    ///         break;
    ///     }
    ///     pages.push(page);
    /// }
    /// assert_eq!(pages, [vec!["a", "b"], vec!["c"]]);
    /// # Ok::<(), informer_core::storage::Full>(())
    /// ```
    pub fn iter_from(&self, from: Cursor) -> impl Iterator<Item = (Cursor, &T)> {
        let slots = from.0..self.slots.bound();
        slots.filter_map(|at| Some((Cursor(at + 1), &self.slots.get(at)?.object)))
    }

    /// All keys, in the order of [`iter`](Self::iter).
    pub fn keys(&self) -> impl Iterator<Item = &T::Key> {
        self.iter().map(Resource::key)
    }

    /// The id of an index.
    ///
    /// # Errors
    /// There is no such index.
    pub fn index<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<IndexId, UnknownIndex> {
        let wanted = index.into();
        let found = match wanted {
            IndexRef::Id(id) => {
                let here = self.indices.get(id.at);
                here.filter(|index| index.serial == id.serial).map(|_| id)
            }
            IndexRef::Name(name) => self
                .indices()
                .find_map(|(id, its_name, _)| (its_name == name).then_some(id)),
        };
        found.ok_or_else(|| UnknownIndex::new(wanted))
    }

    /// All indices: their ids, names and functions.
    pub fn indices(&self) -> impl Iterator<Item = (IndexId, &str, &IndexFn<T>)> {
        self.indices.iter().map(|(at, index)| {
            let serial = index.serial;
            (IndexId { at, serial }, index.name.as_ref(), &index.function)
        })
    }

    /// The objects that an index files under `value`, in an order that depends only on the writes.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl AsRef<[u8]>,
    ) -> Result<ByIndex<'_, T, S>, UnknownIndex> {
        let index = self.index_of(index)?;
        let value = index.find(&self.seed, value.as_ref());
        Ok(self.filed_under(index, value.unwrap_or(NONE)))
    }

    /// How many objects an index files under `value`.
    ///
    /// # Errors
    /// There is no such index.
    pub fn count<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl AsRef<[u8]>,
    ) -> Result<usize, UnknownIndex> {
        Ok(self.by_index(index, value)?.len())
    }

    /// The part of an ordered index with values within `bounds`.
    ///
    /// ```
    /// use core::ops::Bound;
    /// # use informer_core::indexer::{IndexFn, Indexer};
    /// # use informer_core::storage::{Heap, Seed};
    /// # use informer_core::{Object, ObjectKey};
    /// # let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
    /// # for name in ["c", "a", "d", "b"] {
    /// #     store.put(Object::builder(ObjectKey::new("", name))
    /// #         .version("1")
    /// #         .body(()))?;
    /// # }
    /// let by_name = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
    ///     file(object.key().name().as_bytes());
    /// });
    /// store.add_index("name", by_name.ordered())?;
    /// let bounds = (Bound::Excluded(&b"a"[..]), Bound::Included(&b"c"[..]));
    /// let range = store.range("name", bounds)?;
    /// let names = range.objects().rev().map(|object| object.key().name());
    /// assert_eq!(names.collect::<Vec<_>>(), ["c", "b"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// There is no such index, or it is not [ordered](IndexFn::ordered).
    pub fn range<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        bounds: impl RangeBounds<[u8]>,
    ) -> Result<IndexTable<'_, T, S>, RangeError> {
        let index = self.index_of(index)?;
        let Some(numbers) = index.range(&bounds) else {
            return Err(RangeError::NotOrdered(IndexName::new(index.name.as_ref())));
        };
        Ok(IndexTable {
            view: self,
            index,
            numbers,
        })
    }

    /// The values under which an index files at least one object. They are sorted by their bytes if the
    /// index is ordered; otherwise their order depends only on the writes.
    ///
    /// # Errors
    /// There is no such index.
    pub fn index_values<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
    ) -> Result<impl DoubleEndedIterator<Item = &[u8]>, UnknownIndex> {
        let index = self.index_of(index)?;
        let values = index.all().filter_map(|at| index.value(at));
        Ok(values.map(|value| value.bytes.as_ref()))
    }

    /// Visits each object that shares at least one value of an index with `object`, once. `object` itself
    /// need not be in the store. The cost is the number of values of `object` times the number of values
    /// of each visited object.
    ///
    /// # Errors
    /// There is no such index.
    pub fn matching<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        object: &T,
        mut visit: impl FnMut(&T),
    ) -> Result<(), UnknownIndex> {
        let id = self.index(index)?;
        let index = self.index_of(id)?;
        // How many values of `object` came before the current one.
        let mut nth = 0;
        index.function.values(object, &mut |bytes| {
            let under = index.find(&self.seed, bytes).unwrap_or(NONE);
            for slot in self.filed_under(index, under).slots() {
                // It was shown if it is filed under an earlier value of `object`.
                let (mut at, mut shown) = (0, false);
                index.function.values(object, &mut |earlier| {
                    let is_filed = |value| self.is_filed(slot, id.at, value);
                    shown |=
                        at < nth && !shown && index.find(&self.seed, earlier).is_some_and(is_filed);
                    at += 1;
                });
                if !shown && let Some(slot) = self.slots.linked(slot) {
                    visit(&slot.object);
                }
            }
            nth += 1;
        });
        Ok(())
    }

    /// The whole table of an index. It prints as one line per value:
    ///
    /// ```text
    /// web: default/a default/b
    /// db: default/c
    /// ```
    ///
    /// # Errors
    /// There is no such index.
    pub fn table<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
    ) -> Result<IndexTable<'_, T, S>, UnknownIndex> {
        let index = self.index_of(index)?;
        let numbers = index.all();
        Ok(IndexTable {
            view: self,
            index,
            numbers,
        })
    }

    pub(super) fn find_hashed(&self, hash: u32, key: &T::Key) -> Option<u32> {
        let identity = T::identity(key);
        self.keys.find(hash, |at| {
            let slot = self.slots.linked(at);
            slot.is_some_and(|slot| slot.is_under(key, identity))
        })
    }

    /// The postings of the object in a slot, in all indices.
    pub(super) fn postings_of(&self, slot: u32) -> impl Iterator<Item = Posting> {
        let mut at = self.slots.linked(slot).map_or(NONE, |slot| slot.postings);
        core::iter::from_fn(move || {
            let posting = self.postings.linked(at)?;
            at = posting.sibling;
            Some(posting)
        })
    }

    fn is_filed(&self, slot: u32, index: u32, value: u32) -> bool {
        self.postings_of(slot)
            .any(|posting| posting.index == index && posting.value == value)
    }

    fn index_of<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<&Index<T, S>, UnknownIndex> {
        let index = index.into();
        let id = self.index(index)?;
        self.indices
            .linked(id.at)
            .ok_or_else(|| UnknownIndex::new(index))
    }

    pub(super) fn filed_under(&self, index: &Index<T, S>, value: u32) -> ByIndex<'_, T, S> {
        let list = index.value(value).map_or(List::EMPTY, |value| value.filed);
        ByIndex {
            view: self,
            front: list.front(),
            back: list.back(),
            left: list.count,
        }
    }
}

impl<T: Resource + Clone, S: Storage> Known<T> for View<T, S> {
    fn newest(&self) -> Epoch {
        self.newest
    }

    fn get(&self, key: &T::Key) -> Option<&T> {
        Self::get(self, key)
    }

    fn places(&self) -> u32 {
        self.slots.bound()
    }

    fn at(&self, place: u32) -> Option<(&T, Epoch)> {
        let slot = self.slots.get(place)?;
        let seen = self.holds.seen_by(slot.mark, self.holds.source)?;
        Some((&slot.object, seen))
    }
}

impl<T: Resource + Clone, S: Storage> Clone for View<T, S> {
    fn clone(&self) -> Self {
        Self {
            seed: self.seed.clone(),
            slots: self.slots.clone(),
            keys: self.keys.clone(),
            indices: self.indices.clone(),
            indices_made: self.indices_made,
            postings: self.postings.clone(),
            holds: self.holds.clone(),
            version: self.version.clone(),
            newest: self.newest,
            bytes: self.bytes,
            limits: self.limits,
        }
    }
}

debug_fields!([T: Resource + Clone, S: Storage] View[T, S], self: len = self.len(),
    indices = self.indices.len(), version);

/// A position in the order of [`View::iter`]; the start by default.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cursor(u32);
