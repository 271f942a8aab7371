//! The way through a proxy: a tunnel, or a connection to which whole requests are sent.

use std::io;

use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsConnector;
use zeroize::Zeroizing;

use super::dial::{Stream, reach_failure, tcp};
use super::error::{ConnectError, Peer, tls_failure};
use super::socks;
use crate::config::{Config, Proxy, ProxyKind};
use crate::tls::TlsSource;

/// Connects to the proxy, and through it to the server unless the proxy forwards requests itself.
pub(super) async fn through(
    proxy: &Proxy,
    config: &Config,
    tls: Option<&TlsSource>,
) -> Result<Box<dyn Stream>, ConnectError> {
    let whom = format!("the proxy {}", proxy.authority());
    let named = format!("{whom} ({})", proxy.field);
    let tcp = tcp(&proxy.host, proxy.port, &config.settings)
        .await
        .map_err(|error| reach_failure(&named, &proxy.host, &error))?;
    let mut stream: Box<dyn Stream> = match tls {
        None => Box::new(tcp),
        Some(tls) => {
            let tls = tls.current(None).map_err(|error| ConnectError(error.0))?;
            let name = ServerName::try_from(proxy.host.clone()).map_err(|_| {
                let field = proxy.field;
                ConnectError(format!(
                    "{whom} has no valid TLS server name; correct {field}"
                ))
            })?;
            let connected = TlsConnector::from(tls.config).connect(name, tcp).await;
            Box::new(
                connected
                    .map_err(|error| ConnectError(tls_failure(&error, &Peer::proxy(proxy))))?,
            )
        }
    };
    if config.forwarder().is_some() {
        return Ok(stream);
    }
    let server = &config.server;
    match proxy.kind {
        ProxyKind::Http | ProxyKind::Https => {
            tunnel(&mut stream, proxy, &whom, &server.host_and_port()).await?;
        }
        ProxyKind::Socks5 => {
            let login = proxy.login.as_ref();
            let opened = socks::tunnel(&mut stream, login, &server.host, server.port).await;
            opened.map_err(|error| {
                ConnectError(format!("{whom} {}", error.explain(proxy.field, server)))
            })?;
        }
    }
    Ok(stream)
}

/// Opens a tunnel with CONNECT.
async fn tunnel(
    stream: &mut Box<dyn Stream>,
    proxy: &Proxy,
    whom: &str,
    target: &str,
) -> Result<(), ConnectError> {
    let field = proxy.field;
    let authorization = match proxy.authorization() {
        Some(value) => Zeroizing::new(format!("Proxy-Authorization: {}\r\n", value.expose())),
        None => Zeroizing::default(),
    };
    let request = Zeroizing::new(format!(
        "CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{}\r\n",
        *authorization
    ));
    let answer = async {
        stream.write_all(request.as_bytes()).await?;
        stream.flush().await?;
        head_of(stream).await
    };
    let head = answer.await.map_err(|error| {
        ConnectError(match error.kind() {
            io::ErrorKind::UnexpectedEof => {
                format!("{whom} closed the connection without an answer; is {field} correct?")
            }
            _ => format!("{whom} did not answer: {error}; is {field} correct?"),
        })
    })?;
    let mut words = head.lines().next().unwrap_or_default().splitn(3, ' ');
    let (version, code) = (words.next().unwrap_or_default(), words.next());
    let Some(code) = code.filter(|_| version.starts_with("HTTP/1.")) else {
        return Err(ConnectError(format!(
            "{whom} does not speak HTTP; is {field} correct?"
        )));
    };
    match code.as_bytes() {
        [b'2', ..] => Ok(()),
        b"407" => Err(ConnectError(proxy.wants_credentials())),
        [b'5', ..] => Err(ConnectError(format!(
            "{whom} could not connect to {target}: HTTP {code}; can it reach this server?"
        ))),
        _ => Err(ConnectError(format!(
            "{whom} refused to connect to {target}: HTTP {code}; does it allow this server?"
        ))),
    }
}

/// Reads the head of an HTTP answer and not one byte more: what follows belongs to the tunnel.
async fn head_of(stream: &mut Box<dyn Stream>) -> io::Result<String> {
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

/// The TLS of an `https://` proxy.
pub(super) fn tls_source(config: &Config) -> Option<TlsSource> {
    let proxy = config.proxy.as_ref()?;
    (proxy.kind == ProxyKind::Https).then(|| TlsSource::for_proxy(config))
}
