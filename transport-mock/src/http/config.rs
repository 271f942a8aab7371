//! How a server is reached.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::Duration;

use super::faults::Faults;

/// How a server is reached, and by whom.
///
/// ```
/// use informer_transport_mock::http::HttpConfig;
///
/// let mut config = HttpConfig::new();
/// config.tls = true;
/// config.token = Some("secret".to_owned());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Where it listens. Default: a free port of 127.0.0.1.
    pub address: SocketAddr,
    /// With TLS, and a certificate made for the occasion. Default: without.
    pub tls: bool,
    /// The bearer token that requests must carry. Default: none is needed.
    ///
    /// Clients show it over TLS. Without, the [kubeconfig](super::Running::kubeconfig) allows our own
    /// client to show it all the same; kubectl does not.
    pub token: Option<String>,
    /// A longer body of a request is refused with 413. Default: 3 MiB, as a real server has it.
    pub max_body: usize,
    /// At most so many connections are served at the same time; others wait until one of them ends.
    /// Default: 1,024.
    pub max_connections: NonZeroUsize,
    /// How long the TLS handshake may take, and how long the head of a request: a connection on which
    /// none comes is closed. Default: 30 s.
    pub header_timeout: Duration,
    /// What goes wrong. Default: nothing.
    pub faults: Faults,
}

impl HttpConfig {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            tls: false,
            token: None,
            max_body: 3 * 1024 * 1024,
            max_connections: NonZeroUsize::MIN.saturating_add(1023),
            header_timeout: Duration::from_secs(30),
            faults: Faults::default(),
        }
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self::new()
    }
}
