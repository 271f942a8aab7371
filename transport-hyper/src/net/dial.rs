//! Opens one connection: DNS, TCP, proxy, TLS.

use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::error::{ConnectError, Peer, tls_failure};
use super::proxy::through;
use super::socket::Socket;
use super::unhurried::{States, Unhurried};
use crate::config::{Config, HttpVersion, Settings};
use crate::tls::{Tls, TlsSource};

/// How much to read from the socket at once under TLS or HTTP/2. rustls asks for 4 KiB at a time, HTTP/2 for a
/// [frame](super::frames), and each read is a call of the system.
const BUFFER: usize = 64 << 10;

/// Any byte stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An open connection, before the first byte of HTTP.
pub(super) struct Dialled {
    pub(super) stream: Box<dyn Stream>,
    pub(super) is_http2: bool,
    pub(super) states: States,
}

/// Connects to the server of `config`, within `connect_timeout`. `proxy_tls` is for the connection to the
/// proxy.
pub(super) async fn dial(
    config: &Config,
    tls: Option<&Tls>,
    proxy_tls: Option<&TlsSource>,
) -> Result<Dialled, ConnectError> {
    let patience = config.settings.connect_timeout;
    let dialled = tokio::time::timeout(patience, connect(config, tls, proxy_tls)).await;
    dialled.unwrap_or_else(|_| {
        Err(ConnectError(format!(
            "connecting to {} took longer than {patience:?}; is there a firewall in between, or another \
             service at this address?",
            config.route()
        )))
    })
}

async fn connect(
    config: &Config,
    tls: Option<&Tls>,
    proxy_tls: Option<&TlsSource>,
) -> Result<Dialled, ConnectError> {
    if let Some(proxy) = &config.proxy {
        // What comes through a proxy is read as it arrives.
        let stream = through(proxy, config, proxy_tls).await?;
        return secure(stream, States::default(), config, tls).await;
    }
    let server = &config.server;
    let stream = tcp(&server.host, server.port, &config.settings)
        .await
        .map_err(|error| reach_failure(&server.url(), &server.host, &error))?;
    let states = States::default();
    let stream = Unhurried::new(Socket::new(stream), states.clone());
    secure(stream, states, config, tls).await
}

/// Does TLS with the server, if it is reached over TLS.
async fn secure(
    stream: impl Stream + 'static,
    states: States,
    config: &Config,
    tls: Option<&Tls>,
) -> Result<Dialled, ConnectError> {
    let Some(tls) = tls else {
        let is_http2 = config.settings.http == HttpVersion::Http2;
        return Ok(Dialled {
            stream: if is_http2 {
                Box::new(BufReader::with_capacity(BUFFER, stream))
            } else {
                Box::new(stream)
            },
            is_http2,
            states,
        });
    };
    let name = config
        .trust
        .server_name
        .as_ref()
        .unwrap_or(&config.server.host);
    let name = ServerName::try_from(name.clone()).map_err(|_| {
        ConnectError(format!(
            "`{name}` is not a valid TLS server name; set tls-server-name"
        ))
    })?;
    let stream = TlsConnector::from(Arc::clone(&tls.config))
        .connect(name, BufReader::with_capacity(BUFFER, stream))
        .await
        .map_err(|error| ConnectError(tls_failure(&error, &Peer::server(config))))?;
    let is_http2 = match stream.get_ref().1.alpn_protocol() {
        Some(protocol) => protocol == b"h2",
        None => config.settings.http == HttpVersion::Http2,
    };
    Ok(Dialled {
        stream: Box::new(stream),
        is_http2,
        states,
    })
}

/// Connects and turns on TCP keep-alive, so that a dead peer is noticed.
pub(super) async fn tcp(host: &str, port: u16, settings: &Settings) -> io::Result<TcpStream> {
    const PROBES: u32 = 3;
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    let keep_alive = TcpKeepalive::new()
        .with_time(settings.keep_alive_interval)
        .with_interval(settings.keep_alive_timeout / PROBES)
        .with_retries(PROBES);
    // If the system does not support it, the deadlines of the reflector still apply.
    let _ = SockRef::from(&stream).set_tcp_keepalive(&keep_alive);
    Ok(stream)
}

pub(super) fn reach_failure(what: &str, host: &str, error: &io::Error) -> ConnectError {
    ConnectError(match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            format!("connection refused by {what}; is it running at this address?")
        }
        // The standard library has no error kind for a failed DNS lookup.
        _ if error.raw_os_error().is_none() => {
            format!(
                "the name `{host}` of {what} cannot be resolved: {error}; is it spelled correctly, and \
                 does DNS work here?"
            )
        }
        _ => format!("cannot reach {what}: {error}; is there a network route to this address?"),
    })
}
