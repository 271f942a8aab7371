//! Opens one connection: DNS, TCP, proxy, TLS.

use std::io;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::error::{ConnectError, tls_failure};
use super::socket::Socket;
use super::unhurried::{States, Unhurried};
use crate::config::{Config, HttpVersion, Proxy, Settings};
use crate::tls::Tls;

/// How much to read from the socket at once under TLS. rustls asks for 4 KiB at a time, and each read is a
/// call of the system.
const TLS_BUFFER: usize = 64 << 10;

/// Any byte stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An open connection, before the first byte of HTTP.
pub(super) struct Dialled {
    pub(super) stream: Box<dyn Stream>,
    pub(super) is_http2: bool,
    pub(super) states: States,
}

/// Connects to the server of `config`, within `connect_timeout`.
pub(super) async fn dial(config: &Config, tls: Option<&Tls>) -> Result<Dialled, ConnectError> {
    let patience = config.settings.connect_timeout;
    let dialled = tokio::time::timeout(patience, connect(config, tls)).await;
    dialled.unwrap_or_else(|_| {
        let through = match &config.proxy {
            Some(proxy) => format!(" through the proxy {}", proxy.authority()),
            None => String::new(),
        };
        Err(ConnectError(format!(
            "connecting to {}{through} took longer than {patience:?}; is there a firewall in between, \
             or another service at this address?",
            config.server.url()
        )))
    })
}

async fn connect(config: &Config, tls: Option<&Tls>) -> Result<Dialled, ConnectError> {
    let server = &config.server;
    let stream = match &config.proxy {
        None => tcp(&server.host, server.port, &config.settings)
            .await
            .map_err(|error| reach_failure(&server.url(), &server.host, &error))?,
        Some(proxy) => through(proxy, config).await?,
    };
    let states = States::default();
    let stream = Unhurried::new(Socket::new(stream), states.clone());
    let Some(tls) = tls else {
        return Ok(Dialled {
            stream: Box::new(stream),
            is_http2: config.settings.http == HttpVersion::Http2,
            states,
        });
    };
    let name = config.trust.server_name.as_ref().unwrap_or(&server.host);
    let name = ServerName::try_from(name.clone()).map_err(|_| {
        ConnectError(format!(
            "`{name}` is not a valid TLS server name; set tls-server-name"
        ))
    })?;
    let stream = TlsConnector::from(Arc::clone(&tls.config))
        .connect(name, BufReader::with_capacity(TLS_BUFFER, stream))
        .await
        .map_err(|error| ConnectError(tls_failure(&error, config)))?;
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
async fn tcp(host: &str, port: u16, settings: &Settings) -> io::Result<TcpStream> {
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

fn reach_failure(what: &str, host: &str, error: &io::Error) -> ConnectError {
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

/// Opens a tunnel through a proxy with CONNECT.
async fn through(proxy: &Proxy, config: &Config) -> Result<TcpStream, ConnectError> {
    let whom = format!("the proxy {}", proxy.authority());
    let mut stream = tcp(&proxy.host, proxy.port, &config.settings)
        .await
        .map_err(|error| reach_failure(&whom, &proxy.host, &error))?;
    let target = config.server.host_and_port();
    let authorization = match &proxy.authorization {
        Some(value) => format!("Proxy-Authorization: {}\r\n", value.expose()),
        None => String::new(),
    };
    let request = zeroize::Zeroizing::new(format!(
        "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n"
    ));
    let answer = async {
        stream.write_all(request.as_bytes()).await?;
        head_of(&mut stream).await
    };
    let head = answer.await.map_err(|error| {
        ConnectError(format!(
            "{whom} did not answer: {error}; is proxy-url correct?"
        ))
    })?;
    let mut words = head.lines().next().unwrap_or_default().splitn(3, ' ');
    match (words.next(), words.next()) {
        (Some(version), Some(code)) if version.starts_with("HTTP/1.") && code.starts_with('2') => {
            Ok(stream)
        }
        (Some(version), Some("407")) if version.starts_with("HTTP/1.") => Err(ConnectError(
            format!("{whom} requires credentials (HTTP 407); add them to proxy-url"),
        )),
        (Some(version), Some(code)) if version.starts_with("HTTP/1.") => {
            Err(ConnectError(format!(
                "{whom} refused to connect to {target}: HTTP {code}; does it allow this server?"
            )))
        }
        _ => Err(ConnectError(format!(
            "{whom} does not speak HTTP; is proxy-url correct?"
        ))),
    }
}

/// Reads the head of an HTTP answer and not one byte more: what follows belongs to the tunnel.
async fn head_of(stream: &mut TcpStream) -> io::Result<String> {
    const LONGEST: usize = 16 << 10;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST {
            return Err(io::Error::other("the head of its answer is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
