//! Listers: what a controller reads from its store.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

use informer_core::indexer::{Cursor, Subject, View};
use informer_core::storage::Storage;
use informer_core::{ObjectKey, Resource};

use crate::query::{Plan, Query};

/// Reads a store, or a snapshot of it. Nothing is copied: what it gives are references into the view.
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
/// let names: Vec<_> = lister.select(&query).map(|pod| pod.key.name()).collect();
/// assert_eq!(names, ["b"]);
/// // One object to look at beats two.
/// assert_eq!(lister.plan(&query).to_string(), r#"1 candidate from the index "app""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StoreLister<'a, T: Resource + Clone, S: Storage> {
    view: &'a View<T, S>,
}

impl<'a, T: Resource + Clone, S: Storage> StoreLister<'a, T, S> {
    /// A lister over a view.
    #[must_use]
    pub const fn new(view: &'a View<T, S>) -> Self {
        Self { view }
    }

    /// What it reads, with everything that can be asked of it: indices, tables, the version.
    #[must_use]
    pub const fn view(self) -> &'a View<T, S> {
        self.view
    }

    /// All objects.
    pub fn list(self) -> impl Iterator<Item = &'a T> {
        self.view.iter()
    }

    /// The object `name` in `namespace`; an empty namespace means none.
    #[must_use]
    pub fn get(self, namespace: &str, name: &str) -> Option<&'a T>
    where
        T: Resource<Key = ObjectKey>,
    {
        self.view.get(&ObjectKey::new(namespace, name))
    }

    /// The objects that a query asks for. If an index fits, only what it gives is looked at; see
    /// [`plan`](Self::plan).
    pub fn select<'q>(self, query: &'q Query<'q, T>) -> impl Iterator<Item = &'a T> + 'q
    where
        'a: 'q,
    {
        let candidates = query.access(self.view).objects(self.view);
        candidates.filter(|object| query.matches(object))
    }

    /// How many objects a query asks for.
    #[must_use]
    pub fn count(self, query: &Query<'_, T>) -> usize {
        self.select(query).count()
    }

    /// How a query is answered.
    #[must_use]
    pub fn plan(self, query: &Query<'_, T>) -> Plan<'a> {
        query.access(self.view).plan(self.view)
    }

    /// At most `limit` objects that a query asks for, in slot order from a place on. See
    /// [`View::iter_from`] for what pages show of a store that is written meanwhile. A limit of 0
    /// counts as 1, so that whoever turns pages gets to the last one.
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

    /// At most `limit` objects that a query asks for, in the order of their keys, behind the key
    /// `after`. Objects that come or go between two pages do not disturb the others. A limit of 0
    /// counts as 1.
    ///
    /// # Errors
    /// There is no ordered index of keys: add [`by::key`](crate::by::key), ordered.
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

/// Some objects in slot order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// Where the next page begins; `None` if this is the last one.
    pub next: Option<Cursor>,
}

/// Some objects in the order of their keys.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyPage<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// The key behind which the next page begins; `None` if this is the last one.
    pub next: Option<String>,
}

/// There is no index that knows the order of the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct NoKeyIndex;

impl fmt::Display for NoKeyIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no ordered index of the keys; add `by::key().ordered()`")
    }
}

impl core::error::Error for NoKeyIndex {}

// Derived impls would ask for `T: Copy` and `S: Copy`.
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
