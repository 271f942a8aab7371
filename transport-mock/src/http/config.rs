//! HTTP configuration.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::Duration;

use super::faults::FaultScript;

/// The settings of [`serve`](super::serve): address, TLS, token, limits, faults.
///
/// ```
/// use informer_transport_mock::http::{HttpConfig, SharedServer, serve};
/// use informer_transport_mock::{Server, ServerConfig};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let mut config = HttpConfig::new();
/// config.tls = true;
/// config.token = Some("secret".to_owned());
///
/// let server = SharedServer::new(Server::new(ServerConfig::new(42)));
/// let running = serve(server, config).await?;
/// assert!(running.url().starts_with("https://127.0.0.1:"));
/// assert!(running.kubeconfig().contains("token: \"secret\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// The address to listen on. Default: a free port of 127.0.0.1.
    pub address: SocketAddr,
    /// Whether to use TLS, with a new self-made certificate. Default: no.
    pub tls: bool,
    /// The bearer token that requests must carry. Default: none.
    ///
    /// Clients send tokens over TLS only. Without TLS, the [kubeconfig](super::Running::kubeconfig)
    /// allows this project's client to send it anyway; kubectl does not.
    pub token: Option<String>,
    /// The largest request body, in bytes. A longer one is refused with 413. Default: 3 MiB, as on
    /// a real server.
    pub max_body: usize,
    /// The largest number of open connections. Further ones wait until one ends. Default: 1,024.
    pub max_connections: NonZeroUsize,
    /// The time limit of the TLS handshake and of a request's headers. A connection without a
    /// request is closed after it. Default: 30 s.
    pub header_timeout: Duration,
    /// The faults to inject. Default: none.
    pub faults: FaultScript,
}

impl HttpConfig {
    /// The default settings.
    #[must_use]
    pub fn new() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: false,
            token: None,
            max_body: 3 * 1024 * 1024,
            max_connections: NonZeroUsize::MIN.saturating_add(1023),
            header_timeout: Duration::from_secs(30),
            faults: FaultScript::default(),
        }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self::new()
    }
}
