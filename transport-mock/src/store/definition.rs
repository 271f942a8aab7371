//! CustomResourceDefinitions: defaults, validation, and the status that a real server's controllers
//! write.

use serde_json::{Map, Value, json};

use crate::status::StatusCause;
use crate::store::metadata::{finalizers, metadata_mut, set};
use crate::timestamp::Timestamp;

/// The finalizer that holds a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Fills in the names and the conversion.
pub(crate) fn default(object: &mut Map<String, Value>) {
    let Some(Value::Object(spec)) = object.get_mut("spec") else {
        return;
    };
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    if let Some(Value::Object(names)) = spec.get_mut("names")
        && let Some(kind) = names.get("kind").and_then(Value::as_str).map(str::to_owned)
    {
        names
            .entry("singular")
            .or_insert_with(|| kind.to_lowercase().into());
        names
            .entry("listKind")
            .or_insert_with(|| format!("{kind}List").into());
    }
}

/// The status of a new definition.
pub(crate) fn fresh_status(object: &Map<String, Value>) -> Value {
    let stored: Vec<&str> = stored_version(object).into_iter().collect();
    json!({
        "conditions": null,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored,
    })
}

fn versions(object: &Map<String, Value>) -> Option<&Vec<Value>> {
    object.get("spec")?.get("versions")?.as_array()
}

fn stored_version(object: &Map<String, Value>) -> Option<&str> {
    let is_stored = |version: &&Value| version.get("storage") == Some(&Value::Bool(true));
    versions(object)?
        .iter()
        .find(is_stored)?
        .get("name")?
        .as_str()
}

/// Adds the problems with a definition.
pub(crate) fn validate(
    causes: &mut Vec<StatusCause>,
    object: &Map<String, Value>,
    before: Option<&Map<String, Value>>,
) {
    let text = |object: &Map<String, Value>, pointer: &str| {
        let spec = object.get("spec").and_then(|spec| spec.pointer(pointer));
        spec.and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let required = |causes: &mut Vec<StatusCause>, field: &str, value: &str| {
        if value.is_empty() {
            causes.push(StatusCause::required(field, ""));
        }
    };
    let name = object
        .get("metadata")
        .and_then(|it| it.get("name")?.as_str());
    let name = name.unwrap_or_default();
    let (group, scope) = (text(object, "/group"), text(object, "/scope"));
    if name != format!("{}.{group}", text(object, "/names/plural")) {
        let why = "must be spec.names.plural+\".\"+spec.group";
        causes.push(StatusCause::invalid("metadata.name", name, why));
    }
    required(causes, "spec.group", &group);
    match scope.as_str() {
        "" => causes.push(StatusCause::required("spec.scope", "")),
        "Namespaced" | "Cluster" => {}
        other => causes.push(StatusCause::not_supported(
            "spec.scope",
            other,
            &["Cluster", "Namespaced"],
        )),
    }
    let all = versions(object).map(Vec::as_slice).unwrap_or_default();
    for (n, version) in all.iter().enumerate() {
        if version.pointer("/schema/openAPIV3Schema").is_none() {
            let field = format!("spec.versions[{n}].schema.openAPIV3Schema");
            causes.push(StatusCause::required(&field, ""));
        }
    }
    let is_stored = |version: &&Value| version.get("storage") == Some(&Value::Bool(true));
    let stored = all.iter().filter(is_stored).count();
    if stored != 1 {
        let given = object.get("spec").and_then(|spec| spec.get("versions"));
        let why = "must have exactly one version marked as storage version";
        causes.push(StatusCause::invalid_value("spec.versions", given, why));
    }
    for field in ["plural", "singular", "kind", "listKind"] {
        let value = text(object, &format!("/names/{field}"));
        required(causes, &format!("spec.names.{field}"), &value);
    }
    if stored == 0 {
        let why = "must have at least one stored version";
        causes.push(StatusCause::invalid_value(
            "status.storedVersions",
            None,
            why,
        ));
    }
    if before.is_some_and(|before| text(before, "/scope") != scope) {
        let why = "field is immutable";
        causes.push(StatusCause::invalid("spec.scope", &scope, why));
    }
}

/// The status after the names have been accepted; `None` if it is so already.
pub(crate) fn established(object: &Map<String, Value>, now: Timestamp) -> Option<Value> {
    let mut status = object.get("status").cloned().unwrap_or_default();
    let names = object.get("spec")?.get("names")?.clone();
    let mut stored = status
        .get("storedVersions")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let newest = Value::from(stored_version(object)?);
    let has_conditions = status.get("conditions").is_some_and(Value::is_array);
    if has_conditions && status.get("acceptedNames") == Some(&names) && stored.contains(&newest) {
        return None;
    }
    if !stored.contains(&newest) {
        stored.push(newest);
    }
    let Value::Object(fields) = &mut status else {
        return None;
    };
    if !has_conditions {
        let names_accepted = condition("NamesAccepted", "NoConflicts", "no conflicts found", now);
        let established = condition(
            "Established",
            "InitialNamesAccepted",
            "the initial names have been accepted",
            now,
        );
        let conditions = vec![names_accepted, established];
        fields.insert("conditions".to_owned(), conditions.into());
    }
    fields.insert("acceptedNames".to_owned(), names);
    fields.insert("storedVersions".to_owned(), stored.into());
    Some(status)
}

fn condition(kind: &str, reason: &str, message: &str, now: Timestamp) -> Value {
    json!({
        "type": kind,
        "status": "True",
        "lastTransitionTime": now.to_string(),
        "reason": reason,
        "message": message,
    })
}

/// Marks a definition as deleting. Its objects are deleted next.
pub(crate) fn begin_deletion(object: &mut Map<String, Value>, now: Timestamp) {
    set(object, "deletionTimestamp", now.to_string());
    let mut held: Vec<Value> = finalizers(object).map(Value::from).collect();
    if !held.contains(&CLEANUP.into()) {
        held.push(CLEANUP.into());
    }
    set(object, "finalizers", held);
    set_terminating(
        object,
        "InstanceDeletionPending",
        "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        now,
    );
}

/// Says that the objects are being deleted.
pub(crate) fn go_on_deleting(object: &mut Map<String, Value>, now: Timestamp) {
    set_terminating(
        object,
        "InstanceDeletionInProgress",
        "CustomResource deletion is in progress",
        now,
    );
}

fn set_terminating(object: &mut Map<String, Value>, reason: &str, message: &str, now: Timestamp) {
    let status = object.get_mut("status");
    let Some(conditions) = status.and_then(|status| status.get_mut("conditions")) else {
        return;
    };
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    if let Value::Array(conditions) = conditions {
        conditions.retain(|it| it.get("type").and_then(Value::as_str) != Some("Terminating"));
        conditions.push(condition("Terminating", reason, message, now));
    }
}

/// Whether the objects of a deleted definition are still there.
pub(crate) fn awaits_cleanup(object: &Map<String, Value>) -> bool {
    finalizers(object).any(|it| it == CLEANUP)
}

/// Lets go of a definition whose objects are gone.
pub(crate) fn release(object: &mut Map<String, Value>) {
    let held: Vec<Value> = finalizers(object)
        .filter(|it| *it != CLEANUP)
        .map(Value::from)
        .collect();
    if let Some(metadata) = metadata_mut(object) {
        metadata.insert("finalizers".to_owned(), held.into());
    }
}
