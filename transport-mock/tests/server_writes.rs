//! Creates, updates and patches, checked against a real server's behaviour.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::api::ApiKind;
use informer_transport_mock::request::Headers;
use informer_transport_mock::status::Reason;
use informer_transport_mock::{Server, ServerConfig, StoredObject};
use serde_json::{Value, json};
use support::{at, get, metadata, names, pod, send, send_as, server, text, value, write};

#[test]
fn a_create_sets_the_fields_of_the_server() {
    let mut server = server();
    server.advance(at(60));
    let body = json!({"metadata": {"name": "a", "uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 9,
        "deletionTimestamp": "2001-01-01T00:00:00Z", "selfLink": "x", "managedFields": [{}], "labels": {}, "annotations": null},
        "spec": {"nodeName": "n"}, "status": {"phase": "Running"}});
    let object = server.create("pods", body).unwrap();
    let uid = object.uid();
    assert_ne!(uid, "mine");
    assert_eq!(
        Value::Object(object.value().clone()),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default", "uid": uid, "resourceVersion": "2",
            "creationTimestamp": "2025-01-01T00:01:00Z", "generation": 1}, "spec": {"nodeName": "n"}, "status": {"phase": "Pending"}})
    );
}

#[test]
fn a_create_answers_with_the_object() {
    let mut server = server();
    let answer = send(
        &mut server,
        "POST /api/v1/namespaces/x/pods",
        &pod("a", ""),
        at(0),
    );
    let stored = server.get("pods", "x/a").unwrap();
    assert_eq!(answer.status, 201);
    assert_eq!(text(&answer).as_bytes(), [stored.json(), b"\n"].concat());
}

#[test]
fn a_name_is_generated() {
    let mut server = server();
    let body = json!({"metadata": {"generateName": "web-"}});
    let (first, second) = (
        server.create("pods", body.clone()).unwrap(),
        server.create("pods", body).unwrap(),
    );
    assert_ne!(first.name(), second.name());
    assert!(first.name().starts_with("web-") && first.name().len() == 9);
    assert_eq!(metadata(&first)["generateName"], "web-");
}

#[test]
fn a_taken_name_is_refused() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    assert_eq!(
        server.create("pods", pod("a", "")).unwrap_err().reason(),
        Reason::AlreadyExists
    );
    assert_eq!(server.version(), 2);
    // The same name in another namespace is another object.
    server
        .create("pods", json!({"metadata": {"name": "a", "namespace": "b"}}))
        .unwrap();
}

#[test]
fn an_update_of_an_old_version_is_a_conflict() {
    let mut server = server();
    let old = server.create("pods", pod("a", "")).unwrap();
    server
        .patch("pods", "a", json!({"spec": {"x": 1}}))
        .unwrap();
    let refused = server
        .update("pods", Value::Object(old.value().clone()))
        .unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
    assert_eq!(server.version(), 3);
    let refused = server
        .patch("pods", "a", json!({"metadata": {"resourceVersion": "2"}}))
        .unwrap_err();
    assert_eq!(refused.reason(), Reason::Conflict);
}

#[test]
fn an_update_without_a_version_depends_on_the_kind() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    server.update("pods", pod("a", "app=web")).unwrap();
    server
        .create("leases", json!({"metadata": {"name": "l"}}))
        .unwrap();
    let refused = server
        .update("leases", json!({"metadata": {"name": "l"}, "spec": {}}))
        .unwrap_err();
    assert_eq!(
        (refused.code(), refused.causes()[0].field.as_str()),
        (422, "metadata.resourceVersion")
    );
    server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
    server
        .create("widgets", json!({"metadata": {"name": "w"}}))
        .unwrap();
    let refused = server
        .update("widgets", json!({"metadata": {"name": "w"}, "spec": {}}))
        .unwrap_err();
    assert_eq!(refused.code(), 422);
}

#[test]
fn a_write_without_changes_does_not_raise_the_version() {
    let mut server = server();
    let object = server.create("pods", pod("a", "app=web")).unwrap();
    let again = server
        .update("pods", Value::Object(object.value().clone()))
        .unwrap();
    assert_eq!((again.version(), server.version()), (2, 2));
    server
        .patch("pods", "a", json!({"metadata": {"labels": {"app": "web"}}}))
        .unwrap();
    server
        .patch_status("pods", "a", json!({"status": {"phase": "Pending"}}))
        .unwrap();
    assert_eq!(server.version(), 2);
}

#[test]
fn generations_count_changes_of_the_desired_state_only() {
    let mut server = server();
    server
        .create(
            "deployments",
            json!({"metadata": {"name": "a"}, "spec": {"replicas": 1}}),
        )
        .unwrap();
    let generation = |object: &StoredObject| metadata(object)["generation"].as_i64();
    let labelled = server
        .patch(
            "deploy",
            "a",
            json!({"metadata": {"labels": {"a": "b"}, "generation": 7}}),
        )
        .unwrap();
    assert_eq!(generation(&labelled), Some(1));
    let status = server
        .patch_status("deploy", "a", json!({"status": {"replicas": 1}}))
        .unwrap();
    assert_eq!(generation(&status), Some(1));
    let scaled = server
        .patch("deploy", "a", json!({"spec": {"replicas": 2}}))
        .unwrap();
    assert_eq!(generation(&scaled), Some(2));
    let map = server
        .create("configmaps", json!({"metadata": {"name": "a"}}))
        .unwrap();
    assert_eq!(generation(&map), None);
}

#[test]
fn the_status_is_written_on_its_own() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let main = server
        .patch(
            "pods",
            "a",
            json!({"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}),
        )
        .unwrap();
    assert_eq!(
        (&main.value()["spec"], &main.value()["status"]),
        (&json!({"nodeName": "n"}), &json!({"phase": "Pending"}))
    );
    let body = json!({"metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {"nodeName": "m"}, "status": {"phase": "Running"}});
    let (code, object) = write(
        &mut server,
        "PUT /api/v1/namespaces/default/pods/a/status",
        &body,
    );
    assert_eq!(
        (code, &object["status"], &object["spec"]),
        (200, &json!({"phase": "Running"}), &json!({"nodeName": "n"}))
    );
    // A built-in kind takes labels with its status; a custom resource does not.
    assert_eq!(object["metadata"]["labels"], json!({"x": "y"}));
    // A node may bring its status when it registers.
    let node = server
        .create(
            "nodes",
            json!({"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}),
        )
        .unwrap();
    assert_eq!(node.value()["status"], json!({"capacity": {"cpu": "1"}}));
    // A kind without a status subresource has no such path.
    server
        .create("configmaps", json!({"metadata": {"name": "a"}}))
        .unwrap();
    let answer = send(
        &mut server,
        "PUT /api/v1/namespaces/default/configmaps/a/status",
        &json!({}),
        at(0),
    );
    assert_eq!(answer.status, 404);
}

#[test]
fn an_update_keeps_the_fields_of_the_server() {
    let mut server = server();
    let object = server.create("pods", pod("a", "")).unwrap();
    let changed = server
        .update("pods", json!({"metadata": {"name": "a", "creationTimestamp": "2001-01-01T00:00:00Z", "labels": {"b": "c"}}}))
        .unwrap();
    assert_eq!(changed.uid(), object.uid());
    assert_eq!(
        metadata(&changed)["creationTimestamp"],
        "2025-01-01T00:00:00Z"
    );
    let deleted = json!({"metadata": {"name": "a", "deletionTimestamp": "2001-01-01T00:00:00Z"}});
    let refused = server.update("pods", deleted).unwrap_err();
    assert_eq!(
        (refused.code(), refused.message()),
        (
            422,
            "Pod \"a\" is invalid: metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is immutable"
        )
    );
    let refused = server
        .update("pods", json!({"metadata": {"name": "a", "uid": "another"}}))
        .unwrap_err();
    assert_eq!(
        refused.message(),
        format!(
            "Operation cannot be fulfilled on pods \"a\": StorageError: invalid object, Code: 4, Key: /registry/pods/default/a, ResourceVersion: 0, \
            AdditionalErrorMsg: Precondition failed: UID in precondition: another, UID in object meta: {}",
            object.uid()
        )
    );
}

#[test]
fn the_media_type_decides_the_patch() {
    let mut server = server();
    server.create("pods", json!({"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c", "image": "1"}]}})).unwrap();
    let patch = json!({"spec": {"containers": [{"name": "c", "tty": true}]}});
    for (content_type, code, containers) in [
        (
            Some("application/strategic-merge-patch+json"),
            200,
            json!([{"name": "c", "image": "1", "tty": true}]),
        ),
        (
            Some("application/merge-patch+json; charset=utf-8"),
            200,
            json!([{"name": "c", "tty": true}]),
        ),
        (Some("application/json-patch+json"), 400, Value::Null),
        // It needs a field manager.
        (Some("application/apply-patch+yaml"), 422, Value::Null),
        (None, 415, Value::Null),
    ] {
        let headers = Headers {
            accept: None,
            content_type,
        };
        let answer = send_as(
            &mut server,
            "PATCH /api/v1/namespaces/default/pods/a",
            &patch,
            headers,
            at(0),
        );
        assert_eq!(answer.status, code, "{content_type:?}");
        assert_eq!(value(&text(&answer))["spec"]["containers"], containers);
    }
    server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
    let headers = Headers {
        accept: None,
        content_type: Some("application/strategic-merge-patch+json"),
    };
    let answer = send_as(
        &mut server,
        "PATCH /apis/example.com/v1/namespaces/default/widgets/a",
        &patch,
        headers,
        at(0),
    );
    assert_eq!(answer.status, 415);
}

#[test]
fn bodies_must_match_their_path() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let named = "PUT /api/v1/namespaces/default/pods/a";
    let collection = "POST /api/v1/namespaces/default/pods";
    for (line, body, code, message) in [
        (
            collection,
            json!({"metadata": {"name": "b", "namespace": "x"}}),
            400,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
        (
            collection,
            json!({"apiVersion": "v2", "metadata": {"name": "b"}}),
            400,
            "Pod in version \"v2\" cannot be handled as a Pod: no kind \"Pod\" is registered for version \"v2\" in scheme \"pkg/runtime/scheme.go:111\"",
        ),
        (
            collection,
            json!({"kind": "Node", "metadata": {"name": "b"}}),
            400,
            "Node in version \"v1\" cannot be handled as a Pod: unknown conversion",
        ),
        (
            collection,
            json!({"metadata": {"name": "b", "resourceVersion": "5"}}),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            named,
            json!({"metadata": {"name": "b"}}),
            400,
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            named,
            json!({"metadata": {}}),
            400,
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            "PUT /api/v1/namespaces/default/pods/z",
            json!({"metadata": {"name": "z"}}),
            404,
            "pods \"z\" not found",
        ),
    ] {
        let (got, answer) = write(&mut server, line, &body);
        assert_eq!(
            (got, answer["message"].as_str()),
            (code, Some(message)),
            "{line} {body}"
        );
    }
    for body in [
        json!({"metadata": 5}),
        json!({"metadata": {"name": 5}}),
        json!({"metadata": {"name": "b", "labels": {"a": 1}}}),
        json!({"metadata": {"name": "b", "finalizers": "x"}}),
    ] {
        assert_eq!(write(&mut server, collection, &body).0, 400, "{body}");
    }
    assert_eq!(write(&mut server, collection, &json!([])).0, 400);
    assert_eq!(server.version(), 2);
}

#[test]
fn cluster_scoped_objects_lose_their_namespace() {
    let mut server = server();
    let node = server
        .create(
            "nodes",
            json!({"metadata": {"name": "n", "namespace": "x"}}),
        )
        .unwrap();
    assert_eq!((node.key(), node.namespace()), ("n", None));
    assert_eq!(get(&mut server, "/api/v1/nodes/n").0, 200);
}

#[test]
fn the_same_calls_give_the_same_bytes() {
    let run = |seed: u64| {
        let mut server = Server::new(ServerConfig::new(seed));
        let mut watch = support::watch(&mut server, "/api/v1/pods?watch=1&allowWatchBookmarks=1");
        for n in 0..20 {
            server
                .create(
                    "pods",
                    json!({"metadata": {"generateName": "p-", "labels": {"n": n.to_string()}}}),
                )
                .unwrap();
        }
        let first = server.objects("pods").next().unwrap().name().to_owned();
        server.delete("pods", &first).unwrap();
        (
            get(&mut server, "/api/v1/pods").1,
            support::lines(&mut watch, &server, at(70)).0,
        )
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_json_patch_is_done_as_a_whole_or_not_at_all() {
    let mut server = server();
    server.create("pods", pod("a", "app=web")).unwrap();
    let mut patch = |line: &str, operations: Value| {
        let headers = Headers {
            accept: None,
            content_type: Some("application/json-patch+json"),
        };
        let answer = send_as(&mut server, line, &operations, headers, at(0));
        let body = value(&text(&answer));
        (
            answer.status,
            body["metadata"]["labels"].clone(),
            server.version(),
        )
    };
    let a = "PATCH /api/v1/namespaces/default/pods/a";
    let before = 2;
    assert_eq!(
        patch(
            a,
            json!([{"op": "remove", "path": "/metadata/labels/app"}, {"op": "test", "path": "/spec", "value": 1}])
        ),
        (422, Value::Null, before)
    );
    let team = json!([{"op": "add", "path": "/metadata/labels/example.com~1team", "value": "t"}]);
    let labels = json!({"app": "web", "example.com/team": "t"});
    assert_eq!(patch(a, team.clone()), (200, labels.clone(), before + 1));
    // The same again is not a change.
    assert_eq!(patch(a, team), (200, labels, before + 1));
    // An absent object is noticed before a wrong patch.
    let nobody = "PATCH /api/v1/namespaces/default/pods/nobody";
    assert_eq!(patch(nobody, json!({})).0, 404);
}

#[test]
fn a_dry_run_answers_but_changes_nothing() {
    let mut server = server();
    let held = json!({"metadata": {"name": "held", "finalizers": ["example.com/hold"]}});
    server.create("pods", pod("a", "")).unwrap();
    server.create("pods", held).unwrap();
    let before = server.version();
    let pods = "/api/v1/namespaces/default/pods";
    let label = json!({"metadata": {"name": "a", "labels": {"k": "v"}}});
    for (line, body, code) in [
        (format!("POST {pods}?dryRun=All"), pod("b", ""), 201),
        (format!("POST {pods}?dryRun=All"), pod("a", ""), 409),
        (format!("POST {pods}?dryRun=All"), pod("A", ""), 422),
        (format!("PUT {pods}/a?dryRun=All"), label, 200),
        (format!("DELETE {pods}/a?dryRun=All"), Value::Null, 200),
        (format!("DELETE {pods}/a"), json!({"dryRun": ["All"]}), 200),
        (format!("DELETE {pods}/held?dryRun=All"), Value::Null, 200),
        (format!("DELETE {pods}?dryRun=All"), Value::Null, 200),
        (format!("POST {pods}?dryRun=Some"), pod("b", ""), 422),
        (format!("POST {pods}?dryRun="), pod("b", ""), 422),
    ] {
        let (status, _) = write(&mut server, &line, &body);
        assert_eq!(status, code, "{line}");
        assert_eq!(server.version(), before, "{line}");
    }
    assert_eq!(names(&get(&mut server, pods).1), ["a", "held"]);
    // A new object has no version yet, a changed one keeps its own.
    let (_, new) = write(
        &mut server,
        &format!("POST {pods}?dryRun=All"),
        &pod("b", ""),
    );
    assert_eq!(new["metadata"]["resourceVersion"], Value::Null);
    let gone = write(
        &mut server,
        &format!("DELETE {pods}/held?dryRun=All"),
        &Value::Null,
    );
    assert_eq!(gone.1["metadata"]["resourceVersion"], "3");
    assert!(gone.1["metadata"]["deletionTimestamp"].is_string());
    let held = server.get("pods", "held").unwrap();
    assert_eq!(metadata(held)["deletionTimestamp"], Value::Null);
}
