//! The configuration of an informer, with two presets.

use core::time::Duration;

use crate::indexer::{Rules, StoreLimits};
use crate::queue::{QueueKind, Relist};
use crate::reflector::ReflectorConfig;

/// How an informer behaves.
///
/// [`new`](Self::new) is our default. [`client_go`](Self::client_go) does what client-go does, including
/// its quirks. Every difference is a field here or in one of the parts.
///
/// ```
/// use core::time::Duration;
/// use informer_core::InformerConfig;
/// use informer_core::indexer::{Rules, StoreLimits};
/// use informer_core::queue::{QueueKind, Relist};
///
/// let config = InformerConfig {
///     resync: Some(Duration::from_secs(600)),
///     limits: StoreLimits { objects: Some(50_000), bytes: None },
///     ..InformerConfig::new()
/// };
/// assert_eq!(config.relist, Relist::Streamed);
/// assert!(config.rules.drop_noops);
///
/// let client_go = InformerConfig::client_go(QueueKind::DeltaFifo);
/// assert_eq!(client_go.relist, Relist::Staged);
/// assert_eq!(client_go.rules, Rules::client_go());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct InformerConfig {
    /// How to query the server.
    pub reflector: ReflectorConfig,
    /// Which queue to use between reflector and store. Default: the DeltaFIFO.
    pub queue: QueueKind,
    /// When the objects of a full state reach the store. Default: as they are decoded.
    pub relist: Relist,
    /// Which notifications re-created and unchanged objects make.
    pub rules: Rules,
    /// The resync period of listeners with [`Resync::Default`](crate::processor::Resync::Default), and
    /// how often to check for due resyncs. A listener with a shorter period makes the checks more
    /// frequent if it is added before the start. At least a second. `None`, the default, switches all
    /// resyncs off.
    pub resync: Option<Duration>,
    /// Which listeners get an update that does not change the version. Default: all, unless it is a
    /// resync.
    pub same_version: SameVersion,
    /// What to do if the transform refuses an object.
    pub on_transform_error: OnTransformError,
    /// Whether the store has a version with a DeltaFIFO, too. Default: yes.
    pub store_version: bool,
    /// How much the store may hold. Default: no limits.
    ///
    /// If there is more on the server, the informer reports [`Failure::Full`](crate::Failure::Full), is
    /// not fresh, and relists with back-off until everything fits. Until then the store holds a part of
    /// the state. Each object in it is complete, but perhaps not the newest, and none of them is known to
    /// be gone. An informer whose first state does not fit does not sync. If the full state is delivered
    /// in one piece (in-order queue or staged relist), a state that does not fit is not delivered at all,
    /// and the store keeps the previous one. While it is read, it takes at most as much memory again as
    /// the store.
    pub limits: StoreLimits,
}

/// Which listeners get an update with equal old and new versions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum SameVersion {
    /// The cause decides: a resync goes to the listeners that are due, everything else to all.
    ByCause,
    /// Only listeners that count as resyncing, whatever the cause. This is client-go's rule: a listener
    /// counts as resyncing from its registration until the first check that finds it not due.
    IsResync,
}

/// What to do if the transform refuses an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum OnTransformError {
    /// Report the object and leave it out. The store keeps what it has under the key. A deletion still
    /// deletes.
    HarmOneObject,
    /// What client-go does: in a list, fail the whole list and relist with back-off; in a watch, drop the
    /// event, even a deletion.
    LoseEvents,
}

impl InformerConfig {
    /// Our default.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            reflector: ReflectorConfig::new(),
            queue: QueueKind::DeltaFifo,
            relist: Relist::Streamed,
            rules: Rules::new(),
            resync: None,
            same_version: SameVersion::ByCause,
            on_transform_error: OnTransformError::HarmOneObject,
            store_version: true,
            limits: StoreLimits::NONE,
        }
    }

    /// Whether a full state is delivered in one piece.
    pub(super) const fn collects_states(&self) -> bool {
        !matches!(
            (self.queue, self.relist),
            (QueueKind::DeltaFifo, Relist::Streamed)
        )
    }

    /// What client-go does with this queue.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub const fn client_go(queue: QueueKind) -> Self {
        Self {
            reflector: ReflectorConfig::client_go(),
            queue,
            relist: Relist::Staged,
            rules: Rules::client_go(),
            same_version: SameVersion::IsResync,
            on_transform_error: OnTransformError::LoseEvents,
            store_version: false,
            ..Self::new()
        }
    }
}

impl Default for InformerConfig {
    fn default() -> Self {
        Self::new()
    }
}
