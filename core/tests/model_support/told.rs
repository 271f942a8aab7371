//! The expected notifications of a change, and of two merged notifications.

use std::collections::BTreeSet;

use informer_core::flow::{Deletion, Delta};
use informer_core::indexer::Rules;
use informer_core::queue::FullState;
use informer_core::{Cause, Certainty, Notification, ObjectKey};

use super::{Obj, State, Told};

/// Returns the expected notifications of an object that changes from `old` to `new`.
pub(crate) fn upserted(
    old: Option<&Obj>,
    new: &Obj,
    initial: bool,
    cause: Cause,
    rules: Rules,
) -> Vec<Told> {
    let added = Notification::Added {
        object: new.clone(),
        initial,
        cause,
    };
    let Some(old) = old.cloned() else {
        return vec![added];
    };
    let named = !old.uid().is_empty() && !new.uid().is_empty();
    let unchanged =
        old.uid() == new.uid() && old.version() == new.version() && !new.version().is_empty();
    if rules.split_recreated && named && old.uid() != new.uid() {
        return vec![
            deleted(old.key().clone(), Some(old), Certainty::Inferred, cause),
            added,
        ];
    }
    if rules.drop_noops && unchanged && cause != Cause::Resync {
        return vec![];
    }
    vec![Notification::Updated {
        old,
        new: new.clone(),
        cause,
    }]
}

pub(crate) fn deleted(
    key: ObjectKey,
    last: Option<Obj>,
    certainty: Certainty,
    cause: Cause,
) -> Told {
    Notification::Deleted {
        key,
        last,
        certainty,
        cause,
    }
}

/// Stores `new` if there is a notification. A suppressed change leaves the store as it was.
pub(crate) fn apply_upsert(
    state: &mut State,
    new: Obj,
    initial: bool,
    cause: Cause,
    rules: Rules,
) -> Vec<Told> {
    let told = upserted(state.get(new.key()), &new, initial, cause, rules);
    if !told.is_empty() {
        state.insert(new.key().clone(), new);
    }
    told
}

pub(crate) fn apply_delta(
    state: &mut State,
    delta: Delta<Obj>,
    initial: bool,
    rules: Rules,
) -> Vec<Told> {
    let deletion = match delta {
        Delta::Added(new) | Delta::Updated(new) => {
            return apply_upsert(state, new, initial, Cause::Watch, rules);
        }
        Delta::Replaced(new) => return apply_upsert(state, new, initial, Cause::Relist, rules),
        Delta::Sync(new) => return apply_upsert(state, new, initial, Cause::Resync, rules),
        Delta::Deleted(deletion) => deletion,
    };
    let stored = state.remove(deletion.key());
    if stored.is_none() && rules.drop_noops {
        return vec![];
    }
    let key = deletion.key().clone();
    vec![match deletion {
        Deletion::Observed(last) => deleted(key, Some(last), Certainty::Observed, Cause::Watch),
        Deletion::Unreadable(_) => deleted(key, stored, Certainty::Observed, Cause::Watch),
        Deletion::Displaced { cause, .. } => deleted(key, stored, Certainty::Inferred, cause),
        Deletion::Inferred { last, .. } => deleted(key, last, Certainty::Inferred, Cause::Relist),
    }]
}

/// Applies the deletions in order of keys, then the objects in order of the list.
pub(crate) fn apply_full_state(
    state: &mut State,
    full: FullState<Obj>,
    initial: bool,
    rules: Rules,
) -> Vec<Told> {
    let before = state.clone();
    let listed: BTreeSet<_> = full
        .objects
        .iter()
        .map(|o| o.key())
        .chain(&full.unreadable)
        .collect();
    let mut told = vec![];
    for (key, last) in before
        .iter()
        .filter(|(key, _)| full.gone.contains(key) || full.complete && !listed.contains(key))
    {
        state.remove(key);
        told.push(deleted(
            key.clone(),
            Some(last.clone()),
            Certainty::Inferred,
            Cause::Relist,
        ));
    }
    for object in full.objects.clone() {
        if rules.drop_noops {
            told.extend(apply_upsert(state, object, initial, Cause::Relist, rules));
        } else {
            told.extend(upserted(
                before.get(object.key()),
                &object,
                initial,
                Cause::Relist,
                rules,
            ));
            state.insert(object.key().clone(), object);
        }
    }
    told
}

pub(crate) fn added(object: Obj, initial: bool, cause: Cause) -> Told {
    Notification::Added {
        object,
        initial,
        cause,
    }
}

pub(crate) fn updated(old: Obj, new: Obj, cause: Cause) -> Told {
    Notification::Updated { old, new, cause }
}

/// Merges two notifications of one object. This is the table of `Backlog::Coalesce`.
pub(crate) fn coalesced(first: &Told, second: &Told) -> Vec<Told> {
    use Notification::{Added, Deleted, Updated};
    match (first.clone(), second.clone()) {
        (Added { initial, cause, .. }, Updated { new, .. }) => vec![added(new, initial, cause)],
        (Added { .. }, Deleted { .. }) => vec![],
        (
            Updated { old, cause, .. },
            Updated {
                new,
                cause: Cause::Resync,
                ..
            },
        ) => {
            vec![updated(old, new, cause)]
        }
        (Updated { old, .. }, Updated { new, cause, .. }) => vec![updated(old, new, cause)],
        (Updated { .. }, deletion @ Deleted { .. }) => vec![deletion],
        (deletion @ Deleted { .. }, add @ Added { .. }) => vec![deletion, add],
        story => panic!("not a legal story: {story:?}"),
    }
}
