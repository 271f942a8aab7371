//! What a queue is told about the store, and how the store remembers full states.

use crate::object::Resource;

/// The number of a round through the objects: of a full state, or of a resync. The store keeps beside
/// each object the last round that contained it. An object with an older number at the end of a full
/// state has vanished, so a relist needs neither a second copy of the objects nor a set of keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Epoch(u32);

impl Epoch {
    /// No full state has contained the object.
    pub const NEVER: Self = Self(0);

    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A view of the objects that the consumer of a queue holds. A queue keeps no reference to the store;
/// it is shown this view where it must know what the store knows.
pub trait Known<T: Resource> {
    /// The newest epoch that any object was marked with, so that the next round gets a number of its
    /// own.
    fn newest(&self) -> Epoch;

    /// The object under `key`.
    fn get(&self, key: &T::Key) -> Option<&T>;

    /// How many numbered places there are. It must not shrink while a cursor walks through them.
    fn places(&self) -> u32;

    /// The object in a place, and the last round that contained it; `None` if the place is empty.
    fn at(&self, place: u32) -> Option<(&T, Epoch)>;
}

/// The view of a consumer that holds nothing: deletions can be found among the queued keys only.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it, by name")]
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
