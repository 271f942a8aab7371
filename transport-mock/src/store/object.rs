//! An object at one version.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::encode::Encoded;
use crate::form::Row;
use crate::store::metadata::{metadata, set, text};
use crate::timestamp::Timestamp;

/// An object as the server holds it: never changed, shared by everybody who reads it.
#[derive(Debug)]
pub struct StoredObject {
    key: String,
    revision: u64,
    value: Map<String, Value>,
    encoded: Encoded,
}

impl StoredObject {
    /// The object at `revision`. Its metadata gets that version.
    pub(crate) fn new(kind: &ApiKind, mut value: Map<String, Value>, revision: u64) -> Self {
        set(
            &mut value,
            "resourceVersion",
            Value::String(revision.to_string()),
        );
        Self {
            key: key(
                text(&value, "namespace"),
                text(&value, "name").unwrap_or_default(),
            ),
            revision,
            encoded: Encoded::new(kind, &value),
            value,
        }
    }

    /// `namespace/name`, or `name` without a namespace.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        text(&self.value, "name").unwrap_or_default()
    }

    /// The namespace; `None` for objects that have none.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        text(&self.value, "namespace")
    }

    /// The uid.
    #[must_use]
    pub fn uid(&self) -> &str {
        text(&self.value, "uid").unwrap_or_default()
    }

    /// The version of the write that made it so.
    #[must_use]
    pub const fn revision(&self) -> u64 {
        self.revision
    }

    /// The object.
    #[must_use]
    pub const fn value(&self) -> &Map<String, Value> {
        &self.value
    }

    /// The object as an answer to `GET` has it.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.encoded.whole
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        metadata(&self.value)?.get("labels")?.get(key)?.as_str()
    }

    /// The value of a field by its dotted path, as a field selector sees it: empty if it is not
    /// there.
    #[must_use]
    pub fn field(&self, path: &str) -> Cow<'_, str> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let mut parts = rest.split('.').filter(|part| !part.is_empty());
        let value = self.value.get(first);
        let value = parts.try_fold(value, |value, part| value.map(|value| value.get(part)));
        match value.flatten() {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(scalar @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(scalar.to_string()),
            _ => Cow::Borrowed(""),
        }
    }

    pub(crate) const fn encoded(&self) -> &Encoded {
        &self.encoded
    }

    /// What a table tells about it.
    pub(crate) fn row(&self, now: Timestamp) -> Row<'_> {
        Row {
            name: self.name(),
            revision: self.revision,
            created: text(&self.value, "creationTimestamp"),
            now,
        }
    }
}

/// The key of an object: `namespace/name`, or `name` without a namespace. Lists are in the order of
/// these texts.
pub(crate) fn key(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}
