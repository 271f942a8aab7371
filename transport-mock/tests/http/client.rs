//! A client that exposes status, headers, lines, and the end of a body.

use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::bufread::GzDecoder;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{HOST, HeaderMap};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use informer_transport_mock::http::{HttpConfig, Running, SharedServer, serve};
use informer_transport_mock::{Server, ServerConfig};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

pub(crate) fn pod(name: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "web"}}})
}

/// Starts a server with these pods.
pub(crate) async fn start(pods: &[&str], config: HttpConfig) -> (SharedServer, Running) {
    let mut server = Server::new(ServerConfig::new(7));
    for name in pods {
        server.create("pods", pod(name)).unwrap();
    }
    let server = SharedServer::new(server);
    let running = serve(server.clone(), config).await.unwrap();
    (server, running)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Version {
    Http1,
    Http2,
}

/// Sends requests over one connection.
pub(crate) enum Client {
    Http1(hyper::client::conn::http1::SendRequest<Full<Bytes>>),
    Http2(hyper::client::conn::http2::SendRequest<Full<Bytes>>),
}

impl Client {
    /// Connects with HTTP/1.1, and with TLS if the server uses it.
    pub(crate) async fn connect(running: &Running) -> Self {
        Self::connect_in(running, Version::Http1).await
    }

    pub(crate) async fn connect_in(running: &Running, version: Version) -> Self {
        let socket = TcpStream::connect(running.address()).await.unwrap();
        let Some(pem) = running.ca_pem() else {
            return Self::over(socket, version).await;
        };
        let mut roots = rustls::RootCertStore::empty();
        roots
            .add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap())
            .unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let protocol: &[u8] = match version {
            Version::Http1 => b"http/1.1",
            Version::Http2 => b"h2",
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::from(running.address().ip());
        let connector = TlsConnector::from(Arc::new(config));
        let socket = connector.connect(name, socket).await.unwrap();
        assert_eq!(socket.get_ref().1.alpn_protocol(), Some(protocol));
        Self::over(socket, version).await
    }

    async fn over(
        socket: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        version: Version,
    ) -> Self {
        let io = TokioIo::new(socket);
        match version {
            Version::Http1 => {
                let (sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
                tokio::spawn(connection);
                Self::Http1(sender)
            }
            Version::Http2 => {
                let (sender, connection) =
                    hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
                        .await
                        .unwrap();
                tokio::spawn(connection);
                Self::Http2(sender)
            }
        }
    }

    /// Sends a request, given as `METHOD target`.
    pub(crate) async fn send(
        &mut self,
        line: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Response<Incoming>, hyper::Error> {
        let (method, target) = line.split_once(' ').unwrap();
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = Full::new(Bytes::copy_from_slice(body));
        match self {
            Self::Http1(sender) => {
                let request = request.uri(target).header(HOST, "mock").body(body).unwrap();
                sender.send_request(request).await
            }
            Self::Http2(sender) => {
                let request = request.uri(format!("http://mock{target}"));
                sender.send_request(request.body(body).unwrap()).await
            }
        }
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn ask(
        &mut self,
        line: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        let body = match body {
            Value::Null => Vec::new(),
            body => body.to_string().into_bytes(),
        };
        let (head, body) = self.send(line, headers, &body).await.unwrap().into_parts();
        Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            body: body.collect().await.unwrap().to_bytes().to_vec(),
        }
    }

    pub(crate) async fn get(&mut self, target: &str) -> Reply {
        self.ask(&format!("GET {target}"), &[], &Value::Null).await
    }

    /// Opens a watch.
    pub(crate) async fn watch(&mut self, target: &str) -> Lines {
        self.watch_as(target, &[]).await
    }

    pub(crate) async fn watch_as(&mut self, target: &str, headers: &[(&str, &str)]) -> Lines {
        let line = format!("GET {target}");
        let response = self.send(&line, headers, b"").await.unwrap();
        assert_eq!(response.status(), 200);
        Lines {
            headers: response.headers().clone(),
            body: response.into_body(),
            read: Vec::new(),
        }
    }
}

/// A whole answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// The names in a list.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |item: &Value| item["metadata"]["name"].as_str().unwrap().to_owned();
        self.json()["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(name)
            .collect()
    }
}

/// The lines of a watch.
pub(crate) struct Lines {
    pub(crate) headers: HeaderMap,
    body: Incoming,
    read: Vec<u8>,
}

/// The next line of a body, or its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Line {
    /// An event, shortened to `TYPE name@version`.
    Event(String),
    /// A clean end.
    Ended,
    /// A broken connection, after this many bytes of a line.
    Broken(usize),
}

pub(crate) fn event(text: &str) -> Line {
    Line::Event(text.to_owned())
}

impl Lines {
    pub(crate) async fn next(&mut self) -> Line {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return Line::Event(short(&line));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self.read.extend(frame.into_data().unwrap()),
                Some(Err(_)) => return Line::Broken(self.read.len()),
                None => {
                    assert!(
                        self.read.is_empty(),
                        "the body ends in the middle of a line"
                    );
                    return Line::Ended;
                }
            }
        }
    }

    /// The next raw piece of the body.
    pub(crate) async fn piece(&mut self) -> Vec<u8> {
        let frame = self.body.frame().await.unwrap().unwrap();
        frame.into_data().unwrap().to_vec()
    }
}

/// Shortens a line to `TYPE name@version`.
pub(crate) fn short(line: &[u8]) -> String {
    let event: Value = serde_json::from_slice(line).unwrap();
    let (kind, object) = (event["type"].as_str().unwrap(), &event["object"]);
    let metadata = &object["metadata"];
    let is_end = metadata["annotations"]["k8s.io/initial-events-end"] == "true";
    match (kind, metadata["name"].as_str()) {
        ("ERROR", _) => format!("ERROR {}", object["code"]),
        (_, Some(name)) => format!(
            "{kind} {name}@{}",
            metadata["resourceVersion"].as_str().unwrap()
        ),
        (_, None) if is_end => format!("{kind} end"),
        (_, None) => kind.to_owned(),
    }
}

/// Splits off the first gzip member of `bytes`.
pub(crate) fn first_member(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut decoder = GzDecoder::new(bytes);
    let mut plain = Vec::new();
    decoder.read_to_end(&mut plain).unwrap();
    (plain, decoder.into_inner())
}
