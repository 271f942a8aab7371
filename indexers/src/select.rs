//! How a query reads a store.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::ops::Bound;

use informer_core::Resource;
use informer_core::indexer::{Cursor, Subject, View};
use informer_core::storage::Storage;

use crate::query::{Plan, Query};

/// Reading copies nothing: the results are references into the store or snapshot.
impl<T: Resource + Clone> Query<'_, T> {
    /// The objects of a store or snapshot that match.
    ///
    /// If an index fits, only its candidates are checked; see [`plan`](Self::plan).
    ///
    /// ```
    /// use informer_core::decode::{Lean, decode_object};
    /// use informer_core::indexer::Indexer;
    /// use informer_core::storage::{Heap, Seed};
    /// use informer_indexers::{Query, by};
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
    /// assert_eq!(Query::new().namespace("web").select(&store).count(), 2);
    ///
    /// let blog = "app in (blog, news)".parse()?;
    /// let query = Query::new().namespace("web").labels(&blog);
    /// let names: Vec<_> = query.select(&store).map(|pod| pod.key().name()).collect();
    /// assert_eq!(names, ["b"]);
    /// // The index with the fewest candidates wins.
    /// assert_eq!(query.plan(&store).to_string(), r#"1 candidate from the index "app""#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn select<'a, S: Storage>(&self, view: &'a View<T, S>) -> impl Iterator<Item = &'a T> {
        let candidates = self.access(view).objects(view);
        candidates.filter(|object| self.matches(object))
    }

    /// Explains how the query is answered.
    #[must_use]
    pub fn plan<'a, S: Storage>(&self, view: &'a View<T, S>) -> Plan<'a> {
        self.access(view).plan(view)
    }

    /// At most `limit` objects that match, in slot order, starting at `from`.
    ///
    /// See [`View::iter_from`] for what pages show if the store changes between them. A limit of 0
    /// counts as 1, so that paging always makes progress.
    ///
    /// ```
    /// # use informer_core::decode::{Lean, decode_object};
    /// # use informer_core::storage::{Heap, Seed};
    /// use informer_core::indexer::{Cursor, Indexer};
    /// use informer_indexers::Query;
    ///
    /// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    /// for name in ["a", "b", "c"] {
    ///     let json = format!(r#"{{"metadata":{{"name":"{name}"}}}}"#);
    ///     store.put(decode_object(&mut Lean, json.as_bytes())?)?;
    /// }
    /// let query = Query::new();
    /// let mut sizes = Vec::new();
    /// let mut from = Some(Cursor::default());
    /// while let Some(cursor) = from {
    ///     let page = query.page(&store, cursor, 2);
    ///     sizes.push(page.objects.len());
    ///     from = page.next;
    /// }
    /// assert_eq!(sizes, [2, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn page<'a, S: Storage>(
        &self,
        view: &'a View<T, S>,
        from: Cursor,
        limit: usize,
    ) -> Page<'a, T> {
        let mut wanted = view
            .iter_from(from)
            .filter(|(_, object)| self.matches(object));
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

    /// At most `limit` objects that match, in key order, after the key `after`.
    ///
    /// Objects that are added or removed between two pages do not affect the others. A limit of 0
    /// counts as 1. See [`by::key`](crate::by::key) for an example.
    ///
    /// # Errors
    /// The store has no ordered key index: add `by::key().ordered()`.
    pub fn page_by_key<'a, S: Storage>(
        &self,
        view: &'a View<T, S>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<KeyPage<'a, T>, NoKeyIndex>
    where
        T: Resource<Key: ToString>,
    {
        let from = after.map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_bytes()));
        let mut indices = view.indices();
        let keys = indices.find_map(|(id, _, function)| {
            let fits = function.is_ordered() && *function.subject() == Subject::Key;
            fits.then_some(id)
        });
        let keys = keys.ok_or(NoKeyIndex)?;
        let range = view.range(keys, (from, Bound::Unbounded));
        let range = range.map_err(|_| NoKeyIndex)?;
        let mut wanted = range.objects().filter(|object| self.matches(object));
        let objects: Vec<_> = wanted.by_ref().take(limit.max(1)).collect();
        let more = wanted.next().is_some();
        let next = objects.last().filter(|_| more);
        Ok(KeyPage {
            next: next.map(|last| last.key().to_string()),
            objects,
        })
    }
}

/// A page of objects in slot order, from [`Query::page`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// Where the next page starts; `None` for the last page.
    pub next: Option<Cursor>,
}

/// A page of objects in key order, from [`Query::page_by_key`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KeyPage<'a, T> {
    /// The objects of this page.
    pub objects: Vec<&'a T>,
    /// The key after which the next page starts; `None` for the last page.
    pub next: Option<String>,
}

/// The store has no ordered key index, which [`Query::page_by_key`] needs.
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
