//! Watches, checked against a real server's behaviour.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::answer::AnswerBody;
use informer_transport_mock::api::ApiKind;
use informer_transport_mock::request::Headers;
use informer_transport_mock::watch::WatchEnd;
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};
use support::{Rest, at, events, get, lines, pod, said, server, value, watch, watch_at};

#[test]
fn a_watch_without_a_version_begins_with_the_state_and_its_end_bookmark() {
    for query in [
        "",
        "resourceVersion=0&",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=2&",
    ] {
        let mut server = server();
        server.create("pods", pod("b", "")).unwrap();
        server.create("pods", pod("a", "")).unwrap();
        let target =
            format!("/api/v1/pods?watch=1&{query}allowWatchBookmarks=true&timeoutSeconds=50");
        let mut watch = watch(&mut server, &target);
        server.create("pods", pod("c", "")).unwrap();
        assert_eq!(
            events(&mut watch, &server, at(1)),
            (
                ["ADDED a@3", "ADDED b@2", "BOOKMARK @3 end", "ADDED c@4"]
                    .map(str::to_owned)
                    .to_vec(),
                Rest::Idle(at(48))
            ),
            "{query}"
        );
    }
}

#[test]
fn the_end_bookmark_comes_only_if_bookmarks_are_allowed() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let mut watch = watch(&mut server, "/api/v1/pods?watch=1");
    assert_eq!(said(&mut watch, &server, 0), ["ADDED a@2"]);
}

#[test]
fn without_initial_events_a_watch_begins_now() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=0",
    );
    server.create("pods", pod("b", "")).unwrap();
    assert_eq!(said(&mut watch, &server, 0), ["ADDED b@3"]);
}

#[test]
fn lines_are_byte_for_byte_the_real_ones() {
    let mut server = server();
    let mut pods = watch(&mut server, "/api/v1/pods?watch=1&allowWatchBookmarks=1");
    assert_eq!(
        lines(&mut pods, &server, at(0)).0,
        [
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}},\"spec\":{\"containers\":null},\"status\":{}}}\n"
        ]
    );
    server
        .create(
            "configmaps",
            json!({"metadata": {"name": "a"}, "data": {"k": "<v>"}}),
        )
        .unwrap();
    let uid = server.get("configmaps", "a").unwrap().uid().to_owned();
    let mut maps = watch(&mut server, "/api/v1/configmaps?watch=1&resourceVersion=1");
    server.delete("configmaps", "a").unwrap();
    let line = |event: &str, version: u64| {
        format!(
            "{{\"type\":\"{event}\",\"object\":{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"a\",\"namespace\":\"default\",\
            \"uid\":\"{uid}\",\"resourceVersion\":\"{version}\",\"creationTimestamp\":\"2025-01-01T00:00:00Z\"}},\"data\":{{\"k\":\"\\u003cv\\u003e\"}}}}}}\n"
        )
    };
    assert_eq!(
        lines(&mut maps, &server, at(0)).0,
        [line("ADDED", 2), line("DELETED", 3)]
    );
}

#[test]
fn events_after_a_version_arrive_once_and_in_order() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    let mut watch = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=2");
    server.create("pods", pod("b", "")).unwrap();
    server.create("configmaps", pod("other", "")).unwrap();
    server
        .patch("pods", "a", json!({"spec": {"x": 1}}))
        .unwrap();
    assert_eq!(said(&mut watch, &server, 0), ["ADDED b@3", "MODIFIED a@5"]);
    server.delete("pods", "b").unwrap();
    assert_eq!(said(&mut watch, &server, 1), ["DELETED b@6"]);
    assert_eq!(said(&mut watch, &server, 2), [""; 0]);
}

#[test]
fn no_server_is_at_version_0() {
    let mut config = ServerConfig::new(7);
    config.first_version = 0;
    let mut server = Server::new(config);
    let mut watch = watch(&mut server, "/api/v1/pods?watch=1&allowWatchBookmarks=1");
    assert_eq!(said(&mut watch, &server, 0), ["BOOKMARK @1 end"]);
}

#[test]
fn a_watch_of_a_namespace_sees_only_its_objects() {
    let mut server = server();
    let mut watch = watch(&mut server, "/api/v1/namespaces/a/pods?watch=1");
    for namespace in ["a", "ab", "b"] {
        server
            .create(
                "pods",
                json!({"metadata": {"name": namespace, "namespace": namespace}}),
            )
            .unwrap();
    }
    assert_eq!(said(&mut watch, &server, 0), ["ADDED a@2"]);
}

#[test]
fn a_selector_turns_changes_into_additions_and_deletions() {
    let mut server = server();
    server.create("pods", pod("a", "app=web")).unwrap();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=2&labelSelector=app%3Dweb",
    );
    for labels in [
        json!({"tier": "x"}),
        json!({"app": "db"}),
        json!({"tier": "y"}),
        json!({"app": "web"}),
    ] {
        server
            .patch("pods", "a", json!({"metadata": {"labels": labels}}))
            .unwrap();
    }
    server.delete("pods", "a").unwrap();
    let seen: Vec<_> = lines(&mut watch, &server, at(0))
        .0
        .iter()
        .map(|line| {
            let event = value(line);
            let metadata = &event["object"]["metadata"];
            format!(
                "{} {} {}",
                event["type"], metadata["resourceVersion"], metadata["labels"]
            )
        })
        .collect();
    // An object that stops matching is deleted in its last matching state, at the version of the
    // change.
    assert_eq!(
        seen,
        [
            r#""MODIFIED" "3" {"app":"web","tier":"x"}"#,
            r#""DELETED" "4" {"app":"web","tier":"x"}"#,
            r#""ADDED" "6" {"app":"web","tier":"y"}"#,
            r#""DELETED" "7" {"app":"web","tier":"y"}"#,
        ]
    );
}

#[test]
fn selectors_apply_to_the_initial_state() {
    let mut server = server();
    for (name, labels) in [("a", "app=web"), ("b", "app=db"), ("c", "")] {
        server.create("pods", pod(name, labels)).unwrap();
    }
    let mut watch = watch(
        &mut server,
        "/api/v1/namespaces/default/pods?watch=1&labelSelector=app%3Dweb",
    );
    assert_eq!(said(&mut watch, &server, 0), ["ADDED a@2"]);
}

#[test]
fn a_field_selector_follows_a_pod_to_its_node() {
    let mut server = server();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1",
    );
    server.create("pods", pod("a", "")).unwrap();
    server
        .patch("pods", "a", json!({"spec": {"nodeName": "n1"}}))
        .unwrap();
    assert_eq!(said(&mut watch, &server, 0), ["ADDED a@3"]);
}

#[test]
fn bookmarks_come_every_minute_and_shortly_before_the_end() {
    let mut server = server();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=1&allowWatchBookmarks=1&timeoutSeconds=150",
    );
    // Nothing has happened, so there is no bookmark.
    assert_eq!(
        events(&mut watch, &server, at(60)),
        (vec![], Rest::Idle(at(120)))
    );
    server.create("configmaps", pod("other", "")).unwrap();
    assert_eq!(
        events(&mut watch, &server, at(119)),
        (vec![], Rest::Idle(at(120)))
    );
    assert_eq!(
        events(&mut watch, &server, at(120)),
        (vec!["BOOKMARK @2".to_owned()], Rest::Idle(at(148)))
    );
    assert_eq!(
        events(&mut watch, &server, at(148)),
        (vec!["BOOKMARK @2".to_owned()], Rest::Idle(at(150)))
    );
    assert_eq!(
        events(&mut watch, &server, at(150)),
        (vec![], Rest::Ended(WatchEnd::Timeout))
    );
    assert_eq!(
        events(&mut watch, &server, at(0)),
        (vec![], Rest::Ended(WatchEnd::Timeout))
    );
}

#[test]
fn a_watch_polled_late_sends_everything_before_it_ends() {
    let mut server = server();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=1&allowWatchBookmarks=1&timeoutSeconds=100",
    );
    server.create("pods", pod("a", "")).unwrap();
    assert_eq!(
        events(&mut watch, &server, at(1000)),
        (
            vec!["ADDED a@2".to_owned(), "BOOKMARK @2".to_owned()],
            Rest::Ended(WatchEnd::Timeout)
        )
    );
}

#[test]
fn a_watch_without_bookmarks_sends_none() {
    let mut server = server();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=1&timeoutSeconds=100",
    );
    server.create("configmaps", pod("other", "")).unwrap();
    assert_eq!(
        events(&mut watch, &server, at(99)),
        (vec![], Rest::Idle(at(100)))
    );
}

#[test]
fn a_watch_without_timeout_ends_by_itself() {
    let mut server = server();
    let mut watch = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=1");
    assert_eq!(events(&mut watch, &server, at(0)).1, Rest::Idle(at(1800)));
}

#[test]
fn a_plain_watch_from_a_future_version_is_silent_until_then() {
    let mut server = server();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=3&allowWatchBookmarks=1",
    );
    for name in ["a", "b"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    assert_eq!(said(&mut watch, &server, 100), [""; 0]);
    server.create("pods", pod("c", "")).unwrap();
    assert_eq!(said(&mut watch, &server, 100), ["ADDED c@4"]);
}

#[test]
fn a_streamed_list_at_a_future_version_waits_three_seconds() {
    let target = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=2&allowWatchBookmarks=1";
    let mut server = server();
    let mut lucky = watch_at(&mut server, target, at(10));
    let mut unlucky = watch_at(&mut server, target, at(10));
    assert_eq!(
        events(&mut unlucky, &server, at(10)),
        (vec![], Rest::Idle(at(13)))
    );
    let (lines, rest) = lines(&mut unlucky, &server, at(13));
    let status = &value(&lines[0])["object"];
    assert_eq!(
        (
            status["code"].as_u64(),
            &status["details"]["causes"][0]["reason"]
        ),
        (Some(504), &json!("ResourceVersionTooLarge"))
    );
    assert_eq!((lines.len(), rest), (1, Rest::Ended(WatchEnd::Failed)));

    server.create("pods", pod("a", "")).unwrap();
    assert_eq!(
        said(&mut lucky, &server, 12),
        ["ADDED a@2", "BOOKMARK @2 end"]
    );
}

#[test]
fn invalid_combinations_are_refused() {
    let mut server = server();
    for (query, code) in [
        ("sendInitialEvents=true", 422),
        ("sendInitialEvents=false", 422),
        ("sendInitialEvents=true&resourceVersionMatch=Exact", 422),
        ("resourceVersionMatch=NotOlderThan", 422),
        ("resourceVersionMatch=NotOlderThan&resourceVersion=1", 422),
        (
            "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=x",
            422,
        ),
        ("continue=x", 422),
        ("resourceVersion=x", 500),
        ("fieldSelector=a%3Db", 400),
    ] {
        let (got, body) = get(&mut server, &format!("/api/v1/pods?watch=1&{query}"));
        assert_eq!(got, code, "{query}: {body}");
    }
}

#[test]
fn a_custom_resource_is_watched_in_alphabetical_order() {
    let mut server = server();
    server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget").cluster_scoped());
    let mut watch = watch(
        &mut server,
        "/apis/example.com/v1/widgets?watch=1&allowWatchBookmarks=1",
    );
    assert_eq!(
        lines(&mut watch, &server, at(0)).0,
        [
            "{\"type\":\"BOOKMARK\",\"object\":{\"apiVersion\":\"example.com/v1\",\"kind\":\"Widget\",\"metadata\":{\"annotations\":{\"k8s.io/initial-events-end\":\"true\"},\"resourceVersion\":\"1\"}}}\n"
        ]
    );
}

#[test]
fn other_forms_are_watched_too() {
    for (form, kind) in [
        ("PartialObjectMetadata", "PartialObjectMetadata"),
        ("Table", "Table"),
    ] {
        let mut server = server();
        server
            .create(
                "pods",
                json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
            )
            .unwrap();
        let accept = format!("application/json;as={form};g=meta.k8s.io;v=v1");
        let headers = Headers {
            accept: Some(&accept),
            content_type: None,
        };
        let answer = support::send_as(
            &mut server,
            "GET /api/v1/pods?watch=1&allowWatchBookmarks=1",
            &Value::Null,
            headers,
            at(0),
        );
        let AnswerBody::Watch(mut watch) = answer.body else {
            panic!()
        };
        server.delete("pods", "a").unwrap();
        let (lines, _) = lines(&mut watch, &server, at(5));
        let objects: Vec<_> = lines
            .iter()
            .map(|line| value(line)["object"].clone())
            .collect();
        assert_eq!(objects.len(), 3);
        // The table columns are sent once.
        let columns: Vec<bool> = objects
            .iter()
            .map(|object| object["columnDefinitions"].is_array())
            .collect();
        assert_eq!(columns, [form == "Table", false, false]);
        assert!(
            objects
                .iter()
                .all(|object| object["kind"] == kind && object.get("spec").is_none())
        );
        let metadata = |n: usize| match kind {
            "Table" => objects[n]["rows"][0]["object"]["metadata"].clone(),
            _ => objects[n]["metadata"].clone(),
        };
        assert_eq!(metadata(0)["name"], "a");
        assert_eq!(
            metadata(1)["annotations"]["k8s.io/initial-events-end"],
            "true"
        );
        assert_eq!(
            (&metadata(2)["name"], &metadata(2)["resourceVersion"]),
            (&json!("a"), &json!("3"))
        );
    }
}
