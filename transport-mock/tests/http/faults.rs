//! Fault scripts over the wire.

use informer_transport_mock::http::{HttpConfig, Running, SharedServer};
use serde_json::Value;

use crate::client::{Client, Line, Version, event, pod, start};

async fn with_faults(pods: &[&str], script: &str) -> (SharedServer, Running) {
    let mut config = HttpConfig::new();
    config.faults = script.parse().unwrap();
    start(pods, config).await
}

#[tokio::test]
async fn requests_are_refused_and_discovery_is_not_counted() {
    let (_, running) = with_faults(&["a"], "after 1 request refuse 2 429").await;
    let mut client = Client::connect(&running).await;
    client.get("/apis").await;
    client.get("/readyz").await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let reply = client.get("/api/v1/pods").await;
        let retry_after = reply.header("retry-after").unwrap_or("none").to_owned();
        statuses.push((reply.status, retry_after));
    }
    let (fine, refused) = ((200, "none".to_owned()), (429, "1".to_owned()));
    assert_eq!(statuses, [fine.clone(), refused.clone(), refused, fine]);
}

#[tokio::test]
async fn a_reset_sends_half_an_event() {
    for version in [Version::Http1, Version::Http2] {
        let (server, running) = with_faults(&["a"], "after 1 event reset").await;
        let mut client = Client::connect_in(&running, version).await;
        let mut lines = client.watch("/api/v1/pods?watch=1").await;
        assert_eq!(lines.next().await, event("ADDED a@2"));
        server
            .with(|server| server.create("pods", pod("b")))
            .unwrap();
        let end = lines.next().await;
        assert!(
            matches!(end, Line::Broken(bytes) if bytes > 10),
            "{version:?} {end:?}"
        );
        // It happens once.
        let mut client = Client::connect_in(&running, version).await;
        let mut lines = client.watch("/api/v1/pods?watch=1&resourceVersion=2").await;
        assert_eq!(lines.next().await, event("ADDED b@3"));
    }
}

#[tokio::test]
async fn a_reset_sends_half_a_list() {
    let (_, running) = with_faults(&["a"], "after 0 requests reset").await;
    let mut client = Client::connect(&running).await;
    // The list has no newline before its end.
    let mut body = client.watch("/api/v1/pods").await;
    assert!(matches!(body.next().await, Line::Broken(bytes) if bytes > 10));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_event_is_late() {
    let (server, running) = with_faults(&[], "at 0s delay 7s").await;
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch("/api/v1/pods?watch=1&resourceVersion=1").await;
    let begun = tokio::time::Instant::now();
    for name in ["a", "b"] {
        server
            .with(|server| server.create("pods", pod(name)))
            .unwrap();
    }
    assert_eq!(lines.next().await, event("ADDED a@2"));
    assert_eq!(lines.next().await, event("ADDED b@3"));
    // The clock may run ahead while bytes are in flight.
    assert!(begun.elapsed().as_secs() >= 7);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_watch_is_silent_beyond_its_end() {
    let (_, running) = with_faults(&["a"], "after 0 events stall").await;
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch("/api/v1/pods?watch=1&timeoutSeconds=10").await;
    let day = std::time::Duration::from_secs(86_400);
    assert!(tokio::time::timeout(day, lines.next()).await.is_err());
}

#[tokio::test]
async fn the_server_forgets_and_restarts() {
    let script = "after 1 event restart\nafter 2 requests compact\nafter 2 events expire";
    let (server, running) = with_faults(&["a"], script).await;
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch("/api/v1/pods?watch=1").await;
    assert_eq!(lines.next().await, event("ADDED a@2"));
    assert_eq!(lines.next().await, Line::Broken(0));

    server
        .with(|server| server.create("pods", pod("b")))
        .unwrap();
    let mut client = Client::connect(&running).await;
    let old = "/api/v1/pods?resourceVersion=2&resourceVersionMatch=Exact";
    assert_eq!(client.get(old).await.names(), ["a"]);
    assert_eq!(client.get(old).await.status, 410);

    let from_a = "/api/v1/pods?watch=1&resourceVersion=2";
    let mut lines = client.watch(from_a).await;
    assert_eq!(lines.next().await, event("ADDED b@3"));
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch(from_a).await;
    assert_eq!(lines.next().await, event("ERROR 410"));
}

#[tokio::test(start_paused = true)]
async fn a_timed_fault_happens_at_its_time() {
    let (_, running) = with_faults(&["a"], "at 90s refuse 1 503").await;
    tokio::time::sleep(std::time::Duration::from_secs(90)).await;
    let mut client = Client::connect(&running).await;
    assert_eq!(client.get("/api/v1/pods").await.status, 503);
    assert_eq!(client.get("/api/v1/pods").await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_are_dropped() {
    let (_, running) = with_faults(&["a"], "after 0 requests drop-bookmarks").await;
    let mut client = Client::connect(&running).await;
    let streamed = "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=90";
    let mut lines = client.watch(streamed).await;
    assert_eq!(lines.next().await, event("ADDED a@2"));
    assert_eq!(lines.next().await, Line::Ended);
    assert_eq!(
        client
            .ask("GET /api/v1/pods", &[], &Value::Null)
            .await
            .names(),
        ["a"]
    );
}
