//! `View`: what can be asked of a store.

use core::fmt;
use core::ops::RangeBounds;

use super::filed::{Filed, IndexTable};
use super::function::IndexFn;
use super::index::{Index, IndexId, IndexRef, Named, RangeError, UnknownIndex};
use super::postings::{List, Posting, Postings};
use crate::known::{Epoch, Known};
use crate::limits::StoreLimits;
use crate::object::Resource;
use crate::storage::{
    FewSharedPlaces, NONE, Seed, SharedPlaces, SharedTable, Slab, Storage, Table,
};

/// The objects of a store and their indices, for reading.
///
/// An [`Indexer`](super::Indexer) reads as its present view, as a `Vec` reads as a slice; and
/// [`snapshot`](super::Indexer::snapshot) gives a view that stays as it is while the indexer goes on.
/// Everything that one view shows belongs to one state of the store.
///
/// Iteration is in slot order: a function of what was put and removed, not of hashes.
pub struct View<T: Resource + Clone, S: Storage> {
    pub(super) seed: Seed,
    pub(super) slots: SharedPlaces<S, Slot<T>>,
    pub(super) keys: SharedTable<S>,
    pub(super) indices: FewSharedPlaces<S, Index<T, S>>,
    /// How many indices were ever added.
    pub(super) indices_made: u32,
    pub(super) postings: Postings<S>,
    pub(super) version: S::Text,
    /// The newest full state that any object was marked with.
    pub(super) newest: Epoch,
    /// What the server sent for all objects together.
    pub(super) bytes: u64,
    pub(super) limits: StoreLimits,
}

/// The place of one object.
#[derive(Clone)]
pub(super) struct Slot<T> {
    pub(super) object: T,
    /// The last full state that contained it.
    pub(super) seen: Epoch,
    /// The first of its postings.
    pub(super) postings: u32,
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

    /// How many bytes the server sent for all objects together: what
    /// [`StoreLimits::bytes`] limits.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The version that the store has reached; empty at first.
    #[must_use]
    pub fn version(&self) -> &str {
        self.version.as_ref()
    }

    /// The object under `key`.
    pub fn get(&self, key: &T::Key) -> Option<&T> {
        // The search ends at the object, so there is no need to go there a second time.
        let mut found = None;
        self.keys.find(self.seed.hash(key), |at| {
            let object = self.slots.get(at).map(|slot| &slot.object);
            found = object.filter(|object| object.key() == key);
            found.is_some()
        });
        found
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|(_, slot)| &slot.object)
    }

    /// The objects from a place on, in the order of [`iter`](Self::iter), each with the place behind it:
    /// what the next page begins with.
    ///
    /// Over one snapshot the pages together show everything once. Over a store that is written
    /// meanwhile, what is there all the time is shown once, and what comes or goes may be missed.
    ///
    /// ```
    /// # use informer_core::indexer::{Cursor, Indexer};
    /// # use informer_core::storage::{Heap, Seed};
    /// # use informer_core::{Labels, Object, ObjectKey};
    /// # let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
    /// # for name in ["a", "b", "c"] {
    /// #     store.put(Object {
    /// #         key: ObjectKey::new("", name),
    /// #         uid: "".into(),
    /// #         version: "1".into(),
    /// #         labels: Labels::default(),
    /// #         size: 0,
    /// #         body: (),
    /// #     })?;
    /// # }
    /// let mut next = Cursor::default();
    /// let mut pages = Vec::new();
    /// loop {
    ///     let mut page = Vec::new();
    ///     for (behind, object) in store.iter_from(next).take(2) {
    ///         page.push(object.key.name().to_owned());
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

    /// The number of the index with this name.
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

    /// All indices: their numbers, names and functions.
    pub fn indices(&self) -> impl Iterator<Item = (IndexId, &str, &IndexFn<T>)> {
        self.indices.iter().map(|(at, index)| {
            let serial = index.serial;
            (IndexId { at, serial }, index.name.as_ref(), &index.function)
        })
    }

    /// The objects that an index files under `value`, in an order that depends on what was put and removed
    /// only.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl AsRef<[u8]>,
    ) -> Result<Filed<'_, T, S>, UnknownIndex> {
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

    /// The part of an ordered index whose values lie within `bounds`.
    ///
    /// ```
    /// use core::ops::Bound;
    /// # use informer_core::indexer::{IndexFn, Indexer};
    /// # use informer_core::storage::{Heap, Seed};
    /// # use informer_core::{Labels, Object, ObjectKey};
    /// # let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
    /// # for name in ["c", "a", "d", "b"] {
    /// #     store.put(Object {
    /// #         key: ObjectKey::new("", name),
    /// #         uid: "".into(),
    /// #         version: "1".into(),
    /// #         labels: Labels::default(),
    /// #         size: 0,
    /// #         body: (),
    /// #     })?;
    /// # }
    /// let by_name = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
    ///     file(object.key.name().as_bytes());
    /// });
    /// store.add_index("name", by_name.ordered())?;
    /// let bounds = (Bound::Excluded(&b"a"[..]), Bound::Included(&b"c"[..]));
    /// let range = store.range("name", bounds)?;
    /// let names = range.objects().rev().map(|object| object.key.name());
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
            return Err(RangeError::NotOrdered(Named::new(index.name.as_ref())));
        };
        Ok(IndexTable {
            view: self,
            index,
            numbers,
        })
    }

    /// The values under which an index files at least one object: sorted by their bytes if the index is
    /// ordered, else in an order that depends on what was put and removed only.
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

    /// The objects that share at least one value of an index with `object`, which need not be in the
    /// store. Each is shown once. It costs the values of `object` times those of each object shown.
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
        let Some(index) = self.indices.get(id.at) else {
            return Ok(());
        };
        // The values of `object` before the present one, counted by their place in the emission.
        let mut nth = 0;
        index.function.values(object, &mut |bytes| {
            let under = index.find(&self.seed, bytes).unwrap_or(NONE);
            for slot in self.filed_under(index, under).slots() {
                let shown = Self::emitted_before(index, object, nth, |earlier| {
                    let earlier = index.find(&self.seed, earlier);
                    earlier.is_some_and(|value| self.is_filed(slot, id.at, value))
                });
                if !shown && let Some(slot) = self.slots.get(slot) {
                    visit(&slot.object);
                }
            }
            nth += 1;
        });
        Ok(())
    }

    /// The whole table of an index, for printing.
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

    pub(super) fn find(&self, key: &T::Key) -> Option<u32> {
        self.find_hashed(self.seed.hash(key), key)
    }

    pub(super) fn find_hashed(&self, hash: u32, key: &T::Key) -> Option<u32> {
        self.keys.find(hash, |at| {
            let slot = self.slots.get(at);
            slot.is_some_and(|slot| slot.object.key() == key)
        })
    }

    /// The postings of the object in a slot, of all indices.
    pub(super) fn postings_of(&self, slot: u32) -> impl Iterator<Item = Posting> {
        let mut at = self.slots.get(slot).map_or(NONE, |slot| slot.postings);
        core::iter::from_fn(move || {
            let posting = self.postings.get(at)?;
            at = posting.sibling;
            Some(posting)
        })
    }

    pub(super) fn is_filed(&self, slot: u32, index: u32, value: u32) -> bool {
        self.postings_of(slot)
            .any(|posting| posting.index == index && posting.value == value)
    }

    fn index_of<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<&Index<T, S>, UnknownIndex> {
        let index = index.into();
        let id = self.index(index)?;
        self.indices
            .get(id.at)
            .ok_or_else(|| UnknownIndex::new(index))
    }

    pub(super) fn filed_under(&self, index: &Index<T, S>, value: u32) -> Filed<'_, T, S> {
        let list = index.value(value).map_or(List::EMPTY, |value| value.filed);
        Filed {
            view: self,
            front: list.front(),
            back: list.back(),
            left: list.count,
        }
    }

    /// Whether `is_it` holds for one of the first `n` values of `object`.
    fn emitted_before(
        index: &Index<T, S>,
        object: &T,
        n: usize,
        mut is_it: impl FnMut(&[u8]) -> bool,
    ) -> bool {
        let (mut at, mut found) = (0, false);
        index.function.values(object, &mut |bytes| {
            found |= at < n && !found && is_it(bytes);
            at += 1;
        });
        found
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
        Some((&slot.object, slot.seen))
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
            version: self.version.clone(),
            newest: self.newest,
            bytes: self.bytes,
            limits: self.limits,
        }
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for View<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("len", &self.len())
            .field("indices", &self.indices.len())
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// A place in the order of [`View::iter`]; by default the beginning.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Cursor(u32);
