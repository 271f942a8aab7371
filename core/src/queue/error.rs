//! Why a change was rejected.

use core::fmt;

use super::TransformError;
use crate::flow::Change;
use crate::object::Resource;
use crate::storage::Full;

/// Why a queue rejected a change.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum PushError<T: Resource> {
    /// The transform refused the object.
    Transform {
        /// The change, with the object as the transform left it.
        change: Change<T>,
        /// The key of the object before the transform saw it.
        key: T::Key,
        /// The error of the transform.
        error: TransformError,
    },
    /// The queue is full, or a full state exceeds its limits.
    Full,
}

impl<T: Resource> From<Full> for PushError<T> {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl<T: Resource> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transform { key, error, .. } => write!(f, "{key:?}: {error}"),
            Self::Full => f.write_str("the queue is full, or the full state exceeds its limits"),
        }
    }
}

impl<T: Resource + fmt::Debug> core::error::Error for PushError<T> {}
