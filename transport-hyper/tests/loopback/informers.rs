//! Complete informers: whatever the network does, the store ends up equal to the server.

use std::collections::BTreeMap;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use informer_core::Failure;
use informer_transport_hyper::Client;

use crate::rig::driver::Driver;
use crate::rig::hand::pods;
use crate::rig::server::{Cluster, Feed};

fn event(kind: &str, name: &str, version: u32) -> String {
    format!(
        "{{\"type\":\"{kind}\",\"object\":{{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":\
         {{\"namespace\":\"web\",\"name\":\"{name}\",\"uid\":\"{name}\",\"resourceVersion\":\"{version}\"}}}}}}\n"
    )
}

fn end_of_state(version: u32) -> String {
    format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"{version}\",\
         \"annotations\":{{\"k8s.io/initial-events-end\":\"true\"}}}}}}}}\n"
    )
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

fn store(rows: &[(&str, u32)]) -> BTreeMap<String, String> {
    let rows = rows.iter();
    rows.map(|(name, version)| (format!("web/{name}"), version.to_string()))
        .collect()
}

/// A driver that has read a streamed state of two objects at version 10.
async fn synced(cluster: &mut Cluster) -> (Driver, Feed) {
    let client = Client::new(cluster.config()).unwrap();
    let mut driver = Driver::new(&client, &pods());
    let serving = async {
        let call = cluster.server.call().await;
        assert!(
            call.target.contains("sendInitialEvents=true"),
            "{}",
            call.target
        );
        let head = [
            ("content-type", "application/json"),
            ("content-encoding", "gzip"),
        ];
        let feed = call.stream_with(&head);
        feed.send(gzip(&event("ADDED", "a", 3))).await;
        feed.send(gzip(&event("ADDED", "b", 7))).await;
        feed.send(gzip(&end_of_state(10))).await;
        feed
    };
    let (feed, ()) = tokio::join!(serving, driver.until("the state", |core| core.is_synced()));
    (driver, feed)
}

#[tokio::test]
async fn a_stream_cut_within_an_object_resumes_where_it_was() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let (mut driver, feed) = synced(&mut cluster).await;
        assert_eq!(driver.store(), store(&[("a", 3), ("b", 7)]));
        feed.send(gzip(&event("MODIFIED", "a", 11))).await;
        let half = event("DELETED", "b", 12);
        feed.send(gzip(&half[..half.len() / 2])).await;
        feed.cut().await;
        let serving = async {
            let call = cluster.server.call().await;
            assert!(
                call.target.contains("resourceVersion=11"),
                "{}",
                call.target
            );
            let feed = call.stream();
            feed.send(event("DELETED", "b", 12)).await;
            feed.send(event("ADDED", "c", 13)).await;
            feed
        };
        let expected = store(&[("a", 11), ("c", 13)]);
        let reached = driver.until("the changes", |core| core.status().version == Some("13"));
        let (_feed, ()) = tokio::join!(serving, reached);
        assert_eq!(driver.store(), expected);
    }
}

#[tokio::test]
async fn a_watch_moves_to_the_successor_of_a_server_that_goes_away() {
    let mut cluster = Cluster::new(true).await;
    let (mut driver, feed) = synced(&mut cluster).await;
    feed.send(gzip(&event("MODIFIED", "a", 11))).await;
    cluster.server.go_away();
    drop(feed);
    let serving = async {
        let call = cluster.server.call().await;
        assert!(
            call.target.contains("resourceVersion=11"),
            "{}",
            call.target
        );
        let feed = call.stream();
        feed.send(event("ADDED", "c", 13)).await;
        feed
    };
    let reached = driver.until("the change", |core| core.status().version == Some("13"));
    let (_feed, ()) = tokio::join!(serving, reached);
    assert_eq!(driver.store(), store(&[("a", 11), ("b", 7), ("c", 13)]));
}

#[tokio::test]
async fn an_oversized_line_is_dropped_and_the_state_relisted() {
    let mut cluster = Cluster::new(true).await;
    let (mut driver, feed) = synced(&mut cluster).await;
    let noise = bytes::Bytes::from(gzip(&"x".repeat(1 << 20)));
    let serving = async {
        feed.send(gzip("{\"type\":\"ADDED\",\"object\":{\"a\":\""))
            .await;
        for _ in 0..20 {
            feed.send(noise.clone()).await;
        }
        feed.send(gzip("\n")).await;
        // The line may have been a deletion, so the state must be read again.
        feed.gone().await;
        let feed = cluster.server.call().await.stream();
        feed.send(event("ADDED", "c", 13)).await;
        feed.send(end_of_state(14)).await;
        feed
    };
    let reached = driver.until("the state", |core| core.status().version == Some("14"));
    let (_feed, ()) = tokio::join!(serving, reached);
    assert_eq!(driver.store(), store(&[("c", 13)]));
}

#[tokio::test]
async fn failures_are_reported_and_overcome() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    let mut driver = Driver::new(&client, &pods().in_namespace("web"));
    let serving = async {
        let call = cluster.server.call().await;
        call.reply(200, &[("content-type", "text/html")], "<html>log in</html>");
        let call = cluster.server.call().await;
        assert!(!call.target.contains("watch=true"), "{}", call.target);
        call.reply(403, &[], "");
    };
    let forbidden = driver.until("the failure", |core| {
        let status = core.status();
        let last = status.last_failure;
        last.is_some_and(|last| last.failure == Failure::Forbidden)
    });
    tokio::join!(serving, forbidden);
    let status = driver.informer.status();
    let message = &status.last_failure.unwrap().message;
    assert!(
        message.starts_with(
            "missing permission to list pods in namespace `web` (grant it with RBAC): "
        )
    );
    let serving = async {
        let feed = cluster.server.call().await.stream();
        feed.send(event("ADDED", "a", 3)).await;
        feed.send(end_of_state(10)).await;
        feed
    };
    let (_feed, ()) = tokio::join!(serving, driver.until("sync", |core| core.is_synced()));
    assert_eq!(driver.store(), store(&[("a", 3)]));
}
