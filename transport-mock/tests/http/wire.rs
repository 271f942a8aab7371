//! TLS, HTTP versions, tokens, limits.

use informer_transport_mock::http::HttpConfig;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::client::{Client, Version, event, pod, start};

#[tokio::test]
async fn both_http_versions_work_with_and_without_tls() {
    for tls in [false, true] {
        let mut config = HttpConfig::new();
        config.tls = tls;
        let (server, running) = start(&["a"], config).await;
        assert_eq!(running.url().starts_with("https://"), tls);
        for (version, name) in [(Version::Http1, "b"), (Version::Http2, "c")] {
            let mut client = Client::connect_in(&running, version).await;
            let list = client.get("/api/v1/pods").await.json();
            let at = list["metadata"]["resourceVersion"].as_str().unwrap();
            let target = format!("/api/v1/pods?watch=1&resourceVersion={at}");
            let mut lines = client.watch(&target).await;
            let made = server
                .with(|server| server.create("pods", pod(name)))
                .unwrap();
            let expected = format!("ADDED {name}@{}", made.version());
            assert_eq!(lines.next().await, event(&expected), "{version:?} {tls}");
        }
    }
}

#[tokio::test]
async fn one_http2_connection_carries_many_watches() {
    let (server, running) = start(&[], HttpConfig::new()).await;
    let mut client = Client::connect_in(&running, Version::Http2).await;
    let mut watches = Vec::new();
    for _ in 0..20 {
        watches.push(client.watch("/api/v1/pods?watch=1&resourceVersion=1").await);
    }
    server
        .with(|server| server.create("pods", pod("a")))
        .unwrap();
    for lines in &mut watches {
        assert_eq!(lines.next().await, event("ADDED a@2"));
    }
}

#[tokio::test]
async fn a_token_is_required() {
    let mut config = HttpConfig::new();
    config.token = Some("secret".to_owned());
    let (_, running) = start(&["a"], config).await;
    assert!(running.kubeconfig().contains("token: \"secret\""));
    let mut client = Client::connect(&running).await;
    for headers in [
        &[][..],
        &[("authorization", "Bearer wrong")],
        &[("authorization", "secret")],
    ] {
        for target in ["GET /api/v1/pods", "GET /api", "GET /openapi/v2"] {
            let reply = client.ask(target, headers, &Value::Null).await;
            assert_eq!(reply.status, 401, "{target} {headers:?}");
            assert_eq!(reply.json()["reason"], "Unauthorized");
        }
    }
    let known = [("authorization", "Bearer secret")];
    let reply = client.ask("GET /api/v1/pods", &known, &Value::Null).await;
    assert_eq!(reply.names(), ["a"]);
    assert_eq!(client.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_long_body_is_refused() {
    let mut config = HttpConfig::new();
    config.max_body = 100;
    let (server, running) = start(&[], config).await;
    let mut client = Client::connect(&running).await;
    let post = "POST /api/v1/namespaces/default/configmaps";
    let map = |size| json!({"metadata": {"name": "a"}, "data": {"text": "x".repeat(size)}});
    let reply = client.ask(post, &[], &map(100)).await;
    assert_eq!(reply.status, 413);
    let status = reply.json();
    assert_eq!(status["reason"], "RequestEntityTooLarge");
    assert_eq!(status["message"], "Request entity too large: limit is 100");
    let mut client = Client::connect(&running).await;
    assert_eq!(client.ask(post, &[], &map(10)).await.status, 201);
    assert_eq!(
        server.with(|server| server.objects("configmaps").count()),
        1
    );
}

#[tokio::test]
async fn noise_on_one_connection_harms_no_other() {
    for tls in [false, true] {
        let mut config = HttpConfig::new();
        config.tls = tls;
        let (_, running) = start(&["a"], config).await;
        let mut noise = TcpStream::connect(running.address()).await.unwrap();
        noise.write_all(b"\0\xff noise \r\n\r\n").await.unwrap();
        noise.shutdown().await.unwrap();
        let mut answer = Vec::new();
        // The server may answer with 400 or an alert, or break the connection.
        let _ = noise.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
        let mut client = Client::connect(&running).await;
        assert_eq!(client.get("/api/v1/pods").await.names(), ["a"]);
    }
}

/// Reads until the server closes the connection.
async fn closed(connection: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let reading = connection.read_to_end(&mut said);
    let patience = std::time::Duration::from_secs(60);
    tokio::time::timeout(patience, reading)
        .await
        .expect("the server never closes the connection")
        .unwrap();
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn a_missing_request_head_ends_the_connection() {
    for tls in [false, true] {
        let mut config = HttpConfig::new();
        config.tls = tls;
        config.header_timeout = std::time::Duration::from_millis(20);
        let (_, running) = start(&["a"], config).await;
        // Nothing; half an HTTP/2 preface; half a head; with TLS, half a handshake.
        for sent in ["", "PRI * HT", "GET / HTTP/1.1\r\nhost: a\r\n"] {
            let mut connection = TcpStream::connect(running.address()).await.unwrap();
            connection.write_all(sent.as_bytes()).await.unwrap();
            closed(&mut connection).await;
        }
    }
    // The same for the head of a later request.
    let mut config = HttpConfig::new();
    config.header_timeout = std::time::Duration::from_millis(20);
    let (_, running) = start(&["a"], config).await;
    let mut connection = TcpStream::connect(running.address()).await.unwrap();
    let request = b"GET /readyz HTTP/1.1\r\nhost: a\r\n\r\nGET /re";
    connection.write_all(request).await.unwrap();
    let said = closed(&mut connection).await;
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
}

#[tokio::test]
async fn a_watch_outlives_the_header_timeout() {
    for version in [Version::Http1, Version::Http2] {
        let mut config = HttpConfig::new();
        config.header_timeout = std::time::Duration::from_millis(20);
        let (server, running) = start(&[], config).await;
        let mut client = Client::connect_in(&running, version).await;
        let mut lines = client.watch("/api/v1/pods?watch=1&resourceVersion=1").await;
        // Wait until an idle connection that opens after the watch has been closed.
        let mut idle = TcpStream::connect(running.address()).await.unwrap();
        closed(&mut idle).await;
        let made = server
            .with(|server| server.create("pods", pod("a")))
            .unwrap();
        let expected = format!("ADDED a@{}", made.version());
        assert_eq!(lines.next().await, event(&expected), "{version:?}");
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_wait_for_their_turn() {
    let mut config = HttpConfig::new();
    config.max_connections = std::num::NonZeroUsize::MIN;
    let (_, running) = start(&["a"], config).await;
    let mut first = Client::connect(&running).await;
    assert_eq!(first.get("/readyz").await.status, 200);
    let mut second = TcpStream::connect(running.address()).await.unwrap();
    let request = b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    second.write_all(request).await.unwrap();
    // The first connection is served each time, and the second is not.
    for _ in 0..10 {
        assert_eq!(first.get("/api/v1/pods").await.names(), ["a"]);
        let mut byte = [0];
        let waiting = second.try_read(&mut byte).unwrap_err();
        assert_eq!(waiting.kind(), std::io::ErrorKind::WouldBlock);
    }
    drop(first);
    let said = closed(&mut second).await;
    assert!(said.starts_with("HTTP/1.1 200 OK\r\n"), "{said}");
}
