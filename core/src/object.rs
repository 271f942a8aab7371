//! What the state machines need from an object.

#[cfg(feature = "alloc")]
use alloc::{boxed::Box, rc::Rc, sync::Arc};
use core::fmt;
use core::hash::Hash;

/// What the state machines need from an object.
///
/// [`Object`](crate::Object) implements it, and so does any `Arc`, `Rc`, `Box` or reference to an
/// implementor. Implement it for your own type to use the queues and the indexer with your own
/// objects and keys.
pub trait Resource {
    /// Identifies the object in queues and stores.
    type Key: Clone + Eq + Hash + fmt::Debug;

    /// The key. It must not change during the lifetime of the value.
    fn key(&self) -> &Self::Key;

    /// A number that proves that two keys are equal, if they exist at the same time: the address of what
    /// clones of a key share. 0, the default, proves nothing, and equal keys may have different numbers.
    ///
    /// The store keeps it beside the object, so that it finds a key that came from it without looking at
    /// the object.
    fn identity(_key: &Self::Key) -> usize
    where
        Self: Sized,
    {
        0
    }

    /// Whether a key says all that an index by namespace or by key needs: objects with equal keys have the same
    /// namespace, and their keys are displayed alike. The store then does not ask such an index again when an
    /// object changes.
    fn key_has_namespace() -> bool
    where
        Self: Sized,
    {
        false
    }

    /// The uid, which differs when an object is re-created under the same key; empty if unknown.
    fn uid(&self) -> &str;

    /// The resource version, an opaque text; empty if unknown.
    fn version(&self) -> &str;

    /// Whether both have the same uid. Provide it if there is a faster way than to compare texts.
    fn has_same_uid(&self, other: &Self) -> bool {
        self.uid() == other.uid()
    }

    /// Whether both have the same version. Provide it if there is a faster way than to compare texts.
    fn has_same_version(&self, other: &Self) -> bool {
        self.version() == other.version()
    }

    /// Calls `visit` with every label.
    fn labels(&self, visit: &mut dyn FnMut(&str, &str));

    /// Calls `visit` with the value of the label `key`, if it is set. Provide it if there is a faster way than
    /// to look at all labels.
    fn label(&self, key: &str, visit: &mut dyn FnMut(&str)) {
        self.labels(&mut |name, value| {
            if name == key {
                visit(value);
            }
        });
    }

    /// The size of the object as the server sent it, in bytes; 0 if unknown.
    /// [`StoreLimits::bytes`](crate::indexer::StoreLimits::bytes) counts it.
    fn size(&self) -> usize {
        0
    }
}

/// Whether `uid` belongs to another object than `object`. An unknown uid proves nothing.
pub(crate) fn is_another(object: &impl Resource, uid: &str) -> bool {
    let own = object.uid();
    own != uid && !own.is_empty() && !uid.is_empty()
}

macro_rules! resource_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<R: Resource> Resource for $pointer {
            type Key = R::Key;
            fn identity(key: &Self::Key) -> usize {
                R::identity(key)
            }
            fn key_has_namespace() -> bool {
                R::key_has_namespace()
            }
            fn key(&self) -> &Self::Key {
                (**self).key()
            }
            fn uid(&self) -> &str {
                (**self).uid()
            }
            fn version(&self) -> &str {
                (**self).version()
            }
            fn has_same_uid(&self, other: &Self) -> bool {
                (**self).has_same_uid(other)
            }
            fn has_same_version(&self, other: &Self) -> bool {
                (**self).has_same_version(other)
            }
            fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
                (**self).labels(visit);
            }
            fn label(&self, key: &str, visit: &mut dyn FnMut(&str)) {
                (**self).label(key, visit);
            }
            fn size(&self) -> usize {
                (**self).size()
            }
        }
    )*};
}

resource_through_pointer!(&R);
#[cfg(feature = "alloc")]
resource_through_pointer!(Box<R>, Rc<R>, Arc<R>);
