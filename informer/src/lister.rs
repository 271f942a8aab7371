//! Read access to the cache.

use std::fmt;
use std::sync::Arc;

use informer_core::indexer::{IndexRef, UnknownIndex};
use informer_core::{Object, ObjectKey, SourceId};
use informer_indexers::Query;
use informer_indexers::shared::{KeptReader, Snapshot};
use informer_indexers::value::Encode;

use crate::shared::Handle;

/// Reads the cache of an informer, always in its newest state.
///
/// Clones are cheap. A lister keeps its informer running. Reading never waits for writers.
///
/// ```
/// use informer::{InformerBuilder, Query, Target, by};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({
/// #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}},
/// #     "spec": {"nodeName": "node-1"}
/// # });
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1 of the app `shop` on node-1.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .index("node", by::node_name())
///     .start(&server.connect())?;
/// pods.synced(std::time::Duration::from_secs(30)).await?;
///
/// let lister = pods.lister();
/// assert_eq!(lister.len(), 1);
/// assert!(lister.get("web", "shop-1").is_some());
/// assert_eq!(lister.by_index("node", "node-1")?.len(), 1);
/// let others = "app!=shop".parse()?;
/// assert!(lister.select(&Query::new().labels(&others)).is_empty());
/// # Ok(())
/// # }
/// ```
///
/// Each call reads one state. To read several things from the same state, or to iterate without copying
/// pointers, take a [`snapshot`](Self::snapshot). For many look-ups, [keep](Self::kept) a lister.
pub struct Lister<K: Send + Sync + 'static> {
    handle: Arc<Handle<K>>,
}

impl<K: Send + Sync + 'static> Lister<K> {
    pub(crate) const fn new(handle: Arc<Handle<K>>) -> Self {
        Self { handle }
    }

    /// Returns the cache as it is now. Later changes do not affect the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Object<K>> {
        self.handle.engine.reader.snapshot()
    }

    /// Returns a lister for many look-ups in a row: it keeps its snapshot while nothing changes.
    #[must_use]
    pub fn kept(&self) -> KeptLister<K> {
        KeptLister {
            reader: self.handle.engine.reader.kept(),
            _handle: Arc::clone(&self.handle),
        }
    }

    /// Returns the object `name` in `namespace`. Pass `""` for objects without a namespace.
    #[must_use]
    pub fn get(&self, namespace: &str, name: &str) -> Option<Object<K>> {
        self.by_key(&ObjectKey::new(namespace, name))
    }

    /// Returns the object with this key.
    #[must_use]
    pub fn by_key(&self, key: &ObjectKey) -> Option<Object<K>> {
        self.snapshot().get(key).cloned()
    }

    /// Returns the sources that show the object with this key: see
    /// [`SharedInformer::sources`](crate::SharedInformer::sources).
    #[must_use]
    pub fn sources_of(&self, key: &ObjectKey) -> Vec<SourceId> {
        self.snapshot().sources_of(key).collect()
    }

    /// Returns all objects.
    #[must_use]
    pub fn list(&self) -> Vec<Object<K>> {
        self.snapshot().iter().cloned().collect()
    }

    /// Returns the objects that match a query by namespace, labels or fields. Uses an index where one
    /// fits.
    #[must_use]
    pub fn select(&self, query: &Query<'_, Object<K>>) -> Vec<Object<K>> {
        self.snapshot().select(query).cloned().collect()
    }

    /// Returns the objects with this value in an index. A number must have the type that the index has.
    ///
    /// # Errors
    /// There is no such index.
    pub fn by_index<'a>(
        &self,
        index: impl Into<IndexRef<'a>>,
        value: impl Encode,
    ) -> Result<Vec<Object<K>>, UnknownIndex> {
        let snapshot = self.snapshot();
        Ok(snapshot.by_index(index, value)?.cloned().collect())
    }

    /// Returns a lister for one namespace.
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

/// A lister that keeps its snapshot, from [`Lister::kept`]. It keeps its informer running.
///
/// It always shows the newest state, as [`Lister`] does: what a handler was told of, it finds. But it
/// takes a lock and counts references only after a change, and returns objects by reference. While it is
/// not asked, it keeps the state of its last call in memory.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # for name in ["shop-1", "shop-2"] {
/// #     let pod = serde_json::json!({"metadata": {"namespace": "web", "name": name}});
/// #     server.with(|server| server.create("pods", pod))?;
/// # }
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// # pods.synced(std::time::Duration::from_secs(30)).await?;
/// // `pods` follows a mock API server with the pods web/shop-1 and web/shop-2.
/// let mut kept = pods.lister().kept();
/// assert!(kept.get("web", "shop-1").is_some());
/// assert_eq!(kept.snapshot().iter().count(), 2);
/// # Ok(())
/// # }
/// ```
pub struct KeptLister<K: Send + Sync + 'static> {
    reader: KeptReader<Object<K>>,
    _handle: Arc<Handle<K>>,
}

impl<K: Send + Sync + 'static> KeptLister<K> {
    /// Returns the cache as it is now.
    pub fn snapshot(&mut self) -> &Snapshot<Object<K>> {
        self.reader.snapshot()
    }

    /// Returns the object `name` in `namespace`. Pass `""` for objects without a namespace.
    pub fn get(&mut self, namespace: &str, name: &str) -> Option<&Object<K>> {
        self.by_key(&ObjectKey::new(namespace, name))
    }

    /// Returns the object with this key.
    pub fn by_key(&mut self, key: &ObjectKey) -> Option<&Object<K>> {
        self.reader.get(key)
    }
}

/// Reads one namespace of the cache.
///
/// ```
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # for namespace in ["web", "batch"] {
/// #     let pod = serde_json::json!({"metadata": {"namespace": namespace, "name": "shop-1"}});
/// #     server.with(|server| server.create("pods", pod))?;
/// # }
/// # let target = informer::Target::new("", "v1", "pods");
/// # let pods = informer::InformerBuilder::lean_at(target).start(&server.connect())?;
/// # pods.synced(std::time::Duration::from_secs(30)).await?;
/// // `pods` follows a mock API server with the pods web/shop-1 and batch/shop-1.
/// let web = pods.lister().namespace("web");
/// assert!(web.get("shop-1").is_some());
/// assert_eq!(web.list().len(), 1);
/// assert_eq!(pods.lister().len(), 2);
/// # Ok(())
/// # }
/// ```
pub struct NamespaceLister<K: Send + Sync + 'static> {
    lister: Lister<K>,
    namespace: String,
}

impl<K: Send + Sync + 'static> NamespaceLister<K> {
    /// Returns the object with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Object<K>> {
        self.lister.get(&self.namespace, name)
    }

    /// Returns all objects of the namespace.
    #[must_use]
    pub fn list(&self) -> Vec<Object<K>> {
        self.select(&Query::new())
    }

    /// Returns the objects of the namespace that match a query.
    #[must_use]
    pub fn select(&self, query: &Query<'_, Object<K>>) -> Vec<Object<K>> {
        let here = query.clone().namespace(&self.namespace);
        let mut found = self.lister.select(&here);
        // The query may be for another namespace.
        found.retain(|object| query.matches(object));
        found
    }
}

impl<K: Send + Sync + 'static> Clone for Lister<K> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<K: Send + Sync + 'static> Clone for NamespaceLister<K> {
    fn clone(&self) -> Self {
        Self {
            lister: self.lister.clone(),
            namespace: self.namespace.clone(),
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

impl<K: Send + Sync + 'static> fmt::Debug for KeptLister<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeptLister").field(&self.reader).finish()
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
