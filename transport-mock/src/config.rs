//! How a server is set up.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// How a server is set up.
///
/// ```
/// use informer_transport_mock::ServerConfig;
///
/// let mut config = ServerConfig::new(42);
/// config.watch_window = 100;
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Where uids and generated names come from.
    pub seed: u64,
    /// The wall clock at [`Instant`](informer_core::Instant) 0. Default: the beginning of 2025.
    pub epoch: Timestamp,
    /// The version before the first write. Default: 1, that of an empty etcd.
    pub first_version: u64,
    /// So many changes of each kind can be watched. A watch from before them is expired. Default:
    /// 1024.
    pub watch_window: usize,
    /// After so much time, what is older than that is compacted: lists of a version and page tokens
    /// live between one and two such times. Default: five minutes, as a real server does it.
    pub compact_every: Duration,
    /// How long a watch lasts that names no `timeoutSeconds`. Default: half an hour, the least that
    /// a real server gives.
    pub watch_timeout: Duration,
    /// How a watch from an expired version is refused.
    pub expired_watch: ExpiredWatch,
}

/// How a watch from an expired version is refused.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ExpiredWatch {
    /// Status 200 and an ERROR event, as a real server does it.
    #[default]
    Event,
    /// Status 410, as servers without a watch cache and some proxies do it. Clients must take both.
    Status,
}

impl ServerConfig {
    /// The defaults, with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            epoch: Timestamp::from_unix(1_735_689_600),
            first_version: 1,
            watch_window: 1024,
            compact_every: Duration::from_secs(300),
            watch_timeout: Duration::from_secs(1800),
            expired_watch: ExpiredWatch::Event,
        }
    }
}
