//! Patches: merge patches, plain (RFC 7396) and strategic, and [JSON patches](json_patch).
//!
//! A real server knows from the Go types which lists to merge by which key. Here a strategic merge
//! knows the common ones by field name and replaces all others. It supports the directives `$patch:
//! delete`, `$patch: replace`, `$deleteFromPrimitiveList` and `$retainKeys`; it accepts and ignores
//! `$setElementOrder`.

use serde_json::{Map, Value};

use crate::status::ApiError;
use crate::store::json_patch;

/// The type of a patch.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum PatchType {
    /// `application/json-patch+json`: a list of operations.
    Json,
    /// `application/apply-patch+yaml`: server-side apply. The body must be JSON, which is YAML.
    Apply,
    /// `application/merge-patch+json`: replaces lists.
    Merge,
    /// `application/strategic-merge-patch+json`: merges known lists. Built-in kinds only.
    Strategic,
}

/// Parses `body` and applies it to `target`.
pub(crate) fn apply(
    how: PatchType,
    target: &mut Map<String, Value>,
    body: &[u8],
) -> Result<(), ApiError> {
    let fields = || {
        serde_json::from_slice(body)
            .map_err(|error| ApiError::bad_request(format!("error decoding patch: {error}")))
    };
    match how {
        PatchType::Json => json_patch::apply(target, body)?,
        // It needs more than the object.
        PatchType::Apply => return Err(ApiError::no_such_patch()),
        PatchType::Merge => merge(target, fields()?),
        PatchType::Strategic => strategic(target, fields()?),
    }
    Ok(())
}

/// Parses an applied configuration.
pub(crate) fn config(body: &[u8]) -> Result<Map<String, Value>, ApiError> {
    serde_json::from_slice(body)
        .map_err(|error| ApiError::bad_request(format!("error decoding YAML: {error}")))
}

pub(crate) fn merge(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, change) in patch {
        match change {
            Value::Null => {
                target.remove(&key);
            }
            Value::Object(fields) => {
                let mut merged = take_object(target, &key);
                merge(&mut merged, fields);
                target.insert(key, Value::Object(merged));
            }
            other => {
                target.insert(key, other);
            }
        }
    }
}

/// Removes and returns the object under `key`; an empty one if absent.
fn take_object(target: &mut Map<String, Value>, key: &str) -> Map<String, Value> {
    match target.remove(key) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn strategic(target: &mut Map<String, Value>, mut patch: Map<String, Value>) {
    match patch.remove("$patch").as_ref().and_then(Value::as_str) {
        Some("replace") => {
            *target = patch;
            return;
        }
        Some("delete") => {
            target.clear();
            return;
        }
        _ => {}
    }
    if let Some(Value::Array(kept)) = patch.remove("$retainKeys") {
        target.retain(|key, _| kept.iter().any(|name| name == key.as_str()));
    }
    for (key, change) in patch {
        if let Some(list) = key.strip_prefix("$deleteFromPrimitiveList/") {
            if let (Some(Value::Array(items)), Value::Array(gone)) = (target.get_mut(list), change)
            {
                items.retain(|item| !gone.contains(item));
            }
            continue;
        }
        if key.starts_with("$setElementOrder/") {
            continue;
        }
        match change {
            Value::Null => {
                target.remove(&key);
            }
            Value::Object(fields) if is_deletion(&fields) => {
                target.remove(&key);
            }
            Value::Object(fields) => {
                let mut merged = take_object(target, &key);
                strategic(&mut merged, fields);
                target.insert(key, Value::Object(merged));
            }
            Value::Array(items) => {
                let old = match target.remove(&key) {
                    Some(Value::Array(old)) => old,
                    _ => Vec::new(),
                };
                let merged = strategic_list(&key, old, items);
                target.insert(key, Value::Array(merged));
            }
            other => {
                target.insert(key, other);
            }
        }
    }
}

fn is_deletion(patch: &Map<String, Value>) -> bool {
    patch.get("$patch").and_then(Value::as_str) == Some("delete")
}

/// How the list in a field is merged.
enum ListMerge {
    /// The list is replaced.
    Replace,
    /// Missing texts are added.
    Union,
    /// Items with the same value under this key are merged.
    By(&'static str),
}

impl ListMerge {
    fn of(field: &str) -> Self {
        match field {
            "finalizers" => Self::Union,
            "containers"
            | "initContainers"
            | "ephemeralContainers"
            | "volumes"
            | "env"
            | "imagePullSecrets" => Self::By("name"),
            "volumeMounts" => Self::By("mountPath"),
            "volumeDevices" => Self::By("devicePath"),
            "conditions" => Self::By("type"),
            "ownerReferences" => Self::By("uid"),
            "taints" => Self::By("key"),
            "hostAliases" => Self::By("ip"),
            _ => Self::Replace,
        }
    }
}

fn strategic_list(field: &str, mut old: Vec<Value>, patch: Vec<Value>) -> Vec<Value> {
    match ListMerge::of(field) {
        ListMerge::Replace => patch,
        ListMerge::Union => {
            for item in patch {
                if !old.contains(&item) {
                    old.push(item);
                }
            }
            old
        }
        ListMerge::By(key) => {
            for item in patch {
                merge_item(&mut old, key, item);
            }
            old
        }
    }
}

fn merge_item(items: &mut Vec<Value>, key: &str, patch: Value) {
    let Value::Object(mut patch) = patch else {
        items.push(patch);
        return;
    };
    let at = patch
        .get(key)
        .and_then(|id| items.iter().position(|item| item.get(key) == Some(id)));
    match at.and_then(|at| Some((at, items.get_mut(at)?))) {
        Some((at, _)) if is_deletion(&patch) => {
            items.remove(at);
        }
        Some((_, Value::Object(fields))) => strategic(fields, patch),
        _ if !is_deletion(&patch) => {
            patch.remove("$patch");
            items.push(Value::Object(patch));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn patched(how: PatchType, target: Value, patch: Value) -> Value {
        let Value::Object(mut target) = target else {
            panic!("an object")
        };
        apply(how, &mut target, patch.to_string().as_bytes()).unwrap();
        Value::Object(target)
    }

    #[test]
    fn a_merge_patch_follows_rfc_7396() {
        let target = json!({"a": "b", "c": {"d": "e", "f": "g"}, "l": [1, 2]});
        let patch = json!({"a": "z", "c": {"f": null}, "l": [3], "n": {"m": {"x": null, "y": 1}}});
        assert_eq!(
            patched(PatchType::Merge, target, patch),
            json!({"a": "z", "c": {"d": "e"}, "l": [3], "n": {"m": {"y": 1}}})
        );
    }

    #[test]
    fn an_object_in_a_patch_replaces_a_value_of_another_type() {
        let patch = json!({"a": {"b": 1}});
        assert_eq!(
            patched(PatchType::Merge, json!({"a": [1]}), patch.clone()),
            patch
        );
    }

    #[test]
    fn a_strategic_patch_merges_known_lists() {
        let target = json!({"spec": {"containers": [{"name": "a", "image": "1", "tty": true}, {"name": "b"}], "args": ["x"]},
            "metadata": {"finalizers": ["f"]}});
        let patch = json!({"spec": {"$setElementOrder/containers": [{"name": "a"}], "containers": [{"name": "a", "image": "2"},
            {"name": "b", "$patch": "delete"}, {"name": "c"}], "args": ["y"]}, "metadata": {"finalizers": ["f", "g"]}});
        assert_eq!(
            patched(PatchType::Strategic, target, patch),
            json!({"spec": {"containers": [{"name": "a", "image": "2", "tty": true}, {"name": "c"}], "args": ["y"]},
                "metadata": {"finalizers": ["f", "g"]}})
        );
    }

    #[test]
    fn directives_of_a_strategic_patch() {
        let target = json!({"a": {"x": 1, "y": 2}, "b": {"x": 1}, "c": {"x": 1, "y": 2}, "finalizers": ["f", "g"]});
        let patch = json!({"a": {"$patch": "replace", "z": 3}, "b": {"$patch": "delete"},
            "c": {"$retainKeys": ["x"], "x": 5}, "$deleteFromPrimitiveList/finalizers": ["f"]});
        assert_eq!(
            patched(PatchType::Strategic, target, patch),
            json!({"a": {"z": 3}, "c": {"x": 5}, "finalizers": ["g"]})
        );
    }
}
