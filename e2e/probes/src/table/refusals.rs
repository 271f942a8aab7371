//! Refused writes.

use serde_json::{Value, json};

use super::{CONFIGMAPS, config_map, with};
use crate::probe::Probe;

/// A good object without a field.
fn without(field: &str) -> Value {
    let mut object = config_map("new", "web");
    if let Value::Object(fields) = &mut object {
        fields.remove(field);
    }
    object
}

pub(super) fn creates() -> Vec<Probe> {
    let create = |object: &Value| Probe::post(CONFIGMAPS, object);
    let new = |pointer, value| with(config_map("new", "web"), pointer, value);
    let raw =
        |content_type, body: &str| Probe::bare("POST", CONFIGMAPS).sending(content_type, body);
    let json = "application/json";
    vec![
        create(&config_map("a", "web")),
        create(&new("/metadata/name", Value::Null)),
        create(&new("/metadata/name", json!(""))),
        create(&new("/metadata/name", json!("Not_A_Name"))),
        create(&new("/metadata/name", json!(5))),
        create(&new("/metadata/namespace", json!("other"))),
        create(&new("/metadata/resourceVersion", json!("5"))),
        create(&new("/metadata/labels", json!({"-k": "v"}))),
        create(&new("/metadata/labels", json!({"k": "-v"}))),
        create(&new("/metadata/labels", json!({"k": 5}))),
        create(&new("/metadata/labels", json!("k=v"))),
        create(&new("/metadata/annotations", json!({"a b": "v"}))),
        create(&new("/metadata/finalizers", json!(["a b"]))),
        create(&new("/metadata/finalizers", json!(["plain"]))),
        create(&new("/metadata", json!("none"))),
        create(&new("/kind", json!("Secret"))),
        create(&new("/kind", json!("Gadget"))),
        create(&new("/apiVersion", json!("v2"))),
        create(&new("/apiVersion", json!("apps/v1"))),
        create(&without("metadata")),
        raw(json, ""),
        raw(json, "{"),
        raw(json, "[]"),
        raw(json, "null"),
        raw(json, "5"),
        raw(json, "{\"kind\":\"ConfigMap\"} {}"),
        raw("application/yaml", "kind: ["),
        raw("text/plain", "{}"),
        raw("application/vnd.kubernetes.protobuf", "{}"),
        Probe::post(
            format!("{CONFIGMAPS}?dryRun=All"),
            &config_map("dry", "web"),
        ),
        Probe::post(
            format!("{CONFIGMAPS}?dryRun=Some"),
            &config_map("dry", "web"),
        ),
        Probe::post(
            "/api/v1/namespaces/nowhere/configmaps",
            &config_map("new", "web"),
        ),
        // Not refused, each in its own way.
        create(&new("/metadata/name", json!("plain"))),
        create(&json!({"metadata": {"name": "without-kind"}})),
        create(&json!({"metadata": {"generateName": "made-"}})).keep("made"),
        create(
            &json!({"metadata": {"name": "unknown-fields", "color": "red"}, "color": "red", "data": {}}),
        ),
    ]
}

pub(super) fn updates() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let update = |field: &str, value: Value| {
        let object = with(config_map("a", "web"), &format!("/metadata/{field}"), value);
        Probe::put(&a, &object)
    };
    vec![
        update("resourceVersion", json!("1")),
        update("resourceVersion", json!("latest")),
        update("resourceVersion", json!("{h}")),
        update("resourceVersion", json!("")),
        update("uid", json!("00000000-0000-0000-0000-000000000000")),
        update("name", json!("b")),
        update("name", Value::Null),
        update("namespace", json!("other")),
        update("labels", json!({"-k": "v"})),
        Probe::put(format!("{CONFIGMAPS}/nobody"), &config_map("nobody", "web")),
        Probe::bare("PUT", &a).sending("application/json", "{"),
        Probe::bare("PUT", &a).sending("text/plain", "{}"),
        // Not refused.
        update("resourceVersion", json!("{a}")),
        update("creationTimestamp", json!("2001-01-01T00:00:00Z")),
        update("deletionTimestamp", json!("2001-01-01T00:00:00Z")),
        update("generation", json!(7)),
    ]
}

pub(super) fn patches() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let merge = |body: &str| Probe::patch(&a, "application/merge-patch+json", body);
    vec![
        merge("{"),
        merge("[]"),
        merge("null"),
        merge(""),
        merge(r#"{"metadata":{"resourceVersion":"1"}}"#),
        merge(r#"{"metadata":{"resourceVersion":"latest"}}"#),
        merge(r#"{"metadata":{"uid":"00000000-0000-0000-0000-000000000000"}}"#),
        merge(r#"{"metadata":{"name":"b"}}"#),
        merge(r#"{"metadata":{"namespace":"other"}}"#),
        merge(r#"{"metadata":{"labels":{"k":"-v"}}}"#),
        merge(r#"{"metadata":{"labels":"k"}}"#),
        merge(r#"{"kind":"Secret"}"#),
        Probe::patch(
            format!("{CONFIGMAPS}/nobody"),
            "application/merge-patch+json",
            "{}",
        ),
        Probe::patch(&a, "application/strategic-merge-patch+json", "["),
        Probe::patch(&a, "application/json", "{}"),
        Probe::patch(&a, "text/plain", "{}"),
        Probe::bare("PATCH", &a),
        Probe::patch(&a, "application/json-patch+json", "{}"),
        // Not refused: nothing changes.
        merge("{}"),
        merge(r#"{"data":{"of":"a"}}"#),
    ]
}

pub(super) fn deletions() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/a");
    let other = "00000000-0000-0000-0000-000000000000";
    vec![
        Probe::bare("DELETE", format!("{CONFIGMAPS}/nobody")),
        Probe::delete(&a, &json!({"preconditions": {"uid": other}})),
        Probe::delete(&a, &json!({"preconditions": {"resourceVersion": "1"}})),
        Probe::delete(
            &a,
            &json!({"preconditions": {"uid": "{a.uid}", "resourceVersion": "1"}}),
        ),
        Probe::bare("DELETE", &a).sending("application/json", "{"),
        Probe::bare("DELETE", &a).sending("application/json", "[]"),
        Probe::bare("DELETE", &a).sending("text/plain", "{}"),
        Probe::delete(&a, &json!({"propagationPolicy": "Sideways"})),
        Probe::bare("DELETE", format!("{a}?propagationPolicy=Sideways")),
        Probe::delete(
            &a,
            &json!({"orphanDependents": true, "propagationPolicy": "Orphan"}),
        ),
        Probe::delete(&a, &json!({"dryRun": ["All"]})),
        Probe::bare("DELETE", format!("{a}?dryRun=All")),
        Probe::bare("DELETE", format!("{a}?gracePeriodSeconds=soon")),
        Probe::delete(&a, &json!({"kind": "Pod", "apiVersion": "v1"})),
        Probe::get(&a),
        // Not refused.
        Probe::bare("DELETE", format!("{CONFIGMAPS}/unknown-fields")),
        Probe::delete(
            format!("{CONFIGMAPS}/plain"),
            &json!({"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0}),
        ),
        Probe::bare(
            "DELETE",
            format!("{CONFIGMAPS}/without-kind?propagationPolicy=Background"),
        ),
    ]
}
