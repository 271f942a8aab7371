//! Transports for informers, and callers for writes. The only file that depends on hyper and on the mock, and
//! with `kube.rs` on kube-rs.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use informer_core::transport::{Caller, Target, Transport};
#[cfg(feature = "hyper")]
use informer_transport_hyper::HyperTransport;
#[cfg(feature = "hyper")]
pub use informer_transport_hyper::{Client, Config};
#[cfg(feature = "kube")]
use informer_transport_kube::{KubeClient, KubeTransport, kube};
#[cfg(feature = "mock")]
use informer_transport_mock::{MockServer, transport::MockTransport};

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

/// Connects to a mock server, in virtual time.
#[cfg(feature = "mock")]
impl Connect for MockServer {
    type Transport = MockTransport;

    fn connect(&self, target: &Target) -> Result<MockTransport, ConnectError> {
        Ok(self.transport(target, 0))
    }
}

/// Creates callers, which read and write single objects: see [`Api`](crate::Api).
///
/// Clients of API servers and mock servers implement it. For a client of your own, implement it beside
/// [`Connect`].
pub trait Calls {
    /// Creates a caller. It sends nothing before it is asked to.
    ///
    /// # Errors
    /// There is no caller, for example because a runtime is missing.
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError>;
}

#[cfg(feature = "hyper")]
impl Calls for Client {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

#[cfg(feature = "kube")]
impl Calls for kube::Client {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        let client = KubeClient::new(self.clone()).map_err(ConnectError::new)?;
        Ok(Arc::new(client))
    }
}

#[cfg(feature = "kube")]
impl Calls for KubeClient {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

#[cfg(feature = "mock")]
impl Calls for MockServer {
    fn caller(&self) -> Result<Arc<dyn Caller>, ConnectError> {
        Ok(Arc::new(self.clone()))
    }
}

/// There is no transport for a target, or no caller.
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
