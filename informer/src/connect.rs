//! Transports for informers. The only file that depends on hyper, and with `kube.rs` on kube-rs.

use std::error::Error;
use std::fmt;

use informer_core::transport::{Target, Transport};
#[cfg(feature = "hyper")]
use informer_transport_hyper::HyperTransport;
#[cfg(feature = "hyper")]
pub use informer_transport_hyper::{Client, Config};
#[cfg(feature = "kube")]
use informer_transport_kube::{KubeClient, KubeTransport, kube};

/// Creates transports: a client of an API server, a mock server, or a function.
///
/// ```
/// use informer::{Connect, ConnectError, InformerBuilder, Target};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// /// Refuses to follow secrets.
/// struct WithoutSecrets<C>(C);
///
/// impl<C: Connect> Connect for WithoutSecrets<C> {
///     type Transport = C::Transport;
///
///     fn connect(&self, target: &Target) -> Result<C::Transport, ConnectError> {
///         if target.plural == "secrets" {
///             return Err(ConnectError::new("this program must not read secrets"));
///         }
///         self.0.connect(target)
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `server` is a mock API server.
/// let connect = WithoutSecrets(server.connect());
/// let start = |plural| InformerBuilder::lean_at(Target::new("", "v1", plural)).start(&connect);
/// assert!(start("pods").is_ok());
/// let error = start("secrets").map(drop).unwrap_err();
/// assert_eq!(error.to_string(), "this program must not read secrets");
/// # }
/// ```
///
/// A function from a [`Target`] to a transport is a `Connect`, too.
pub trait Connect {
    /// The transport that it creates.
    type Transport: Transport + Send + Unpin + 'static;

    /// Creates a transport for one informer. The transport sends nothing before the informer needs it.
    ///
    /// # Errors
    /// There is no transport for the target.
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

/// Connects to an API server over HTTP.
#[cfg(feature = "hyper")]
impl Connect for Client {
    type Transport = HyperTransport;

    fn connect(&self, target: &Target) -> Result<HyperTransport, ConnectError> {
        self.transport(target).map_err(ConnectError::new)
    }
}

/// Connects to an API server over the service stack of a kube client: see [`kube`](crate::kube).
#[cfg(feature = "kube")]
impl Connect for kube::Client {
    type Transport = KubeTransport;

    fn connect(&self, target: &Target) -> Result<KubeTransport, ConnectError> {
        let client = KubeClient::new(self.clone()).map_err(ConnectError::new)?;
        client.connect(target)
    }
}

/// Connects as a [`kube::Client`] does, with limits of its own.
#[cfg(feature = "kube")]
impl Connect for KubeClient {
    type Transport = KubeTransport;

    fn connect(&self, target: &Target) -> Result<KubeTransport, ConnectError> {
        self.transport(target).map_err(ConnectError::new)
    }
}

/// There is no transport for a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConnectError {
    reason: String,
}

impl ConnectError {
    /// Creates an error with this message.
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
