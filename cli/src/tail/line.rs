//! Output lines.

use std::collections::BTreeMap;
use std::fmt;

use informer::{Cause, Certainty, Notification, Object, ObjectKey, Snapshot, Status};
use serde::{Serialize, Serializer};

use crate::words;

/// One line. The JSON form has these fields in this order.
#[derive(Serialize)]
#[serde(tag = "on", rename_all = "lowercase")]
pub(crate) enum Line<'a> {
    Add {
        #[serde(serialize_with = "text")]
        key: &'a ObjectKey,
        uid: &'a str,
        rv: &'a str,
        initial: bool,
        #[serde(serialize_with = "text")]
        cause: Cause,
    },
    Update {
        #[serde(serialize_with = "text")]
        key: &'a ObjectKey,
        uid: &'a str,
        old_rv: &'a str,
        rv: &'a str,
        #[serde(serialize_with = "text")]
        cause: Cause,
    },
    Delete {
        #[serde(serialize_with = "text")]
        key: &'a ObjectKey,
        /// Empty, like the version, if the last state is unknown.
        uid: &'a str,
        rv: &'a str,
        #[serde(serialize_with = "text")]
        certainty: Certainty,
        #[serde(serialize_with = "text")]
        cause: Cause,
    },
    /// Comes after all lines of the initial state.
    Synced { count: usize },
    /// The phase of the informer, and the failure that caused it, if any.
    Status {
        phase: &'static str,
        cause: Option<String>,
    },
    Store {
        rv: &'a str,
        objects: BTreeMap<&'a str, &'a str>,
    },
}

impl<'a> Line<'a> {
    pub(crate) fn of<K>(notification: &'a Notification<Object<K>>) -> Self {
        match notification {
            Notification::Added {
                object,
                initial,
                cause,
            } => Self::Add {
                key: object.key(),
                uid: object.uid(),
                rv: object.version(),
                initial: *initial,
                cause: *cause,
            },
            Notification::Updated { old, new, cause } => Self::Update {
                key: new.key(),
                uid: new.uid(),
                old_rv: old.version(),
                rv: new.version(),
                cause: *cause,
            },
            Notification::Deleted {
                key,
                last,
                certainty,
                cause,
            } => Self::Delete {
                key,
                uid: last.as_ref().map_or("", |last| last.uid()),
                rv: last.as_ref().map_or("", |last| last.version()),
                certainty: *certainty,
                cause: *cause,
            },
        }
    }

    /// The status, with the failure if it is new.
    pub(crate) fn of_status(status: &Status, has_failed: bool) -> Self {
        Self::Status {
            phase: words::phase(status),
            cause: has_failed.then(|| words::reason(status)),
        }
    }

    pub(crate) fn of_store<K>(store: &'a Snapshot<Object<K>>) -> Self {
        let versions = store
            .iter()
            .map(|object| (object.key().as_str(), object.version()));
        Self::Store {
            rv: store.version(),
            objects: versions.collect(),
        }
    }

    /// The cache before the first list.
    pub(crate) const fn empty_store() -> Self {
        Self::Store {
            rv: "",
            objects: BTreeMap::new(),
        }
    }
}

fn text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
