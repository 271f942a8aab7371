//! Server-side apply: owners, conflicts, and what goes with its last owner.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::request::{ApiRequest, Headers};
use informer_transport_mock::status::Reason;
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};
use support::{at, get, metadata, send_as, server, text, value};

fn map(data: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data})
}

/// `manager operation fields` of every owner.
fn owners(server: &Server, kind: &str) -> Vec<String> {
    let object = server.get(kind, "a").unwrap();
    let owners = metadata(object)["managedFields"].as_array().cloned();
    let line = |owner: &Value| {
        let text = |field: &str| owner[field].as_str().unwrap().to_owned();
        format!(
            "{} {} {}",
            text("manager"),
            text("operation"),
            owner["fieldsV1"]
        )
    };
    owners.unwrap_or_default().iter().map(line).collect()
}

#[test]
fn nobody_owns_anything_before_the_first_apply() {
    let mut server = server();
    server.create("configmaps", map(json!({"x": "1"}))).unwrap();
    server
        .patch("configmaps", "a", json!({"data": {"y": "1"}}))
        .unwrap();
    assert_eq!(owners(&server, "configmaps"), [""; 0]);
    // What was there before cannot be taken without force.
    let refused = server
        .apply("configmaps", "me", map(json!({"x": "2"})), false)
        .unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
    assert_eq!(
        refused.message(),
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.x"
    );
    server
        .apply("configmaps", "me", map(json!({"x": "2"})), true)
        .unwrap();
    assert_eq!(
        owners(&server, "configmaps"),
        [
            r#"me Apply {"f:data":{"f:x":{}}}"#,
            r#"before-first-apply Update {"f:data":{".":{},"f:y":{}}}"#,
        ]
    );
    // From now on, every write has an owner.
    server
        .patch("configmaps", "a", json!({"data": {"x": "3"}}))
        .unwrap();
    assert_eq!(
        owners(&server, "configmaps"),
        [
            r#"before-first-apply Update {"f:data":{".":{},"f:y":{}}}"#,
            r#"unknown Update {"f:data":{"f:x":{}}}"#,
        ]
    );
}

#[test]
fn a_field_goes_with_its_last_applier() {
    let mut server = server();
    let mut apply = |manager: &str, data: Value| {
        let object = server.apply("configmaps", manager, map(data), false);
        object.map(|object| (object.value()["data"].clone(), object.version()))
    };
    let both = json!({"x": "1", "y": "1"});
    assert_eq!(apply("one", both.clone()).unwrap(), (both.clone(), 2));
    assert_eq!(apply("one", both.clone()).unwrap(), (both.clone(), 2));
    // Another owner of the same value: nothing but the owners changes.
    assert_eq!(apply("two", json!({"x": "1"})).unwrap(), (both, 3));
    assert_eq!(apply("two", json!({"x": "2"})).unwrap_err().code(), 409);
    assert_eq!(apply("one", json!({})).unwrap(), (json!({"x": "1"}), 4));
    assert_eq!(
        apply("two", json!({"x": "2"})).unwrap(),
        (json!({"x": "2"}), 5)
    );
}

#[test]
fn items_of_lists_have_owners_of_their_own() {
    let mut server = server();
    let pod = |containers: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": containers}});
    let mut apply = |manager: &str, containers: Value| {
        let object = server.apply("pods", manager, pod(containers), false);
        object.map(|object| object.value()["spec"]["containers"].clone())
    };
    apply("one", json!([{"name": "a", "image": "1", "args": ["x"]}])).unwrap();
    let containers = apply(
        "two",
        json!([{"name": "b", "image": "2"}, {"name": "a", "tty": true}]),
    );
    assert_eq!(
        containers.unwrap(),
        json!([{"name": "b", "image": "2"}, {"name": "a", "image": "1", "args": ["x"], "tty": true}])
    );
    let refused = apply("two", json!([{"name": "a", "args": ["y"], "image": "2"}])).unwrap_err();
    let fields: Vec<&str> = refused
        .causes()
        .iter()
        .map(|cause| cause.field.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            ".spec.containers[name=\"a\"].args",
            ".spec.containers[name=\"a\"].image"
        ]
    );
    // The item of the other stays.
    assert_eq!(
        apply("one", json!([])).unwrap(),
        json!([{"name": "b", "image": "2"}, {"name": "a", "tty": true}])
    );
}

#[test]
fn the_schema_of_a_definition_decides_how_lists_merge() {
    let mut server = server();
    let list = json!({"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"], "items": {"type": "object"}});
    let spec = json!({"type": "object", "properties": {"parts": list, "plain": {"type": "array"}}});
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let definition = json!({"metadata": {"name": "gadgets.example.com"}, "spec": {
        "group": "example.com", "scope": "Namespaced", "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]}});
    server.create("crd", definition).unwrap();
    let gadget = |spec: Value| json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}, "spec": spec});
    let one = json!({"parts": [{"name": "a", "size": 1}], "plain": [1]});
    server.apply("gadgets", "one", gadget(one), false).unwrap();
    let two = gadget(json!({"parts": [{"name": "b", "size": 2}]}));
    let merged = server.apply("gadgets", "two", two, false).unwrap();
    let parts = json!([{"name": "a", "size": 1}, {"name": "b", "size": 2}]);
    assert_eq!(merged.value()["spec"]["parts"], parts);
    let refused = server.apply("gadgets", "two", gadget(json!({"plain": [2]})), false);
    assert_eq!(refused.unwrap_err().causes()[0].field, ".spec.plain");
}

#[test]
fn a_user_agent_is_the_manager_of_a_write_without_one() {
    let mut config = ServerConfig::new(7);
    config.managed_fields = true;
    let mut server = Server::new(config);
    let path = "/api/v1/namespaces/default/configmaps";
    for (query, agent) in [
        ("", "kubectl/v1.36 (linux)"),
        ("?fieldManager=mine", "kubectl"),
    ] {
        let (path, query) = match query {
            "" => (path.to_owned(), ""),
            query => (format!("{path}/a"), &query[1..]),
        };
        let method = if query.is_empty() { "POST" } else { "PUT" };
        let request = ApiRequest::parse(method, &path, query, Headers::default()).unwrap();
        let data = json!({"x": query});
        let body = map(data).to_string();
        server.handle(&request.by_agent(agent), body.as_bytes(), at(0));
    }
    assert_eq!(
        owners(&server, "configmaps"),
        [
            r#"kubectl Update {"f:data":{}}"#,
            r#"mine Update {"f:data":{"f:x":{}}}"#,
        ]
    );
}

#[test]
fn an_applied_object_is_created_once_and_a_dry_run_never() {
    let mut server = server();
    let headers = Headers {
        accept: None,
        content_type: Some("application/apply-patch+yaml"),
    };
    let mut apply = |query: &str| {
        let line = format!("PATCH /api/v1/namespaces/default/configmaps/a?{query}");
        let answer = send_as(&mut server, &line, &map(json!({"x": "1"})), headers, at(0));
        (answer.status, value(&text(&answer)))
    };
    assert_eq!(apply("").0, 422);
    let (code, object) = apply("fieldManager=me&dryRun=All");
    assert_eq!(
        (code, &object["metadata"]["resourceVersion"]),
        (201, &Value::Null)
    );
    assert_eq!(apply("fieldManager=me").0, 201);
    assert_eq!(apply("fieldManager=me").0, 200);
    let wrong = send_as(
        &mut server,
        "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=me",
        &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": []}}),
        headers,
        at(0),
    );
    assert_eq!(wrong.status, 400);
    let object = value(&get(&mut server, "/api/v1/namespaces/default/configmaps/a").1);
    assert_eq!(
        object["metadata"]["managedFields"][0]["time"],
        "2025-01-01T00:00:00Z"
    );
}
