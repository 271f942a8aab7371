//! Index functions.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

/// Computes the values under which an index files an object: none, one or many.
///
/// Values are bytes. Encode text as its bytes, and numbers in an encoding that keeps their order, such as
/// big-endian, so that the index can be [ordered](Self::ordered). The function cannot fail. An object
/// that it does not understand has no values.
///
/// ```
/// use informer_core::indexer::{IndexFn, Subject};
/// use informer_core::{Object, ObjectKey};
///
/// let by_namespace = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
///     file(object.key().namespace().as_bytes());
/// });
/// // Sorted by value. The subject lets queries find this index.
/// let by_namespace = by_namespace.ordered().about(Subject::Namespace);
/// assert!(by_namespace.is_ordered());
///
/// let pod = Object::builder(ObjectKey::new("default", "web"))
///     .version("1")
///     .body(());
/// let mut values = Vec::new();
/// by_namespace.values(&pod, &mut |value| values.push(value.to_vec()));
/// assert_eq!(values, [b"default"]);
/// ```
pub struct IndexFn<T> {
    function: Function<T>,
    ordered: bool,
    #[cfg(feature = "alloc")]
    subject: Subject,
}

/// What the values of an index mean. Lets a query find an index that answers it.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Subject {
    /// Something that only the author of the index knows.
    #[default]
    Own,
    /// The namespace; an empty value for an object without a namespace.
    Namespace,
    /// The key as it is displayed.
    Key,
    /// The value of the label with this key; no value for an object without this label.
    Label(Cow<'static, str>),
    /// One value `key=value` per label.
    LabelPairs,
    /// The value of the annotation with this key; no value for an object without this annotation.
    Annotation(Cow<'static, str>),
    /// The texts of the field at this path; no value for an object without this field.
    Field(Cow<'static, str>),
}

enum Function<T> {
    Plain(PlainFn<T>),
    #[cfg(feature = "alloc")]
    Shared(Arc<Closure<T>>),
}

/// A plain function that calls its second argument with each value of an object.
pub type PlainFn<T> = fn(&T, &mut dyn FnMut(&[u8]));

#[cfg(feature = "alloc")]
type Closure<T> = dyn Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync;

impl<T> IndexFn<T> {
    /// An index function from a closure. Its values must depend only on the object.
    #[cfg(feature = "alloc")]
    pub fn new(function: impl Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync + 'static) -> Self {
        Self::of(Function::Shared(Arc::new(function)))
    }

    /// An index function from a plain function. Needs no allocator.
    pub const fn plain(function: PlainFn<T>) -> Self {
        Self::of(Function::Plain(function))
    }

    const fn of(function: Function<T>) -> Self {
        Self {
            function,
            ordered: false,
            #[cfg(feature = "alloc")]
            subject: Subject::Own,
        }
    }

    /// Keeps the values sorted by their bytes, for [`View::range`](super::View::range). Looking up one
    /// value stays as fast. Adding or removing a value costs a walk down a tree.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self {
            ordered: true,
            ..self
        }
    }

    /// Sets what the values mean. If this is wrong, queries miss objects.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Whether the index keeps the values sorted.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// What the values mean.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Calls `file` with each value of `object`.
    pub fn values(&self, object: &T, file: &mut dyn FnMut(&[u8])) {
        match &self.function {
            Function::Plain(function) => function(object, file),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => function(object, file),
        }
    }
}

impl<T> Clone for IndexFn<T> {
    fn clone(&self) -> Self {
        Self {
            function: match &self.function {
                Function::Plain(function) => Function::Plain(*function),
                #[cfg(feature = "alloc")]
                Function::Shared(function) => Function::Shared(Arc::clone(function)),
            },
            ordered: self.ordered,
            #[cfg(feature = "alloc")]
            subject: self.subject.clone(),
        }
    }
}

impl<T> fmt::Debug for IndexFn<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexFn(…)")
    }
}
