//! Why a server could not start.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Why a server could not start.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// It cannot listen on the address.
    Bind {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// It could not generate a certificate.
    Certificate(String),
}

impl ServeError {
    pub(super) fn key(why: &'static str) -> Self {
        Self::Certificate(why.to_owned())
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bind { address, source } if source.kind() == io::ErrorKind::AddrInUse => write!(
                f,
                "cannot listen on {address}: another program uses the port; choose another one, or 0 for any free port"
            ),
            Self::Bind { address, source } => write!(f, "cannot listen on {address}: {source}"),
            Self::Certificate(why) => write!(f, "cannot generate a certificate: {why}"),
        }
    }
}

impl Error for ServeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Bind { source, .. } => Some(source),
            Self::Certificate(_) => None,
        }
    }
}

impl From<rcgen::Error> for ServeError {
    fn from(error: rcgen::Error) -> Self {
        Self::Certificate(error.to_string())
    }
}

impl From<rustls::Error> for ServeError {
    fn from(error: rustls::Error) -> Self {
        Self::Certificate(error.to_string())
    }
}
