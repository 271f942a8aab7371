//! Requests that mean harm are bounded and refused, and do no harm to others.

use std::time::Duration;

use informer::ops::Ops;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::place::{LONG, address, create, get, here, lean, send, server};

async fn connect(port: &Ops) -> TcpStream {
    TcpStream::connect(address(port)).await.unwrap()
}

/// Sends `bytes` again and again until the server closes the connection. Returns how many it took.
async fn flood(port: &Ops, begin: &str, bytes: &[u8]) -> usize {
    let mut stream = connect(port).await;
    stream.write_all(begin.as_bytes()).await.unwrap();
    let mut sent = 0;
    let flooding = async {
        while stream.write_all(bytes).await.is_ok() {
            sent += bytes.len();
            let mut answer = [0; 1024];
            if stream.try_read(&mut answer).is_ok_and(|read| read == 0) {
                return;
            }
        }
    };
    timeout(LONG, flooding).await.unwrap();
    sent
}

#[tokio::test]
async fn huge_heads_are_refused_early() {
    let port = here().start().await.unwrap();
    let begin = "GET /livez HTTP/1.1\r\nhost: localhost\r\n";
    let large = format!("x: {}\r\n", "y".repeat(60));
    // What the sockets hold is more than the server reads.
    for sent in [
        flood(&port, begin, large.as_bytes()).await,
        flood(&port, &format!("{begin}x: "), &[b'y'; 64]).await,
        flood(&port, "GET /", &[b'a'; 64]).await,
        flood(&port, "", &[b'G'; 64]).await,
    ] {
        assert!(sent < 16 * 1024 * 1024, "{sent}");
    }
    let long = format!(
        "GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "a".repeat(60_000)
    );
    let answer = send(&port, &long).await;
    assert!(matches!(answer.status, 414 | 431), "{}", answer.status);
    assert_eq!(get(&port, "/livez").await.status, 200);
}

#[tokio::test]
async fn nonsense_is_refused() {
    let port = here().start().await.unwrap();
    for nonsense in [
        "\r\n\r\nhello\r\n\r\n",
        "GET / HTTP/9.9\r\nhost: localhost\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut stream = connect(&port).await;
        stream.write_all(nonsense.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = timeout(LONG, stream.read_to_end(&mut answer))
            .await
            .unwrap();
        let answer = String::from_utf8_lossy(&answer);
        assert!(!answer.contains(" 200 "), "{nonsense:?}: {answer}");
    }
    assert_eq!(get(&port, "/livez").await.status, 200);
}

#[tokio::test]
async fn bodies_of_requests_are_refused_and_not_read() {
    let port = here().start().await.unwrap();
    for body in [
        "content-length: 1000000000\r\n",
        "transfer-encoding: chunked\r\n",
    ] {
        let begin = format!("GET /status HTTP/1.1\r\nhost: localhost\r\n{body}\r\n");
        // It does not wait for the body.
        let answer = send(&port, &begin).await;
        assert_eq!(answer.status, 413, "{body}");
        assert!(answer.has_header("connection: close"), "{}", answer.head);
        let sent = flood(&port, &begin, &[b'1'; 64]).await;
        assert!(sent < 16 * 1024 * 1024, "{sent}");
    }
}

#[tokio::test]
async fn tricks_with_paths_lead_nowhere() {
    let server = server();
    create(&server, "a");
    let pods = lean(&server, "pods").await;
    let port = here().add(&pods).start().await.unwrap();
    for (path, status) in [
        ("/../../etc/passwd", 404),
        ("/./status", 404),
        ("/dump/../status", 404),
        ("/dump/..", 404),
        ("/dump/%2e%2e%2fetc%2fpasswd", 404),
        ("/dump/pods.v1%00", 400),
        ("/dump/pods.v1%0d%0aset-cookie:x", 400),
        ("/dump/%ff", 400),
        ("/dump/%zz", 400),
        ("/dump/pods%252ev1", 404),
        ("/%73tatus", 404),
        ("/status%00", 404),
        ("/dump/pods.v1/", 404),
        ("/object/pods.v1?key=%00", 400),
        ("/object/pods.v1?key=../../a", 404),
    ] {
        let answer = get(&port, path).await;
        assert_eq!(answer.status, status, "{path}");
        assert!(!answer.head.contains("set-cookie"), "{path}");
    }
    // Once decoded, it is the name. Twice, it would be another.
    assert_eq!(get(&port, "/dump/%70ods%2Ev1").await.status, 200);
    for (request, status) in [
        (
            "GET http://localhost/status HTTP/1.1\r\nhost: localhost",
            400,
        ),
        (
            "GET http://evil.example/status HTTP/1.1\r\nhost: localhost",
            400,
        ),
        ("CONNECT localhost:80 HTTP/1.1\r\nhost: localhost", 405),
        ("OPTIONS * HTTP/1.1\r\nhost: localhost", 405),
    ] {
        let answer = send(&port, &format!("{request}\r\nconnection: close\r\n\r\n")).await;
        assert_eq!(answer.status, status, "{request}");
    }
}

/// The head of a request takes too long. This test waits for real seconds, because the system keeps the time
/// of sockets.
#[tokio::test]
async fn a_slow_head_and_a_silent_connection_are_cut() {
    let port = here().start().await.unwrap();
    let cut = async |begin: &str| {
        let mut stream = connect(&port).await;
        stream.write_all(begin.as_bytes()).await.unwrap();
        let begun = Instant::now();
        let _ = timeout(LONG, stream.read_to_end(&mut Vec::new()))
            .await
            .unwrap();
        begun.elapsed()
    };
    let (slow, silent) = tokio::join!(cut("GET /livez HTTP/1.1\r\nhost: loc"), cut(""));
    for time in [slow, silent] {
        assert!(time > Duration::from_secs(5), "{time:?}");
    }
}

/// Further connections wait until one of the first has gone.
#[tokio::test]
async fn there_are_at_most_sixty_four_connections() {
    const REQUEST: &[u8] = b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let port = here().start().await.unwrap();
    let (begin, rest) = REQUEST.split_at(20);
    let mut held = Vec::new();
    for _ in 0..64 {
        let mut stream = connect(&port).await;
        stream.write_all(begin).await.unwrap();
        held.push(stream);
    }
    let mut further = connect(&port).await;
    further.write_all(REQUEST).await.unwrap();
    // The port runs on this thread, and has many turns.
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert!(further.try_read(&mut [0; 1]).is_err());
    held.pop().unwrap().write_all(rest).await.unwrap();
    let mut answer = [0; 4096];
    let read = timeout(LONG, further.read(&mut answer)).await.unwrap();
    assert!(answer[..read.unwrap()].starts_with(b"HTTP/1.1 200"));
}

/// Dumps and selections hold snapshots and threads, so there are few at a time.
#[tokio::test]
async fn there_are_at_most_four_dumps() {
    let server = server();
    for number in 0..40 {
        let pod = json!({"metadata": {"namespace": "web", "name": format!("pod-{number}"),
            "annotations": {"text": "x".repeat(200_000)}}});
        server.with(|server| server.create("pods", pod)).unwrap();
    }
    let pods = lean(&server, "pods").await;
    let port = here().add_with_bodies(&pods).start().await.unwrap();
    let dump = b"GET /dump/pods.v1?bodies=true HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut held = Vec::new();
    for _ in 0..4 {
        let mut stream = connect(&port).await;
        stream.write_all(dump).await.unwrap();
        // It has begun, and is larger than what sockets hold.
        assert!(stream.read(&mut [0; 16]).await.unwrap() > 0);
        held.push(stream);
    }
    let refused = get(&port, "/select/pods.v1").await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert_eq!(get(&port, "/dump/pods.v1").await.status, 503);
    assert_eq!(
        get(&port, "/object/pods.v1?key=web/pod-1").await.status,
        200
    );
    held.clear();
    let again = async { while get(&port, "/select/pods.v1").await.status != 200 {} };
    timeout(LONG, again).await.unwrap();
}
