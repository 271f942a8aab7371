//! What a queue is told of the store.

use crate::object::Resource;
use crate::storage::Full;

/// The number of a full state. The store keeps beside each object the last one that contained it, and
/// what carries an old number at the end of a full state has vanished. So a relist needs neither a
/// second copy of the objects nor a set of keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Epoch(u32);

impl Epoch {
    /// No full state has contained the object.
    pub const NEVER: Self = Self(0);

    pub(crate) const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }
}

/// A view of the objects that the consumer of a queue holds.
pub trait KnownObjects<T: Resource> {
    /// The newest full state that any object was marked with, so that the next one gets a number of
    /// its own.
    fn newest(&self) -> Epoch;

    /// Whether there is an object under `key`.
    fn knows(&self, key: &T::Key) -> bool;

    /// Shows every object with the last full state that contained it.
    ///
    /// # Errors
    /// The first one that `visit` gives; nothing more is shown then.
    fn each(&self, visit: &mut dyn FnMut(&T, Epoch) -> Result<(), Full>) -> Result<(), Full>;
}

/// The view of a consumer that holds nothing: deletions can be found among the queued keys only.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing in it, by name")]
pub struct NothingKnown;

impl<T: Resource> KnownObjects<T> for NothingKnown {
    fn newest(&self) -> Epoch {
        Epoch::NEVER
    }

    fn knows(&self, _: &T::Key) -> bool {
        false
    }

    fn each(&self, _: &mut dyn FnMut(&T, Epoch) -> Result<(), Full>) -> Result<(), Full> {
        Ok(())
    }
}
