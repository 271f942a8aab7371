//! A cursor that walks the store: a sweep, a resync, or the end of a kind or a source.

use crate::flow::{Cause, Deletion, Delta};
use crate::known::{Epoch, Known};
use crate::object::Resource;

/// A walk in progress. It holds a number and no objects, so its cost does not depend on the
/// size of the store, and the store may change between two steps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The next place to look at.
    place: u32,
    pub(super) work: Work,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Delete every object that the full state `state` and later ones lack. `first` if it is the first
    /// full state.
    Sweep { state: Epoch, first: bool },
    /// Delete every object, because its kind is gone or its source was removed.
    Empty { cause: Cause },
    /// Send every object again, except those that changed since the epoch `unless`.
    Resync { unless: Option<Epoch> },
}

impl Cursor {
    pub(super) const fn new(work: Work) -> Self {
        Self { place: 0, work }
    }

    pub(super) fn is_over<T: Resource>(&self, known: &impl Known<T>) -> bool {
        self.place >= known.places()
    }

    /// Moves to the next place, and returns the delta for the object there.
    pub(super) fn step<T: Resource + Clone>(&mut self, known: &impl Known<T>) -> Option<Delta<T>> {
        let found = known.at(self.place);
        self.place += 1;
        let (object, seen) = found?;
        match self.work {
            Work::Sweep { state, .. } if seen >= state => None,
            Work::Sweep { .. } => Some(Delta::Deleted(Deletion::Inferred {
                key: object.key().clone(),
                last: Some(object.clone()),
            })),
            Work::Empty { cause } => Some(Delta::Deleted(Deletion::Displaced {
                key: object.key().clone(),
                cause,
            })),
            Work::Resync {
                unless: Some(epoch),
            } if seen >= epoch => None,
            Work::Resync { .. } => Some(Delta::Sync(object.clone())),
        }
    }
}
