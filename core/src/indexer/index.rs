//! An index: the values of its function, each with its postings.

use core::fmt;
use core::ops::RangeBounds;

use super::function::IndexFn;
use super::order::{Order, Side};
use super::postings::{List, Posting, Postings};
use crate::storage::{Bytes, Full, NONE, Seed, SharedPlaces, SharedTable, Slab, Storage, Table};

/// Identifies an index of an indexer. Never reused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexId {
    /// Its place, which another index may get after its removal.
    pub(super) at: u32,
    /// How many indices were added before it. Tells indices at the same place apart.
    pub(super) serial: u32,
}

/// An index, by id or by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum IndexRef<'a> {
    /// The id that [`Indexer::add_index`](super::Indexer::add_index) returned.
    Id(IndexId),
    /// The name it was added with.
    Name(&'a str),
}

impl From<IndexId> for IndexRef<'_> {
    fn from(id: IndexId) -> Self {
        Self::Id(id)
    }
}

impl<'a> From<&'a str> for IndexRef<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

/// There is no such index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownIndex(IndexName);

impl UnknownIndex {
    pub(super) fn new(index: IndexRef<'_>) -> Self {
        Self(match index {
            IndexRef::Id(_) => IndexName::unknown(),
            IndexRef::Name(name) => IndexName::new(name),
        })
    }
}

impl fmt::Display for UnknownIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no index {}; add it first", self.0)
    }
}

impl core::error::Error for UnknownIndex {}

/// Why an index has no range.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RangeError {
    /// There is no such index.
    Unknown(UnknownIndex),
    /// The index does not keep its values sorted.
    NotOrdered(IndexName),
}

impl From<UnknownIndex> for RangeError {
    fn from(unknown: UnknownIndex) -> Self {
        Self::Unknown(unknown)
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::NotOrdered(name) => write!(
                f,
                "the index {name} is not ordered; call `.ordered()` on its function"
            ),
        }
    }
}

impl core::error::Error for RangeError {}

/// The name of an index, for messages. Without an allocator it is not kept, since the caller knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct IndexName(#[cfg(feature = "alloc")] Option<alloc::boxed::Box<str>>);

impl IndexName {
    #[cfg(feature = "alloc")]
    pub(super) fn new(name: &str) -> Self {
        Self(Some(name.into()))
    }

    #[cfg(not(feature = "alloc"))]
    pub(super) const fn new(_: &str) -> Self {
        Self()
    }

    const fn unknown() -> Self {
        Self(
            #[cfg(feature = "alloc")]
            None,
        )
    }
}

impl fmt::Display for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "alloc")]
        if let Some(name) = &self.0 {
            return write!(f, "named {name:?}");
        }
        f.write_str("with that name")
    }
}

/// One index: its function and its values.
#[derive(Clone)]
pub(super) struct Index<T, S: Storage> {
    pub(super) serial: u32,
    pub(super) name: S::Text,
    pub(super) function: IndexFn<T>,
    pub(super) values: SharedPlaces<S, Value<S>>,
    table: SharedTable<S>,
    pub(super) order: Option<Order<S>>,
}

/// A value under which at least one object is filed.
#[derive(Clone)]
pub(super) struct Value<S: Storage> {
    pub(super) bytes: S::Bytes,
    pub(super) hash: u32,
    pub(super) filed: List,
}

impl<T, S: Storage> Index<T, S> {
    pub(super) fn new(serial: u32, name: S::Text, function: IndexFn<T>) -> Self {
        Self {
            serial,
            name,
            order: function.is_ordered().then(Order::default),
            function,
            values: Slab::default(),
            table: Table::default(),
        }
    }

    /// The number of a value, if objects are filed under it.
    pub(super) fn find(&self, seed: &Seed, bytes: &[u8]) -> Option<u32> {
        self.find_hashed(seed.hash(bytes), bytes)
    }

    pub(super) fn find_hashed(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        self.table.find(hash, |at| self.is_value(at, bytes))
    }

    /// Whether the value with the number `at` is `bytes`.
    pub(super) fn is_value(&self, at: u32, bytes: &[u8]) -> bool {
        let value = self.values.linked(at);
        value.is_some_and(|value| value.bytes.as_ref() == bytes)
    }

    pub(super) fn value(&self, at: u32) -> Option<&Value<S>> {
        self.values.get(at)
    }

    /// The numbers of all values; sorted by their bytes if the index is ordered.
    pub(super) fn all(&self) -> Numbers<'_, S> {
        self.range(&..).unwrap_or_else(|| {
            let last = self.values.bound().checked_sub(1);
            let (order, left) = (None, last.map(|last| (0, last)));
            Numbers { order, left }
        })
    }

    /// The numbers of the values within bounds; `None` if the index is not ordered.
    pub(super) fn range(&self, bounds: &impl RangeBounds<[u8]>) -> Option<Numbers<'_, S>> {
        let order = self.order.as_ref()?;
        let first = order.first(&self.values, bounds.start_bound());
        let last = order.last(&self.values, bounds.end_bound());
        let bytes = |at| self.value(at).map(|value| value.bytes.as_ref());
        let is_empty = first == NONE || bytes(first) > bytes(last);
        let (order, left) = (Some(order), (!is_empty).then_some((first, last)));
        Some(Numbers { order, left })
    }

    /// Files an object under `bytes` and returns the number of the posting. `hash` and `value` are those
    /// of `bytes`, with `None` for a new value.
    pub(super) fn file(
        &mut self,
        postings: &mut Postings<S>,
        (hash, value): (u32, Option<u32>),
        bytes: &[u8],
        posting: Posting,
    ) -> Result<u32, Full> {
        let value = match value {
            Some(at) => at,
            None => {
                // A new value must not stay without a posting.
                postings.reserve()?;
                self.add_value(hash, bytes)?
            }
        };
        let filed = &mut self.values.linked_mut(value).ok_or(Full)?.filed;
        postings.file(filed, Posting { value, ..posting })
    }

    /// Removes the posting with the number `at` from `value`, and the value if that was its last posting.
    pub(super) fn unfile(&mut self, postings: &mut Postings<S>, value: u32, at: u32) {
        let Some(Value { hash, filed, .. }) = self.values.linked_mut(value) else {
            return;
        };
        postings.remove(filed, at);
        if filed.count == 0 {
            let hash = *hash;
            if let Some(order) = &mut self.order {
                order.remove(&self.values, value);
            }
            self.table.remove_entered(hash, value);
            self.values.remove_linked(value);
        }
    }

    fn add_value(&mut self, hash: u32, bytes: &[u8]) -> Result<u32, Full> {
        self.table.reserve()?;
        let at = self.values.insert(Value {
            bytes: S::Bytes::copy(bytes)?,
            hash,
            filed: List::EMPTY,
        })?;
        if let Some(order) = &mut self.order {
            if let Err(full) = order.reserve(at) {
                self.values.remove_linked(at);
                return Err(full);
            }
            order.insert(&self.values, at);
        }
        self.table.insert_reserved(hash, at);
        Ok(at)
    }
}

/// Iterates over the numbers of some values of an index.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'a, S: Storage> {
    /// Leads from one number to the next. Without it they are places of the slab, and some may be free.
    order: Option<&'a Order<S>>,
    /// The first and the last number that are left.
    left: Option<(u32, u32)>,
}

impl<S: Storage> Iterator for Numbers<'_, S> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let (front, back) = self.left?;
        self.left = (front != back).then(|| match self.order {
            Some(order) => (order.neighbour(front, Side::Right), back),
            None => (front + 1, back),
        });
        Some(front)
    }
}

impl<S: Storage> DoubleEndedIterator for Numbers<'_, S> {
    fn next_back(&mut self) -> Option<u32> {
        let (front, back) = self.left?;
        self.left = (front != back).then(|| match self.order {
            Some(order) => (front, order.neighbour(back, Side::Left)),
            None => (front, back - 1),
        });
        Some(back)
    }
}
