//! Object metadata: reading, setting, and what the server does not accept from clients.

use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::status::ApiError;

/// The fields that a client may set. Only the server sets `managedFields` and `selfLink`, and this
/// server has neither.
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

/// The metadata of `object`, created if absent.
pub(crate) fn metadata_mut(object: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    object
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
}

/// A text field of the metadata.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    metadata(object)?.get(field)?.as_str()
}

/// Sets a metadata field.
pub(crate) fn set(object: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert(field.to_owned(), value.into());
    }
}

/// Copies a metadata field from `other`, or removes it if `other` does not have it.
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

/// The finalizers that still hold an object.
pub(crate) fn finalizers(object: &Map<String, Value>) -> impl Iterator<Item = &str> {
    metadata(object)
        .and_then(|metadata| metadata.get("finalizers")?.as_array())
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Whether the object is being deleted.
pub(crate) fn is_deleting(object: &Map<String, Value>) -> bool {
    text(object, "deletionTimestamp").is_some()
}

/// Parses the body of a write: an object of `kind` whose metadata has the right types. Drops
/// unknown and empty metadata fields.
pub(crate) fn admit(
    kind: &ApiKind,
    mut object: Map<String, Value>,
) -> Result<Map<String, Value>, ApiError> {
    check_type(kind, &object)?;
    object.insert("kind".to_owned(), Value::from(kind.kind()));
    let stored = kind.stored_api_version();
    object.insert("apiVersion".to_owned(), Value::from(stored));
    if object.get("metadata").is_some_and(Value::is_null) {
        object.remove("metadata");
    }
    let given = object.get("metadata").cloned().unwrap_or_default();
    let Some(metadata) = metadata_mut(&mut object) else {
        return Err(unreadable(
            kind,
            &given,
            kind.kind(),
            "metadata",
            "v1.ObjectMeta",
        ));
    };
    metadata.retain(|field, value| KNOWN.contains(&field.as_str()) && !is_empty(value));
    for (field, value) in &*metadata {
        check_field(kind, field, value)?;
    }
    Ok(object)
}

fn check_type(kind: &ApiKind, object: &Map<String, Value>) -> Result<(), ApiError> {
    let expected = kind.api_version();
    let version = object
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or(&expected);
    if version != expected && !kind.is_custom() {
        let given = object.get("kind").and_then(Value::as_str);
        let given = given.unwrap_or_else(|| kind.kind());
        return Err(ApiError::bad_request(format!(
            "{given} in version {:?} cannot be handled as a {}: no kind {given:?} is registered for version {version:?} in scheme \"pkg/runtime/scheme.go:111\"",
            version.rsplit('/').next().unwrap_or_default(),
            kind.kind()
        )));
    }
    if version != expected {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({expected})"
        )));
    }
    match object.get("kind").and_then(Value::as_str) {
        Some(given) if given != kind.kind() => Err(ApiError::bad_request(format!(
            "{given} in version {:?} cannot be handled as a {}: unknown conversion",
            kind.version(),
            kind.kind()
        ))),
        _ => Ok(()),
    }
}

/// Whether Go's `omitempty` omits the value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Number(_) | Value::Bool(_) => false,
    }
}

fn check_field(kind: &ApiKind, field: &str, value: &Value) -> Result<(), ApiError> {
    let not_text = |value: &&Value| !value.is_string();
    let wrong = match (field, value) {
        ("labels" | "annotations", Value::Object(map)) => {
            map.values().find(not_text).map(|value| (value, "string"))
        }
        ("labels" | "annotations", _) => Some((value, "map[string]string")),
        ("finalizers", Value::Array(items)) => {
            items.iter().find(not_text).map(|value| (value, "string"))
        }
        ("finalizers", _) => Some((value, "[]string")),
        ("ownerReferences", Value::Array(items)) => items
            .iter()
            .find(|item| !item.is_object())
            .map(|value| (value, "v1.OwnerReference")),
        ("ownerReferences", _) => Some((value, "[]v1.OwnerReference")),
        ("generation" | "deletionGracePeriodSeconds", _) => {
            (!value.is_i64()).then_some((value, "int64"))
        }
        _ => (!value.is_string()).then_some((value, "string")),
    };
    match wrong {
        None => Ok(()),
        Some((value, expected)) => {
            let field = format!("metadata.{field}");
            Err(unreadable(kind, value, "ObjectMeta", &field, expected))
        }
    }
}

/// Go's name for the type of a JSON value.
pub(crate) const fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The error of Go's JSON reader.
pub(crate) fn unreadable(
    kind: &ApiKind,
    value: &Value,
    parent: &str,
    field: &str,
    expected: &str,
) -> ApiError {
    let given = json_type(value);
    ApiError::bad_request(format!(
        "{0} in version {1:?} cannot be handled as a {0}: json: cannot unmarshal {given} into Go struct field {parent}.{field} of type {expected}",
        kind.kind(),
        kind.version()
    ))
}
