//! Applies steps to the store and makes notifications of them.

#[cfg(feature = "alloc")]
use alloc::vec::{self, Vec};

use super::Indexer;
use super::holds::is_older;
#[cfg(feature = "alloc")]
use crate::flow::FullState;
use crate::flow::{Cause, Certainty, Deletion, Delta, Notification, Step};
use crate::known::Epoch;
use crate::object::{Resource, is_another};
use crate::source::SourceId;
use crate::storage::{Full, Storage};

/// Which notifications a step makes. This is where our default and client-go differ.
///
/// ```
/// use informer_core::flow::{Delta, Step};
/// use informer_core::indexer::{Indexer, Rules};
/// use informer_core::queue::Epoch;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let step = |uid: &str, version: &str| Step::Delta {
///     delta: Delta::Updated(Object::builder(ObjectKey::new("default", "web"))
///         .uid(uid)
///         .version(version)
///         .body(())),
///     initial: false,
///     seen: Epoch::NEVER,
/// };
/// for (rules, expected) in [
///     (Rules::new(), vec!["deleted default/web (inferred, watch)", "added default/web (watch)"]),
///     (Rules::client_go(), vec!["updated default/web to 2 (watch)"]),
/// ] {
///     let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
///     assert_eq!(store.apply(step("a", "1"), rules).notifications.len(), 1);
///     // The pod was deleted and created again, with another UID.
///     let applied = store.apply(step("b", "2"), rules);
///     let lines: Vec<_> = applied.notifications.map(|n| n.to_string()).collect();
///     assert_eq!(lines, expected);
/// }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Rules {
    /// Report a changed UID under the same key as a deletion and an add, instead of an update.
    pub split_recreated: bool,
    /// Drop updates that change nothing (same UID, same version, not a resync), and deletions of objects
    /// that the store does not have.
    pub drop_noops: bool,
}

impl Rules {
    /// Our default: split re-created objects, drop no-ops.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            split_recreated: true,
            drop_noops: true,
        }
    }

    /// What client-go does: report everything, ignore the UID.
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
        Self::new()
    }
}

/// The outcome of [`Indexer::apply`].
///
/// ```
/// use informer_core::flow::{Delta, Step};
/// use informer_core::indexer::{Indexer, Rules};
/// use informer_core::queue::Epoch;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
/// let step = Step::Delta {
///     delta: Delta::Added(Object::builder(ObjectKey::new("default", "web"))
///         .uid("a")
///         .version("1")
///         .body(())),
///     initial: false,
///     seen: Epoch::NEVER,
/// };
/// let applied = store.apply(step.clone(), Rules::new());
/// assert_eq!((applied.notifications.len(), applied.unchanged), (1, 0));
/// // The same object again is no news.
/// let applied = store.apply(step, Rules::new());
/// assert_eq!((applied.notifications.len(), applied.unchanged), (0, 1));
/// ```
#[derive(Clone, Debug)]
#[must_use = "listeners must get its notifications"]
#[non_exhaustive]
pub struct Applied<T: Resource> {
    /// The notifications for the listeners, in order.
    pub notifications: Notifications<T>,
    /// How many objects were unchanged and made no notification.
    pub unchanged: usize,
    /// How many objects had no room. The store keeps what it has under their keys.
    pub left_out: usize,
}

/// Iterates over the notifications of one step: none, one, or a deletion and an add. A full state that is
/// applied in one step can have more.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Notifications<T: Resource> {
    /// No notifications are left.
    #[default]
    Nothing,
    /// One notification.
    One(Notification<T>),
    /// Two notifications, in this order.
    Two(Notification<T>, Notification<T>),
    /// Any number of notifications.
    #[cfg(feature = "alloc")]
    Many(vec::IntoIter<Notification<T>>),
}

impl<T: Resource> Iterator for Notifications<T> {
    type Item = Notification<T>;

    fn next(&mut self) -> Option<Notification<T>> {
        match self {
            Self::Nothing => return None,
            #[cfg(feature = "alloc")]
            Self::Many(many) => return many.next(),
            Self::One(_) | Self::Two(..) => {}
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

impl<T: Resource> ExactSizeIterator for Notifications<T> {}

impl<T: Resource> Applied<T> {
    const fn notify(notifications: Notifications<T>) -> Self {
        Self {
            notifications,
            unchanged: 0,
            left_out: 0,
        }
    }

    const fn unchanged() -> Self {
        Self {
            notifications: Notifications::Nothing,
            unchanged: 1,
            left_out: 0,
        }
    }

    const fn left_out() -> Self {
        Self {
            notifications: Notifications::Nothing,
            unchanged: 0,
            left_out: 1,
        }
    }
}

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// Applies a step that comes from `source`. An object that several sources show stays until the last of
    /// them lets go of it, and the newest state that any of them has shown is stored.
    pub(crate) fn apply_from(
        &mut self,
        source: SourceId,
        step: Step<T>,
        rules: Rules,
    ) -> Applied<T> {
        self.view.holds.source = source;
        self.apply(step, rules)
    }

    /// Applies a step of a queue. The store shows the change when this returns. The store keeps its
    /// version, unless a full state brings one to adopt.
    pub fn apply(&mut self, step: Step<T>, rules: Rules) -> Applied<T> {
        match step {
            Step::Delta {
                delta,
                initial,
                seen,
            } => self.apply_delta(delta, initial, seen, rules),
            Step::Seen { key, seen } => match self.mark_seen(&key, seen) {
                Ok(()) => Applied::notify(Notifications::Nothing),
                Err(Full) => Applied::left_out(),
            },
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
        let stored = place.slot.and_then(|at| Some((at, self.slots.linked(at)?)));
        if cause == Cause::Resync && self.view.holds.several {
            return self.resync_shared(object.key());
        }
        if let Some((at, stored)) = stored
            && cause != Cause::Resync
            && ((rules.drop_noops && is_unchanged(&stored.object, &object))
                || self.is_outdated(stored, &object))
        {
            return match self.hold(at, seen) {
                Ok(()) => Applied::unchanged(),
                Err(Full) => Applied::left_out(),
            };
        }
        match self.put_at(place, object.clone(), seen) {
            Ok(old) => Applied::notify(upsert(old, object, initial, cause, rules)),
            Err(Full) => {
                // The new state has no room, but the object exists: the sweep must not remove it.
                if let Some(at) = place.slot {
                    // Without room for the hold either, the sweep makes room.
                    let _ = self.hold(at, seen);
                }
                Applied::left_out()
            }
        }
    }

    /// Shows an object again, if it is still there: another source may have let go of it since the resync found
    /// it. The resync shows objects of all sources, so it holds none of them.
    fn resync_shared(&self, key: &T::Key) -> Applied<T> {
        match self.get(key) {
            Some(stored) => Applied::notify(Notifications::One(Notification::Updated {
                old: stored.clone(),
                new: stored.clone(),
                cause: Cause::Resync,
            })),
            None => Applied::unchanged(),
        }
    }

    /// Applies a full state in one step. Deletions come first, then the objects in the order of the
    /// state. If a key occurs twice, client-go compares both objects with the store as it was before.
    /// With [`Rules::drop_noops`], the second object is compared with the first.
    #[cfg(feature = "alloc")]
    fn apply_full_state(&mut self, state: FullState<T>, initial: bool, rules: Rules) -> Applied<T> {
        let seen = self.newest.next();
        let mut notifications = Vec::new();
        let (mut unchanged, mut left_out) = (0, 0);
        let mut upserts = Vec::new();
        for object in state.objects {
            left_out += usize::from(self.mark_seen(object.key(), seen).is_err());
            let old = self.get(object.key()).cloned();
            upserts.push((old, object));
        }
        for key in &state.unreadable {
            left_out += usize::from(self.mark_seen(key, seen).is_err());
        }
        let mut gone = |object| notifications.push(inferred_deletion(object, Cause::Relist));
        for key in &state.gone {
            self.let_go(key).into_iter().for_each(&mut gone);
        }
        if state.complete {
            self.sweep(seen, gone);
        }
        for (before, object) in upserts {
            let applied = if rules.drop_noops || self.view.holds.several {
                self.apply_delta(Delta::Replaced(object), initial, seen, rules)
            } else {
                match self.put_seen(object.clone(), seen) {
                    Ok(_) => Applied::notify(upsert(before, object, initial, Cause::Relist, rules)),
                    Err(Full) => Applied::left_out(),
                }
            };
            unchanged += applied.unchanged;
            left_out += applied.left_out;
            notifications.extend(applied.notifications);
        }
        if left_out == 0
            && !self.view.holds.several
            && let Some(version) = &state.version
            && self.set_version(version).is_err()
        {
            left_out += 1;
        }
        Applied {
            notifications: Notifications::Many(notifications.into_iter()),
            unchanged,
            left_out,
        }
    }

    fn apply_deletion(&mut self, deletion: Deletion<T>, rules: Rules) -> Applied<T> {
        let stored = self.let_go(deletion.key());
        let shown = stored.is_none() && self.get(deletion.key()).is_some();
        if shown || (rules.drop_noops && stored.is_none()) {
            return Applied::unchanged();
        }
        let (key, last, certainty, cause) = match deletion {
            Deletion::Observed(object) => {
                let key = object.key().clone();
                // Another source may have shown a newer state before it let go.
                let newer = |stored: &T| self.view.holds.several && is_older(&object, stored);
                let last = stored.filter(newer).unwrap_or(object);
                (key, Some(last), Certainty::Observed, Cause::Watch)
            }
            Deletion::Inferred { key, last } => {
                // Another source may have shown another state since the sweep found it.
                let last = stored.filter(|_| self.view.holds.several).or(last);
                (key, last, Certainty::Inferred, Cause::Relist)
            }
            Deletion::Unreadable(key) => (key, stored, Certainty::Observed, Cause::Watch),
            Deletion::Displaced { key, cause } => (key, stored, Certainty::Inferred, cause),
        };
        Applied::notify(Notifications::One(Notification::Deleted {
            key,
            last,
            certainty,
            cause,
        }))
    }
}

#[inline]
fn upsert<T: Resource>(
    old: Option<T>,
    new: T,
    initial: bool,
    cause: Cause,
    rules: Rules,
) -> Notifications<T> {
    let added = |object| Notification::Added {
        object,
        initial,
        cause,
    };
    match old {
        None => Notifications::One(added(new)),
        Some(old) if rules.split_recreated && is_recreated(&old, &new) => {
            Notifications::Two(inferred_deletion(old, cause), added(new))
        }
        Some(old) => Notifications::One(Notification::Updated { old, new, cause }),
    }
}

/// The deletion of an object that nobody has reported.
#[inline]
fn inferred_deletion<T: Resource>(last: T, cause: Cause) -> Notification<T> {
    Notification::Deleted {
        key: last.key().clone(),
        last: Some(last),
        certainty: Certainty::Inferred,
        cause,
    }
}

/// Whether the object was deleted and created again under its name.
fn is_recreated<T: Resource>(old: &T, new: &T) -> bool {
    !old.has_same_uid(new) && is_another(old, new.uid())
}

/// Whether both are the same object in the same state.
fn is_unchanged<T: Resource>(old: &T, new: &T) -> bool {
    old.has_same_version(new) && old.has_same_uid(new) && !new.version().is_empty()
}
