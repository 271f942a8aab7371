//! Watches, against what a real server does.

mod support;

use informer_transport_mock::watch::End;
use serde_json::json;
use support::{Rest, at, events, lines, pod, server, watch};

#[test]
fn a_watch_from_nowhere_begins_with_the_state_and_its_end_bookmark() {
    for version in [
        "",
        "resourceVersion=0&",
        "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&",
    ] {
        let mut server = server();
        server.create("pods", pod("b", "")).unwrap();
        server.create("pods", pod("a", "")).unwrap();
        let target =
            format!("/api/v1/pods?watch=1&{version}allowWatchBookmarks=true&timeoutSeconds=50");
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
            "{target}"
        );
    }
}

#[test]
fn the_end_bookmark_is_the_real_one() {
    let mut server = server();
    let mut watch = watch(&mut server, "/api/v1/pods?watch=1&allowWatchBookmarks=1");
    assert_eq!(
        lines(&mut watch, &server, at(0)).0,
        [
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"1\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}},\"spec\":{\"containers\":null},\"status\":{}}}\n"
        ]
    );
}

#[test]
fn a_selector_turns_changes_into_additions_and_deletions() {
    let mut server = server();
    server.create("pods", pod("a", "app=web")).unwrap();
    let mut watch = watch(
        &mut server,
        "/api/v1/pods?watch=1&resourceVersion=2&labelSelector=app%3Dweb&timeoutSeconds=10",
    );
    server
        .patch("pods", "a", json!({"metadata": {"labels": {"tier": "x"}}}))
        .unwrap();
    server
        .patch("pods", "a", json!({"metadata": {"labels": {"app": "db"}}}))
        .unwrap();
    server
        .patch("pods", "a", json!({"metadata": {"labels": {"tier": "y"}}}))
        .unwrap();
    server
        .patch("pods", "a", json!({"metadata": {"labels": {"app": "web"}}}))
        .unwrap();
    server.delete("pods", "a").unwrap();
    let (lines, rest) = lines(&mut watch, &server, at(10));
    let events: Vec<_> = lines
        .iter()
        .map(|line| {
            let event = support::value(line);
            let metadata = &event["object"]["metadata"];
            format!(
                "{} {} {}",
                event["type"], metadata["resourceVersion"], metadata["labels"]
            )
        })
        .collect();
    assert_eq!(
        events,
        [
            r#""MODIFIED" "3" {"app":"web","tier":"x"}"#,
            r#""DELETED" "4" {"app":"web","tier":"x"}"#,
            r#""ADDED" "6" {"app":"web","tier":"y"}"#,
            r#""DELETED" "7" {"app":"web","tier":"y"}"#,
        ]
    );
    assert_eq!(rest, Rest::Ended(End::Timeout));
}
