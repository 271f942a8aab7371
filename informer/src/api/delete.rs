//! How to delete an object.

use std::time::Duration;

use informer_core::Object;
use informer_core::decode::json::status::ApiStatus;
use serde::Serialize;

/// How to delete an object: conditions, and what happens to the objects that it owns.
///
/// ```
/// use informer::{Delete, Propagation};
///
/// // Only the object that we know, and what it owns before it.
/// let how = Delete::new().uid("0d7d…").propagation(Propagation::Foreground);
/// # let _ = how;
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Delete {
    uid: Option<String>,
    version: Option<String>,
    propagation: Option<Propagation>,
    grace: Option<Duration>,
}

/// What happens to the objects that a deleted object owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[non_exhaustive]
pub enum Propagation {
    /// They are deleted later.
    Background,
    /// They are deleted first; until then, the object stays, with a deletion time.
    Foreground,
    /// They stay.
    Orphan,
}

/// What a delete has done.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "it is gone, or it is not")]
pub enum Deletion<K> {
    /// The object is gone; after a dry run, it would be.
    Gone,
    /// The object will go when its finalizers are done, or after its grace period. This is how it looks now.
    Pending(Object<K>),
}

impl Delete {
    /// Unconditional, with the defaults of the resource.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Deletes only the object with this UID, and not another one of the same name.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// Deletes only if the object has not changed since this version.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Says what happens to the objects that it owns.
    #[must_use]
    pub const fn propagation(mut self, propagation: Propagation) -> Self {
        self.propagation = Some(propagation);
        self
    }

    /// Sets how long a pod may take to end. Whole seconds count.
    #[must_use]
    pub const fn grace(mut self, period: Duration) -> Self {
        self.grace = Some(period);
        self
    }

    /// The `DeleteOptions`.
    pub(super) fn options(&self, dry_run: bool) -> impl Serialize {
        let preconditions = Preconditions {
            uid: self.uid.as_deref(),
            resource_version: self.version.as_deref(),
        };
        DeleteOptions {
            api_version: "v1",
            kind: "DeleteOptions",
            preconditions,
            propagation_policy: self.propagation,
            grace_period_seconds: self.grace.map(|grace| grace.as_secs()),
            dry_run: if dry_run { &["All"] } else { &[] },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DeleteOptions<'a> {
    api_version: &'static str,
    kind: &'static str,
    preconditions: Preconditions<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    propagation_policy: Option<Propagation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_period_seconds: Option<u64>,
    /// Here and not in the query: the server reads one or the other.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    dry_run: &'static [&'static str],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preconditions<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_version: Option<&'a str>,
}

/// Whether the answer to a delete is a Status, and not an object.
pub(super) fn is_status(body: &[u8]) -> bool {
    ApiStatus::read(body).is_some()
}
