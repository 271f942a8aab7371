//! The knobs of an informer, and the two presets.

use core::time::Duration;

use crate::indexer::{Rules, StoreLimits};
use crate::queue::{QueueKind, Relist};
use crate::reflector::ReflectorConfig;

/// How an informer behaves. [`new`](Self::new) is our default; [`client_go`](Self::client_go) does what
/// client-go does, warts included. Every difference is a field here or in one of the parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct InformerConfig {
    /// How the server is asked.
    pub reflector: ReflectorConfig,
    /// Which queue lies between reflector and store. Default: the DeltaFIFO.
    pub queue: QueueKind,
    /// When the objects of a full state reach the store. Default: as they are decoded.
    pub relist: Relist,
    /// What is told of re-created and unchanged objects.
    pub rules: Rules,
    /// How often the store is shown again to the listeners that do not say otherwise, and how often
    /// due resyncs are looked for; a listener that is added before the start with a shorter period
    /// makes the looks more frequent. At least a second. `None`, the default, means no resyncs for
    /// anybody.
    pub resync: Option<Duration>,
    /// Who is told of an update that changes no version. Default: everybody, unless it is a resync.
    pub same_version: SameVersion,
    /// What the refusal of an object by the transform does.
    pub on_transform_error: OnTransformError,
    /// Whether the store has a version with a DeltaFIFO, too. Default: yes.
    pub store_version: bool,
    /// How much the store may hold. Default: no limits.
    ///
    /// Where there is more, the informer says [`Failure::Full`](crate::Failure::Full), is not fresh and
    /// reads the full state again after a wait, until it fits. Meanwhile the store holds a part of the
    /// state: of each object a whole one, if perhaps not the newest, and nothing that is known to be
    /// gone. A first state that does not fit is never synced. Where a full state is delivered in one
    /// piece (an in-order queue, a staged relist), one that does not fit is not delivered at all, and the
    /// store keeps the one before it; beside the store, at most as much again is held while it is read.
    pub limits: StoreLimits,
}

/// Who is told of an update whose old and new version are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum SameVersion {
    /// The cause decides: a resync goes to the listeners that are due, everything else to everybody.
    ByCause,
    /// Only listeners that count as resyncing, whatever the cause. client-go's rule: a listener
    /// counts as resyncing from its registration until resyncs are looked for and it is not due.
    IsResync,
}

/// What the refusal of an object by the transform does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum OnTransformError {
    /// The object is reported and left out, and what the store has under its key stays. A deletion
    /// deletes all the same.
    HarmOneObject,
    /// client-go's rule: in a list it fails the whole list, which is read again after a delay; in a
    /// watch the event is dropped, even a deletion.
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
            rules: Rules {
                split_recreated: true,
                drop_noops: true,
            },
            resync: None,
            same_version: SameVersion::ByCause,
            on_transform_error: OnTransformError::HarmOneObject,
            store_version: true,
            limits: StoreLimits::NONE,
        }
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
            resync: None,
            same_version: SameVersion::IsResync,
            on_transform_error: OnTransformError::LoseEvents,
            store_version: false,
            limits: StoreLimits::NONE,
        }
    }
}

impl Default for InformerConfig {
    fn default() -> Self {
        Self::new()
    }
}
