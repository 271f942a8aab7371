//! Definitions of custom resources, and what they define.

use serde_json::{Value, json};

use crate::probe::{Chapter, Probe, Step};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS: &str = "/apis/gadgets.example.com/v1/namespaces/{ns}/gadgets";
const BETA: &str = "/apis/gadgets.example.com/v1beta1/namespaces/{ns}/gadgets";

fn version(name: &str, is_stored: bool) -> Value {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    json!({"name": name, "served": true, "storage": is_stored, "schema": {"openAPIV3Schema": schema}})
}

fn definition(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name}, "spec": spec})
}

fn gadgets() -> Value {
    let mut stored = version("v1", true);
    if let Value::Object(fields) = &mut stored {
        let scale =
            json!({"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"});
        let subresources = json!({"status": {}, "scale": scale});
        fields.insert("subresources".to_owned(), subresources);
    }
    definition(
        "gadgets.gadgets.example.com",
        json!({
            "group": "gadgets.example.com",
            "names": {"plural": "gadgets", "kind": "Gadget", "shortNames": ["gg"]},
            "scope": "Namespaced",
            "versions": [version("v1beta1", false), stored],
        }),
    )
}

fn gadget(name: &str, api_version: &str) -> Value {
    json!({
        "apiVersion": format!("gadgets.example.com/{api_version}"),
        "kind": "Gadget",
        "metadata": {"name": name, "labels": {"app": "gadget"}},
        "spec": {"size": 1},
        "status": {"is": "early"},
    })
}

pub(super) fn definitions() -> Chapter {
    let path = format!("{DEFINITIONS}/gadgets.gadgets.example.com");
    let mut steps: Vec<Step> = refused().into_iter().map(Step::Ask).collect();
    let ask = |probe: Probe| Step::Ask(probe);
    steps.extend([
        ask(Probe::post(format!("{DEFINITIONS}?dryRun=All"), &gadgets())),
        ask(Probe::get(&path)),
        ask(Probe::post(DEFINITIONS, &gadgets()).keep("definition")),
        Step::Until(Probe::get(GADGETS), 200),
        Step::Until(Probe::get(BETA), 200),
        Step::Until(Probe::get("/apis/gadgets.example.com/v1beta1"), 200),
        ask(Probe::get(&path)),
        ask(Probe::get("/apis/gadgets.example.com")),
        ask(Probe::get("/apis/gadgets.example.com/v1")),
        ask(Probe::get("/apis/gadgets.example.com/v1beta1")),
    ]);
    steps.extend(objects().into_iter().map(Step::Ask));
    steps.extend([
        // One version is no longer served.
        ask(Probe::patch(
            &path,
            "application/json-patch+json",
            json!([{"op": "replace", "path": "/spec/versions/0/served", "value": false}])
                .to_string(),
        )),
        Step::Until(Probe::get(BETA), 404),
        ask(Probe::get(BETA)),
        ask(Probe::get(format!("{GADGETS}/one"))),
        ask(Probe::merge(&path, &json!({"spec": {"scope": "Cluster"}}))),
        ask(Probe::merge(
            &path,
            &json!({"spec": {"names": {"shortNames": ["gg", "gad"]}}}),
        )),
        ask(Probe::bare("DELETE", format!("{path}?dryRun=All"))),
        ask(Probe::bare("DELETE", &path)),
        Step::Until(Probe::get(&path), 404),
        Step::Until(Probe::get(GADGETS), 404),
        Step::Until(Probe::get("/apis/gadgets.example.com/v1"), 404),
        ask(Probe::get(&path)),
        ask(Probe::get(GADGETS)),
        ask(Probe::get(format!("{GADGETS}/one"))),
        ask(Probe::get("/apis/gadgets.example.com/v1")),
        ask(Probe::post(GADGETS, &gadget("late", "v1"))),
    ]);
    Chapter {
        name: "definitions",
        steps,
    }
}

/// Definitions that are refused.
fn refused() -> Vec<Probe> {
    let wrong =
        |spec: Value| Probe::post(DEFINITIONS, &definition("wrongs.gadgets.example.com", spec));
    let spec = |names: Value, scope: &str, versions: Value| json!({"group": "gadgets.example.com", "names": names, "scope": scope, "versions": versions});
    let names = || json!({"plural": "wrongs", "kind": "Wrong"});
    vec![
        wrong(json!({})),
        wrong(spec(
            json!({"plural": "rights", "kind": "Right"}),
            "Namespaced",
            json!([version("v1", true)]),
        )),
        wrong(spec(names(), "Sideways", json!([version("v1", true)]))),
        wrong(spec(
            json!({"plural": "wrongs"}),
            "Cluster",
            json!([version("v1", true)]),
        )),
        wrong(spec(names(), "Cluster", json!([]))),
        wrong(spec(
            names(),
            "Cluster",
            json!([{"name": "v1", "served": true, "storage": true}]),
        )),
    ]
}

/// Objects in two versions.
fn objects() -> Vec<Probe> {
    let one = format!("{GADGETS}/one");
    let beta = format!("{BETA}/one");
    vec![
        Probe::post(GADGETS, &gadget("one", "v1")).keep("one"),
        Probe::post(BETA, &gadget("two", "v1beta1")).keep("two"),
        Probe::post(BETA, &gadget("three", "v1")),
        Probe::get(&one),
        Probe::get(&beta),
        Probe::get(format!("{GADGETS}/two")),
        Probe::get(GADGETS),
        Probe::get(BETA),
        Probe::merge(&beta, &json!({"spec": {"size": 2}})).keep("one2"),
        Probe::merge(&beta, &json!({"spec": {"size": 2}})),
        Probe::merge(format!("{one}/status"), &json!({"status": {"is": "set"}})).keep("one3"),
        // A version without the subresource writes the status as any other field.
        Probe::merge(&beta, &json!({"status": {"is": "plain"}})).keep("one4"),
        Probe::get(format!("{beta}/status")),
        Probe::merge(format!("{one}/scale"), &json!({"spec": {"replicas": 3}})),
        Probe::put(
            format!("{one}/scale"),
            &json!({"metadata": {"name": "one"}, "spec": {"replicas": 3}}),
        )
        .keep("one5"),
        Probe::get(format!("{one}/scale")),
        Probe::get(format!("{beta}/scale")),
        Probe::patch(
            &beta,
            "application/json-patch+json",
            json!([{"op": "test", "path": "/apiVersion", "value": "gadgets.example.com/v1beta1"},
                {"op": "remove", "path": "/spec/size"}])
            .to_string(),
        )
        .keep("one6"),
        Probe::get(format!(
            "{GADGETS}?watch=true&timeoutSeconds=1&resourceVersion={{one}}"
        )),
        Probe::get(format!(
            "{BETA}?watch=true&timeoutSeconds=1&resourceVersion={{one}}"
        )),
        Probe::bare("DELETE", format!("{BETA}/two")),
    ]
}
