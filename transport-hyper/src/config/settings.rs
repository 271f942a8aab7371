//! How connections are made and kept.

use std::num::NonZeroUsize;
use std::time::Duration;

/// Which HTTP to speak.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum HttpVersion {
    /// What the server prefers, asked by ALPN; HTTP/1.1 without TLS.
    #[default]
    Negotiated,
    /// HTTP/1.1: one connection for every watch.
    Http1,
    /// HTTP/2: many watches share a connection. Without TLS the server must know in advance.
    Http2,
}

/// How connections are made and kept. [`new`](Self::new) is fit for API servers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Settings {
    /// Which HTTP to speak. Default: negotiated.
    pub http: HttpVersion,
    /// At most so many streams share an HTTP/2 connection, even if the server allows more. Default 100.
    /// Each may have a quarter of a MiB in flight that nobody has read.
    pub max_streams: NonZeroUsize,
    /// So many lists, and streams that begin with the whole state, are asked for at the same time;
    /// others wait. It keeps a restart of the server from being followed by a storm. Default 8. A list
    /// that waits for a slow handler does not count.
    pub max_lists: NonZeroUsize,
    /// How long name resolution, connecting, the proxy and TLS may take together. Default 30 s.
    pub connect_timeout: Duration,
    /// How long the answer to a list, or to a stream that begins with the whole state, may take to
    /// begin. Default 60 s, the server's own limit.
    pub head_timeout: Duration,
    /// How long a list may take from the beginning of its answer to its end. Default 10 minutes. The
    /// time that handlers take is not counted.
    pub list_timeout: Duration,
    /// How large the answer to a list may be, in bytes, unpacked; if there are pages, each of them.
    /// Default 4 GiB.
    pub max_list_bytes: u64,
    /// After so long an HTTP/2 connection is asked for a sign of life; a TCP connection, too. Default
    /// 30 s.
    pub keep_alive_interval: Duration,
    /// How long that sign may take. Default 15 s: a dead peer is found within 45 s.
    pub keep_alive_timeout: Duration,
}

impl Settings {
    /// The defaults.
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
