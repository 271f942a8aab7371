//! Who brings the bytes. The only file that knows hyper.

use std::error::Error;
use std::fmt;

use informer_core::transport::{Target, Transport};
#[cfg(feature = "hyper")]
use informer_transport_hyper::HyperTransport;
#[cfg(feature = "hyper")]
pub use informer_transport_hyper::{Client, Config};

/// Something that makes transports: a client of an API server, a mock of one, or a function.
///
/// ```
/// use informer::Connect;
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// fn connects(_: &impl Connect) {}
/// let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// connects(&server.connect());
/// ```
pub trait Connect {
    /// What it makes.
    type Transport: Transport + Send + Unpin + 'static;

    /// A transport for one informer. Nothing is sent before the informer asks for it.
    ///
    /// # Errors
    /// The target cannot be asked for.
    fn connect(&self, target: &Target) -> Result<Self::Transport, ConnectError>;
}

impl<F, T> Connect for F
where
    F: Fn(&Target) -> T,
    T: Transport + Send + Unpin + 'static,
{
    type Transport = T;

    fn connect(&self, target: &Target) -> Result<T, ConnectError> {
        Ok(self(target))
    }
}

/// An API server, over HTTP.
#[cfg(feature = "hyper")]
impl Connect for Client {
    type Transport = HyperTransport;

    fn connect(&self, target: &Target) -> Result<HyperTransport, ConnectError> {
        self.transport(target).map_err(ConnectError::new)
    }
}

/// Why there is no transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectError {
    reason: String,
}

impl ConnectError {
    /// An error with this text.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl Error for ConnectError {}
