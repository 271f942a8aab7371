//! Limits on the size of a store, and what is said of a limit that cannot be.

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

    /// A limit of zero would allow no store at all.
    pub(crate) const fn check(&self) -> Result<(), InvalidLimit> {
        match (self.objects, self.bytes) {
            (Some(0), _) => Err(InvalidLimit("objects")),
            (_, Some(0)) => Err(InvalidLimit("bytes")),
            _ => Ok(()),
        }
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

/// The limit with this name is zero or too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a name and nothing else")]
pub struct InvalidLimit(pub &'static str);

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(name) = self;
        write!(
            f,
            "the limit `{name}` is zero or too large: set a smaller value above zero"
        )
    }
}

impl core::error::Error for InvalidLimit {}
