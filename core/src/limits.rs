//! Limits on the size of a store.

use core::fmt;

/// Limits on the size of a store, on top of the capacity of its storage. The default is no limit.
///
/// A write beyond a limit fails with [`Full`](crate::storage::Full) and leaves the store unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "users set the public fields")]
pub struct StoreLimits {
    /// The most objects.
    pub objects: Option<usize>,
    /// The most bytes of all objects together, counted as the server sent them
    /// ([`Resource::size`](crate::Resource::size)). The memory they take depends on the form: a
    /// lean object takes less, a typed or dynamic one more.
    pub bytes: Option<u64>,
}

impl StoreLimits {
    /// No limits.
    pub const NONE: Self = Self {
        objects: None,
        bytes: None,
    };

    /// Whether any limit is set.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.objects.is_some() || self.bytes.is_some()
    }

    /// Whether this many objects and bytes are allowed.
    pub(crate) fn allow(&self, objects: usize, bytes: u64) -> bool {
        self.objects.is_none_or(|most| objects <= most)
            && self.bytes.is_none_or(|most| bytes <= most)
    }
}

/// `1000 objects`, `1000 objects and 5000 bytes`
impl fmt::Display for StoreLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.objects, self.bytes) {
            (Some(objects), Some(bytes)) => write!(f, "{objects} objects and {bytes} bytes"),
            (Some(objects), None) => write!(f, "{objects} objects"),
            (None, Some(bytes)) => write!(f, "{bytes} bytes"),
            (None, None) => f.write_str("no limit"),
        }
    }
}
