//! Which requests are retried and which connections are reused.
use std::num::NonZeroUsize;

use crate::rig::frames::{Said, http2_client, serve};
use crate::rig::hand::{Hand, list, watch};
use crate::rig::server::{Call, Cluster};
use informer_core::Failure;
use informer_transport_hyper::{Client, Config, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

fn heard(requests: &mut mpsc::UnboundedReceiver<usize>) -> Vec<usize> {
    std::iter::from_fn(|| requests.try_recv().ok()).collect()
}

#[tokio::test]
async fn a_refused_stream_is_retried_a_few_times() {
    // The server accepts only after more attempts than the client may make.
    let (address, mut requests) = serve(|number| match number {
        ..20 => Said::Refused,
        _ => Said::List,
    })
    .await;
    let mut hand = Hand::new(&http2_client(address));
    hand.open(list());
    let message = hand.failed(Failure::Broken).await;
    assert!(message.contains("refused stream"), "{message}");
    assert_eq!(heard(&mut requests).len(), 4);

    let (address, mut requests) = serve(|number| match number {
        ..3 => Said::Refused,
        _ => Said::List,
    })
    .await;
    let mut hand = Hand::new(&http2_client(address));
    hand.open(list());
    hand.opened().await;
    hand.text("{}").await;
    assert_eq!(heard(&mut requests), [1, 1, 1]);
}

#[tokio::test]
async fn requests_not_processed_before_a_goaway_are_retried() {
    let (address, mut requests) = serve(|number| match number {
        1 => Said::Away,
        _ => Said::List,
    })
    .await;
    let mut hand = Hand::new(&http2_client(address));
    hand.open(list());
    hand.opened().await;
    hand.text("{}").await;
    hand.closed().await;
    assert_eq!(heard(&mut requests), [1, 2]);
}

#[tokio::test]
async fn a_second_connection_is_closed_when_it_runs_empty() {
    let mut cluster = Cluster::with_max_streams(true, 1).await;
    let client = Client::new(cluster.config()).unwrap();
    let (mut one, mut other) = (Hand::new(&client), Hand::new(&client));
    let mut feeds = Vec::new();
    for hand in [&mut one, &mut other] {
        hand.open(watch());
        feeds.push(cluster.server.call().await.stream());
        hand.opened().await;
    }
    one.abort();
    other.abort();
    for feed in &feeds {
        feed.gone().await;
    }
    // One of the two is reused and the other closed, so the next watch needs a third.
    one.open(watch());
    let call = cluster.server.call().await;
    assert!(call.connection <= 2);
    other.open(watch());
    assert_eq!(cluster.server.call().await.connection, 3);
}

#[tokio::test]
async fn only_a_few_idle_connections_are_kept() {
    const AT_ONCE: usize = 12;
    let mut cluster = Cluster::new(false).await;
    let settings = Settings {
        max_lists: NonZeroUsize::new(AT_ONCE).unwrap(),
        ..Settings::new()
    };
    let client = Client::new(cluster.config().with_settings(settings)).unwrap();
    for connections in [AT_ONCE, 2 * AT_ONCE - 8] {
        let mut hands: Vec<_> = (0..AT_ONCE).map(|_| Hand::new(&client)).collect();
        for hand in &mut hands {
            hand.open(list());
        }
        let mut calls = Vec::new();
        for _ in 0..AT_ONCE {
            calls.push(cluster.server.call().await);
        }
        assert_eq!(cluster.server.connections(), connections);
        calls.into_iter().for_each(|call: Call| call.json("{}"));
        for hand in &mut hands {
            hand.opened().await;
            hand.text("{}").await;
            hand.closed().await;
        }
    }
}

/// Reads the head of a request.
async fn request(stream: &mut TcpStream) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
}

#[tokio::test]
async fn a_garbled_answer_on_a_reused_connection_is_not_retried() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(Config::new(&url).unwrap()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(list());
    let (mut stream, _) = listener.accept().await.unwrap();
    request(&mut stream).await;
    let good = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    stream.write_all(good).await.unwrap();
    hand.opened().await;
    hand.text("{}").await;
    hand.closed().await;
    hand.open(list());
    request(&mut stream).await;
    stream
        .write_all(b"what do you want?\r\n\r\n")
        .await
        .unwrap();
    // The server has seen the request, so it must not be sent again.
    let message = tokio::select! {
        message = hand.failed(Failure::Broken) => message,
        _ = listener.accept() => panic!("the request was retried"),
    };
    assert!(message.contains("did not answer"), "{message}");
    assert!(message.contains("https://"), "{message}");
}
