//! What the server forgets, and how it answers requests for it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use informer_transport_mock::api::ApiKind;
use informer_transport_mock::watch::WatchEnd;
use informer_transport_mock::{ExpiredWatch, Server, ServerConfig};
use serde_json::{Value, json};
use support::{Rest, at, events, get, lines, pod, said, send, server, value, watch};

fn with_a_window_of_two() -> Server {
    let mut config = ServerConfig::new(7);
    config.watch_window = 2;
    Server::new(config)
}

#[test]
fn a_version_before_the_window_is_too_old() {
    let mut server = with_a_window_of_two();
    for name in ["a", "b", "c", "d"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    // The window holds versions 4 and 5.
    let mut old = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=2");
    let (lines, rest) = lines(&mut old, &server, at(0));
    assert_eq!(
        lines,
        [
            "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"too old resource version: 2 (3)\",\"reason\":\"Expired\",\"code\":410}}\n"
        ]
    );
    assert_eq!(rest, Rest::Ended(WatchEnd::Failed));
    let mut young = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=3");
    assert_eq!(said(&mut young, &server, 0), ["ADDED c@4", "ADDED d@5"]);
    // Other kinds have their own windows.
    let mut other = watch(&mut server, "/api/v1/configmaps?watch=1&resourceVersion=1");
    assert_eq!(said(&mut other, &server, 0), [""; 0]);
}

#[test]
fn a_version_can_be_too_old_although_nothing_is_missed() {
    let mut server = with_a_window_of_two();
    server.create("pods", pod("a", "")).unwrap();
    let listed = server.version();
    server.create("configmaps", pod("other", "")).unwrap();
    for name in ["b", "c"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    // The window holds b and c, the only changes to pods since.
    let mut watch = watch(
        &mut server,
        &format!("/api/v1/pods?watch=1&resourceVersion={listed}"),
    );
    assert_eq!(said(&mut watch, &server, 0), ["ERROR 410"]);
}

#[test]
fn an_expired_watch_can_be_refused_with_a_status() {
    let mut config = ServerConfig::new(7);
    config.expired_watch = ExpiredWatch::Status;
    let mut server = Server::new(config);
    server.create("pods", pod("a", "")).unwrap();
    server.forget_changes();
    let (code, body) = get(&mut server, "/api/v1/pods?watch=1&resourceVersion=1");
    assert_eq!(
        (code, value(&body)["reason"].as_str()),
        (410, Some("Expired"))
    );
}

#[test]
fn an_open_watch_that_has_fallen_behind_fails() {
    let mut server = with_a_window_of_two();
    let mut slow = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=1");
    let mut quick = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=1");
    for name in ["a", "b"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    assert_eq!(said(&mut quick, &server, 0), ["ADDED a@2", "ADDED b@3"]);
    server.create("pods", pod("c", "")).unwrap();
    assert_eq!(said(&mut quick, &server, 0), ["ADDED c@4"]);
    let (lines, rest) = lines(&mut slow, &server, at(0));
    assert_eq!(
        value(&lines[0])["object"]["message"],
        "The resourceVersion for the provided watch is too old."
    );
    assert_eq!((lines.len(), rest), (1, Rest::Ended(WatchEnd::Failed)));
}

#[test]
fn compaction_does_not_touch_watches_but_a_restart_does() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    server.create("pods", pod("b", "")).unwrap();
    let mut open = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=2");
    server.compact(server.version());
    assert_eq!(said(&mut open, &server, 0), ["ADDED b@3"]);
    let mut compacted = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=1");
    assert_eq!(said(&mut compacted, &server, 0), ["ADDED a@2", "ADDED b@3"]);

    server.restart();
    assert_eq!(
        events(&mut open, &server, at(0)),
        (vec![], Rest::Ended(WatchEnd::Cut))
    );
    let mut old = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=2");
    assert_eq!(said(&mut old, &server, 0), ["ERROR 410"]);
    let mut newest = watch(&mut server, "/api/v1/pods?watch=1&resourceVersion=3");
    server.create("pods", pod("c", "")).unwrap();
    assert_eq!(said(&mut newest, &server, 0), ["ADDED c@4"]);
}

#[test]
fn the_newest_version_is_never_compacted() {
    let mut server = server();
    server.create("pods", pod("a", "")).unwrap();
    server.compact(u64::MAX);
    server.create("pods", pod("b", "")).unwrap();
    for (version, code) in [(1, 410), (2, 200), (3, 200)] {
        let target = format!("/api/v1/pods?resourceVersion={version}&resourceVersionMatch=Exact");
        assert_eq!(get(&mut server, &target).0, code, "{version}");
    }
}

#[test]
fn lists_of_the_past_outlive_the_window_of_watches() {
    let mut server = with_a_window_of_two();
    for name in ["a", "b", "c", "d", "e"] {
        server.create("pods", pod(name, "")).unwrap();
    }
    server.restart();
    let (code, list) = get(
        &mut server,
        "/api/v1/pods?resourceVersion=3&resourceVersionMatch=Exact",
    );
    assert_eq!(
        (code, support::names(&list)),
        (200, vec!["a".to_owned(), "b".to_owned()])
    );
}

#[test]
fn watches_of_a_removed_kind_send_deletions_and_end() {
    let mut server = server();
    server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
    server
        .create("widgets", json!({"metadata": {"name": "a"}}))
        .unwrap();
    let mut watch = watch(
        &mut server,
        "/apis/example.com/v1/widgets?watch=1&resourceVersion=2",
    );
    server.remove_kind("widgets").unwrap();
    assert_eq!(
        events(&mut watch, &server, at(0)),
        (
            vec!["DELETED a@3".to_owned()],
            Rest::Ended(WatchEnd::KindRemoved)
        )
    );
    let answer = send(
        &mut server,
        "GET /apis/example.com/v1/widgets?watch=1",
        &Value::Null,
        at(0),
    );
    assert_eq!(
        (answer.status, answer.content_type),
        (404, "text/plain; charset=utf-8")
    );
    assert_eq!(answer.bytes(), Some(&b"404 page not found\n"[..]));
}
