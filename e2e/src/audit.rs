//! What a handler was told, checked as it comes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use informer::{Notification, Object, Shared};

/// What one handler was told. Clones are the same.
#[derive(Clone, Default, Debug)]
pub struct Audit {
    told: Arc<Mutex<Told>>,
}

/// What the notifications add up to.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Told {
    /// What is there by these notifications: uid and version of each key.
    pub objects: BTreeMap<String, (String, String)>,
    /// How many notifications there were.
    pub count: u64,
    /// How many objects were reported deleted.
    pub deleted: u64,
    /// What was told twice, or cannot be true after what was told before.
    pub duplicates: Vec<String>,
}

impl Audit {
    /// A handler to be registered.
    pub fn handler<K>(&self) -> impl FnMut(Notification<Shared<K>>) + Send + 'static
    where
        K: Send + Sync + 'static,
    {
        let told = Arc::clone(&self.told);
        move |notification| lock(&told).note(&notification)
    }

    /// What was told up to now.
    #[must_use]
    pub fn told(&self) -> Told {
        lock(&self.told).clone()
    }
}

fn lock(told: &Mutex<Told>) -> MutexGuard<'_, Told> {
    told.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Told {
    fn note<K>(&mut self, notification: &Notification<Shared<K>>) {
        self.count += 1;
        let key = notification.key().to_string();
        let known = self.objects.get(&key);
        let is_news = match notification {
            Notification::Added { .. } => known.is_none(),
            Notification::Updated { old, new, .. } => {
                known == Some(&identity(old)) && old.uid == new.uid && is_newer(old, new)
            }
            Notification::Deleted { .. } => known.is_some(),
        };
        if !is_news {
            self.duplicates
                .push(format!("{notification}, but {known:?} was known"));
        }
        match notification {
            Notification::Added { object, .. } | Notification::Updated { new: object, .. } => {
                self.objects.insert(key, identity(object));
            }
            Notification::Deleted { .. } => {
                self.deleted += 1;
                self.objects.remove(&key);
            }
        }
    }
}

fn identity<K>(object: &Object<K>) -> (String, String) {
    (object.uid.to_string(), object.version.to_string())
}

/// Whether the versions say so. This server's are numbers.
fn is_newer<K>(old: &Object<K>, new: &Object<K>) -> bool {
    let number = |object: &Object<K>| object.version.parse::<u64>().ok();
    number(old) < number(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use informer::{Cause, Certainty, Labels, ObjectKey};

    fn object(uid: &str, version: &str) -> Shared<()> {
        Arc::new(Object {
            key: ObjectKey::new("web", "a"),
            uid: uid.into(),
            version: version.into(),
            labels: Labels::default(),
            size: 0,
            body: (),
        })
    }

    fn added(object: Shared<()>) -> Notification<Shared<()>> {
        Notification::Added {
            object,
            initial: false,
            cause: Cause::Watch,
        }
    }

    fn updated(old: Shared<()>, new: Shared<()>) -> Notification<Shared<()>> {
        Notification::Updated {
            old,
            new,
            cause: Cause::Watch,
        }
    }

    fn deleted(last: Shared<()>) -> Notification<Shared<()>> {
        Notification::Deleted {
            key: last.key.clone(),
            last: Some(last),
            certainty: Certainty::Observed,
            cause: Cause::Watch,
        }
    }

    fn after(notifications: Vec<Notification<Shared<()>>>) -> Told {
        let audit = Audit::default();
        let mut handler = audit.handler();
        notifications.into_iter().for_each(&mut handler);
        audit.told()
    }

    #[test]
    fn a_life_is_no_reason_to_complain() {
        let told = after(vec![
            added(object("1", "5")),
            updated(object("1", "5"), object("1", "7")),
            deleted(object("1", "7")),
            added(object("2", "9")),
        ]);
        assert_eq!((told.count, told.deleted, told.duplicates.len()), (4, 1, 0));
        let expected = ("2".to_owned(), "9".to_owned());
        assert_eq!(told.objects.get("web/a"), Some(&expected));
    }

    #[test]
    fn what_is_told_twice_is_noticed() {
        for (twice, why) in [
            (
                vec![added(object("1", "5")), added(object("1", "5"))],
                "added twice",
            ),
            (
                vec![
                    added(object("1", "5")),
                    updated(object("1", "5"), object("1", "5")),
                ],
                "nothing new",
            ),
            (
                vec![
                    added(object("1", "5")),
                    updated(object("1", "4"), object("1", "6")),
                ],
                "from a state that was not told",
            ),
            (
                vec![
                    added(object("1", "5")),
                    updated(object("1", "5"), object("2", "6")),
                ],
                "another object is no update",
            ),
            (vec![deleted(object("1", "5"))], "deleted, and never there"),
        ] {
            assert_eq!(after(twice).duplicates.len(), 1, "{why}");
        }
    }
}
