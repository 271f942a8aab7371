//! Server configuration.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// The settings of a server.
///
/// ```
/// use informer_transport_mock::{Server, ServerConfig};
///
/// let mut config = ServerConfig::new(42);
/// config.first_version = 1000;
/// config.watch_window = 100;
/// assert_eq!(Server::new(config).version(), 1000);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// The seed of uids and generated names.
    pub seed: u64,
    /// The wall-clock time at [`Instant`](informer_core::Instant) 0. Default: the beginning of
    /// 2025.
    pub epoch: Timestamp,
    /// The version before the first write. Default: 1, as in an empty etcd.
    pub first_version: u64,
    /// How many changes of each kind can be watched. A watch from an older version is expired.
    /// Default: 1024.
    pub watch_window: usize,
    /// The interval between compactions. A compaction drops what is older than one interval, so a
    /// version or page token lives between one and two of them. Default: five minutes, as on a real
    /// server.
    pub compact_every: Duration,
    /// How long a watch without `timeoutSeconds` lasts. Default: half an hour, the minimum on a
    /// real server.
    pub watch_timeout: Duration,
    /// How the server refuses a watch from an expired version.
    pub expired_watch: ExpiredWatch,
    /// Whether objects have `managedFields` from their creation on, as on a real server. Otherwise
    /// they have them from the first server-side apply on, and what was there before belongs to
    /// `before-first-apply`: objects stay small, and writes cheap. Default: `false`.
    pub managed_fields: bool,
}

/// How a server refuses a watch from an expired version.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum ExpiredWatch {
    /// Status 200 and an ERROR event, as a real server does.
    #[default]
    Event,
    /// Status 410, as servers without a watch cache and some proxies do. Clients must handle both.
    Status,
}

impl ServerConfig {
    /// The default settings with this seed.
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
            managed_fields: false,
        }
    }
}
