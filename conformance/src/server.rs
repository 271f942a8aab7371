//! Texts of a Kubernetes API server, for the scripted server of the informer vectors.

use informer_core::Failure;
use informer_core::decode::answer::failure_of_answer;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::vector::Thing;

/// An error answer, or the object of an ERROR event.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Refusal {
    code: u16,
    reason: String,
}

impl Refusal {
    pub(crate) const fn new(code: u16, reason: String) -> Self {
        Self { code, reason }
    }

    fn status(&self) -> Value {
        json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": format!("scripted failure {}", self.code),
            "reason": self.reason,
            "code": self.code,
        })
    }

    /// The failure that a transport makes of it.
    pub(crate) fn failure(&self) -> (Failure, String) {
        let body = self.status().to_string();
        let (failure, message) = failure_of_answer(self.code, body.as_bytes(), None);
        (failure, message.into_owned())
    }

    /// The ERROR event.
    pub(crate) fn event(&self) -> String {
        line("ERROR", &self.status())
    }
}

/// A whole list in one body. This server never pages.
pub(crate) fn list(version: &str, objects: &[Thing]) -> String {
    // As in a real list, the items have no kind.
    let items: Value = objects.iter().map(body).collect();
    json!({
        "kind": "ThingList",
        "apiVersion": "conformance/v1",
        "metadata": {"resourceVersion": version},
        "items": items,
    })
    .to_string()
}

/// A streamed list: an event for each object, and the end bookmark.
pub(crate) fn streamed_list(version: &str, objects: &[Thing]) -> String {
    let added = objects.iter().map(|object| event("ADDED", object));
    let end = json!({"k8s.io/initial-events-end": "true"});
    let metadata = json!({"resourceVersion": version, "annotations": end});
    added.chain([bookmark_with(&metadata)]).collect()
}

/// An event with an object.
pub(crate) fn event(kind: &str, object: &Thing) -> String {
    let mut members = body(object);
    members.insert("kind".to_owned(), json!("Thing"));
    members.insert("apiVersion".to_owned(), json!("conformance/v1"));
    line(kind, &Value::Object(members))
}

/// A bookmark at this version.
pub(crate) fn bookmark(version: &str) -> String {
    bookmark_with(&json!({"resourceVersion": version}))
}

fn bookmark_with(metadata: &Value) -> String {
    let object = json!({"kind": "Thing", "apiVersion": "conformance/v1", "metadata": metadata});
    line("BOOKMARK", &object)
}

fn line(kind: &str, object: &Value) -> String {
    format!("{}\n", json!({"type": kind, "object": object}))
}

fn body(object: &Thing) -> Map<String, Value> {
    let labels: Map<_, _> = object
        .labels()
        .iter()
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(object.key().name()));
    metadata.insert("uid".to_owned(), json!(object.uid()));
    metadata.insert("resourceVersion".to_owned(), json!(object.version()));
    if !object.key().namespace().is_empty() {
        metadata.insert("namespace".to_owned(), json!(object.key().namespace()));
    }
    if !labels.is_empty() {
        metadata.insert("labels".to_owned(), Value::Object(labels));
    }
    let mut members = Map::new();
    members.insert("metadata".to_owned(), Value::Object(metadata));
    members.insert("value".to_owned(), json!(object.value));
    members
}
