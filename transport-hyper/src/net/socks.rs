//! A tunnel through a socks5 proxy (RFC 1928 and 1929).
//!
//! Of the crates that do this, tokio-socks brings six crates for these few bytes, and hyper-util offers a
//! password as the only way, and prints it.

use std::fmt;
use std::io;
use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use zeroize::Zeroizing;

use crate::config::{Login, Server};

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
const SUCCESS: u8 = 0;

/// Ways to authenticate.
const NO_LOGIN: u8 = 0;
const PASSWORD: u8 = 2;
const NONE_OF_THEM: u8 = 0xff;

/// The version of the exchange of user and password.
const PASSWORD_VERSION: u8 = 1;

/// Types of addresses.
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Why there is no tunnel.
#[derive(Debug)]
pub(super) enum SocksError {
    Io(io::Error),
    /// It does not follow the protocol.
    Nonsense,
    /// It wants a login, and none was given.
    NeedsLogin,
    /// It does not accept the login.
    WrongLogin,
    /// The name of the server does not fit.
    LongName,
    /// It did not connect to the server.
    Refused(u8),
}

impl From<io::Error> for SocksError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl SocksError {
    /// What the proxy did, and the remedy.
    pub(super) fn explain(&self, field: &str, server: &Server) -> impl fmt::Display {
        let target = server.host_and_port();
        match self {
            Self::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                format!("closed the connection without an answer; is {field} correct?")
            }
            Self::Io(error) => format!("did not answer: {error}; is {field} correct?"),
            Self::Nonsense => format!("does not speak socks5; is {field} correct?"),
            Self::NeedsLogin => format!("requires credentials; add them to {field}"),
            Self::WrongLogin => format!("did not accept the credentials; correct those in {field}"),
            Self::LongName => "cannot be told the name of the server: it is too long".to_owned(),
            Self::Refused(code) => {
                let why = match code {
                    2 => "its rules do not allow it",
                    3 => "the network is unreachable",
                    4 => "the host is unreachable",
                    5 => "the connection was refused",
                    6 => "it took too long",
                    8 => "it does not know this type of address",
                    _ => "it failed",
                };
                format!(
                    "could not connect to {target}: {why} (socks5 code {code}); can it reach this server?"
                )
            }
        }
    }
}

/// Opens a tunnel to `host`, whose name the proxy looks up.
pub(super) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    login: Option<&Login>,
    host: &str,
    port: u16,
) -> Result<(), SocksError> {
    // Like Go, offer to do without a login even if there is one.
    let ways: &[u8] = match login {
        None => &[VERSION, 1, NO_LOGIN],
        Some(_) => &[VERSION, 2, NO_LOGIN, PASSWORD],
    };
    send(stream, ways).await?;
    match (read(stream).await?, login) {
        ([VERSION, NO_LOGIN], _) => {}
        ([VERSION, PASSWORD], Some(login)) => authenticate(stream, login).await?,
        ([VERSION, NONE_OF_THEM], None) => return Err(SocksError::NeedsLogin),
        ([VERSION, NONE_OF_THEM], Some(_)) => return Err(SocksError::WrongLogin),
        _ => return Err(SocksError::Nonsense),
    }
    let mut request = vec![VERSION, CONNECT, 0];
    match host.parse() {
        Ok(IpAddr::V4(address)) => {
            request.push(IPV4);
            request.extend(address.octets());
        }
        Ok(IpAddr::V6(address)) => {
            request.push(IPV6);
            request.extend(address.octets());
        }
        Err(_) => {
            let length = u8::try_from(host.len()).map_err(|_| SocksError::LongName)?;
            request.extend([NAME, length]);
            request.extend(host.as_bytes());
        }
    }
    request.extend(port.to_be_bytes());
    send(stream, &request).await?;
    match read(stream).await? {
        [VERSION, SUCCESS, _, kind] => skip_address(stream, kind).await,
        [VERSION, code, ..] => Err(SocksError::Refused(code)),
        _ => Err(SocksError::Nonsense),
    }
}

async fn authenticate<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    login: &Login,
) -> Result<(), SocksError> {
    let mut request = Zeroizing::new(vec![PASSWORD_VERSION]);
    for text in [&login.user, &login.password] {
        let length = u8::try_from(text.expose().len()).map_err(|_| SocksError::WrongLogin)?;
        request.push(length);
        request.extend(text.expose().as_bytes());
    }
    send(stream, &request).await?;
    match read(stream).await? {
        [PASSWORD_VERSION, SUCCESS] => Ok(()),
        [PASSWORD_VERSION, _] => Err(SocksError::WrongLogin),
        _ => Err(SocksError::Nonsense),
    }
}

/// Reads the address from which the proxy connected. What follows belongs to the tunnel.
async fn skip_address<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    kind: u8,
) -> Result<(), SocksError> {
    let length = match kind {
        IPV4 => 4,
        IPV6 => 16,
        NAME => stream.read_u8().await?,
        _ => return Err(SocksError::Nonsense),
    };
    // The address and the port.
    let mut rest = vec![0; usize::from(length) + 2];
    stream.read_exact(&mut rest).await?;
    Ok(())
}

async fn send<S: AsyncWrite + Unpin>(stream: &mut S, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn read<const N: usize>(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).await?;
    Ok(bytes)
}
