//! `View`: what can be asked of a store.

use core::fmt::{self, Write as _};

use super::index::{Index, IndexId, IndexRef, Posting, Postings, UnknownIndex};
use crate::object::Resource;
use crate::queue::{Epoch, KnownObjects};
use crate::storage::{
    FewSharedPlaces, Full, NONE, Seed, SharedPlaces, SharedTable, Slab, Storage, Table,
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
    pub(super) postings: Postings<S>,
    pub(super) version: S::Text,
    /// The newest full state that any object was marked with.
    pub(super) newest: Epoch,
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
            postings: Slab::default(),
            version: S::Text::default(),
            newest: Epoch::NEVER,
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

    /// The version that the store has reached; empty at first.
    #[must_use]
    pub fn version(&self) -> &str {
        self.version.as_ref()
    }

    /// The object under `key`.
    pub fn get(&self, key: &T::Key) -> Option<&T> {
        Some(&self.slots.get(self.find(key)?)?.object)
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().map(|(_, slot)| &slot.object)
    }

    /// All keys, in the order of [`iter`](Self::iter).
    pub fn keys(&self) -> impl Iterator<Item = &T::Key> {
        self.iter().map(Resource::key)
    }

    /// The first object in a slot from `at` on, and the number of its slot.
    pub(crate) fn object_from(&self, at: u32) -> Option<(u32, &T)> {
        (at..self.slots.bound()).find_map(|at| Some((at, &self.slots.get(at)?.object)))
    }

    /// The number of the index with this name.
    ///
    /// # Errors
    /// There is no such index.
    pub fn index<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<IndexId, UnknownIndex> {
        let wanted = index.into();
        let found = match wanted {
            IndexRef::Id(id) => self.indices.get(id.0).map(|_| id),
            IndexRef::Name(name) => {
                let mut named = self.indices.iter();
                let found = named.find(|(_, index)| index.name.as_ref() == name);
                found.map(|(at, _)| IndexId(at))
            }
        };
        found.ok_or_else(|| UnknownIndex::new(wanted))
    }

    /// The objects that an index files under `value`, in the order in which they were filed.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl AsRef<[u8]>,
    ) -> Result<impl Iterator<Item = &T>, UnknownIndex> {
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
        let index = self.index_of(index)?;
        let value = index.find(&self.seed, value.as_ref());
        let count = value
            .and_then(|at| index.value(at))
            .map(|value| value.count);
        Ok(count.unwrap_or(0) as usize)
    }

    /// The values under which an index files at least one object, in an order that depends on what was
    /// put and removed only.
    ///
    /// # Errors
    /// There is no such index.
    pub fn index_values<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
    ) -> Result<impl Iterator<Item = &[u8]>, UnknownIndex> {
        let index = self.index_of(index)?;
        Ok(index.values().map(|(_, value)| value.bytes.as_ref()))
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
        let Some(index) = self.indices.get(id.0) else {
            return Ok(());
        };
        // The values of `object` before the present one, counted by their place in the emission.
        let mut nth = 0;
        index.function.values(object, &mut |bytes| {
            let under = index.find(&self.seed, bytes).unwrap_or(NONE);
            for slot in self.slots_filed_under(index, under) {
                let shown = Self::emitted_before(index, object, nth, |earlier| {
                    let earlier = index.find(&self.seed, earlier);
                    earlier.is_some_and(|value| self.is_filed(slot, id, value))
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
        Ok(IndexTable { view: self, index })
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
    pub(super) fn postings_of(&self, slot: u32) -> impl Iterator<Item = &Posting> {
        let mut at = self.slots.get(slot).map_or(NONE, |slot| slot.postings);
        core::iter::from_fn(move || {
            let posting = self.postings.get(at)?;
            at = posting.sibling;
            Some(posting)
        })
    }

    pub(super) fn is_filed(&self, slot: u32, index: IndexId, value: u32) -> bool {
        self.postings_of(slot)
            .any(|posting| posting.index == index && posting.value == value)
    }

    fn index_of<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<&Index<T, S>, UnknownIndex> {
        let index = index.into();
        let id = self.index(index)?;
        self.indices
            .get(id.0)
            .ok_or_else(|| UnknownIndex::new(index))
    }

    fn filed_under(&self, index: &Index<T, S>, value: u32) -> impl Iterator<Item = &T> {
        self.slots_filed_under(index, value)
            .filter_map(|slot| Some(&self.slots.get(slot)?.object))
    }

    fn slots_filed_under(
        &self,
        index: &Index<T, S>,
        value: u32,
    ) -> impl Iterator<Item = u32> + use<'_, T, S> {
        let mut at = index.value(value).map_or(NONE, |value| value.first);
        core::iter::from_fn(move || {
            let posting = self.postings.get(at)?;
            at = posting.after;
            Some(posting.slot)
        })
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

impl<T: Resource + Clone, S: Storage> KnownObjects<T> for View<T, S> {
    fn newest(&self) -> Epoch {
        self.newest
    }

    fn knows(&self, key: &T::Key) -> bool {
        self.find(key).is_some()
    }

    fn each(&self, visit: &mut dyn FnMut(&T, Epoch) -> Result<(), Full>) -> Result<(), Full> {
        self.slots
            .iter()
            .try_for_each(|(_, slot)| visit(&slot.object, slot.seen))
    }
}

impl<T: Resource + Clone, S: Storage> Clone for View<T, S> {
    fn clone(&self) -> Self {
        Self {
            seed: self.seed.clone(),
            slots: self.slots.clone(),
            keys: self.keys.clone(),
            indices: self.indices.clone(),
            postings: self.postings.clone(),
            version: self.version.clone(),
            newest: self.newest,
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

/// The table of an index: a line for each value with the keys filed under it.
pub struct IndexTable<'a, T: Resource + Clone, S: Storage> {
    view: &'a View<T, S>,
    index: &'a Index<T, S>,
}

impl<'a, T: Resource + Clone, S: Storage> IndexTable<'a, T, S> {
    /// Every value with the objects filed under it.
    pub fn rows(
        &self,
    ) -> impl Iterator<Item = (&'a [u8], impl Iterator<Item = &'a T> + use<'a, T, S>)> + use<'a, T, S>
    {
        let Self { view, index } = *self;
        index
            .values()
            .map(move |(at, value)| (value.bytes.as_ref(), view.filed_under(index, at)))
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Display for IndexTable<'_, T, S>
where
    T::Key: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (value, objects) in self.rows() {
            for chunk in value.utf8_chunks() {
                for char in chunk.valid().chars() {
                    match char {
                        char if char.is_control() => write!(f, "{}", char.escape_default())?,
                        char => f.write_char(char)?,
                    }
                }
                for byte in chunk.invalid() {
                    write!(f, "\\x{byte:02x}")?;
                }
            }
            f.write_str(":")?;
            for object in objects {
                write!(f, " {}", object.key())?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for IndexTable<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexTable")
            .field("index", &self.index.name)
            .finish_non_exhaustive()
    }
}
