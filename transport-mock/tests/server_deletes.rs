//! Deletions and finalizers, checked against a real server's behaviour.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use serde_json::{Value, json};
use support::{at, metadata, pod, send, server, text, value, write};

#[test]
fn a_deletion_waits_for_finalizers() {
    let mut server = server();
    let body = json!({"metadata": {"name": "a", "finalizers": ["example.com/x", "example.com/y"]}});
    server.create("pods", body).unwrap();
    server.advance(at(30));
    assert_eq!(server.delete("pods", "a"), Ok(false));
    let marked = server.get("pods", "a").unwrap();
    assert_eq!(
        metadata(marked)["deletionTimestamp"],
        "2025-01-01T00:00:30Z"
    );
    assert_eq!(metadata(marked)["deletionGracePeriodSeconds"], 0);
    assert_eq!(metadata(marked)["generation"], 2);
    // A second deletion changes nothing.
    server.advance(at(40));
    assert_eq!(server.delete("pods", "a"), Ok(false));
    assert_eq!(server.version(), 3);

    let refused = server
        .patch(
            "pods",
            "a",
            json!({"metadata": {"finalizers": ["example.com/x", "example.com/z"]}}),
        )
        .unwrap_err();
    assert_eq!(refused.code(), 422);
    let mut watch = support::watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=3");
    server
        .patch(
            "pods",
            "a",
            json!({"metadata": {"finalizers": ["example.com/y"]}}),
        )
        .unwrap();
    assert!(server.get("pods", "a").is_some());
    server
        .patch("pods", "a", json!({"metadata": {"finalizers": null}}))
        .unwrap();
    assert!(server.get("pods", "a").is_none());
    let (lines, _) = support::lines(&mut watch, &server, at(40));
    let last = &value(&lines[1]);
    // The last write was not stored: the deleted object still has its finalizer.
    assert_eq!(
        (
            &last["type"],
            &last["object"]["metadata"]["resourceVersion"],
            &last["object"]["metadata"]["finalizers"]
        ),
        (&json!("DELETED"), &json!("5"), &json!(["example.com/y"]))
    );
}

#[test]
fn removing_finalizers_before_a_deletion_does_not_delete() {
    let mut server = server();
    server
        .create(
            "pods",
            json!({"metadata": {"name": "a", "finalizers": ["example.com/x"]}}),
        )
        .unwrap();
    server
        .patch("pods", "a", json!({"metadata": {"finalizers": []}}))
        .unwrap();
    assert!(server.get("pods", "a").is_some());
    assert_eq!(server.delete("pods", "a"), Ok(true));
}

#[test]
fn deletions_answer_with_the_object_or_a_status() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let (code, body) = write(
        &mut server,
        "DELETE /api/v1/namespaces/default/pods/a",
        &Value::Null,
    );
    assert_eq!(
        (code, &body["kind"], &body["metadata"]["resourceVersion"]),
        (200, &json!("Pod"), &json!("3"))
    );
    let uid = server
        .create("deployments", json!({"metadata": {"name": "d"}}))
        .unwrap()
        .uid()
        .to_owned();
    let answer = send(
        &mut server,
        "DELETE /apis/apps/v1/namespaces/default/deployments/d",
        &Value::Null,
        at(0),
    );
    assert_eq!(
        text(&answer),
        format!(
            "{{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{{}},\"status\":\"Success\",\"details\":{{\"name\":\"d\",\"group\":\"apps\",\"kind\":\"deployments\",\"uid\":\"{uid}\"}}}}\n"
        )
    );
    let (code, _) = write(
        &mut server,
        "DELETE /api/v1/namespaces/default/pods/a",
        &Value::Null,
    );
    assert_eq!(code, 404);
}

#[test]
fn deletions_have_preconditions() {
    let mut server = server();
    let uid = server
        .create("pods", pod("a", ""))
        .unwrap()
        .uid()
        .to_owned();
    let line = "DELETE /api/v1/namespaces/default/pods/a";
    for (preconditions, message) in [
        (json!({"uid": "other"}), format!("Operation cannot be fulfilled on Pod \"a\": the UID in the precondition (other) does not match the UID in record ({uid}). The object might have been deleted and then recreated")),
        (json!({"resourceVersion": "1"}), "Operation cannot be fulfilled on Pod \"a\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (2). The object might have been modified".to_owned()),
    ] {
        let (code, body) = write(&mut server, line, &json!({"preconditions": preconditions}));
        assert_eq!((code, &body["reason"], &body["message"]), (409, &json!("Conflict"), &json!(message)));
    }
    let (code, _) = write(
        &mut server,
        line,
        &json!({"preconditions": {"uid": uid, "resourceVersion": "2"}}),
    );
    assert_eq!(code, 200);
}

#[test]
fn an_invalid_deletion_deletes_nothing() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let line = "DELETE /api/v1/namespaces/default/pods/a";
    for (query, body, code) in [
        ("", json!({"propagationPolicy": "Sideways"}), 422),
        (
            "",
            json!({"propagationPolicy": "Orphan", "orphanDependents": true}),
            422,
        ),
        ("", json!({"kind": "Pod", "apiVersion": "v1"}), 400),
        ("?propagationPolicy=Sideways", Value::Null, 422),
        ("?gracePeriodSeconds=soon", Value::Null, 400),
    ] {
        let (got, answer) = write(&mut server, &format!("{line}{query}"), &body);
        assert_eq!(got, code, "{query} {body}: {answer}");
    }
    assert!(server.get("pods", "a").is_some());
    let (code, _) = write(
        &mut server,
        &format!("{line}?propagationPolicy=Foreground&gracePeriodSeconds=0"),
        &Value::Null,
    );
    assert_eq!(code, 200);
}

#[test]
fn a_collection_is_deleted_by_selector() {
    let mut server = server();
    for (name, labels) in [("a", "app=web"), ("b", ""), ("c", "app=web")] {
        server.create("pods", pod(name, labels)).unwrap();
    }
    server
        .patch(
            "pods",
            "c",
            json!({"metadata": {"finalizers": ["example.com/x"]}}),
        )
        .unwrap();
    let answer = send(
        &mut server,
        "DELETE /api/v1/namespaces/default/pods?labelSelector=app",
        &Value::Null,
        at(0),
    );
    assert_eq!(
        (answer.status, support::names(&text(&answer))),
        (200, vec!["a".to_owned(), "c".to_owned()])
    );
    let left: Vec<_> = server
        .objects("pods")
        .map(|object| object.name().to_owned())
        .collect();
    assert_eq!(left, ["b", "c"]);
    assert!(
        metadata(server.get("pods", "c").unwrap())
            .get("deletionTimestamp")
            .is_some()
    );
}
