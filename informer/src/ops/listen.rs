//! Where the port listens: an address, or a Unix socket.

use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::error::OpsError;
#[cfg(unix)]
use super::socket::Socket;
use crate::runtime::RuntimeError;

/// How many connections wait to be accepted.
const WAITING: u32 = 64;

/// What the system may hold for a connection that does not read.
const SEND_BUFFER: u32 = 128 * 1024;

pub(super) enum Listener {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(Socket),
}

/// A connection of either kind.
pub(super) enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(tokio::net::UnixStream),
}

impl Listener {
    pub(super) async fn tcp(address: &str, has_token: bool) -> Result<Self, OpsError> {
        let unusable = |source| OpsError::Address {
            address: address.to_owned(),
            source,
        };
        let found = tokio::net::lookup_host(address).await.map_err(unusable)?;
        let found: Vec<_> = found.collect();
        let is_open = |address: &&SocketAddr| !address.ip().to_canonical().is_loopback();
        if let Some(&address) = found.iter().find(is_open).filter(|_| !has_token) {
            return Err(OpsError::NeedsToken { address });
        }
        let mut last = unusable(io::ErrorKind::NotFound.into());
        for address in found {
            match with_reactor(|| bind(address))? {
                Ok(listener) => return Ok(Self::Tcp(listener)),
                Err(source) => last = OpsError::Bind { address, source },
            }
        }
        Err(last)
    }

    #[cfg(unix)]
    pub(super) fn unix(path: &std::path::Path) -> Result<Self, OpsError> {
        with_reactor(|| Socket::bind(path))?.map(Self::Unix)
    }

    pub(super) async fn accept(&self) -> io::Result<Stream> {
        match self {
            Self::Tcp(listener) => listener.accept().await.map(|(it, _)| Stream::Tcp(it)),
            #[cfg(unix)]
            Self::Unix(socket) => socket
                .listener
                .accept()
                .await
                .map(|(it, _)| Stream::Unix(it)),
        }
    }

    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(listener) => listener.local_addr().ok(),
            #[cfg(unix)]
            Self::Unix(_) => None,
        }
    }
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // So that a program that starts again finds its port free. On Windows this means something else.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    // Its connections inherit it.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// tokio panics if its runtime was built without I/O, and there is no way to ask.
fn with_reactor<R>(act: impl FnOnce() -> R) -> Result<R, OpsError> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|_| {
        OpsError::Runtime(RuntimeError::new(
            "the tokio runtime has no I/O; build it with `enable_io` or `enable_all`",
        ))
    })
}
