//! What the machines ask of an object.

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::rc::Rc;
#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;
use core::hash::Hash;

/// All that the machines ask of an object.
///
/// [`Object`](crate::Object) has it, and so has any `Arc`, `Rc`, `Box` or reference of something that has it.
/// Implement it for a type of your own to use the queues and the indexer with your own objects and
/// your own notion of a key.
pub trait Resource {
    /// What identifies the object in queue and store.
    type Key: Clone + Eq + Hash + fmt::Debug;

    /// The key. It must not change during the life of the value.
    fn key(&self) -> &Self::Key;

    /// The identity that survives no re-creation under the same key; empty if there is none.
    fn uid(&self) -> &str;

    /// The resource version, opaque; empty if there is none.
    fn version(&self) -> &str;

    /// Shows every label to `visit`.
    fn labels(&self, visit: &mut dyn FnMut(&str, &str));

    /// How many bytes the server sent for it; 0 if nobody has counted. This is what
    /// [`StoreLimits::bytes`](crate::indexer::StoreLimits::bytes) counts.
    fn size(&self) -> usize {
        0
    }
}

/// Whether a uid shows that it is not the one of `object`. An unknown uid shows nothing.
pub(crate) fn is_another(object: &impl Resource, uid: &str) -> bool {
    !object.uid().is_empty() && !uid.is_empty() && object.uid() != uid
}

macro_rules! resource_through_pointer {
    ($($pointer:ty),*) => {$(
        impl<R: Resource + ?Sized> Resource for $pointer {
            type Key = R::Key;
            fn key(&self) -> &Self::Key {
                (**self).key()
            }
            fn uid(&self) -> &str {
                (**self).uid()
            }
            fn version(&self) -> &str {
                (**self).version()
            }
            fn labels(&self, visit: &mut dyn FnMut(&str, &str)) {
                (**self).labels(visit);
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
