//! Which indices a cache accepts, and the one that every cache has.

use informer_core::Object;
use informer_core::indexer::{IndexFn, IndexId, Subject, View};
use informer_core::storage::Heap;
use informer_indexers::by;

use crate::error::AddIndexError;

/// The name of the index by namespace that every cache has, so that reading one namespace does not look
/// at all objects. The name is reserved for it.
///
/// If you build an informer with an index by namespace of another name, the cache has yours instead.
pub const NAMESPACE_INDEX: &str = "namespace";

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
