//! Pieces of a body that have arrived are shown together, and may be large.
use crate::rig::frames::{Said, http2_client, serve};
use crate::rig::hand::{Hand, Seen, list, watch};
use informer_core::Failure;
use informer_core::transport::Request;
use informer_transport_hyper::{Client, Config};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const HEAD: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
const EVENT: &str = "{\"type\":\"ADDED\"}\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// Asks for something. The answer is up to the test.
async fn asked(request: Request<'static>) -> (Hand, TcpStream) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let client = Client::new(Config::new(&url).unwrap()).unwrap();
    let mut hand = Hand::new(&client);
    hand.open(request);
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (hand, stream)
}

#[tokio::test]
async fn events_that_arrived_together_are_one_signal() {
    let (mut hand, mut server) = asked(watch()).await;
    // One write, so that it arrives as a whole.
    let body = chunk(EVENT).repeat(100);
    server
        .write_all(format!("{HEAD}{body}").as_bytes())
        .await
        .unwrap();
    hand.opened().await;
    assert_eq!(hand.next().await, Seen::Bytes(EVENT.repeat(100).into()));
    server.write_all(body.as_bytes()).await.unwrap();
    assert_eq!(hand.next().await, Seen::Bytes(EVENT.repeat(100).into()));
}

#[tokio::test]
async fn the_end_comes_behind_the_bytes_before_it() {
    for (end, expected) in [("0\r\n\r\n", None), ("what?\r\n", Some(Failure::Broken))] {
        for request in [list(), watch()] {
            let (mut hand, mut server) = asked(request).await;
            let answer = format!("{HEAD}{}{}{end}", chunk("one"), chunk("two"));
            server.write_all(answer.as_bytes()).await.unwrap();
            hand.opened().await;
            assert_eq!(hand.next().await, Seen::Bytes(b"onetwo".to_vec()));
            match expected {
                None => hand.closed().await,
                Some(failure) => drop(hand.failed(failure).await),
            }
        }
    }
}

#[tokio::test]
async fn pieces_of_all_sizes_keep_their_order() {
    let (mut hand, mut server) = asked(watch()).await;
    let (large, larger) = ("x".repeat(16 << 10), "y".repeat(200 << 10));
    let pieces = [EVENT, EVENT, &large, EVENT, &larger, &large, EVENT, EVENT];
    let body = pieces.map(chunk).concat();
    let writing = tokio::spawn(async move {
        let answer = format!("{HEAD}{body}");
        server.write_all(answer.as_bytes()).await.unwrap();
        server
    });
    hand.opened().await;
    hand.text(&pieces.concat()).await;
    drop(writing.await.unwrap());
}

#[tokio::test]
async fn what_is_gathered_is_bounded() {
    const LENGTH: usize = 1 << 10;
    const CHUNKS: usize = 2_000;
    let (mut hand, mut server) = asked(watch()).await;
    let text = "x".repeat(LENGTH);
    let writing = tokio::spawn(async move {
        server.write_all(HEAD.as_bytes()).await.unwrap();
        server
            .write_all(chunk(&text).repeat(CHUNKS).as_bytes())
            .await
            .unwrap();
        server
    });
    hand.opened().await;
    let mut read = 0;
    while read < LENGTH * CHUNKS {
        match hand.next().await {
            Seen::Bytes(bytes) => {
                assert!(bytes.len() < (128 << 10) + LENGTH, "{}", bytes.len());
                read += bytes.len();
            }
            other => panic!("{other:?} after {read} bytes"),
        }
    }
    assert_eq!(read, LENGTH * CHUNKS);
    drop(writing.await.unwrap());
}

#[tokio::test]
async fn a_server_may_send_large_frames() {
    const LARGEST: usize = 128 << 10;
    let (address, _) = serve(|_| Said::Frame(LARGEST)).await;
    let mut hand = Hand::new(&http2_client(address));
    hand.open(list());
    hand.opened().await;
    hand.text(&" ".repeat(LARGEST)).await;
    hand.closed().await;
    // A server that was not allowed to is refused.
    let (address, _) = serve(|_| Said::Frame(LARGEST + 1)).await;
    let mut hand = Hand::new(&http2_client(address));
    hand.open(list());
    let end = match hand.next().await {
        Seen::Opened(_) => hand.next().await,
        other => other,
    };
    assert!(matches!(end, Seen::Failed(Failure::Broken, _)), "{end:?}");
}
