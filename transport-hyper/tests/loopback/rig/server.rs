//! A server with answers written by the test.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use hyper::body::{Body, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use informer_transport_hyper::{Config, HttpVersion, Settings};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_rustls::TlsAcceptor;

use super::certificates::{Authority, Pair, server_tls};
use super::folder::Folder;
use super::soon;

/// A server on loopback.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    calls: mpsc::UnboundedReceiver<Call>,
    /// The number of accepted connections.
    pub(crate) connections: Arc<AtomicUsize>,
    goaway: watch::Sender<u32>,
}

/// A request that is waiting for its answer.
pub(crate) struct Call {
    /// The path with the query.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    /// The number of the connection, from 1.
    pub(crate) connection: usize,
    reply: oneshot::Sender<Response<Script>>,
}

/// Writes the body of an answer.
pub(crate) struct Feed(mpsc::Sender<Result<Bytes, std::io::Error>>);

/// A body that a [`Feed`] writes.
pub(crate) struct Script(mpsc::Receiver<Result<Bytes, std::io::Error>>);

impl Body for Script {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.0
            .poll_recv(cx)
            .map(|next| next.map(|data| data.map(Frame::data)))
    }
}

/// How a server listens.
#[derive(Clone)]
pub(crate) struct Listen {
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) http2: bool,
    pub(crate) max_streams: u32,
}

impl Server {
    pub(crate) async fn new(listen: Listen) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (calling, calls) = mpsc::unbounded_channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let (goaway, goaways) = watch::channel(0);
        let count = connections.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Ordering::SeqCst) + 1;
                let (listen, calling, goaways) = (listen.clone(), calling.clone(), goaways.clone());
                tokio::spawn(async move {
                    match listen.tls.clone() {
                        None => serve(stream, number, &listen, calling, goaways).await,
                        Some(tls) => {
                            if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                                serve(stream, number, &listen, calling, goaways).await;
                            }
                        }
                    }
                });
            }
        });
        Self {
            address,
            calls,
            connections,
            goaway,
        }
    }

    /// The next request.
    pub(crate) async fn call(&mut self) -> Call {
        soon("a request", self.calls.recv()).await.unwrap()
    }

    /// Whether a request is waiting.
    pub(crate) fn is_called(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Shuts down all current connections gracefully.
    pub(crate) fn go_away(&self) {
        self.goaway.send_modify(|count| *count += 1);
    }

    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn serve<T: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: T,
    number: usize,
    listen: &Listen,
    calling: mpsc::UnboundedSender<Call>,
    mut goaways: watch::Receiver<u32>,
) {
    let service = service_fn(move |request: Request<Incoming>| {
        let calling = calling.clone();
        async move {
            let (reply, answer) = oneshot::channel();
            let call = Call {
                target: request.uri().path_and_query().unwrap().to_string(),
                headers: request.headers().clone(),
                connection: number,
                reply,
            };
            calling.send(call).map_err(|_| "the test is over")?;
            answer.await.map_err(|_| "the test gave no answer")
        }
    });
    goaways.mark_unchanged();
    // Ignore how a connection ends: the tests check the client's view.
    if listen.http2 {
        let connection = hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .max_concurrent_streams(listen.max_streams)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = goaways.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    } else {
        let connection = hyper::server::conn::http1::Builder::new()
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = goaways.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

impl Call {
    /// Starts a successful answer.
    pub(crate) fn stream(self) -> Feed {
        self.stream_with(&[("content-type", "application/json")])
    }

    pub(crate) fn stream_with(self, headers: &[(&str, &str)]) -> Feed {
        let (sender, receiver) = mpsc::channel(1);
        self.respond(200, headers, Script(receiver));
        Feed(sender)
    }

    /// Answers at once.
    pub(crate) fn reply(self, code: u16, headers: &[(&str, &str)], body: impl Into<Bytes>) {
        let (sender, receiver) = mpsc::channel(1);
        let body = body.into();
        if !body.is_empty() {
            sender.try_send(Ok(body)).unwrap();
        }
        self.respond(code, headers, Script(receiver));
    }

    /// Answers with JSON.
    pub(crate) fn json(self, body: impl Into<Bytes>) {
        self.reply(200, &[("content-type", "application/json")], body);
    }

    fn respond(self, code: u16, headers: &[(&str, &str)], script: Script) {
        let mut response = Response::new(script);
        *response.status_mut() = StatusCode::from_u16(code).unwrap();
        for &(name, value) in headers {
            let name: http::HeaderName = name.parse().unwrap();
            response.headers_mut().append(name, value.parse().unwrap());
        }
        assert!(self.reply.send(response).is_ok(), "the client went away");
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Feed {
    pub(crate) async fn send(&self, bytes: impl Into<Bytes>) {
        soon("the client to read", self.0.send(Ok(bytes.into())))
            .await
            .expect("the client has gone");
    }

    /// Sends bytes; `false` if the client has gone.
    pub(crate) async fn try_send(&self, bytes: impl Into<Bytes>) -> bool {
        self.0.send(Ok(bytes.into())).await.is_ok()
    }

    /// Ends the body before it is complete.
    pub(crate) async fn cut(self) {
        let _ = self.0.send(Err(std::io::Error::other("cut"))).await;
    }

    /// Waits until the client has gone.
    pub(crate) async fn gone(&self) {
        soon("the client to go", self.0.closed()).await;
    }
}

/// A server with TLS, and the authority that a client needs to trust it.
pub(crate) struct Cluster {
    pub(crate) server: Server,
    pub(crate) authority: Authority,
    pub(crate) folder: Folder,
    pub(crate) http2: bool,
}

impl Cluster {
    pub(crate) async fn new(http2: bool) -> Self {
        Self::with_max_streams(http2, 100).await
    }

    pub(crate) async fn with_max_streams(http2: bool, max_streams: u32) -> Self {
        let authority = Authority::new("the authority of the cluster");
        let pair = authority.server(&["127.0.0.1", "localhost"]);
        Self::with(authority, &pair, None, http2, max_streams).await
    }

    pub(crate) async fn with(
        authority: Authority,
        pair: &Pair,
        clients: Option<&Authority>,
        http2: bool,
        max_streams: u32,
    ) -> Self {
        let alpn: &[&str] = if http2 {
            &["h2", "http/1.1"]
        } else {
            &["http/1.1"]
        };
        let listen = Listen {
            tls: Some(server_tls(pair, clients, alpn)),
            http2,
            max_streams,
        };
        let folder = Folder::new();
        folder.write("ca.crt", &authority.pem());
        Self {
            server: Server::new(listen).await,
            authority,
            folder,
            http2,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("https://{}", self.server.address)
    }

    /// A configuration that trusts the server, without credentials.
    pub(crate) fn config(&self) -> Config {
        self.config_at(&self.url())
    }

    pub(crate) fn config_at(&self, url: &str) -> Config {
        let mut settings = Settings::new();
        settings.http = HttpVersion::Negotiated;
        Config::new(url)
            .unwrap()
            .with_ca_file(self.folder.path().join("ca.crt"))
            .with_settings(settings)
    }
}
