//! Texts that many objects resemble.

use alloc::boxed::Box;
use core::fmt;

/// Texts that many objects resemble, one after the other.
///
/// Objects that were written with it share it, and it is freed with the last of them.
pub(crate) struct Dictionary {
    texts: Box<[u8]>,
}

impl Dictionary {
    /// The most bytes of a dictionary: a place takes two bytes.
    pub(crate) const LARGEST: usize = 1 << 16;

    /// Creates a dictionary. Texts beyond [`LARGEST`](Self::LARGEST) bytes are not used.
    pub(crate) fn new(texts: &[u8]) -> Self {
        let used = texts.get(..Self::LARGEST).unwrap_or(texts);
        Self { texts: used.into() }
    }

    pub(crate) fn texts(&self) -> &[u8] {
        &self.texts
    }
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dictionary({} bytes)", self.texts.len())
    }
}
