//! Indices of a cache: which it accepts, the one that every cache has, and how they come and go.

use std::panic::{AssertUnwindSafe, catch_unwind};

use informer_core::Object;
use informer_core::indexer::{IndexFn, IndexId, IndexRef, Subject, View};
use informer_core::storage::Heap;
use informer_indexers::{IntoIndex, by};

use crate::engine::State;
use crate::error::{AddIndexError, RemoveIndexError};
use crate::factory::{Contrast, Setting, SettingConflict};
use crate::panics::panic_text;
use crate::shared::SharedInformer;

/// The name of the index by namespace that every cache has, so that reading one namespace does not look
/// at all objects. The name is reserved for it.
///
/// If you build an informer with an index by namespace of another name, the cache has yours instead. The
/// last index by namespace cannot be [removed](crate::SharedInformer::remove_index).
pub const NAMESPACE_INDEX: &str = "namespace";

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// Adds an index to the cache: see [`InformerBuilder::index`](crate::InformerBuilder::index). You can do
    /// so at any time. Later snapshots have the index; those that you hold already do not.
    ///
    /// The function is called now for every object in the cache, and later for every change. If it panics
    /// later, the informer ends. It may read the cache with [`lister`](Self::lister) or
    /// [`snapshot`](Self::snapshot); any other call to the same informer panics.
    ///
    /// # Errors
    /// The name is taken, the objects do not have the annotations that the index reads, or the function
    /// panicked for an object in the cache. The index is not added then, and nothing else changes.
    pub fn add_index<M>(
        &self,
        name: &str,
        index: impl IntoIndex<Object<K>, M>,
    ) -> Result<IndexId, AddIndexError> {
        let function = index.into_index();
        check(name, &function, self.is_annotated())?;
        self.engine().update(
            |state| match find_same(state.core.store(), name, &function) {
                Some(same) => Ok(same),
                None => add(state, name, function),
            },
        )
    }

    /// Removes an index from the cache and frees its memory. You can do so at any time.
    ///
    /// Snapshots that you hold keep the index and answer from it. From the next snapshot on, it is unknown:
    /// [`by_index`](crate::Lister::by_index) of a lister fails with
    /// [`UnknownIndex`](crate::UnknownIndex), and a [`Query`](crate::Query) finds the same objects by
    /// another index or by looking at all of them. Its [`IndexId`] is never used again. Its name may be.
    ///
    /// All users of a shared informer lose the index. A [factory](crate::SharedInformerFactory) adds it
    /// again for the next request that has it.
    ///
    /// ```
    /// use informer::{InformerBuilder, Target, by};
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({"metadata": {"name": "a"}, "spec": {"nodeName": "node-1"}});
    /// # server.with(|server| server.create("pods", pod))?;
    ///
    /// // `server` is a mock API server with a pod on node-1.
    /// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
    /// pods.synced(std::time::Duration::from_secs(30)).await?;
    /// pods.add_index("node", by::node_name())?;
    /// let before = pods.snapshot();
    /// pods.remove_index("node")?;
    /// assert_eq!(before.by_index("node", "node-1")?.len(), 1);
    /// assert!(pods.lister().by_index("node", "node-1").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no such index, or it is the last one by namespace: see
    /// [`NAMESPACE_INDEX`](crate::NAMESPACE_INDEX).
    pub fn remove_index<'a>(&self, index: impl Into<IndexRef<'a>>) -> Result<(), RemoveIndexError> {
        let index = index.into();
        // Keeps what the function captures until the lock is released: dropping it runs user code.
        let _before = self.snapshot();
        self.engine().update(|state| {
            let store = state.core.store();
            let id = store.index(index)?;
            let by_namespace = store
                .indices()
                .filter(|(_, _, function)| *function.subject() == Subject::Namespace);
            let by_namespace: Vec<_> = by_namespace.collect();
            if let [(last, name, _)] = by_namespace.as_slice()
                && *last == id
            {
                return Err(RemoveIndexError::LastByNamespace {
                    name: (*name).to_owned(),
                });
            }
            state.core.remove_index(id)?;
            state.touch();
            state.publish();
            Ok(())
        })
    }

    /// Adds the indices that the cache does not have yet, or none if it has one of the same name that
    /// cannot take its place. Returns these.
    pub(crate) fn add_missing_indices(
        &self,
        asked: &[(String, IndexFn<Object<K>>)],
    ) -> Result<Vec<SettingConflict>, AddIndexError> {
        for (name, function) in asked {
            check(name, function, self.is_annotated())?;
        }
        self.engine().update(|state| {
            let store = state.core.store();
            let found = conflicts(store, asked);
            if found.is_empty() {
                let is_missing = |(name, _): &&(String, _)| store.index(name.as_str()).is_err();
                let missing: Vec<_> = asked.iter().filter(is_missing).collect();
                for (name, function) in missing {
                    add(state, name, function.clone())?;
                }
            }
            Ok(found)
        })
    }
}

/// Adds an index. If its function panics, nothing changes.
fn add<K: Send + Sync + 'static>(
    state: &mut State<K>,
    name: &str,
    function: IndexFn<Object<K>>,
) -> Result<IndexId, AddIndexError> {
    let core = &mut state.core;
    let added = catch_unwind(AssertUnwindSafe(|| core.add_index(name, function)));
    let added = match added {
        Ok(added) => Ok(added?),
        Err(panic) => {
            // Some objects are in the index already.
            let _ = core.remove_index(name);
            Err(AddIndexError::Panicked {
                name: name.to_owned(),
                panic: panic_text(&*panic),
            })
        }
    };
    state.touch();
    state.publish();
    added
}

/// The index that every cache has, unless there is one like it.
pub(crate) fn built_in<K: 'static>(
    others: &[(String, IndexFn<Object<K>>)],
) -> Option<IndexFn<Object<K>>> {
    let is_like_it = |(_, function): &(_, IndexFn<_>)| *function.subject() == Subject::Namespace;
    (!others.iter().any(is_like_it)).then(by::namespace)
}

/// The index by namespace that the cache has under this name, if `function` asks for no more.
pub(crate) fn find_same<K: 'static>(
    store: &View<Object<K>, Heap>,
    name: &str,
    function: &IndexFn<Object<K>>,
) -> Option<IndexId> {
    let mut indices = store.indices();
    let found = indices.find(|(_, it, _)| *it == name && name == NAMESPACE_INDEX);
    let (id, _, known) = found?;
    (known.is_ordered() || !function.is_ordered()).then_some(id)
}

/// The indices that a cache has under the same name, but that cannot take the place of those asked for.
pub(crate) fn conflicts<K: 'static>(
    store: &View<Object<K>, Heap>,
    asked: &[(String, IndexFn<Object<K>>)],
) -> Vec<SettingConflict> {
    let found = asked.iter().filter_map(|(name, asked)| {
        let mut indices = store.indices();
        let (_, _, known) = indices.find(|(_, it, _)| it == name)?;
        let contrast = if !known.is_same(asked) {
            if known.is_identified() && asked.is_identified() {
                Contrast::OtherFunction
            } else {
                Contrast::Captures
            }
        } else if asked.is_ordered() && !known.is_ordered() {
            Contrast::NotOrdered
        } else {
            return None;
        };
        let setting = Setting::Index(name.clone());
        Some(SettingConflict { setting, contrast })
    });
    found.collect()
}

/// Checks an index before it is added. `annotated` says whether the objects have annotations.
pub(crate) fn check<K>(
    name: &str,
    function: &IndexFn<Object<K>>,
    annotated: bool,
) -> Result<(), AddIndexError> {
    let owned = || name.to_owned();
    match function.subject() {
        Subject::Namespace => Ok(()),
        _ if name == NAMESPACE_INDEX => Err(AddIndexError::Reserved { name: owned() }),
        Subject::Annotation(_) if !annotated => Err(AddIndexError::NoAnnotations { name: owned() }),
        _ => Ok(()),
    }
}
