//! A queue's view of the store, and how the store remembers full states.

use crate::object::Resource;

/// The number of a round through the objects: a full state or a resync.
///
/// The store keeps with each object the last round that contained it. At the end of a full state,
/// an object with an older number is gone. So a relist needs neither a second copy of the objects
/// nor a set of keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Epoch(u32);

impl Epoch {
    /// No full state has contained the object.
    pub const NEVER: Self = Self(0);

    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    pub(crate) const fn to_bits(self) -> u32 {
        self.0
    }

    pub(crate) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }
}

/// A view of the objects that the consumer of a queue holds.
///
/// A queue keeps no reference to the store. Its methods take this view where they need it.
pub trait Known<T: Resource> {
    /// The newest epoch of any object. The next round takes a larger number.
    fn newest(&self) -> Epoch;

    /// The object with this key.
    fn get(&self, key: &T::Key) -> Option<&T>;

    /// The number of numbered places. It must not shrink while a cursor walks over them.
    fn places(&self) -> u32;

    /// Whether it surely holds nothing, so that no full state needs a walk over its places.
    fn is_empty(&self) -> bool {
        self.places() == 0
    }

    /// The object at a place and the last round that contained it; `None` if the place is empty.
    fn at(&self, place: u32) -> Option<(&T, Epoch)>;
}

/// The view of a consumer that holds nothing. Deletions are found only among the queued keys.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct NothingKnown;

impl<T: Resource> Known<T> for NothingKnown {
    fn newest(&self) -> Epoch {
        Epoch::NEVER
    }

    fn get(&self, _: &T::Key) -> Option<&T> {
        None
    }

    fn places(&self) -> u32 {
        0
    }

    fn at(&self, _: u32) -> Option<(&T, Epoch)> {
        None
    }
}
