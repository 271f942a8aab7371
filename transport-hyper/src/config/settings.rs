//! HTTP version, limits and timeouts.

use std::num::NonZeroUsize;
use std::time::Duration;

/// The HTTP version to use.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum HttpVersion {
    /// Negotiate with the server (ALPN). Without TLS this means HTTP/1.1.
    #[default]
    Negotiated,
    /// HTTP/1.1: one connection per watch.
    Http1,
    /// HTTP/2: many watches share a connection. Without TLS, the server must expect HTTP/2.
    Http2,
}

/// HTTP version, limits and timeouts of a client. The defaults suit API servers.
///
/// ```
/// use std::num::NonZeroUsize;
/// use std::time::Duration;
/// use informer_transport_hyper::{Config, HttpVersion, Settings};
///
/// let settings = Settings {
///     http: HttpVersion::Http1,
///     max_lists: NonZeroUsize::new(2).expect("not zero"),
///     connect_timeout: Duration::from_secs(5),
///     ..Settings::new()
/// };
/// let config = Config::new("https://10.0.0.1:6443")?.with_settings(settings.clone());
/// assert_eq!(config.settings(), &settings);
/// assert_eq!(config.settings().head_timeout, Duration::from_secs(60));
/// # Ok::<(), informer_transport_hyper::ConfigError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Settings {
    /// The HTTP version. Default: negotiated.
    pub http: HttpVersion,
    /// The most streams on one HTTP/2 connection, even if the server allows more. Default 100.
    ///
    /// Each stream may buffer 256 KiB of unread data.
    pub max_streams: NonZeroUsize,
    /// The most lists to read at the same time; further lists wait. Default 8.
    ///
    /// Watches that start with the full state count as lists. The limit prevents a storm of lists after
    /// a server restart. A list that waits for a slow handler does not count.
    pub max_lists: NonZeroUsize,
    /// The time limit for DNS, TCP, proxy and TLS together. Default 30 s.
    pub connect_timeout: Duration,
    /// The time limit for the first byte of an answer to a list. Default 60 s, the server's own limit.
    ///
    /// It also applies to watches that start with the full state.
    pub head_timeout: Duration,
    /// The time limit for a list, from the first to the last byte of its answer. Default 10 minutes.
    ///
    /// The time that handlers take does not count.
    pub list_timeout: Duration,
    /// The size limit for the answer to a list, in bytes after decompression. Default 4 GiB.
    ///
    /// With pages, the limit applies to each page.
    pub max_list_bytes: u64,
    /// How often to check that the peer of a connection is alive. Default 30 s.
    ///
    /// HTTP/2 connections send a PING; TCP keep-alive covers the rest.
    pub keep_alive_interval: Duration,
    /// How long that check may take. Default 15 s, so a dead peer is detected within 45 s.
    pub keep_alive_timeout: Duration,
}

impl Settings {
    /// The default settings.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            http: HttpVersion::Negotiated,
            max_streams: NonZeroUsize::MIN.saturating_add(99),
            max_lists: NonZeroUsize::MIN.saturating_add(7),
            connect_timeout: Duration::from_secs(30),
            head_timeout: Duration::from_secs(60),
            list_timeout: Duration::from_secs(600),
            max_list_bytes: 4 << 30,
            keep_alive_interval: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(15),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}
