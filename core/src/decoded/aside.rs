//! What few objects have, and what all objects of a form share.

use alloc::sync::Arc;
use core::fmt;

use super::Object;

/// Calls its second argument with every annotation of a body.
pub type ReadAnnotations<K> = fn(&K, &mut dyn FnMut(&str, &str));

/// Kept in an allocation of its own, so that a record has only a pointer to it.
pub(crate) struct Aside<K> {
    /// Has the labels that a transform has set.
    pub(super) labels: Option<Object<()>>,
    /// Reads the annotations from the body, if it has them.
    pub(super) annotations: Option<ReadAnnotations<K>>,
}

impl<K> Aside<K> {
    /// What the objects of a form share.
    pub(crate) fn shared(annotations: Option<ReadAnnotations<K>>) -> Option<Arc<Self>> {
        annotations?;
        Some(Arc::new(Self {
            labels: None,
            annotations,
        }))
    }
}

impl<K> fmt::Debug for Aside<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aside")
            .field("labels", &self.labels)
            .finish_non_exhaustive()
    }
}
