//! Watches and streamed lists.

use std::time::Duration;

use informer_transport_mock::http::{HttpConfig, ServeError, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use serde_json::{Value, json};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::client::{Client, Line, Version, event, first_member, pod, short, start};

#[tokio::test]
async fn a_write_over_one_connection_wakes_the_watch_on_another() {
    let (_, running) = start(&["a"], HttpConfig::new()).await;
    for version in [Version::Http1, Version::Http2] {
        let mut watcher = Client::connect_in(&running, version).await;
        let mut lines = watcher.watch("/api/v1/pods?watch=1").await;
        assert_eq!(lines.headers["content-type"], "application/json");
        assert!(matches!(lines.next().await, Line::Event(line) if line.starts_with("ADDED a@")));

        let mut writer = Client::connect_in(&running, version).await;
        let post = "POST /api/v1/namespaces/default/pods";
        let made = writer.ask(post, &[], &pod("b")).await;
        let deleted = writer
            .ask(
                "DELETE /api/v1/namespaces/default/pods/b",
                &[],
                &Value::Null,
            )
            .await;
        for (kind, object) in [("ADDED", &made), ("DELETED", &deleted)] {
            let version = object.json()["metadata"]["resourceVersion"].clone();
            let expected = format!("{kind} b@{}", version.as_str().unwrap());
            assert_eq!(lines.next().await, event(&expected));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn bookmarks_arrive_and_the_end_is_clean() {
    let (_, running) = start(&["a", "b"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let begun = tokio::time::Instant::now();
    let mut lines = client
        .watch("/api/v1/pods?watch=1&resourceVersion=2&allowWatchBookmarks=true&timeoutSeconds=90")
        .await;
    assert_eq!(lines.next().await, event("ADDED b@3"));
    for (line, seconds) in [
        (event("BOOKMARK"), 60),
        (event("BOOKMARK"), 88),
        (Line::Ended, 90),
    ] {
        assert_eq!(lines.next().await, line);
        // The clock may run ahead while bytes are in flight.
        assert!(begun.elapsed().as_secs() >= seconds, "{line:?}");
    }
    // The connection stays usable after the end of a body.
    assert_eq!(client.get("/api/v1/pods").await.names(), ["a", "b"]);
}

#[tokio::test]
async fn a_streamed_list_ends_with_its_bookmark_and_continues_as_a_watch() {
    let (server, running) = start(&["b", "a"], HttpConfig::new()).await;
    let mut lines = Client::connect(&running)
        .await
        .watch("/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")
        .await;
    for expected in ["ADDED a@3", "ADDED b@2", "BOOKMARK end"] {
        assert_eq!(lines.next().await, event(expected));
    }
    server.with(|server| server.delete("pods", "a")).unwrap();
    assert_eq!(lines.next().await, event("DELETED a@4"));
}

#[tokio::test]
async fn a_compressed_streamed_list_is_a_chain_of_members() {
    let (server, running) = start(&["a"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let gzip = [("accept-encoding", "gzip")];
    let mut lines = client
        .watch_as(
            "/api/v1/pods?watch=1&resourceVersion=0&allowWatchBookmarks=true",
            &gzip,
        )
        .await;
    assert_eq!(lines.headers["content-encoding"], "gzip");
    let piece = lines.piece().await;
    let (text, rest) = first_member(&piece);
    let text = String::from_utf8(text).unwrap();
    let events: Vec<_> = text.lines().map(|line| short(line.as_bytes())).collect();
    assert_eq!(events, ["ADDED a@2", "BOOKMARK end"]);
    assert!(rest.is_empty());

    server
        .with(|server| server.create("pods", pod("b")))
        .unwrap();
    let piece = lines.piece().await;
    let (text, rest) = first_member(&piece);
    assert_eq!((short(&text).as_str(), rest.len()), ("ADDED b@3", 0));

    let lines = Client::connect(&running)
        .await
        .watch_as("/api/v1/pods?watch=1&resourceVersion=2", &gzip)
        .await;
    assert_eq!(lines.headers.get("content-encoding"), None);
}

#[tokio::test]
async fn an_expired_version_is_an_error_event_and_a_clean_end() {
    let (server, running) = start(&["a"], HttpConfig::new()).await;
    server.with(Server::forget_changes);
    server
        .with(|server| server.create("pods", pod("b")))
        .unwrap();
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch("/api/v1/pods?watch=1&resourceVersion=1").await;
    assert_eq!(lines.next().await, event("ERROR 410"));
    assert_eq!(lines.next().await, Line::Ended);
}

#[tokio::test]
async fn a_restart_cuts_watches_without_an_end() {
    for version in [Version::Http1, Version::Http2] {
        let (server, running) = start(&["a"], HttpConfig::new()).await;
        let mut client = Client::connect_in(&running, version).await;
        let mut lines = client.watch("/api/v1/pods?watch=1").await;
        assert_eq!(lines.next().await, event("ADDED a@2"));
        server.with(|server| {
            server.create("pods", pod("b")).unwrap();
            server.restart();
        });
        assert_eq!(lines.next().await, Line::Broken(0), "{version:?}");
    }
}

#[tokio::test]
async fn a_stop_breaks_connections_and_frees_the_port() {
    let (server, running) = start(&["a"], HttpConfig::new()).await;
    let mut client = Client::connect(&running).await;
    let mut lines = client.watch("/api/v1/pods?watch=1").await;
    assert_eq!(lines.next().await, event("ADDED a@2"));
    let mut config = HttpConfig::new();
    config.address = running.address();
    let taken = serve(server.clone(), config.clone()).await.unwrap_err();
    assert!(
        taken.to_string().contains("another program uses the port"),
        "{taken}"
    );
    running.stop().await;
    // A program that another test starts at this moment has a copy of the socket, from `fork` to `exec`.
    let again = async {
        loop {
            match serve(server.clone(), config.clone()).await {
                Ok(again) => return again,
                Err(ServeError::Bind { .. }) => yield_now().await,
                Err(error) => panic!("{error}"),
            }
        }
    };
    let _again = timeout(Duration::from_secs(10), again).await.unwrap();
    assert_eq!(lines.next().await, Line::Broken(0));
}

/// A reader that does not read costs only what is in flight, and then falls out of the history.
/// HTTP/2 has less in flight: 2 MB.
#[tokio::test]
async fn nothing_is_kept_for_a_slow_reader() {
    let mut config = ServerConfig::new(7);
    config.watch_window = 4;
    let mut server = Server::new(config);
    server.create("pods", pod("a")).unwrap();
    let server = SharedServer::new(server);
    let running = serve(server.clone(), HttpConfig::new()).await.unwrap();
    let mut client = Client::connect_in(&running, Version::Http2).await;
    let mut lines = client.watch("/api/v1/pods?watch=1").await;
    assert_eq!(lines.next().await, event("ADDED a@2"));

    const WRITES: u32 = 100;
    let text = "x".repeat(64 * 1024);
    for n in 0..WRITES {
        let change = json!({"metadata": {"annotations": {"n": n.to_string(), "text": text}}});
        server
            .with(|server| server.patch("pods", "a", change))
            .unwrap();
        // Let the server write what it can.
        yield_now().await;
    }
    // Only a watch that has seen everything gets this.
    server.with(|server| server.delete("pods", "a")).unwrap();
    let mut told = 0;
    loop {
        match lines.next().await {
            Line::Event(line) if line.starts_with("MODIFIED") => told += 1,
            other => {
                assert_eq!(other, event("ERROR 410"));
                break;
            }
        }
    }
    assert!(told < WRITES, "{told}");
    assert_eq!(lines.next().await, Line::Ended);
}
