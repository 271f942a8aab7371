//! Indices: what a function says of an object, and where to find the objects of which it says so.

#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

use crate::storage::{Bytes, Full, NONE, Seed, SharedPlaces, SharedTable, Slab, Storage, Table};

/// A function from an object to the values under which an index files it: none, one or many.
///
/// Values are bytes. A text is given as its bytes; numbers in an encoding that keeps their order, such
/// as big-endian, so that an index may be ordered by value. The function cannot fail: what it does not
/// understand, it files under nothing.
///
/// ```
/// use informer_core::indexer::IndexFn;
/// use informer_core::Object;
///
/// let by_namespace = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
///     file(object.key.namespace().as_bytes());
/// });
/// # let _ = by_namespace;
/// ```
pub struct IndexFn<T>(Function<T>);

enum Function<T> {
    Plain(PlainFn<T>),
    #[cfg(feature = "alloc")]
    Shared(Arc<Closure<T>>),
}

/// A function that shows the values of an object to whoever files it.
pub type PlainFn<T> = fn(&T, &mut dyn FnMut(&[u8]));

#[cfg(feature = "alloc")]
type Closure<T> = dyn Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync;

impl<T> IndexFn<T> {
    /// An index function from a closure. It must depend on nothing but the object.
    #[cfg(feature = "alloc")]
    pub fn new(function: impl Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync + 'static) -> Self {
        Self(Function::Shared(Arc::new(function)))
    }

    /// An index function from a function, without an allocator.
    pub const fn plain(function: PlainFn<T>) -> Self {
        Self(Function::Plain(function))
    }

    pub(super) fn values(&self, object: &T, file: &mut dyn FnMut(&[u8])) {
        match &self.0 {
            Function::Plain(function) => function(object, file),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => function(object, file),
        }
    }
}

impl<T> Clone for IndexFn<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Function::Plain(function) => Function::Plain(*function),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => Function::Shared(Arc::clone(function)),
        })
    }
}

impl<T> fmt::Debug for IndexFn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFn(…)")
    }
}

/// The number of an index within its indexer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IndexId(pub(super) u32);

/// An index, by number or by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "these are the two ways")]
pub enum IndexRef<'a> {
    /// As [`Indexer::add_index`](super::Indexer::add_index) numbered it.
    Id(IndexId),
    /// As it was named.
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
pub struct UnknownIndex(Named);

impl UnknownIndex {
    pub(super) fn new(index: IndexRef<'_>) -> Self {
        Self(match index {
            IndexRef::Id(_) => Named::nameless(),
            IndexRef::Name(name) => Named::new(name),
        })
    }
}

impl fmt::Display for UnknownIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no index {}; add it first", self.0)
    }
}

impl core::error::Error for UnknownIndex {}

/// The name of an index, for people. Without an allocator it is not kept: the caller knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Named(#[cfg(feature = "alloc")] Option<alloc::boxed::Box<str>>);

impl Named {
    #[cfg(feature = "alloc")]
    pub(super) fn new(name: &str) -> Self {
        Self(Some(name.into()))
    }

    #[cfg(not(feature = "alloc"))]
    pub(super) const fn new(_: &str) -> Self {
        Self()
    }

    const fn nameless() -> Self {
        Self(
            #[cfg(feature = "alloc")]
            None,
        )
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "alloc")]
        if let Some(name) = &self.0 {
            return write!(f, "named {name:?}");
        }
        f.write_str("of that name")
    }
}

/// One index: its function, and its values with the postings of each.
pub(super) struct Index<T, S: Storage> {
    pub(super) name: S::Text,
    pub(super) function: IndexFn<T>,
    values: SharedPlaces<S, Value<S>>,
    table: SharedTable<S>,
}

/// A value under which at least one object is filed.
pub(super) struct Value<S: Storage> {
    pub(super) bytes: S::Bytes,
    hash: u32,
    pub(super) first: u32,
    last: u32,
    pub(super) count: u32,
}

/// One object filed under one value: a link in the list of the value and in the list of the object.
#[derive(Clone)]
pub(super) struct Posting {
    pub(super) index: IndexId,
    pub(super) value: u32,
    pub(super) slot: u32,
    before: u32,
    pub(super) after: u32,
    /// The next posting of the same object, of whichever index.
    pub(super) sibling: u32,
}

pub(super) type Postings<S> = SharedPlaces<S, Posting>;

impl<T, S: Storage> Index<T, S> {
    pub(super) fn new(name: S::Text, function: IndexFn<T>) -> Self {
        Self {
            name,
            function,
            values: Slab::default(),
            table: Table::default(),
        }
    }

    /// The number of a value that is in use.
    pub(super) fn find(&self, seed: &Seed, bytes: &[u8]) -> Option<u32> {
        self.find_hashed(seed.hash(bytes), bytes)
    }

    pub(super) fn find_hashed(&self, hash: u32, bytes: &[u8]) -> Option<u32> {
        self.table.find(hash, |at| {
            self.value(at)
                .is_some_and(|value| value.bytes.as_ref() == bytes)
        })
    }

    /// The posting that was filed last under a value.
    pub(super) fn newest(&self, value: u32) -> Option<u32> {
        Some(self.value(value)?.last)
    }

    pub(super) fn value(&self, at: u32) -> Option<&Value<S>> {
        self.values.get(at)
    }

    /// All values in use, with their numbers.
    pub(super) fn values(&self) -> impl Iterator<Item = (u32, &Value<S>)> {
        self.values.iter()
    }

    /// Files an object under `bytes`, whose hash and number (if it is in use) were looked up, in front
    /// of its other postings. Gives the number of the posting.
    pub(super) fn file(
        &mut self,
        postings: &mut Postings<S>,
        (hash, value): (u32, Option<u32>),
        bytes: &[u8],
        posting: Posting,
    ) -> Result<u32, Full> {
        postings.reserve()?;
        let value_at = match value {
            Some(at) => at,
            None => self.add_value(hash, bytes)?,
        };
        let Some(value) = self.values.get_mut(value_at) else {
            return Err(Full);
        };
        let at = postings.insert(Posting {
            value: value_at,
            before: value.last,
            ..posting
        })?;
        let before = core::mem::replace(&mut value.last, at);
        value.count += 1;
        match postings.get_mut(before) {
            Some(before) => before.after = at,
            None => value.first = at,
        }
        Ok(at)
    }

    /// Takes a posting out of the list of its value; a value without postings goes.
    pub(super) fn unfile(&mut self, postings: &mut Postings<S>, posting: &Posting) {
        if let Some(before) = postings.get_mut(posting.before) {
            before.after = posting.after;
        }
        if let Some(after) = postings.get_mut(posting.after) {
            after.before = posting.before;
        }
        let Some(value) = self.values.get_mut(posting.value) else {
            return;
        };
        if posting.before == NONE {
            value.first = posting.after;
        }
        if posting.after == NONE {
            value.last = posting.before;
        }
        value.count -= 1;
        if value.count == 0 {
            let hash = value.hash;
            self.table.remove(hash, posting.value);
            self.values.remove(posting.value);
        }
    }

    fn add_value(&mut self, hash: u32, bytes: &[u8]) -> Result<u32, Full> {
        self.table.reserve()?;
        let at = self.values.insert(Value {
            bytes: S::Bytes::copy(bytes)?,
            hash,
            first: NONE,
            last: NONE,
            count: 0,
        })?;
        self.table.insert(hash, at)?;
        Ok(at)
    }
}

impl Posting {
    pub(super) const fn new(index: IndexId, slot: u32, sibling: u32) -> Self {
        Self {
            index,
            value: NONE,
            slot,
            before: NONE,
            after: NONE,
            sibling,
        }
    }
}

// Derived clones would ask for `T: Clone` and `S: Clone`.
impl<T, S: Storage> Clone for Index<T, S> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            function: self.function.clone(),
            values: self.values.clone(),
            table: self.table.clone(),
        }
    }
}

impl<S: Storage> Clone for Value<S> {
    fn clone(&self) -> Self {
        Self {
            bytes: self.bytes.clone(),
            ..*self
        }
    }
}
