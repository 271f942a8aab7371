//! Indices with typed values.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};

use informer_core::Resource;
use informer_core::indexer::{
    ByIndex, IndexError, IndexFn, IndexId, IndexTable, Indexer, RangeError, UnknownIndex, View,
};
use informer_core::storage::Storage;

use crate::value::{Encode, IndexValue};

/// An index with values of type `V`, ready to be added to a store.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::TypedIndex;
///
/// struct Job {
///     priority: i32,
/// }
///
/// let mut store: Indexer<Object<Job>, Heap> = Indexer::new(Seed::new(1));
/// for (name, priority) in [("backup", -5), ("deploy", 100), ("report", 7)] {
///     store.put(Object::builder(ObjectKey::new("", name))
///         .version("1")
///         .body(Job { priority }))?;
/// }
///
/// let by_priority = TypedIndex::of(|job: &Object<Job>| Some(job.priority));
/// let by_priority = by_priority.ordered().add_to(&mut store, "priority")?;
///
/// let urgent = by_priority.range(&store, 0..)?;
/// let names: Vec<_> = urgent.objects().rev().map(|job| job.key().name()).collect();
/// assert_eq!(names, ["deploy", "report"]);
/// assert_eq!(by_priority.get(&store, &-5)?.len(), 1);
/// assert_eq!(by_priority.values(&store)?.collect::<Vec<_>>(), [-5, 7, 100]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedIndex<T, V> {
    function: IndexFn<T>,
    values: PhantomData<fn() -> V>,
}

impl<T, V: IndexValue> TypedIndex<T, V> {
    /// Creates an index that files each object under the values that `function` returns.
    ///
    /// Return an `Option` for at most one value, or any iterator for more. The result must depend only on
    /// the object.
    pub fn of<I: IntoIterator<Item = V>>(
        function: impl Fn(&T) -> I + Send + Sync + 'static,
    ) -> Self {
        let function = IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| {
            let mut bytes = Vec::new();
            for value in function(object) {
                bytes.clear();
                value.encode(&mut bytes);
                file(&bytes);
            }
        });
        Self::from_fn(function)
    }

    /// Creates an index from a function that files encoded values of `V`.
    pub(crate) const fn from_fn(function: IndexFn<T>) -> Self {
        Self {
            function,
            values: PhantomData,
        }
    }

    /// Keeps the values sorted, which [`TypedId::range`] requires.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self::from_fn(self.function.ordered())
    }

    /// Gives the function a name, so that it can be told from others: see [`IndexFn::named`].
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self::from_fn(self.function.named(name))
    }

    /// Adds the index to a store under a name, and files the objects that are already there.
    ///
    /// # Errors
    /// The name is taken, or the store has no room for another index.
    pub fn add_to<S: Storage>(
        self,
        store: &mut Indexer<T, S>,
        name: &str,
    ) -> Result<TypedId<V>, IndexError>
    where
        T: Resource + Clone,
    {
        store.add_index(name, self.function).map(TypedId::new)
    }

    /// Returns the untyped index function, to add it to a store in another way.
    ///
    /// Pass the id you get to [`TypedId::new`].
    #[must_use]
    pub fn into_fn(self) -> IndexFn<T> {
        self.function
    }
}

impl<T, V> fmt::Debug for TypedIndex<T, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedIndex").field(&self.function).finish()
    }
}

/// The id of an index with values of type `V`.
///
/// Use it with the store that the index was added to and with snapshots of that store. An id does not
/// know its store: with another store it may refer to an unrelated index.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_indexers::by;
///
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// let replicas = by::integer("spec.replicas".parse()?).ordered();
/// let replicas = replicas.add_to(&mut store, "replicas")?;
/// store.put(decode_object(&mut Lean, br#"{"metadata":{"name":"a"},"spec":{"replicas":3}}"#)?)?;
///
/// assert_eq!(replicas.get(&store, &3)?.len(), 1);
/// assert_eq!(replicas.range(&store, 1..=2)?.objects().count(), 0);
/// assert_eq!(replicas.values(&store)?.collect::<Vec<_>>(), [3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TypedId<V> {
    id: IndexId,
    values: PhantomData<fn() -> V>,
}

impl<V: IndexValue> TypedId<V> {
    /// Adds the type to the id of an index from [`TypedIndex::into_fn`]. The types must agree.
    #[must_use]
    pub const fn new(id: IndexId) -> Self {
        Self {
            id,
            values: PhantomData,
        }
    }

    /// The untyped id.
    #[must_use]
    pub const fn id(self) -> IndexId {
        self.id
    }

    /// The objects filed under a value.
    ///
    /// # Errors
    /// The index was removed, or the snapshot is older than the index.
    pub fn get<'a, T: Resource + Clone, S: Storage, Q>(
        self,
        view: &'a View<T, S>,
        value: &Q,
    ) -> Result<ByIndex<'a, T, S>, UnknownIndex>
    where
        V: Borrow<Q>,
        Q: Encode + ?Sized,
    {
        view.by_index(self.id, encoded(value))
    }

    /// The part of the index with values within `bounds`.
    ///
    /// # Errors
    /// The index was removed or is not ordered, or the snapshot is older than the index.
    pub fn range<'a, T: Resource + Clone, S: Storage, Q>(
        self,
        view: &'a View<T, S>,
        bounds: impl RangeBounds<Q>,
    ) -> Result<IndexTable<'a, T, S>, RangeError>
    where
        V: Borrow<Q>,
        Q: Encode + ?Sized,
    {
        let from = bounds.start_bound().map(encoded);
        let to = bounds.end_bound().map(encoded);
        view.range(self.id, (as_slice(&from), as_slice(&to)))
    }

    /// The values with at least one object, sorted if the index is ordered.
    ///
    /// # Errors
    /// The index was removed, or the snapshot is older than the index.
    pub fn values<T: Resource + Clone, S: Storage>(
        self,
        view: &View<T, S>,
    ) -> Result<impl DoubleEndedIterator<Item = V>, UnknownIndex> {
        Ok(view.index_values(self.id)?.filter_map(V::decode))
    }
}

fn encoded(value: &(impl Encode + ?Sized)) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    bytes
}

fn as_slice(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

// Derived impls would require the same traits of `V`.
impl<V> Clone for TypedId<V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for TypedId<V> {}

impl<V> fmt::Debug for TypedId<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedId").field(&self.id).finish()
    }
}
