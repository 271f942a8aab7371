//! The metadata of an object: reading, setting, and what the server does not take from clients.

use serde_json::{Map, Value};

use crate::api::Kind;
use crate::status::Refused;

/// The fields that a client's metadata may have. `managedFields` and `selfLink` are the server's,
/// and this server has none.
const KNOWN: [&str; 13] = [
    "annotations",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "uid",
];

/// The metadata of `object`.
pub(crate) fn metadata(object: &Map<String, Value>) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// The metadata of `object`, made if there is none.
pub(crate) fn metadata_mut(object: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    object
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
}

/// A text of the metadata.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    metadata(object)?.get(field)?.as_str()
}

/// Sets a field of the metadata.
pub(crate) fn set(object: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert(field.to_owned(), value.into());
    }
}

/// Makes a field of `object`'s metadata what it is in `other`, also if it is not there.
pub(crate) fn copy(object: &mut Map<String, Value>, other: &Map<String, Value>, field: &str) {
    match metadata(other).and_then(|metadata| metadata.get(field)) {
        Some(value) => set(object, field, value.clone()),
        None => {
            if let Some(metadata) = metadata_mut(object) {
                metadata.remove(field);
            }
        }
    }
}

/// The finalizers that an object still waits for.
pub(crate) fn finalizers(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    metadata(object)
        .and_then(|metadata| metadata.get("finalizers")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Whether its deletion has begun.
pub(crate) fn is_deleting(object: &Map<String, Value>) -> bool {
    text(object, "deletionTimestamp").is_some()
}

/// Reads the body of a write: an object of `kind`, whose metadata has the types it must have, and
/// nothing that is unknown or empty.
pub(crate) fn admit(
    kind: &Kind,
    mut object: Map<String, Value>,
) -> Result<Map<String, Value>, Refused> {
    check_type(kind, &object)?;
    object.insert("kind".to_owned(), Value::from(kind.kind()));
    object.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
    if object.get("metadata").is_some_and(Value::is_null) {
        object.remove("metadata");
    }
    let Some(metadata) = metadata_mut(&mut object) else {
        return Err(unreadable(kind, "metadata", "ObjectMeta"));
    };
    metadata.retain(|field, value| KNOWN.contains(&field.as_str()) && !is_empty(value));
    for (field, value) in &*metadata {
        check_field(kind, field, value)?;
    }
    Ok(object)
}

fn check_type(kind: &Kind, object: &Map<String, Value>) -> Result<(), Refused> {
    let expected = kind.api_version();
    let version = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or(&expected);
    if version != expected {
        return Err(Refused::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    match object.get("kind").and_then(Value::as_str) {
        Some(given) if given != kind.kind() => Err(Refused::bad_request(format!(
            "{given} in version {:?} cannot be handled as a {}: unknown conversion",
            kind.version(),
            kind.kind()
        ))),
        _ => Ok(()),
    }
}

/// What Go's `omitempty` leaves out.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(_) | Value::Bool(_) => false,
    }
}

fn check_field(kind: &Kind, field: &str, value: &Value) -> Result<(), Refused> {
    let (is_right, expected) = match field {
        "labels" | "annotations" => (
            value
                .as_object()
                .is_some_and(|map| map.values().all(Value::is_string)),
            "map[string]string",
        ),
        "finalizers" => (
            value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_string)),
            "[]string",
        ),
        "ownerReferences" => (
            value
                .as_array()
                .is_some_and(|items| items.iter().all(Value::is_object)),
            "[]v1.OwnerReference",
        ),
        "generation" | "deletionGracePeriodSeconds" => (value.is_i64(), "int64"),
        _ => (value.is_string(), "string"),
    };
    if is_right {
        Ok(())
    } else {
        Err(unreadable(kind, &format!("metadata.{field}"), expected))
    }
}

fn unreadable(kind: &Kind, field: &str, expected: &str) -> Refused {
    Refused::bad_request(format!(
        "{0} in version {1:?} cannot be handled as a {0}: json: cannot unmarshal value into Go struct field ObjectMeta.{field} of type {expected}",
        kind.kind(),
        kind.version()
    ))
}
