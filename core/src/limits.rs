//! Bounds on what a store holds.

use core::fmt;

/// Bounds on what a store holds, whatever its storage could. Default: none.
///
/// A write beyond a limit is refused as [`Full`](crate::storage::Full), and the store stays as it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct StoreLimits {
    /// The most objects.
    pub objects: Option<usize>,
    /// The most bytes of all objects together. Counted is what the server sent for each
    /// ([`Resource::size`](crate::Resource::size)), which is known without looking into it. What it takes
    /// in memory depends on the form: a lean object takes less, a typed or dynamic one more.
    pub bytes: Option<u64>,
}

impl StoreLimits {
    /// No limits.
    pub const NONE: Self = Self {
        objects: None,
        bytes: None,
    };

    /// Whether there are any.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.objects.is_some() || self.bytes.is_some()
    }

    /// Whether this much is allowed.
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
