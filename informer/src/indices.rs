//! Which indices a cache accepts, and the one that every cache has.

use informer_core::Object;
use informer_core::indexer::{IndexFn, Subject};
use informer_indexers::by;

use crate::error::AddIndexError;

/// The name of the index by namespace that every cache has, so that reading one namespace does not look
/// at all objects. The name is reserved for it.
///
/// If you add an index by namespace when you build an informer, under any name, the cache has yours
/// instead.
pub const NAMESPACE_INDEX: &str = "namespace";

/// The index that every cache has, unless there is one like it.
pub(crate) fn built_in<K: 'static>(
    others: &[(String, IndexFn<Object<K>>)],
) -> Option<IndexFn<Object<K>>> {
    let is_like_it = |(_, function): &(_, IndexFn<_>)| *function.subject() == Subject::Namespace;
    (!others.iter().any(is_like_it)).then(by::namespace)
}

/// Checks an index before it is added. `annotated` says whether the objects have annotations.
pub(crate) fn check<K>(
    name: &str,
    function: &IndexFn<Object<K>>,
    annotated: bool,
) -> Result<(), AddIndexError> {
    let name = || name.to_owned();
    match function.subject() {
        Subject::Namespace => Ok(()),
        _ if name() == NAMESPACE_INDEX => Err(AddIndexError::Reserved { name: name() }),
        Subject::Annotation(_) if !annotated => Err(AddIndexError::NoAnnotations { name: name() }),
        _ => Ok(()),
    }
}
