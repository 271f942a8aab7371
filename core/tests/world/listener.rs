//! A listener that checks whether what it is told can be true.

use std::collections::BTreeMap;
use std::sync::Arc;

use informer_core::processor::ListenerId;
use informer_core::{Cause, Notification, Object};

pub type Pod = Arc<Object<serde_json::Value>>;

pub struct Observer {
    pub id: ListenerId,
    /// Our default rules; off for client-go's.
    strict: bool,
    /// Notifications that wait may be merged.
    merges: bool,
    view: BTreeMap<String, Pod>,
    pub told: usize,
}

impl Observer {
    pub fn new(id: ListenerId, strict: bool, merges: bool) -> Self {
        Self {
            id,
            strict,
            merges,
            view: BTreeMap::new(),
            told: 0,
        }
    }

    pub fn check(&mut self, notification: Notification<Pod>) {
        self.told += 1;
        let key = notification.key().to_string();
        let text = shown(&notification);
        match notification {
            Notification::Added { object, .. } => {
                let known = self.view.insert(key, object);
                assert!(known.is_none(), "an add of something known: {text}");
            }
            Notification::Updated { old, new, cause } => {
                let known = self.view.insert(key, Arc::clone(&new));
                let known =
                    known.unwrap_or_else(|| panic!("an update of something unknown: {text}"));
                // Where client-go's rules merge a deletion with an add, the old state is the one that
                // the deletion carried.
                if self.strict || !self.merges {
                    assert_eq!(
                        known.version, old.version,
                        "old is what was seen last: {text}"
                    );
                }
                if self.strict {
                    assert_eq!(old.uid, new.uid, "another object is not an update: {text}");
                    let same = old.version == new.version;
                    assert_eq!(same, cause == Cause::Resync, "nothing changed: {text}");
                }
            }
            Notification::Deleted { .. } => {
                let known = self.view.remove(&key);
                assert!(
                    known.is_some() || !self.strict,
                    "a delete of something unknown: {text}"
                );
            }
        }
    }

    pub fn view(&self) -> BTreeMap<String, String> {
        let shown =
            |(key, pod): (&String, &Pod)| (key.clone(), format!("{}@{}", pod.uid, pod.version));
        self.view.iter().map(shown).collect()
    }
}

pub fn shown(notification: &Notification<Pod>) -> String {
    match notification {
        Notification::Added {
            object,
            initial,
            cause,
        } => {
            format!(
                "add {} {} initial={initial} {cause:?}",
                object.key, object.version
            )
        }
        Notification::Updated { old, new, cause } => {
            format!(
                "update {} {} to {} {cause:?}",
                new.key, old.version, new.version
            )
        }
        Notification::Deleted {
            key,
            last,
            certainty,
            cause,
        } => {
            let last = last.as_ref().map(|last| &*last.version);
            format!("delete {key} {last:?} {certainty:?} {cause:?}")
        }
    }
}
