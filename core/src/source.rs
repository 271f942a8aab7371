//! The identity of a source.

/// Identifies a source of an informer: one target, which the informer lists and watches on its own.
///
/// Ids are not reused, except that the number starts again at 0 after 65,536 additions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId {
    number: u16,
    /// The place among the sources.
    at: u16,
}

impl SourceId {
    /// The source that [`Informer::new`](crate::Informer::new) makes.
    pub const FIRST: Self = Self::new(0, 0);

    pub(crate) const fn new(number: u16, at: u16) -> Self {
        Self { number, at }
    }

    /// The number of the source, counted from 0 in the order of additions, for logs and metrics.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.number
    }

    /// The place among the sources.
    pub(crate) const fn at(self) -> u32 {
        self.at as u32
    }

    /// The part of an exchange's number that names its source. It is 0 for the first source.
    pub(crate) const fn to_high_bits(self) -> u64 {
        (self.number as u64) << 48 | (self.at as u64) << 32
    }

    pub(crate) const fn from_high_bits(bits: u64) -> Self {
        Self::new((bits >> 48) as u16, (bits >> 32) as u16)
    }
}
