//! A function that objects pass on their way into a queue.

#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

use crate::object::Resource;
use crate::storage::Full;

/// A function that every object passes once, on its way into the queue: to drop what nobody reads,
/// or to refuse what nobody can use. Tombstones and what a resync shows again do not pass it.
///
/// ```
/// use informer_core::queue::{TransformError, Transform};
///
/// let shorten = Transform::new(|text: &mut String| {
///     if text.is_empty() {
///         return Err(TransformError::new("empty"));
///     }
///     text.truncate(3);
///     Ok(())
/// });
/// # let _ = shorten;
/// ```
pub struct Transform<T>(Function<T>);

enum Function<T> {
    Plain(fn(&mut T) -> Result<(), TransformError>),
    #[cfg(feature = "alloc")]
    Shared(Arc<Closure<T>>),
}

#[cfg(feature = "alloc")]
type Closure<T> = dyn Fn(&mut T) -> Result<(), TransformError> + Send + Sync;

impl<T> Transform<T> {
    /// A transform from a closure. It must not change the key of the object.
    #[cfg(feature = "alloc")]
    pub fn new(
        function: impl Fn(&mut T) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        Self(Function::Shared(Arc::new(function)))
    }

    /// A transform from a function, without an allocator. It must not change the key of the object.
    pub const fn plain(function: fn(&mut T) -> Result<(), TransformError>) -> Self {
        Self(Function::Plain(function))
    }

    pub(crate) fn apply(&self, object: &mut T) -> Result<(), QueueError>
    where
        T: Resource,
    {
        let key = object.key().clone();
        match &self.0 {
            Function::Plain(function) => function(object),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => function(object),
        }
        .map_err(QueueError::Transform)?;
        if *object.key() == key {
            Ok(())
        } else {
            Err(QueueError::KeyChanged)
        }
    }
}

impl<T> Clone for Transform<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Function::Plain(function) => Function::Plain(*function),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => Function::Shared(Arc::clone(function)),
        })
    }
}

impl<T> fmt::Debug for Transform<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transform(…)")
    }
}

/// Why a transform refuses an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransformError {
    reason: Reason,
}

#[cfg(feature = "alloc")]
type Reason = alloc::borrow::Cow<'static, str>;
#[cfg(not(feature = "alloc"))]
type Reason = &'static str;

impl TransformError {
    /// A refusal with its reason, for people. With an allocator it may be a `String`, too.
    #[cfg(feature = "alloc")]
    pub fn new(reason: impl Into<Reason>) -> Self {
        Self {
            reason: reason.into(),
        }
    }

    /// A refusal with its reason, for people.
    #[cfg(not(feature = "alloc"))]
    #[must_use]
    pub const fn new(reason: &'static str) -> Self {
        Self { reason }
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason.as_ref())
    }
}

/// Why a queue did not take an object.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum QueueError {
    /// The transform refused it.
    Transform(TransformError),
    /// The transform gave it another key, which would file it under two names.
    KeyChanged,
    /// The storage of the queue is full.
    Full,
}

impl From<Full> for QueueError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl fmt::Display for QueueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transform(error) => write!(f, "refused by the transform: {error}"),
            Self::KeyChanged => f.write_str("the transform changed the key of the object"),
            Self::Full => f.write_str("the queue is full"),
        }
    }
}

impl core::error::Error for QueueError {}
