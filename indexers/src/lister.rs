//! Read access to a store.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

use informer_core::indexer::{Cursor, Subject, View};
use informer_core::storage::Storage;
use informer_core::{ObjectKey, Resource};

use crate::query::{Plan, Query};

/// Reads a store or a snapshot: list, get, select, count and page.
///
/// It copies nothing and returns references into the view.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_indexers::{StoreLister, Query, by};
///
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// for (namespace, name, app) in [("web", "a", "shop"), ("web", "b", "blog"), ("db", "c", "shop")] {
///     let json = format!(
///         r#"{{"metadata":{{"namespace":"{namespace}","name":"{name}","labels":{{"app":"{app}"}}}}}}"#
///     );
///     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
/// }
/// store.add_index("namespace", by::namespace())?;
/// store.add_index("app", by::label("app"))?;
///
/// let lister = StoreLister::new(&store);
/// assert!(lister.get("web", "a").is_some());
/// assert_eq!(lister.count(&Query::new().namespace("web")), 2);
///
/// let blog = "app in (blog, news)".parse()?;
/// let query = Query::new().namespace("web").labels(&blog);
/// let names: Vec<_> = lister.select(&query).map(|pod| pod.key().name()).collect();
/// assert_eq!(names, ["b"]);
/// // The index with the fewest candidates wins.
/// assert_eq!(lister.plan(&query).to_string(), r#"1 candidate from the index "app""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoreLister<'a, T: Resource + Clone, S: Storage> {
    view: &'a View<T, S>,
}

impl<'a, T: Resource + Clone, S: Storage> StoreLister<'a, T, S> {
    /// Creates a lister for a store or snapshot.
    #[must_use]
    pub const fn new(view: &'a View<T, S>) -> Self {
        Self { view }
    }

    /// The view that it reads, with its indices, tables and version.
    #[must_use]
    pub const fn view(self) -> &'a View<T, S> {
        self.view
    }

    /// All objects.
    pub fn list(self) -> impl Iterator<Item = &'a T> {
        self.view.iter()
    }

    /// The object `name` in `namespace`. Leave the namespace empty for a cluster-scoped object.
    #[must_use]
    pub fn get(self, namespace: &str, name: &str) -> Option<&'a T>
    where
        T: Resource<Key = ObjectKey>,
    {
        self.view.get(&ObjectKey::new(namespace, name))
    }

    /// The objects that match a query.
    ///
    /// If an index fits, only its candidates are checked; see [`plan`](Self::plan).
    pub fn select<'q>(self, query: &'q Query<'q, T>) -> impl Iterator<Item = &'a T> + 'q
    where
        'a: 'q,
    {
        let candidates = query.access(self.view).objects(self.view);
        candidates.filter(|object| query.matches(object))
    }

    /// How many objects match a query.
    #[must_use]
    pub fn count(self, query: &Query<'_, T>) -> usize {
        self.select(query).count()
    }

    /// Explains how a query is answered.
    #[must_use]
    pub fn plan(self, query: &Query<'_, T>) -> Plan<'a> {
        query.access(self.view).plan(self.view)
    }

    /// At most `limit` objects that match a query, in slot order, starting at `from`.
    ///
    /// See [`View::iter_from`] for what pages show if the store changes between them. A limit of 0
    /// counts as 1, so that paging always makes progress.
    ///
    /// ```
    /// # use informer_core::decode::{Lean, decode_object};
    /// # use informer_core::storage::{Heap, Seed};
    /// use informer_core::indexer::{Cursor, Indexer};
    /// use informer_indexers::{Query, StoreLister};
    ///
    /// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    /// for name in ["a", "b", "c"] {
    ///     let json = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    ///     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
    /// }
    /// let lister = StoreLister::new(&store);
    /// let mut sizes = Vec::new();
    /// let mut from = Some(Cursor::default());
    /// while let Some(cursor) = from {
    ///     let page = lister.page(&Query::new(), cursor, 2);
    ///     sizes.push(page.objects.len());
    ///     from = page.next;
    /// }
    /// assert_eq!(sizes, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn page(self, query: &Query<'_, T>, from: Cursor, limit: usize) -> Page<'a, T> {
        let mut wanted = self
            .view
            .iter_from(from)
            .filter(|(_, object)| query.matches(object));
        let (mut objects, mut next) = (Vec::new(), from);
        for (behind, object) in wanted.by_ref().take(limit.max(1)) {
            objects.push(object);
            next = behind;
        }
        Page {
            objects,
            next: wanted.next().map(|_| next),
        }
    }

    /// At most `limit` objects that match a query, in key order, after the key `after`.
    ///
    /// Objects that are added or removed between two pages do not affect the others. A limit of 0
    /// counts as 1. See [`by::key`](crate::by::key) for an example.
    ///
    /// # Errors
    /// The store has no ordered key index: add `by::key().ordered()`.
    pub fn page_by_key(
        self,
        query: &Query<'_, T>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<KeyPage<'a, T>, NoKeyIndex>
    where
        T: Resource<Key: ToString>,
    {
        let from = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_bytes()));
        let mut indices = self.view.indices();
        let keys = indices.find_map(|(id, _, function)| {
            let fits = function.is_ordered() && *function.subject() == Subject::Key;
            fits.then_some(id)
        });
        let keys = keys.ok_or(NoKeyIndex)?;
        let range = self.view.range(keys, (from, Bound::Unbounded));
        let range = range.map_err(|_| NoKeyIndex)?;
        let mut wanted = range.objects().filter(|object| query.matches(object));
        let objects: Vec<_> = wanted.by_ref().take(limit.max(1)).collect();
        let more = wanted.next().is_some();
        let next = objects.last().filter(|_| more);
        Ok(KeyPage {
            next: next.map(|last| last.key().to_string()),
            objects,
        })
    }
}

/// A page of objects in slot order, from [`StoreLister::page`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// Where the next page starts; `None` for the last page.
    pub next: Option<Cursor>,
}

/// A page of objects in key order, from [`StoreLister::page_by_key`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyPage<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// The key after which the next page starts; `None` for the last page.
    pub next: Option<String>,
}

/// The store has no ordered key index, which [`StoreLister::page_by_key`] needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NoKeyIndex;

impl fmt::Display for NoKeyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "cannot page by key: the store has no ordered key index; add `by::key().ordered()`",
        )
    }
}

impl core::error::Error for NoKeyIndex {}

// Derived impls would require `T: Copy` and `S: Copy`.
impl<T: Resource + Clone, S: Storage> Clone for StoreLister<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Resource + Clone, S: Storage> Copy for StoreLister<'_, T, S> {}

impl<T: Resource + Clone, S: Storage> fmt::Debug for StoreLister<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StoreLister").field(self.view).finish()
    }
}
