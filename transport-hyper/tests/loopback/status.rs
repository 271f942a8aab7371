//! What a client says of itself.
use std::num::NonZeroUsize;

use crate::rig::hand::{Hand, list, watch};
use crate::rig::server::Cluster;
use crate::rig::soon;
use informer_core::Failure;
use informer_transport_hyper::{Client, ClientStatus, Config, Settings};

/// Waits until the status is as wanted. What a server closes is noticed by another task.
async fn until(client: &Client, what: &str, wanted: impl Fn(&ClientStatus) -> bool) {
    soon(what, async {
        while !wanted(&client.status()) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

async fn watching(cluster: &mut Cluster, client: &Client) -> Hand {
    let mut hand = Hand::new(client);
    hand.open(watch());
    let feed = cluster.server.call().await.stream();
    hand.opened().await;
    // The answer stays open until the client gives it up.
    tokio::spawn(async move { feed.gone().await });
    hand
}

#[tokio::test]
async fn http2_connections_have_streams() {
    let mut cluster = Cluster::new(true).await;
    let client = Client::new(cluster.config()).unwrap();
    assert_eq!(client.status().connects, 0);
    let hands = [
        watching(&mut cluster, &client).await,
        watching(&mut cluster, &client).await,
    ];
    let status = client.status();
    assert_eq!((status.http1_connections, status.http2_connections), (0, 1));
    assert_eq!((status.http2_streams, status.connects), (2, 1));
    let said = status.to_string();
    assert!(
        said.contains(": connections: 1 of HTTP/2 with 2 streams; 0 of 8 list slots"),
        "{said}"
    );
    drop(hands);
    until(&client, "no streams", |status| status.http2_streams == 0).await;
    let data = serde_json::to_value(client.status()).unwrap();
    assert_eq!(data["connects"], 1);
    assert_eq!(data["list_waited"], 0.0);
}

#[tokio::test]
async fn http1_connections_are_counted_until_they_end() {
    let mut cluster = Cluster::new(false).await;
    let client = Client::new(cluster.config()).unwrap();
    let hands = [
        watching(&mut cluster, &client).await,
        watching(&mut cluster, &client).await,
    ];
    let status = client.status();
    assert_eq!((status.http1_connections, status.http2_connections), (2, 0));
    assert_eq!((status.http2_streams, status.connects), (0, 2));
    drop(hands);
    until(&client, "no connections", |it| it.http1_connections == 0).await;
    assert_eq!(client.status().connects, 2);
}

#[tokio::test]
async fn a_list_that_waits_for_another_is_counted() {
    let mut cluster = Cluster::new(true).await;
    let settings = Settings {
        max_lists: NonZeroUsize::MIN,
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let (mut first, mut second) = (Hand::new(&client), Hand::new(&client));
    first.open(list());
    let call = cluster.server.call().await;
    second.open(list());
    until(&client, "a wait", |status| status.list_waits == 1).await;
    let status = client.status();
    assert_eq!((status.list_slots, status.list_slots_in_use), (1, 1));
    call.json("{}");
    first.opened().await;
    first.text("{}").await;
    first.closed().await;
    cluster.server.call().await.json("{}");
    second.opened().await;
    second.text("{}").await;
    second.closed().await;
    until(&client, "a free slot", |it| it.list_slots_in_use == 0).await;
    let status = client.status();
    assert_eq!(status.list_waits, 1);
    assert!(!status.list_waited.is_zero());
}

#[tokio::test]
async fn failed_attempts_are_counted() {
    let client = Client::new(Config::new("http://127.0.0.1:1").unwrap()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(watch());
    hand.failed(Failure::Unreachable).await;
    let status = client.status();
    assert_eq!((status.connects, status.failed_connects), (0, 1));
    assert!(
        status
            .to_string()
            .contains("; failed attempts to connect: 1; "),
        "{status}"
    );
}

#[tokio::test]
async fn a_weak_client_keeps_nothing_alive() {
    let client = Client::new(Config::new("http://127.0.0.1:1").unwrap()).unwrap();
    let weak = client.downgrade();
    assert_eq!(weak.upgrade().map(|it| it.id()), Some(client.id()));
    drop(client);
    assert!(weak.upgrade().is_none());
}
