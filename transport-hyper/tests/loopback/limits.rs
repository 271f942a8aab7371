//! Limits on lists, and lists that must not block others.
use std::io::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use crate::rig::hand::{Hand, Seen, list, stream};
use crate::rig::server::{Call, Cluster, Feed};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use informer_core::Failure;
use informer_transport_hyper::{Client, Settings};

const MIB: usize = 1 << 20;

/// `mib` MiB of spaces, compressed as a chain of members of one MiB each.
fn bomb(mib: usize) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b' '; MIB]).unwrap();
    encoder.finish().unwrap().repeat(mib).into()
}

fn packed(call: Call, body: Bytes) {
    let head = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
    ];
    call.reply(200, &head, body);
}

/// The number of bytes before the failure, and its message.
async fn bytes_until(hand: &mut Hand, expected: Failure) -> (usize, String) {
    let mut read = 0;
    loop {
        match hand.next().await {
            Seen::Bytes(bytes) => read += bytes.len(),
            Seen::Failed(failure, message) => {
                assert_eq!(failure, expected, "{message}");
                return (read, message);
            }
            other => panic!("{other:?} after {read} bytes"),
        }
    }
}

#[tokio::test]
async fn the_decompressed_size_of_a_list_is_limited() {
    for http2 in [false, true] {
        let mut cluster = Cluster::new(http2).await;
        let settings = Settings {
            max_list_bytes: 3 << 20,
            ..Settings::new()
        };
        let client = Client::new(cluster.config().with_settings(settings)).unwrap();
        let mut hand = Hand::new(&client);
        hand.open(list());
        packed(cluster.server.call().await, bomb(64));
        hand.opened().await;
        let (read, message) = bytes_until(&mut hand, Failure::Undecodable).await;
        assert!((2 * MIB..=3 * MIB).contains(&read), "{read}");
        assert!(message.contains("max_list_bytes"), "{message}");
        // A list of exactly the limit is read whole; one more byte fails, even uncompressed.
        hand.open(list());
        packed(cluster.server.call().await, bomb(3));
        hand.opened().await;
        hand.bytes(3 * MIB).await;
        hand.closed().await;
        hand.open(list());
        cluster.server.call().await.json(vec![b' '; 3 * MIB + 1]);
        hand.opened().await;
        bytes_until(&mut hand, Failure::Undecodable).await;
    }
}

#[tokio::test]
async fn decompression_counts_towards_the_list_timeout() {
    let mut cluster = Cluster::new(true).await;
    let settings = Settings {
        list_timeout: Duration::from_millis(5),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    packed(cluster.server.call().await, bomb(256));
    hand.opened().await;
    let (read, _) = bytes_until(&mut hand, Failure::TimedOut).await;
    assert!(read < 256 * MIB, "{read}");
}

#[tokio::test]
async fn the_list_timeout_applies_to_all_pieces_together() {
    let mut cluster = Cluster::new(true).await;
    let settings = Settings {
        list_timeout: Duration::from_millis(250),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let feed = cluster.server.call().await.stream();
    hand.opened().await;
    // Send each piece after the previous one has arrived: every wait is short, but they add up.
    for _ in 0..100_000 {
        if !feed.try_send(" ").await {
            break;
        }
        match hand.next().await {
            Seen::Bytes(_) => {}
            Seen::Failed(Failure::TimedOut, _) => return,
            other => panic!("{other:?}"),
        }
    }
    assert!(!feed.try_send(" ").await, "it was read to its end");
    hand.failed(Failure::TimedOut).await;
}

/// Sends until the client has gone.
fn flood(feed: Feed) -> tokio::task::JoinHandle<()> {
    let chunk = Bytes::from(vec![b' '; 64 << 10]);
    tokio::spawn(async move { while feed.try_send(chunk.clone()).await {} })
}

/// More informers than may list at a time stop reading, each with a list that is larger than all windows
/// and buffers. The next list does not wait for them.
#[tokio::test]
async fn stalled_lists_do_not_block_others() {
    tokio::join!(
        stalled_lists(Cluster::new(false).await),
        stalled_lists(Cluster::new(true).await),
    );
}

async fn stalled_lists(mut cluster: Cluster) {
    let settings = Settings {
        max_lists: NonZeroUsize::new(2).unwrap(),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    let mut stalled = Vec::new();
    let mut floods = Vec::new();
    for request in [list(), stream(), list(), list()] {
        let mut hand = Hand::new(&client);
        hand.open(request);
        floods.push(flood(cluster.server.call().await.stream()));
        hand.opened().await;
        stalled.push(hand);
    }
    let mut hand = Hand::new(&client);
    hand.open(list());
    let body = " ".repeat(4 * MIB);
    cluster.server.call().await.json(body.clone());
    hand.opened().await;
    hand.text(&body).await;
    hand.closed().await;
    // The stalled readers continue where they stopped.
    for hand in &mut stalled {
        assert!(matches!(hand.next().await, Seen::Bytes(_)));
    }
    floods.iter().for_each(|flood| flood.abort());
}
