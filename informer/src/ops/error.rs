//! Why a port could not be opened.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::runtime::RuntimeError;

/// The operations port could not be opened.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpsError {
    /// The caller is not on a tokio runtime that can serve connections.
    Runtime(RuntimeError),
    /// The address cannot be understood or resolved.
    Address {
        /// The address.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// The address can be reached from other machines, and there is no token.
    NeedsToken {
        /// The address.
        address: SocketAddr,
    },
    /// The token is empty, or has characters that a header cannot carry.
    BadToken,
    /// The address is not available.
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The Unix socket cannot be made.
    Socket {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is a file at the path of the Unix socket that is not a socket.
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// Another process listens on the Unix socket.
    SocketInUse {
        /// The path.
        path: PathBuf,
    },
}

impl fmt::Display for OpsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot open the operations port: ")?;
        match self {
            Self::Runtime(error) => error.fmt(f),
            Self::Address { address, source } => write!(
                f,
                "the address {address:?} cannot be used: {source}; write it as 127.0.0.1:9090"
            ),
            Self::NeedsToken { address } => write!(
                f,
                "{address} can be reached from other machines; set a `token`, or use 127.0.0.1 or a Unix \
                 socket"
            ),
            Self::BadToken => {
                f.write_str("the token is empty, or has spaces or characters that are not ASCII")
            }
            Self::Bind { address, source } => {
                write!(
                    f,
                    "{address} is not available: {source}; choose another port, or 0 for any"
                )
            }
            Self::Socket { path, source } => {
                write!(f, "no socket can be made at {}: {source}", path.display())
            }
            Self::NotASocket { path } => write!(
                f,
                "{} is there already and is not a socket; it was left alone; choose another path",
                path.display()
            ),
            Self::SocketInUse { path } => write!(
                f,
                "another process listens on {}; stop it, or choose another path",
                path.display()
            ),
        }
    }
}

impl std::error::Error for OpsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Address { source, .. }
            | Self::Bind { source, .. }
            | Self::Socket { source, .. } => Some(source),
            Self::Runtime(_)
            | Self::NeedsToken { .. }
            | Self::BadToken
            | Self::NotASocket { .. }
            | Self::SocketInUse { .. } => None,
        }
    }
}
