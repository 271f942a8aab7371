//! Partial changes of an object.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// A partial change of an object.
///
/// ```
/// use informer::Patch;
/// use serde_json::json;
///
/// // Sets a label and removes another one.
/// let patch = Patch::merge(json!({"metadata": {"labels": {"app": "shop", "old": null}}}));
/// // Changes the first port, if it is the expected one.
/// let patch = Patch::json(json!([
///     {"op": "test", "path": "/spec/ports/0/port", "value": 80},
///     {"op": "replace", "path": "/spec/ports/0/port", "value": 8080},
/// ]));
/// # let _ = patch;
/// ```
///
/// To apply the fields that your controller owns, use [`Api::apply`](crate::Api::apply).
#[derive(Clone, PartialEq)]
pub struct Patch {
    content_type: &'static str,
    body: Value,
}

impl Patch {
    /// A merge patch (RFC 7396): sets the fields that it names, and removes those that are null. Lists are
    /// replaced.
    #[must_use]
    pub fn merge(changes: Value) -> Self {
        Self {
            content_type: "application/merge-patch+json",
            body: changes,
        }
    }

    /// A JSON patch (RFC 6902): a list of operations, carried out all or not at all.
    #[must_use]
    pub fn json(operations: Value) -> Self {
        Self {
            content_type: "application/json-patch+json",
            body: operations,
        }
    }

    /// A strategic merge patch, in which the server merges known lists, such as containers by name. Custom
    /// resources do not have it.
    #[must_use]
    pub fn strategic(changes: Value) -> Self {
        Self {
            content_type: "application/strategic-merge-patch+json",
            body: changes,
        }
    }

    pub(super) const fn content_type(&self) -> &'static str {
        self.content_type
    }

    pub(super) const fn body(&self) -> &impl Serialize {
        &self.body
    }
}

/// Shows no values: those of a Secret are secret.
impl fmt::Debug for Patch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patch")
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

/// How an object is applied: see [`Api::apply`](crate::Api::apply).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apply {
    manager: String,
    force: bool,
}

impl Apply {
    /// Applies in the name of this manager. Use the same name in every replica and every release of a
    /// controller.
    #[must_use]
    pub fn by(manager: impl Into<String>) -> Self {
        Self {
            manager: manager.into(),
            force: false,
        }
    }

    /// Takes fields that belong to other managers. Controllers usually do.
    #[must_use]
    pub fn force(self) -> Self {
        Self {
            force: true,
            ..self
        }
    }

    pub(super) fn manager(&self) -> &str {
        &self.manager
    }

    pub(super) const fn is_forced(&self) -> bool {
        self.force
    }
}
