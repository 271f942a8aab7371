//! Writes over HTTP: nothing is carried out twice, and the error says what is known.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use informer::{Api, ApiErrorKind, Calls, Deletion, ObjectKey, Patch, Target};
use informer_transport_mock::http::{HttpConfig, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::client;
use crate::files::File;
use crate::followed::server;
use crate::wire::{Answer, Wire};

fn api(client: &impl Calls) -> Api<Value> {
    Api::dynamic_at(client, Target::new("", "v1", "configmaps")).unwrap()
}

fn map() -> Value {
    json!({"kind": "ConfigMap", "metadata": {"namespace": "web", "name": "shop"}})
}

fn key() -> ObjectKey {
    ObjectKey::new("web", "shop")
}

async fn writes_and_reads(client: &impl Calls) {
    let api = api(client);
    let created = api.create(&map()).await.unwrap();
    let again = api.create(&map()).await.unwrap_err();
    assert_eq!(again.kind, ApiErrorKind::AlreadyExists, "{again}");
    let patch = Patch::merge(json!({"data": {"colour": "blue"}}));
    let patched = api.patch(&key(), &patch).await.unwrap();
    assert_eq!(patched["data"]["colour"], "blue");
    assert_ne!(patched.version(), created.version());
    let mut stale = (*patched).clone();
    stale["metadata"]["resourceVersion"] = created.version().into();
    let refused = api.update(&stale).await.unwrap_err();
    assert_eq!(refused.kind, ApiErrorKind::Conflict, "{refused}");
    let deleted = api.delete(&key()).await.unwrap();
    assert!(matches!(deleted, Deletion::Gone), "{deleted:?}");
    let missing = api.get(&key()).await.unwrap_err();
    assert_eq!(missing.kind, ApiErrorKind::NotFound, "{missing}");
}

#[tokio::test]
async fn objects_are_written_in_both_versions_of_http() {
    let running = serve(server(), HttpConfig::new()).await.unwrap();
    writes_and_reads(&client::plain(running.url())).await;
    writes_and_reads(&client::over_http2(running.url())).await;
    running.stop().await;
}

#[tokio::test]
async fn objects_are_written_over_tls() {
    let mut http = HttpConfig::new();
    http.tls = true;
    let running = serve(server(), http).await.unwrap();
    let file = File::new("ca-of-writes");
    file.write(running.ca_pem().unwrap());
    writes_and_reads(&client::with_authority(running.url(), file.path())).await;
    running.stop().await;
}

#[tokio::test]
async fn nothing_is_written_if_no_server_is_there() {
    let running = serve(server(), HttpConfig::new()).await.unwrap();
    let api = api(&client::plain(running.url()));
    running.stop().await;
    let error = api.create(&map()).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Unreachable, "{error}");
}

#[tokio::test]
async fn refusals_are_told_apart() {
    let running = serve(server(), HttpConfig::new()).await.unwrap();
    let wire = Wire::new(running.address()).await;
    let api = api(&client::plain(&wire.url()));
    let answer = |status: &str, more: &str| {
        let text =
            format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n{more}connection: close\r\n\r\n");
        Answer::Text(text)
    };
    let retry_after = Some(std::time::Duration::from_secs(7));
    for (answer, kind) in [
        (answer("401 No", ""), ApiErrorKind::Unauthorized),
        (answer("403 No", ""), ApiErrorKind::Forbidden),
        (answer("404 No", ""), ApiErrorKind::NotFound),
        (answer("409 No", ""), ApiErrorKind::Conflict),
        (answer("422 No", ""), ApiErrorKind::Invalid),
        (
            answer("429 No", "retry-after: 7\r\n"),
            ApiErrorKind::Throttled { retry_after },
        ),
        (answer("405 No", ""), ApiErrorKind::Refused),
        (answer("500 No", ""), ApiErrorKind::ServerFailed),
        (
            answer("302 No", "location: http://example.com/\r\n"),
            ApiErrorKind::Unanswered,
        ),
    ] {
        wire.answer([answer]);
        let error = api.create(&map()).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
    }
    running.stop().await;
}

/// Answers `GET` with 404, and closes the connection after any other request.
struct Forgetful {
    address: SocketAddr,
    writes: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

impl Forgetful {
    async fn new() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let writes = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&writes);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let counted = Arc::clone(&counted);
                connections.spawn(async move {
                    // A closed connection is not an error here.
                    let _ = answer_reads(client, &counted).await;
                });
            }
        });
        Self {
            address,
            writes,
            _tasks: tasks,
        }
    }
}

async fn answer_reads(client: TcpStream, writes: &AtomicUsize) -> io::Result<()> {
    let mut client = BufReader::new(client);
    loop {
        let (mut line, mut length) = (String::new(), 0);
        client.read_line(&mut line).await?;
        let is_read = line.starts_with("GET");
        while line != "\r\n" {
            line.clear();
            if client.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
        }
        client.read_exact(&mut vec![0; length]).await?;
        if !is_read {
            writes.fetch_add(1, Ordering::SeqCst);
            return Ok(());
        }
        client
            .write_all(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\n\r\n")
            .await?;
    }
}

#[tokio::test]
async fn a_write_without_an_answer_is_not_repeated() {
    let forgetful = Forgetful::new().await;
    let api = api(&client::plain(&format!("http://{}", forgetful.address)));
    for reads_before in [0, 1] {
        // After a read, the connection is a used one: a server may close those at any time.
        for _ in 0..reads_before {
            let error = api.get(&key()).await.unwrap_err();
            assert_eq!(error.kind, ApiErrorKind::NotFound, "{error}");
        }
        forgetful.writes.store(0, Ordering::SeqCst);
        let error = api.create(&map()).await.unwrap_err();
        assert_eq!(error.kind, ApiErrorKind::Unanswered, "{error}");
        assert_eq!(forgetful.writes.load(Ordering::SeqCst), 1, "{reads_before}");
    }
}

#[tokio::test]
async fn a_write_shows_the_token() {
    let mut http = HttpConfig::new();
    http.token = Some("right".to_owned());
    let running = serve(server(), http).await.unwrap();
    let [wrong, right] = ["wrong", "right"].map(|token| {
        let file = File::new(token);
        file.write(token);
        file
    });
    let refused = api(&client::with_token_file(running.url(), wrong.path()));
    let error = refused.create(&map()).await.unwrap_err();
    assert_eq!(error.kind, ApiErrorKind::Unauthorized, "{error}");
    let accepted = api(&client::with_token_file(running.url(), right.path()));
    accepted.create(&map()).await.unwrap();
    running.stop().await;
}
