//! Server-side apply, and who owns which fields.

use serde_json::{Value, json};

use super::{CONFIGMAPS, DEPLOYMENTS, PODS, WIDGETS, config_map};
use crate::probe::Probe;

const APPLY: &str = "application/apply-patch+yaml";

fn apply(target: String, config: &Value) -> Probe {
    Probe::patch(target, APPLY, config.to_string())
}

fn map(name: &str, data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

/// One object and several managers.
pub(super) fn ownership() -> Vec<Probe> {
    let s = format!("{CONFIGMAPS}/ssa");
    let by = |manager: &str, config: Value| apply(format!("{s}?fieldManager={manager}"), &config);
    let force = |manager: &str, config: Value| {
        apply(format!("{s}?fieldManager={manager}&force=true"), &config)
    };
    let with = |metadata: Value, data: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data});
    vec![
        by("one", map("ssa", json!({"a": "1", "b": "1"}))).keep("ssa"),
        // Nothing changes.
        by("one", map("ssa", json!({"a": "1", "b": "1"}))),
        by("two", map("ssa", json!({"c": "2"}))),
        by("two", map("ssa", json!({"a": "2", "c": "2"}))),
        by("two", map("ssa", json!({"a": "2", "b": "2", "c": "2"}))),
        // Both own the same value.
        by("two", map("ssa", json!({"a": "1", "c": "2"}))),
        by("three", map("ssa", json!({"a": "3"}))),
        force("two", map("ssa", json!({"a": "2", "c": "2"}))),
        // No longer applied: b goes, a stays with its other owner.
        by("one", map("ssa", json!({}))),
        Probe::get(&s),
        Probe::merge(
            &s,
            &json!({"data": {"c": "4"}, "metadata": {"annotations": {"note": "n"}}}),
        ),
        by("two", map("ssa", json!({"a": "2", "c": "2"}))),
        by("two", map("ssa", json!({"a": "2"}))),
        Probe::merge(
            format!("{s}?fieldManager=editor"),
            &json!({"data": {"a": null, "d": "5"}}),
        ),
        Probe::patch(
            format!("{s}?fieldManager=editor"),
            "application/json-patch+json",
            json!([{"op": "add", "path": "/data/e", "value": "6"}]).to_string(),
        ),
        Probe::put(
            format!("{s}?fieldManager=writer"),
            &map("ssa", json!({"d": "7"})),
        ),
        Probe::put(
            format!("{s}?fieldManager=writer"),
            &map("ssa", json!({"d": "7"})),
        ),
        by(
            "two",
            with(
                json!({"name": "ssa", "labels": {"app": "ssa"}, "finalizers": ["probes.example.com/a"]}),
                json!({}),
            ),
        ),
        by(
            "three",
            with(
                json!({"name": "ssa", "finalizers": ["probes.example.com/b"]}),
                json!({}),
            ),
        ),
        by("three", with(json!({"name": "ssa"}), json!({}))),
        by(
            "two",
            with(json!({"name": "ssa", "labels": {"app": "ssa"}}), json!({})),
        ),
        by("two", with(json!({"name": "ssa"}), json!({}))),
        apply(
            format!("{s}?fieldManager=four&dryRun=All"),
            &map("ssa", json!({"z": "1"})),
        ),
        apply(
            format!("{CONFIGMAPS}/dry?fieldManager=four&dryRun=All"),
            &map("dry", json!({"z": "1"})),
        ),
        Probe::get(&s),
        // Everybody is forgotten.
        Probe::merge(&s, &json!({"metadata": {"managedFields": [{}]}})),
        Probe::merge(&s, &json!({"data": {"f": "8"}})),
        by("two", map("ssa", json!({"f": "9"}))),
        force("two", map("ssa", json!({"f": "9"}))),
        Probe::bare("DELETE", &s),
        Probe::get(format!(
            "{CONFIGMAPS}?watch=true&timeoutSeconds=1&resourceVersion={{ssa}}"
        )),
    ]
}

/// Configurations that are refused.
pub(super) fn refused() -> Vec<Probe> {
    let a = format!("{CONFIGMAPS}/refused");
    let by = |config: &Value| apply(format!("{a}?fieldManager=probes"), config);
    let good = || map("refused", json!({"a": "1"}));
    let changed = |pointer: &str, value: Value| super::with(good(), pointer, value);
    vec![
        apply(a.clone(), &good()),
        apply(format!("{a}?fieldManager=probes&dryRun=Some"), &good()),
        by(&json!({})),
        by(&changed("/apiVersion", json!("v2"))),
        by(&changed("/metadata/name", json!("other"))),
        by(&changed("/metadata/name", Value::Null)),
        by(&changed("/metadata/namespace", json!("other"))),
        by(&changed(
            "/metadata/uid",
            json!("00000000-0000-0000-0000-000000000000"),
        )),
        by(&changed("/metadata/managedFields", json!([]))),
        by(&changed("/metadata/managedFields", json!([{}]))),
        by(&changed("/metadata/labels", json!({"k": "-v"}))),
        Probe::patch(format!("{a}?fieldManager=probes"), APPLY, "{"),
        // Not refused: there is nothing to compare the version with.
        by(&changed("/metadata/resourceVersion", json!("1"))),
        Probe::bare("DELETE", &a),
        by(&changed("/kind", json!("Secret"))),
        Probe::post(CONFIGMAPS, &config_map("refused", "ssa")).keep("refused"),
        by(&changed(
            "/metadata/uid",
            json!("00000000-0000-0000-0000-000000000000"),
        )),
        by(&changed("/metadata/uid", json!("{refused.uid}"))),
        by(&changed("/metadata/resourceVersion", json!("1"))),
        by(&changed("/metadata/resourceVersion", json!("{refused}"))),
        by(&changed("/metadata/name", json!("other"))),
        by(&changed("/data/of", json!("nobody"))),
        Probe::bare("DELETE", &a),
    ]
}

/// Lists with keys, in built-in kinds.
pub(super) fn lists() -> Vec<Probe> {
    let d = format!("{DEPLOYMENTS}/ssa");
    let deployment = |containers: Value| {
        json!({
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "ssa"},
            "spec": {
                "selector": {"matchLabels": {"app": "ssa"}},
                "template": {"metadata": {"labels": {"app": "ssa"}}, "spec": {"containers": containers}},
            },
        })
    };
    let by = |manager: &str, config: &Value| apply(format!("{d}?fieldManager={manager}"), config);
    let main = || {
        json!({"name": "main", "image": "i", "args": ["x"], "env": [{"name": "A", "value": "1"}],
            "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]})
    };
    let pod = format!("{PODS}/ssa");
    vec![
        by("one", &deployment(json!([main()]))),
        by("two", &deployment(json!([{"name": "side", "image": "s"}]))),
        by(
            "two",
            &deployment(json!([{"name": "main", "image": "other"}])),
        ),
        by("two", &deployment(json!([{"name": "main", "args": ["y"]}]))),
        by(
            "two",
            &deployment(
                json!([{"name": "main", "env": [{"name": "A", "value": "2"}, {"name": "B", "value": "2"}]}]),
            ),
        ),
        by(
            "three",
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ssa"}, "spec": {"replicas": 3}}),
        ),
        by(
            "four",
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ssa"}, "spec": {"replicas": 4}}),
        ),
        apply(
            format!("{d}/status?fieldManager=controller"),
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "ssa"},
                "status": {"replicas": 1, "conditions": [{"type": "Available", "status": "True"}]}}),
        ),
        Probe::get(&d),
        Probe::delete(&d, &json!({"propagationPolicy": "Background"})),
        apply(
            format!("{pod}?fieldManager=one"),
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "ssa"},
                "spec": {"containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}],
                    "volumes": [{"name": "v", "emptyDir": {}}], "imagePullSecrets": [{"name": "p"}], "nodeSelector": {"a": "b"}}}),
        ),
        Probe::delete(&pod, &json!({"gracePeriodSeconds": 0})),
    ]
}

/// Custom resources, whose lists are atomic.
pub(super) fn custom() -> Vec<Probe> {
    let w = format!("{WIDGETS}/ssa");
    let widget = |spec: Value| json!({"apiVersion": "probes.example.com/v1", "kind": "Widget", "metadata": {"name": "ssa"}, "spec": spec});
    let by = |manager: &str, config: &Value| apply(format!("{w}?fieldManager={manager}"), config);
    vec![
        by(
            "one",
            &widget(json!({"size": 1, "list": [{"name": "a"}], "deep": {"x": 1, "y": {}}})),
        ),
        by("two", &widget(json!({"list": [{"name": "b"}]}))),
        by("two", &widget(json!({"deep": {"z": 1}}))),
        by("one", &widget(json!({"size": 1}))),
        apply(
            format!("{w}/status?fieldManager=controller"),
            &json!({"apiVersion": "probes.example.com/v1", "kind": "Widget", "metadata": {"name": "ssa"}, "spec": {"size": 9}, "status": {"is": "set"}}),
        ),
        Probe::merge(format!("{w}/status"), &json!({"status": {"is": "changed"}})),
        Probe::merge(format!("{w}/scale"), &json!({"spec": {"replicas": 2}})),
        apply(
            format!("{WIDGETS}/nobody/status?fieldManager=controller"),
            &json!({"apiVersion": "probes.example.com/v1", "kind": "Widget", "metadata": {"name": "nobody"}, "status": {}}),
        ),
        Probe::get(&w),
        Probe::bare("DELETE", &w),
    ]
}
