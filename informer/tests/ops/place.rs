//! A server, informers, and a client that sends any bytes.

use std::net::SocketAddr;
use std::time::Duration;

use informer::ops::{Ops, OpsBuilder};
use informer::{InformerBuilder, LeanBody, SharedInformer, Target};
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// A guard against tests that hang. Nothing waits this long.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn server() -> MockServer {
    MockServer::new(ServerConfig::new(1), VirtualClock::new())
}

pub(crate) fn pod(name: &str) -> Value {
    json!({
        "metadata": {"namespace": "web", "name": name, "labels": {"app": name}},
        "spec": {"nodeName": "node-1"}
    })
}

pub(crate) fn create(server: &MockServer, name: &str) {
    server
        .with(|server| server.create("pods", pod(name)))
        .unwrap();
}

pub(crate) fn at(plural: &str) -> Target {
    Target::new("", "v1", plural)
}

/// A synced informer.
pub(crate) async fn lean(server: &MockServer, plural: &str) -> SharedInformer<LeanBody> {
    let informer = InformerBuilder::lean_at(at(plural))
        .start(&server.connect())
        .unwrap();
    informer.synced(LONG).await.unwrap();
    informer
}

pub(crate) fn here() -> OpsBuilder {
    informer::ops::serve("127.0.0.1:0")
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        let json = serde_json::from_str(&self.body);
        json.unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap().to_owned()
    }

    pub(crate) fn has_header(&self, line: &str) -> bool {
        self.head.lines().any(|other| other == line)
    }
}

pub(crate) fn address(port: &Ops) -> SocketAddr {
    port.address().unwrap()
}

pub(crate) async fn get(port: &Ops, path: &str) -> Answer {
    get_with(port, path, "").await
}

/// `headers` end with line breaks.
pub(crate) async fn get_with(port: &Ops, path: &str, headers: &str) -> Answer {
    let address = address(port);
    // The body of an answer to HTTP/1.0 is all that follows.
    send(
        port,
        &format!("GET {path} HTTP/1.0\r\nhost: {address}\r\n{headers}\r\n"),
    )
    .await
}

pub(crate) async fn send(port: &Ops, request: &str) -> Answer {
    let stream = TcpStream::connect(address(port)).await.unwrap();
    send_over(stream, request).await
}

pub(crate) async fn send_over(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    request: &str,
) -> Answer {
    // A server that refuses may not read to the end.
    let _ = stream.write_all(request.as_bytes()).await;
    let mut bytes = Vec::new();
    let _ = timeout(LONG, stream.read_to_end(&mut bytes)).await.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text
        .split_once("\r\n\r\n")
        .unwrap_or_else(|| panic!("no answer: {text:?}"));
    Answer {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_lowercase(),
        body: body.to_owned(),
    }
}

/// An open page.
pub(crate) struct Events {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl Events {
    pub(crate) async fn open(port: &Ops) -> Self {
        let mut stream = TcpStream::connect(address(port)).await.unwrap();
        let request = format!("GET /events HTTP/1.0\r\nhost: {}\r\n\r\n", address(port));
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut page = Self::over(stream);
        let head = page.head().await;
        assert!(head.starts_with("HTTP/1.0 200"), "{head}");
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        page
    }

    /// What arrives on a connection, from the head of the answer on.
    pub(crate) const fn over(stream: TcpStream) -> Self {
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    pub(crate) async fn head(&mut self) -> String {
        self.block("\r\n\r\n").await.unwrap()
    }

    /// The next event; `None` at the end. Comments are left out.
    pub(crate) async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let block = self.block("\n\n").await?;
            if block.starts_with(':') {
                continue;
            }
            let (event, data) = block.split_once('\n').unwrap();
            let event = event.strip_prefix("event: ").unwrap();
            let data = data.strip_prefix("data: ").unwrap();
            return Some((event.to_owned(), serde_json::from_str(data).unwrap()));
        }
    }

    /// The next event of this name.
    pub(crate) async fn find(&mut self, name: &str) -> Value {
        loop {
            let (event, data) = self.next().await.unwrap();
            if event == name {
                return data;
            }
        }
    }

    /// The next status for which this holds, within the time that no test needs.
    pub(crate) async fn status_where(&mut self, holds: impl Fn(&Value) -> bool) -> Value {
        let search = async {
            loop {
                let status = self.find("status").await;
                if holds(&status) {
                    return status;
                }
            }
        };
        timeout(LONG, search).await.unwrap()
    }

    async fn block(&mut self, end: &str) -> Option<String> {
        loop {
            let found = self
                .unread
                .windows(end.len())
                .position(|it| it == end.as_bytes());
            if let Some(at) = found {
                let mut block: Vec<_> = self.unread.drain(..at + end.len()).collect();
                block.truncate(at);
                return Some(String::from_utf8(block).unwrap());
            }
            let read = timeout(LONG, self.stream.read_buf(&mut self.unread)).await;
            if read.unwrap().unwrap_or(0) == 0 {
                return None;
            }
        }
    }
}
