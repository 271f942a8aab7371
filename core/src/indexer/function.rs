//! Index functions: from an object to the values under which it is filed.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

/// A function from an object to the values under which an index files it: none, one or many.
///
/// Values are bytes. A text is given as its bytes; numbers in an encoding that keeps their order, such
/// as big-endian, so that an index may be [ordered](Self::ordered) by value. The function cannot fail:
/// what it does not understand, it files under nothing.
///
/// ```
/// use informer_core::indexer::{IndexFn, Subject};
/// use informer_core::Object;
///
/// let by_namespace = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
///     file(object.key.namespace().as_bytes());
/// });
/// // Sorted, and known for what it is to whoever looks for an index that answers a question.
/// let by_namespace = by_namespace.ordered().about(Subject::Namespace);
/// assert!(by_namespace.is_ordered());
/// ```
pub struct IndexFn<T> {
    function: Function<T>,
    ordered: bool,
    #[cfg(feature = "alloc")]
    subject: Subject,
}

/// What the values of an index are, so that a query can find an index that answers it.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Subject {
    /// Something that only whoever made the index knows.
    #[default]
    Own,
    /// The one value is the namespace; empty for an object without.
    Namespace,
    /// The one value is the key as it is displayed.
    Key,
    /// The value is that of the label with this key; none for an object without it.
    Label(Cow<'static, str>),
    /// One value `key=value` for each label.
    LabelPairs,
    /// The values are the texts of the field at this path; none for an object without it.
    Field(Cow<'static, str>),
}

enum Function<T> {
    Plain(PlainFn<T>),
    #[cfg(feature = "alloc")]
    Shared(Arc<Closure<T>>),
}

/// A function that shows the values of an object to whoever files it.
pub type PlainFn<T> = fn(&T, &mut dyn FnMut(&[u8]));

#[cfg(feature = "alloc")]
type Closure<T> = dyn Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync;

impl<T> IndexFn<T> {
    /// An index function from a closure. It must depend on nothing but the object.
    #[cfg(feature = "alloc")]
    pub fn new(function: impl Fn(&T, &mut dyn FnMut(&[u8])) + Send + Sync + 'static) -> Self {
        Self::of(Function::Shared(Arc::new(function)))
    }

    /// An index function from a function, without an allocator.
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

    /// Keeps the values sorted by their bytes, so that [`View::range`](super::View::range) can be
    /// asked. Look-ups of one value stay as fast; a value that comes or goes costs a walk down a tree.
    #[must_use]
    pub fn ordered(self) -> Self {
        Self {
            ordered: true,
            ..self
        }
    }

    /// Says what the values are. It must be true, or queries that rely on it miss objects.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Whether the values are kept sorted.
    #[must_use]
    pub const fn is_ordered(&self) -> bool {
        self.ordered
    }

    /// What the values are.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Shows every value of `object` to `file`.
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
