//! Checks that notifications are consistent, and sums them up.

use std::collections::BTreeMap;
use std::fmt::Debug;

use informer_core::{Cause, Notification, ObjectKey, Resource};

use crate::shown;

/// Which notifications a listener may get.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Strictness {
    /// As client-go does: objects that were never added may be deleted.
    ClientGo {
        /// Waiting notifications may be merged. Then such a deletion and the add after it become an
        /// update, and its old state is the state in the deletion.
        merges: bool,
    },
    /// Every notification follows from the ones before it. UIDs and versions may be anything, for objects
    /// that no server would have.
    AddsUp,
    /// In addition, an update keeps the UID and leads to a newer version, or for a resync to the same one.
    Ours,
    /// In addition, there are no resyncs.
    Once,
}

impl Strictness {
    /// What is wrong with an update, regardless of earlier notifications.
    fn objection<T: Resource>(self, old: &T, new: &T, cause: Cause) -> Option<&'static str> {
        if !matches!(self, Self::Ours | Self::Once) {
            return None;
        }
        let number = |object: &T| object.version().parse::<u64>().ok();
        let is_resync = cause == Cause::Resync;
        if is_resync && self == Self::Once {
            Some("a resync")
        } else if old.uid() != new.uid() {
            Some("a changed UID as an update")
        } else if is_resync {
            (old.version() != new.version()).then_some("a change as a resync")
        } else {
            (number(old) >= number(new)).then_some("an update to nothing newer")
        }
    }
}

/// The objects that a listener knows from its notifications. For each object it keeps an `S` to compare:
/// the whole object, a [`stamp`], or anything else.
#[derive(Clone, Debug)]
pub struct Fold<S> {
    strictness: Strictness,
    known: BTreeMap<ObjectKey, S>,
}

impl<S: PartialEq + Debug> Fold<S> {
    /// Creates a fold without notifications.
    #[must_use]
    pub const fn new(strictness: Strictness) -> Self {
        Self {
            strictness,
            known: BTreeMap::new(),
        }
    }

    /// Adds a notification.
    ///
    /// # Errors
    /// It contradicts earlier notifications; the error is the reason. It is added nonetheless.
    pub fn tell<T: Resource<Key = ObjectKey>>(
        &mut self,
        told: &Notification<T>,
        keep: impl Fn(&T) -> S,
    ) -> Result<(), String> {
        let key = told.key();
        let known = match told {
            Notification::Added { object: new, .. } | Notification::Updated { new, .. } => {
                self.known.insert(key.clone(), keep(new))
            }
            Notification::Deleted { .. } => self.known.remove(key),
        };
        let objection = match (told, &known) {
            (Notification::Added { .. }, None) | (Notification::Deleted { .. }, Some(_)) => None,
            (Notification::Added { .. }, Some(_)) => Some("an add of a known key"),
            (Notification::Updated { .. }, None) => Some("an update of an unknown key"),
            (Notification::Updated { old, new, cause }, Some(known)) => {
                let is_exact = self.strictness != Strictness::ClientGo { merges: true };
                if is_exact && *known != keep(old) {
                    Some("`old` is not the last known state")
                } else {
                    self.strictness.objection(old, new, *cause)
                }
            }
            (Notification::Deleted { .. }, None) => match self.strictness {
                Strictness::ClientGo { .. } => None,
                _ => Some("a deletion of an unknown key"),
            },
        };
        match objection {
            None => Ok(()),
            Some(why) => Err(format!("{key}: {why}: {}, after {known:?}", shown(told))),
        }
    }

    /// The objects that exist according to the notifications.
    #[must_use]
    pub const fn known(&self) -> &BTreeMap<ObjectKey, S> {
        &self.known
    }
}

/// A [`stamp`] for each key, to compare stores, servers and listeners.
pub type View = BTreeMap<String, String>;

impl Fold<String> {
    /// The objects that exist, as [`stamp`]s.
    #[must_use]
    pub fn view(&self) -> View {
        let known = self.known.iter();
        known
            .map(|(key, stamp)| (key.to_string(), stamp.clone()))
            .collect()
    }
}

/// The contents of a store.
pub fn view<'a, T: Resource<Key = ObjectKey> + 'a>(
    objects: impl IntoIterator<Item = &'a T>,
) -> View {
    let objects = objects.into_iter();
    objects
        .map(|object| (object.key().to_string(), stamp(object)))
        .collect()
}

/// The object and its state: `uid@version`.
pub fn stamp<T: Resource>(object: &T) -> String {
    format!("{}@{}", object.uid(), object.version())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use informer_core::{Certainty, Object};

    type Told = Notification<Object<()>>;

    fn object(uid: &str, version: &str) -> Object<()> {
        Object::builder(ObjectKey::new("web", "a"))
            .uid(uid)
            .version(version)
            .body(())
    }

    fn added(uid: &str, version: &str) -> Told {
        Notification::Added {
            object: object(uid, version),
            initial: false,
            cause: Cause::Watch,
        }
    }

    fn updated(old: (&str, &str), new: (&str, &str), cause: Cause) -> Told {
        Notification::Updated {
            old: object(old.0, old.1),
            new: object(new.0, new.1),
            cause,
        }
    }

    fn deleted(uid: &str, version: &str) -> Told {
        Notification::Deleted {
            key: ObjectKey::new("web", "a"),
            last: Some(object(uid, version)),
            certainty: Certainty::Observed,
            cause: Cause::Watch,
        }
    }

    const ALL: [Strictness; 5] = [
        Strictness::ClientGo { merges: true },
        Strictness::ClientGo { merges: false },
        Strictness::AddsUp,
        Strictness::Ours,
        Strictness::Once,
    ];

    /// The levels of strictness that reject the last notification. All of them must accept the ones before.
    fn objecting(story: &[Told]) -> Vec<Strictness> {
        let objects = |strictness: &Strictness| {
            let mut fold = Fold::new(*strictness);
            let outcomes: Vec<_> = story.iter().map(|told| fold.tell(told, stamp)).collect();
            let (last, before) = outcomes.split_last().unwrap();
            assert!(
                before.iter().all(Result::is_ok),
                "{strictness:?}: {before:?}"
            );
            last.is_err()
        };
        ALL.into_iter().filter(objects).collect()
    }

    #[test]
    fn an_ordinary_life_has_no_faults() {
        let mut fold = Fold::new(Strictness::Once);
        for told in [
            added("1", "5"),
            updated(("1", "5"), ("1", "7"), Cause::Watch),
            deleted("1", "7"),
            added("2", "9"),
            updated(("2", "9"), ("2", "10"), Cause::Relist),
        ] {
            fold.tell(&told, stamp).unwrap();
        }
        assert_eq!(fold.view(), view(&[object("2", "10")]));
    }

    #[test]
    fn contradictions_are_rejected_by_the_right_strictness() {
        use Cause::{Resync, Watch};
        let first = added("1", "5");
        let [_, client_go, adds_up, ours, once] = ALL;
        for (story, by) in [
            (vec![first.clone(), added("1", "6")], ALL.to_vec()),
            (vec![updated(("1", "5"), ("1", "6"), Watch)], ALL.to_vec()),
            (vec![deleted("1", "5")], vec![adds_up, ours, once]),
            (
                vec![first.clone(), updated(("1", "4"), ("1", "6"), Watch)],
                vec![client_go, adds_up, ours, once],
            ),
            (
                vec![first.clone(), updated(("1", "5"), ("2", "6"), Watch)],
                vec![ours, once],
            ),
            (
                vec![first.clone(), updated(("1", "5"), ("1", "5"), Watch)],
                vec![ours, once],
            ),
            (
                vec![first.clone(), updated(("1", "5"), ("1", "4"), Watch)],
                vec![ours, once],
            ),
            (
                vec![first.clone(), updated(("1", "5"), ("1", "6"), Resync)],
                vec![ours, once],
            ),
            (
                vec![first, updated(("1", "5"), ("1", "5"), Resync)],
                vec![once],
            ),
        ] {
            assert_eq!(objecting(&story), by, "{story:?}");
        }
    }

    #[test]
    fn a_fault_names_the_notification_and_the_known_state() {
        let mut fold = Fold::new(Strictness::AddsUp);
        fold.tell(&added("1", "5"), stamp).unwrap();
        assert_eq!(
            fold.tell(&added("1", "6"), stamp).unwrap_err(),
            r#"web/a: an add of a known key: add a@6 Watch, after Some("1@5")"#
        );
    }
}
