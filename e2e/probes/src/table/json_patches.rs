//! JSON patches: every operation, and those that do not fit.

use serde_json::{Value, json};

use super::{CONFIGMAPS, WIDGETS, config_map};
use crate::probe::Probe;

const JSON_PATCH: &str = "application/json-patch+json";

pub(super) fn json_patches() -> Vec<Probe> {
    let j = format!("{CONFIGMAPS}/j");
    let patch = |operations: Value| Probe::patch(&j, JSON_PATCH, operations.to_string());
    let data =
        |op: &str, path: &str, value: &str| json!([{"op": op, "path": path, "value": value}]);
    vec![
        Probe::post(CONFIGMAPS, &config_map("j", "json")).keep("j"),
        patch(data("add", "/data/x", "1")),
        patch(data("add", "/metadata/labels/example.com~1team", "t")),
        patch(data("replace", "/data/x", "2")),
        patch(data("replace", "/data/new", "3")),
        patch(data("test", "/data/x", "2")),
        patch(json!([{"op": "test", "path": "/data/none", "value": null}])),
        patch(json!([{"op": "move", "from": "/data/x", "path": "/data/y"}])),
        patch(json!([{"op": "copy", "from": "/data/y", "path": "/data/z"}])),
        patch(json!([{"op": "remove", "path": "/data/z"}])),
        patch(
            json!([{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/a"]},
            {"op": "add", "path": "/metadata/finalizers/-", "value": "example.com/c"},
            {"op": "add", "path": "/metadata/finalizers/1", "value": "example.com/b"},
            {"op": "replace", "path": "/metadata/finalizers/-1", "value": "example.com/d"}]),
        ),
        patch(json!([{"op": "remove", "path": "/metadata/finalizers"}])),
        // All or nothing.
        patch(
            json!([{"op": "add", "path": "/data/lost", "value": "1"}, {"op": "test", "path": "/data/y", "value": "9"}]),
        ),
        Probe::get(&j),
        patch(data("test", "/data/y", "9")),
        patch(json!([{"op": "test", "path": "/data/y"}])),
        patch(json!([{"op": "remove", "path": "/data/none"}])),
        patch(json!([{"op": "remove", "path": "/metadata/finalizers/0"}])),
        patch(data("add", "/none/x", "1")),
        patch(data("add", "/data/y/deep", "1")),
        patch(data("add", "data", "1")),
        patch(data("grow", "/data/y", "1")),
        patch(json!([{"op": "move", "path": "/data/y"}])),
        patch(json!([{"op": "copy", "from": "/data/none/x", "path": "/data/y"}])),
        patch(json!([{"path": "/data/y"}])),
        patch(json!([{"op": "replace", "path": "", "value": {}}])),
        patch(data("replace", "/metadata/name", "k")),
        patch(data("replace", "/metadata/namespace", "other")),
        patch(data("replace", "/metadata/resourceVersion", "1")),
        patch(data("replace", "/metadata/resourceVersion", "{j}")),
        patch(data("add", "/metadata/labels/-k", "v")),
        patch(json!([])),
        patch(Value::Null),
        patch(json!([1])),
        patch(json!([{"op": 5}])),
        Probe::patch(&j, JSON_PATCH, "["),
        Probe::patch(&j, JSON_PATCH, ""),
        Probe::patch(format!("{CONFIGMAPS}/nobody"), JSON_PATCH, "["),
        Probe::patch(format!("{WIDGETS}/nobody"), JSON_PATCH, "[]"),
        Probe::bare("DELETE", &j),
        Probe::get(format!(
            "{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion={{j}}"
        )),
    ]
}
