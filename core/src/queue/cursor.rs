//! A walk through the store that feeds a queue object by object: a sweep, or a resync.

use crate::flow::{Deletion, Delta};
use crate::known::{Epoch, Known};
use crate::object::Resource;

/// A sweep or a resync under way. It holds a number and no object, so it costs the same whatever the
/// store holds, and the store may change between two calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    /// The next place to look at.
    place: u32,
    work: Work,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// Delete what no full state since this one has contained. `first`: it is the first one.
    Sweep { state: Epoch, first: bool },
    /// Show everything again, but what has changed since this epoch began.
    Resync { unless: Option<Epoch> },
}

impl Cursor {
    pub(super) const fn new(work: Work) -> Self {
        Self { place: 0, work }
    }

    pub(super) const fn work(&self) -> Work {
        self.work
    }

    pub(super) fn is_over<T: Resource>(&self, known: &impl Known<T>) -> bool {
        self.place >= known.places()
    }

    /// Looks at the next place, and says what is to be done with the object in it.
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
            Work::Resync {
                unless: Some(epoch),
            } if seen >= epoch => None,
            Work::Resync { .. } => Some(Delta::Sync(object.clone())),
        }
    }
}
