//! How a delta changes the store, and what is to be told of it.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use super::Indexer;
use crate::flow::{Cause, Certainty, Deletion, Delta, Notification};
use crate::object::Resource;
use crate::queue::Epoch;
#[cfg(feature = "alloc")]
use crate::queue::{FullState, KnownObjects as _};
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

/// What is to be told of one delta: nothing, one notification, or a deletion and an add.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Applied<T: Resource> {
    /// There is nothing new.
    Nothing,
    /// One notification.
    One(Notification<T>),
    /// Two notifications, in this order.
    Two(Notification<T>, Notification<T>),
}

/// What is to be told of a full state.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Debug)]
#[must_use = "whoever is not told of it never hears of it"]
#[non_exhaustive]
pub struct AppliedState<T: Resource> {
    /// The notifications, in order.
    pub told: Vec<Notification<T>>,
    /// How many objects were found unchanged and are not told.
    pub unchanged: usize,
    /// How many objects found no place. What the store has under their keys stays, and so does the
    /// version of the store.
    pub left_out: usize,
}

impl<T: Resource> IntoIterator for Applied<T> {
    type Item = Notification<T>;
    type IntoIter = core::iter::Flatten<core::array::IntoIter<Option<Notification<T>>, 2>>;

    fn into_iter(self) -> Self::IntoIter {
        let both = match self {
            Self::Nothing => [None, None],
            Self::One(only) => [Some(only), None],
            Self::Two(first, second) => [Some(first), Some(second)],
        };
        both.into_iter().flatten()
    }
}

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// Applies one delta of a popped key: what `initial` and `seen` are, the pop said. The store shows
    /// the change when this returns. The version of the store stays.
    ///
    /// # Errors
    /// [`Full`] if the object finds no place.
    pub fn apply(
        &mut self,
        delta: Delta<T>,
        initial: bool,
        seen: Epoch,
        rules: Rules,
    ) -> Result<Applied<T>, Full> {
        let (object, cause) = match delta {
            Delta::Added(object) | Delta::Updated(object) => (object, Cause::Watch),
            Delta::Replaced(object) => (object, Cause::Relist),
            Delta::Sync(object) => (object, Cause::Resync),
            Delta::Deleted(deletion) => return Ok(self.apply_deletion(deletion, rules)),
        };
        let place = self.place_of(object.key());
        let stored = place.slot.and_then(|at| Some((at, self.slots.get(at)?)));
        if let Some((at, stored)) = stored
            && rules.drop_noops
            && cause != Cause::Resync
            && is_unchanged(&stored.object, &object)
        {
            if seen != Epoch::NEVER {
                self.mark_slot(at, seen);
            }
            return Ok(Applied::Nothing);
        }
        let old = match self.put_at(place, object.clone(), seen) {
            Ok(old) => old,
            Err(full) => {
                // Its new state has no room, but it is there: nobody may take it for gone.
                if let Some(at) = place.slot
                    && seen != Epoch::NEVER
                {
                    self.mark_slot(at, seen);
                }
                return Err(full);
            }
        };
        Ok(tell_upsert(old, object, initial, cause, rules))
    }

    /// Applies a full state in one step. Tells the deletions first, then the objects in the order of
    /// the state. Of a key that stands in it twice client-go tells both compared with the store as it
    /// was before; with [`Rules::drop_noops`] the second is compared with the first.
    #[cfg(feature = "alloc")]
    pub fn apply_full_state(
        &mut self,
        state: FullState<T>,
        initial: bool,
        rules: Rules,
    ) -> AppliedState<T> {
        let seen = self.newest().next();
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
                self.apply(Delta::Replaced(object), initial, seen, rules)
            } else {
                self.put_seen(object.clone(), seen)
                    .map(|_| tell_upsert(before, object, initial, Cause::Relist, rules))
            };
            match applied {
                Ok(Applied::Nothing) => unchanged += 1,
                Ok(applied) => told.extend(applied),
                Err(Full) => left_out += 1,
            }
        }
        if left_out == 0 && self.set_version(&state.version).is_err() {
            left_out += 1;
        }
        AppliedState {
            told,
            unchanged,
            left_out,
        }
    }

    fn apply_deletion(&mut self, deletion: Deletion<T>, rules: Rules) -> Applied<T> {
        let stored = self.remove(deletion.key());
        if rules.drop_noops && stored.is_none() {
            return Applied::Nothing;
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
        Applied::One(Notification::Deleted {
            key,
            last,
            certainty,
            cause,
        })
    }
}

fn tell_upsert<T: Resource>(
    old: Option<T>,
    new: T,
    initial: bool,
    cause: Cause,
    rules: Rules,
) -> Applied<T> {
    let added = |object| Notification::Added {
        object,
        initial,
        cause,
    };
    match old {
        None => Applied::One(added(new)),
        Some(old) if rules.split_recreated && is_recreated(&old, &new) => {
            let gone = Notification::Deleted {
                key: old.key().clone(),
                last: Some(old),
                certainty: Certainty::Inferred,
                cause,
            };
            Applied::Two(gone, added(new))
        }
        Some(old) => Applied::One(Notification::Updated { old, new, cause }),
    }
}

/// The same object in the same state.
fn is_unchanged(old: &impl Resource, new: &impl Resource) -> bool {
    !new.version().is_empty() && old.version() == new.version() && old.uid() == new.uid()
}

/// Another object under the same key.
fn is_recreated(old: &impl Resource, new: &impl Resource) -> bool {
    is_another(old, new.uid())
}

/// Whether a uid tells that it is not that of `object`. One that is not known tells nothing.
pub(crate) fn is_another(object: &impl Resource, uid: &str) -> bool {
    !object.uid().is_empty() && !uid.is_empty() && object.uid() != uid
}
