//! A change of an object, as the feed tells it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use informer_core::{Certainty, Notification, Object};
use serde::Serialize;

/// What happened to an object: its key and version, nothing of its body.
#[derive(Clone, Serialize)]
pub(crate) struct Change {
    /// Milliseconds of Unix time.
    at: u64,
    pub(super) what: &'static str,
    pub(super) key: String,
    pub(super) version: Option<String>,
    pub(super) cause: String,
    initial: bool,
    note: Option<&'static str>,
}

impl Change {
    pub(crate) fn of<K>(notification: &Notification<Object<K>>) -> Self {
        let (what, object, note) = match notification {
            Notification::Added { object, .. } => ("added", Some(object), None),
            Notification::Updated { new, .. } => ("updated", Some(new), None),
            Notification::Deleted {
                last, certainty, ..
            } => {
                let inferred = matches!(certainty, Certainty::Inferred).then_some("inferred");
                ("deleted", last.as_ref(), inferred)
            }
        };
        Self {
            at: unix_milliseconds(Duration::ZERO),
            what,
            key: notification.key().to_string(),
            version: object.map(|object| object.version().to_owned()),
            cause: notification.cause().to_string(),
            initial: notification.is_initial(),
            note,
        }
    }
}

/// The time `ago`.
pub(in crate::ops) fn unix_milliseconds(ago: Duration) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let then = now.unwrap_or_default().saturating_sub(ago);
    u64::try_from(then.as_millis()).unwrap_or(u64::MAX)
}
