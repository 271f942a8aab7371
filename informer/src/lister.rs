//! Listers: what a controller reads.

use std::fmt;
use std::sync::Arc;

use informer_core::ObjectKey;
use informer_core::indexer::{IndexRef, UnknownIndex};
use informer_indexers::Query;
use informer_indexers::shared::Snapshot;

use crate::engine::Shared;
use crate::shared::Handle;

/// Reads the store of an informer: always its newest state. Cheap to clone, and as long as there is one
/// the informer runs.
///
/// Each call reads one state. Who wants to ask several questions of the same state takes a
/// [`snapshot`](Self::snapshot), which also lists without copying the pointers.
pub struct Lister<K: Send + Sync + 'static> {
    handle: Arc<Handle<K>>,
}

impl<K: Send + Sync + 'static> Lister<K> {
    pub(crate) const fn new(handle: Arc<Handle<K>>) -> Self {
        Self { handle }
    }

    /// The store as it is now, to be kept as long as it is needed.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Shared<K>> {
        self.handle.engine.reader.snapshot()
    }

    /// The object `name` in `namespace`; an empty namespace means none.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<Shared<K>> {
        self.by_key(&ObjectKey::new(namespace, name))
    }

    /// The object under a key.
    #[must_use]
    pub fn by_key(&self, key: &ObjectKey) -> Option<Shared<K>> {
        self.snapshot().get(key).cloned()
    }

    /// All objects.
    #[must_use]
    pub fn list(&self) -> Vec<Shared<K>> {
        self.snapshot().iter().cloned().collect()
    }

    /// The objects that a query asks for, by namespace, labels or fields; through an index where one
    /// fits.
    #[must_use]
    pub fn select(&self, query: &Query<'_, Shared<K>>) -> Vec<Shared<K>> {
        self.snapshot().lister().select(query).cloned().collect()
    }

    /// The objects that an index files under a value.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl AsRef<[u8]>,
    ) -> Result<Vec<Shared<K>>, UnknownIndex> {
        let snapshot = self.snapshot();
        Ok(snapshot.by_index(index, value)?.cloned().collect())
    }

    /// A lister of one namespace.
    #[must_use]
    pub fn namespace(&self, namespace: &str) -> NamespaceLister<K> {
        NamespaceLister {
            lister: self.clone(),
            namespace: namespace.to_owned(),
        }
    }

    /// How many objects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.snapshot().len()
    }

    /// Whether there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshot().is_empty()
    }
}

/// Reads one namespace of a store.
pub struct NamespaceLister<K: Send + Sync + 'static> {
    lister: Lister<K>,
    namespace: String,
}

impl<K: Send + Sync + 'static> NamespaceLister<K> {
    /// The object with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Shared<K>> {
        self.lister.get(&self.namespace, name)
    }

    /// All objects of the namespace.
    #[must_use]
    pub fn list(&self) -> Vec<Shared<K>> {
        self.select(Query::new())
    }

    /// Those of them that a query asks for.
    #[must_use]
    pub fn select(&self, query: Query<'_, Shared<K>>) -> Vec<Shared<K>> {
        let query = query.namespace(&self.namespace);
        self.lister.select(&query)
    }
}

impl<K: Send + Sync + 'static> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for Lister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lister")
            .field(&self.handle.engine.name)
            .finish()
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for NamespaceLister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamespaceLister")
            .field(&self.lister)
            .field(&self.namespace)
            .finish()
    }
}
