//! Whatever can be an index: a ready-made function, a typed index, or a closure.

use alloc::vec::Vec;

use informer_core::indexer::IndexFn;

use crate::typed::TypedIndex;
use crate::value::Encode;

/// An index for objects of type `T`: an [`IndexFn`], as the functions in [`by`](crate::by) return it, a
/// [`TypedIndex`], or a closure from an object to its [`Values`]. `M` only tells these apart.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
/// use informer_indexers::{IntoIndex, by};
///
/// struct Job {
///     priority: i32,
///     hosts: Vec<String>,
/// }
///
/// let mut store = Indexer::<_, Heap>::new(Seed::new(1));
/// let indices = [
///     ("namespace", by::namespace().into_index()),
///     ("priority", (|job: &Object<Job>| job.priority).into_index()),
///     ("host", (|job: &Object<Job>| job.hosts.clone()).into_index()),
/// ];
/// store.add_indices(&indices)?;
/// let job = Job { priority: 7, hosts: vec!["a".to_owned(), "b".to_owned()] };
/// store.put(Object::builder(ObjectKey::new("web", "backup")).body(job))?;
/// assert_eq!(store.count("host", "b")?, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index for `{T}`",
    note = "an index is a function of `by`, or a closure such as `|pod: &Object<Pod>| …`",
    note = "the closure returns owned values: a string or number, an `Option` or a `Vec` of these",
    note = "for borrowed values there is `index_with(name, |object, file| …)`"
)]
pub trait IntoIndex<T, M> {
    /// The index function.
    fn into_index(self) -> IndexFn<T>;
}

/// What a closure returns to file an object: a string or number, or an `Option` or `Vec` of these. A
/// `Vec<u8>` is many numbers; for bytes use an [`IndexFn`].
#[diagnostic::on_unimplemented(
    message = "an index cannot file an object under `{Self}`",
    note = "return an owned string or number, or an `Option` or `Vec` of these"
)]
pub trait Values {
    /// Calls `file` with each value, encoded.
    fn each(self, file: &mut dyn FnMut(&[u8]));
}

impl<T> IntoIndex<T, ()> for IndexFn<T> {
    fn into_index(self) -> Self {
        self
    }
}

impl<T, V> IntoIndex<T, (V,)> for TypedIndex<T, V>
where
    V: crate::value::IndexValue,
{
    fn into_index(self) -> IndexFn<T> {
        self.into_fn()
    }
}

impl<T, F, V> IntoIndex<T, fn() -> V> for F
where
    F: Fn(&T) -> V + Send + Sync + 'static,
    V: Values,
{
    fn into_index(self) -> IndexFn<T> {
        IndexFn::new(move |object: &T, file: &mut dyn FnMut(&[u8])| self(object).each(file))
    }
}

impl<V: Encode> Values for V {
    fn each(self, file: &mut dyn FnMut(&[u8])) {
        let mut bytes = Vec::new();
        self.encode(&mut bytes);
        file(&bytes);
    }
}

impl<V: Encode> Values for Option<V> {
    fn each(self, file: &mut dyn FnMut(&[u8])) {
        if let Some(value) = self {
            value.each(file);
        }
    }
}

impl<V: Encode> Values for Vec<V> {
    fn each(self, file: &mut dyn FnMut(&[u8])) {
        for value in self {
            value.each(file);
        }
    }
}
