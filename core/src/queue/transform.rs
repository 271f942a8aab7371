//! A user function that runs on every object before it enters a queue.

#[cfg(feature = "alloc")]
use alloc::sync::Arc;
use core::fmt;

use crate::object::Resource;

/// A function that runs once on every object before it enters a [`Queue`](super::Queue).
///
/// Use it to drop fields that you do not read, or to refuse objects that you cannot use. It does not run
/// for tombstones and resyncs.
///
/// ```
/// use informer_core::queue::{Transform, TransformError};
/// use informer_core::{Object, ObjectKey};
///
/// let shorten = Transform::new(|object: &mut Object<String>| {
///     if object.body().is_empty() {
///         return Err(TransformError::new("it has no text"));
///     }
///     object.edit(|text| text.truncate(3));
///     Ok(())
/// });
///
/// let mut object = Object::builder(ObjectKey::new("default", "web"))
///     .version("1")
///     .body("a long text".to_owned());
/// shorten.apply(&mut object)?;
/// assert_eq!(*object, "a l");
///
/// object.edit(String::clear);
/// let error = shorten.apply(&mut object).unwrap_err();
/// assert_eq!(error.to_string(), "refused by the transform: it has no text");
/// # Ok::<(), TransformError>(())
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
    /// Creates a transform from a closure. It must not change the key of the object.
    #[cfg(feature = "alloc")]
    pub fn new(
        function: impl Fn(&mut T) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        Self(Function::Shared(Arc::new(function)))
    }

    /// Creates a transform from a function, without an allocator. It must not change the key of the
    /// object.
    pub const fn from_fn(function: fn(&mut T) -> Result<(), TransformError>) -> Self {
        Self(Function::Plain(function))
    }

    /// Runs the function on an object.
    ///
    /// # Errors
    /// [`TransformError`] if the function refuses the object or changes its key.
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

/// Why a transform refused an object.
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
    /// Refuses an object for this reason. With an allocator it may also be a `String`.
    pub fn new(reason: impl Into<Reason>) -> Self {
        Self(Kind::Refused(reason.into()))
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
