//! A function that objects pass on their way into a queue.

#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

use crate::object::Resource;

/// A function that every object passes once, on its way into a [`Queue`](super::Queue): to drop what
/// nobody reads, or to refuse what nobody can use. Tombstones and resyncs do not pass it.
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

    /// Lets an object pass.
    ///
    /// # Errors
    /// The function refused the object, or gave it another key, which would file it under two names.
    pub fn apply(&self, object: &mut T) -> Result<(), TransformError>
    where
        T: Resource,
    {
        let key = object.key().clone();
        match &self.0 {
            Function::Plain(function) => function(object),
            #[cfg(feature = "alloc")]
            Function::Shared(function) => function(object),
        }?;
        if *object.key() == key {
            Ok(())
        } else {
            Err(TransformError(Kind::KeyChanged))
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

/// Why a transform did not let an object pass.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransformError(Kind);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Refused(Reason),
    KeyChanged,
}

#[cfg(feature = "alloc")]
type Reason = alloc::borrow::Cow<'static, str>;
#[cfg(not(feature = "alloc"))]
type Reason = &'static str;

impl TransformError {
    /// The object is refused for this reason. With an allocator it may be a `String`, too.
    #[cfg(feature = "alloc")]
    pub fn new(reason: impl Into<Reason>) -> Self {
        Self(Kind::Refused(reason.into()))
    }

    /// The object is refused for this reason.
    #[cfg(not(feature = "alloc"))]
    #[must_use]
    pub const fn new(reason: &'static str) -> Self {
        Self(Kind::Refused(reason))
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Refused(reason) => write!(f, "refused by the transform: {reason}"),
            Kind::KeyChanged => f.write_str("the transform changed the key of the object"),
        }
    }
}

impl core::error::Error for TransformError {}
