//! Proxies that lead to one server, whatever they are asked for.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;

use super::soon;

/// What a proxy speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Speaks {
    /// Tunnels with CONNECT, and forwards other requests.
    Http,
    /// SOCKS5. With a login it insists on it.
    Socks(Option<(&'static str, &'static str)>),
    /// SOCKS5, and answers every request for a tunnel with this code.
    SocksRefusal(u8),
}

pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    questions: mpsc::UnboundedReceiver<String>,
}

impl Proxy {
    /// A proxy to the server at `to`, over TLS if `tls` is given.
    pub(crate) async fn new(
        to: SocketAddr,
        tls: Option<Arc<ServerConfig>>,
        speaks: Speaks,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (asked, questions) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (tls, asked) = (tls.clone(), asked.clone());
                tokio::spawn(async move {
                    match tls {
                        None => carry(client, to, speaks, asked).await,
                        // The client may not like the certificate.
                        Some(tls) => match TlsAcceptor::from(tls).accept(client).await {
                            Ok(client) => carry(client, to, speaks, asked).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Self { address, questions }
    }

    /// What the proxy was asked for: the head of an HTTP request, or an address in words.
    pub(crate) async fn asked(&mut self) -> String {
        soon("a question to the proxy", self.questions.recv())
            .await
            .unwrap()
    }

    pub(crate) fn was_asked(&self) -> bool {
        !self.questions.is_empty()
    }
}

/// Serves one client. `None` if one side has gone, or the client broke the rules.
async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    mut client: S,
    to: SocketAddr,
    speaks: Speaks,
    asked: mpsc::UnboundedSender<String>,
) -> Option<()> {
    let mut server = match speaks {
        Speaks::Http => http(&mut client, to, &asked).await?,
        Speaks::Socks(login) => socks(&mut client, login, 0, to, &asked).await?,
        Speaks::SocksRefusal(code) => socks(&mut client, None, code, to, &asked).await?,
    };
    copy_bidirectional(&mut client, &mut server)
        .await
        .ok()
        .map(drop)
}

async fn http<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut S,
    to: SocketAddr,
    asked: &mpsc::UnboundedSender<String>,
) -> Option<TcpStream> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let mut server = TcpStream::connect(to).await.unwrap();
    if head.starts_with("CONNECT ") {
        let ok = b"HTTP/1.1 200 Connection established\r\n\r\n";
        client.write_all(ok).await.ok()?;
    } else {
        server.write_all(head.as_bytes()).await.ok()?;
    }
    asked.send(head).ok()?;
    Some(server)
}

async fn socks<S: AsyncRead + AsyncWrite + Unpin>(
    client: &mut S,
    login: Option<(&str, &str)>,
    code: u8,
    to: SocketAddr,
    asked: &mpsc::UnboundedSender<String>,
) -> Option<TcpStream> {
    assert_eq!(client.read_u8().await.ok()?, 5);
    let ways = text(client).await?.into_bytes();
    let way = if login.is_some() { 2 } else { 0 };
    if !ways.contains(&way) {
        client.write_all(&[5, 0xff]).await.ok()?;
        return None;
    }
    client.write_all(&[5, way]).await.ok()?;
    if let Some((user, password)) = login {
        assert_eq!(client.read_u8().await.ok()?, 1);
        let is_right = text(client).await? == user && text(client).await? == password;
        client.write_all(&[1, u8::from(!is_right)]).await.ok()?;
        if !is_right {
            return None;
        }
    }
    let mut head = [0; 4];
    client.read_exact(&mut head).await.ok()?;
    assert_eq!(head[..3], [5, 1, 0]);
    let host = match head[3] {
        1 => Ipv4Addr::from(client.read_u32().await.ok()?).to_string(),
        3 => format!("name {}", text(client).await?),
        4 => Ipv6Addr::from(client.read_u128().await.ok()?).to_string(),
        other => panic!("type of address {other}"),
    };
    let port = client.read_u16().await.ok()?;
    asked.send(format!("{host} port {port}")).ok()?;
    // The address of the connection is a name, which is rare but allowed.
    let mut answer = vec![5, code, 0, 3, 2, b'm', b'e', 0, 80];
    answer.truncate(if code == 0 { answer.len() } else { 4 });
    client.write_all(&answer).await.ok()?;
    match code {
        0 => Some(TcpStream::connect(to).await.unwrap()),
        _ => None,
    }
}

/// A text behind its length.
async fn text<S: AsyncRead + Unpin>(client: &mut S) -> Option<String> {
    let mut text = vec![0; client.read_u8().await.ok()?.into()];
    client.read_exact(&mut text).await.ok()?;
    String::from_utf8(text).ok()
}
