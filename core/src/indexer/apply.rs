//! How a step changes the store, and what is to be told of it.

#[cfg(feature = "alloc")]
use alloc::vec::{self, Vec};

use super::Indexer;
#[cfg(feature = "alloc")]
use crate::flow::FullState;
use crate::flow::{Cause, Certainty, Deletion, Delta, Notification, Step};
use crate::known::Epoch;
use crate::object::{Resource, is_another};
use crate::storage::{Full, Storage};

/// Where our default and client-go differ in what they tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Rules {
    /// An object that has another UID than the one stored under its key is told as a deletion and an
    /// add. Off: as an update.
    pub split_recreated: bool,
    /// An update that changes nothing (same UID, same version, not a resync) and the deletion of
    /// something that the store does not have are not told.
    pub drop_noops: bool,
}

impl Rules {
    /// What client-go does: everything is told, the UID is not looked at.
    #[must_use]
    pub const fn client_go() -> Self {
        Self {
            split_recreated: false,
            drop_noops: false,
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            split_recreated: true,
            drop_noops: true,
        }
    }
}

/// What applying a step did.
#[derive(Clone, Debug)]
#[must_use = "listeners that are not told of it never hear of it"]
#[non_exhaustive]
pub struct Applied<T: Resource> {
    /// What is to be told, in order.
    pub told: Told<T>,
    /// How many objects were found unchanged and are not told.
    pub unchanged: usize,
    /// How many objects found no place. What the store has under their keys stays.
    pub left_out: usize,
}

/// The notifications of one step: none, one, or a deletion and an add; a full state that is applied in
/// one step has more.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Told<T: Resource> {
    /// Nothing is left.
    #[default]
    Nothing,
    /// One notification.
    One(Notification<T>),
    /// Two notifications, in this order.
    Two(Notification<T>, Notification<T>),
    /// Any number of them.
    #[cfg(feature = "alloc")]
    Many(vec::IntoIter<Notification<T>>),
}

impl<T: Resource> Iterator for Told<T> {
    type Item = Notification<T>;

    fn next(&mut self) -> Option<Notification<T>> {
        #[cfg(feature = "alloc")]
        if let Self::Many(many) = self {
            return many.next();
        }
        match core::mem::take(self) {
            Self::One(only) => Some(only),
            Self::Two(first, second) => {
                *self = Self::One(second);
                Some(first)
            }
            _ => None,
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match self {
            Self::Nothing => 0,
            Self::One(_) => 1,
            Self::Two(..) => 2,
            #[cfg(feature = "alloc")]
            Self::Many(many) => many.len(),
        };
        (left, Some(left))
    }
}

impl<T: Resource> ExactSizeIterator for Told<T> {}

impl<T: Resource> Applied<T> {
    const fn told(told: Told<T>) -> Self {
        Self {
            told,
            unchanged: 0,
            left_out: 0,
        }
    }

    const fn unchanged() -> Self {
        Self {
            told: Told::Nothing,
            unchanged: 1,
            left_out: 0,
        }
    }

    const fn left_out() -> Self {
        Self {
            told: Told::Nothing,
            unchanged: 0,
            left_out: 1,
        }
    }
}

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// Applies a step of a queue. The store shows the change when this returns. The version of the
    /// store stays, unless a full state says which one to adopt.
    pub fn apply(&mut self, step: Step<T>, rules: Rules) -> Applied<T> {
        match step {
            Step::Delta {
                delta,
                initial,
                seen,
            } => self.apply_delta(delta, initial, seen, rules),
            Step::Seen { key, seen } => {
                self.mark_seen(&key, seen);
                Applied::told(Told::Nothing)
            }
            #[cfg(feature = "alloc")]
            Step::FullState { state, initial } => self.apply_full_state(*state, initial, rules),
        }
    }

    #[inline]
    fn apply_delta(
        &mut self,
        delta: Delta<T>,
        initial: bool,
        seen: Epoch,
        rules: Rules,
    ) -> Applied<T> {
        let (object, cause) = match delta {
            Delta::Added(object) | Delta::Updated(object) => (object, Cause::Watch),
            Delta::Replaced(object) => (object, Cause::Relist),
            Delta::Sync(object) => (object, Cause::Resync),
            Delta::Deleted(deletion) => return self.apply_deletion(deletion, rules),
        };
        let place = self.place_of(object.key());
        let stored = place.slot.and_then(|at| Some((at, self.slots.get(at)?)));
        if let Some((at, stored)) = stored
            && rules.drop_noops
            && cause != Cause::Resync
            && is_unchanged(&stored.object, &object)
        {
            self.mark_slot(at, seen);
            return Applied::unchanged();
        }
        match self.put_at(place, object.clone(), seen) {
            Ok(old) => Applied::told(tell_upsert(old, object, initial, cause, rules)),
            Err(Full) => {
                // Its new state has no room, but it is there: nobody may take it for gone.
                if let Some(at) = place.slot {
                    self.mark_slot(at, seen);
                }
                Applied::left_out()
            }
        }
    }

    /// Applies a full state in one step. Tells the deletions first, then the objects in the order of
    /// the state. Of a key that stands in it twice client-go tells both compared with the store as it
    /// was before; with [`Rules::drop_noops`] the second is compared with the first.
    #[cfg(feature = "alloc")]
    fn apply_full_state(&mut self, state: FullState<T>, initial: bool, rules: Rules) -> Applied<T> {
        let seen = self.newest.next();
        let mut told = Vec::new();
        let (mut unchanged, mut left_out) = (0, 0);
        let mut upserts = Vec::new();
        for object in state.objects {
            self.mark_seen(object.key(), seen);
            let old = self.get(object.key()).cloned();
            upserts.push((old, object));
        }
        for key in &state.unreadable {
            self.mark_seen(key, seen);
        }
        let mut gone = |object: T| {
            told.push(Notification::Deleted {
                key: object.key().clone(),
                last: Some(object),
                certainty: Certainty::Inferred,
                cause: Cause::Relist,
            });
        };
        state
            .gone
            .iter()
            .filter_map(|key| self.remove(key))
            .for_each(&mut gone);
        if state.complete {
            self.sweep(seen, gone);
        }
        for (before, object) in upserts {
            let applied = if rules.drop_noops {
                self.apply_delta(Delta::Replaced(object), initial, seen, rules)
            } else {
                match self.put_seen(object.clone(), seen) {
                    Ok(_) => {
                        Applied::told(tell_upsert(before, object, initial, Cause::Relist, rules))
                    }
                    Err(Full) => Applied::left_out(),
                }
            };
            unchanged += applied.unchanged;
            left_out += applied.left_out;
            told.extend(applied.told);
        }
        if left_out == 0
            && let Some(version) = &state.version
            && self.set_version(version).is_err()
        {
            left_out += 1;
        }
        Applied {
            told: Told::Many(told.into_iter()),
            unchanged,
            left_out,
        }
    }

    fn apply_deletion(&mut self, deletion: Deletion<T>, rules: Rules) -> Applied<T> {
        let stored = self.remove(deletion.key());
        if rules.drop_noops && stored.is_none() {
            return Applied::unchanged();
        }
        let (key, last, certainty, cause) = match deletion {
            Deletion::Observed(object) => {
                let key = object.key().clone();
                (key, Some(object), Certainty::Observed, Cause::Watch)
            }
            Deletion::Inferred { key, last } => (key, last, Certainty::Inferred, Cause::Relist),
            Deletion::Unreadable(key) => (key, stored, Certainty::Observed, Cause::Watch),
            Deletion::Displaced { key, cause } => (key, stored, Certainty::Inferred, cause),
        };
        Applied::told(Told::One(Notification::Deleted {
            key,
            last,
            certainty,
            cause,
        }))
    }
}

#[inline]
fn tell_upsert<T: Resource>(
    old: Option<T>,
    new: T,
    initial: bool,
    cause: Cause,
    rules: Rules,
) -> Told<T> {
    let added = |object| Notification::Added {
        object,
        initial,
        cause,
    };
    match old {
        None => Told::One(added(new)),
        Some(old) if rules.split_recreated && is_another(&old, new.uid()) => {
            let gone = Notification::Deleted {
                key: old.key().clone(),
                last: Some(old),
                certainty: Certainty::Inferred,
                cause,
            };
            Told::Two(gone, added(new))
        }
        Some(old) => Told::One(Notification::Updated { old, new, cause }),
    }
}

/// The same object in the same state.
fn is_unchanged(old: &impl Resource, new: &impl Resource) -> bool {
    !new.version().is_empty() && old.version() == new.version() && old.uid() == new.uid()
}
