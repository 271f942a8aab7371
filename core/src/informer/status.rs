//! The state of an informer, and how fresh it is.

use core::fmt;
use core::task::Poll;
use core::time::Duration;

use super::{Informer, KeyOf, WaitError};
use crate::decode::Decode;
use crate::flow::Place;
use crate::indexer::Indexer;
use crate::processor::{ListenerId, ListenerStatus};
use crate::reflector::{LastFailure, Phase, Reflector};
use crate::storage::Storage;
use crate::time::Instant;
use crate::version::compare_versions;

/// Reading the state of an informer.
impl<D: Decode, S: Storage> Informer<D, S> {
    /// Whether it has been stopped.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Indexer<D::Object, S> {
        &self.store
    }

    /// The reflector, for details that [`status`](Self::status) does not have.
    #[must_use]
    pub const fn reflector(&self) -> &Reflector<S> {
        &self.reflector
    }

    /// Whether the first full state is in the store. Once true, this stays true. For listeners, see
    /// [`listener_status`](Self::listener_status).
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.stopped.unwrap_or_else(|| self.queue.is_synced())
    }

    /// Whether a listener holds up changes. The same as [`InformerStatus::stalled`], but cheaper.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        !self.is_drained()
    }

    /// The state of a listener, including its own sync; `None` if there is no such listener.
    #[must_use]
    pub fn listener_status(&self, listener: ListenerId) -> Option<ListenerStatus> {
        self.processor.status(listener)
    }

    /// All listeners.
    pub fn listeners(&self) -> impl Iterator<Item = ListenerId> {
        self.processor.listeners()
    }

    /// The state of the informer.
    #[must_use]
    pub fn status(&self) -> InformerStatus<'_, S::Text> {
        InformerStatus {
            phase: self.reflector.phase(),
            last_failure: self.reflector.last_failure(),
            version: self.reflector.version(),
            synced: self.is_synced(),
            following: self.reflector.is_following(),
            gone: self.reflector.is_gone(),
            last_byte: self.heard.last_byte,
            last_event: self.heard.last_event,
            last_bookmark: self.heard.last_bookmark,
            objects: self.store.len(),
            queued: self.queue.len() + self.unpublished.notifications.len(),
            stalled: self.is_stalled(),
            unswept: self.gaps.unswept,
            counts: Counts {
                full_states: self.reflector.full_states(),
                failures: self.reflector.failures(),
                rejected: self.gaps.reports.rejected,
                reports_lost: self.gaps.reports.lost,
                ..self.heard.counts
            },
        }
    }

    /// Whether the store follows the server now. This is true if all of these hold:
    ///
    /// * The first full state is in the store.
    /// * A watch has been answered, and nothing has failed since. A failure makes this false at once,
    ///   until the next watch is answered.
    /// * No listener holds up the changes.
    /// * The server sent something at most `within` ago.
    ///
    /// The regular end of a watch, every few minutes, changes nothing: the next request follows within
    /// seconds. A silently dead connection is noticed when `within` has passed. A server sends bookmarks
    /// about once a minute, so two minutes are a good value for a readiness probe.
    #[must_use]
    pub fn is_fresh(&self, within: Duration, now: Instant) -> bool {
        let is_recent = |heard| now.max(self.now).since(heard) <= within;
        self.is_synced()
            && self.reflector.is_following()
            && self.is_drained()
            && !self.queue.is_sweeping()
            && self.heard.last_fact.is_some_and(is_recent)
    }

    /// The version whose state the store shows, no more and no less. `None` while it shows no such state:
    /// before the first full state, during a relist or until the one that is needed, while changes, a sweep
    /// or a resync are on their way into the store, while objects have no room, and after a stop.
    ///
    /// Two things may still be missing or too many: objects that were [left out](Self::left_out), and, if
    /// the last full state was [not swept](InformerStatus::unswept), objects that are gone.
    #[must_use]
    pub fn exact_version(&self) -> Option<&str> {
        // A store without room needs a relist, so it is not live either.
        let exact = self.reflector.is_live() && self.is_settled();
        self.reflector.version().filter(|_| exact)
    }

    /// The objects that could not be used, and that the store therefore does not show in their newest state.
    /// An object is forgotten when it becomes usable or is gone. If there are many, the oldest are
    /// remembered as one, without a key.
    pub fn left_out(&self) -> impl Iterator<Item = &RejectedObject<KeyOf<D>, S::Text>> {
        self.gaps.unshown.objects()
    }

    /// Whether the store shows at least the state of `version`, for example that of your own write. While
    /// this is pending, ask again after each call that changes the informer.
    ///
    /// # Errors
    /// One of the versions is not a decimal number, so they cannot be compared. Or the object of the write
    /// could not be used, so the store does not show it. The error names the object. If only a full state
    /// contained the write, its exact version is unknown, so the named object may not be yours.
    pub fn wait_for(&self, version: &str) -> Result<Poll<()>, WaitError<'_, KeyOf<D>, S::Text>> {
        let Some(known) = self.reflector.version() else {
            // There is nothing to compare with yet, but report an invalid version at once.
            compare_versions(version, version)?;
            return Ok(Poll::Pending);
        };
        let reached = compare_versions(known, version)?.is_ge();
        if !reached || !self.is_settled() || self.gaps.incomplete {
            return Ok(Poll::Pending);
        }
        match self.gaps.unshown.covering(version) {
            Some(object) => Err(WaitError::Rejected(object)),
            None => Ok(Poll::Ready(())),
        }
    }
}

/// The state of an informer. `X` is the text of its storage.
///
#[cfg_attr(feature = "json", doc = "```")]
#[cfg_attr(not(feature = "json"), doc = "```ignore")]
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::reflector::Phase;
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, Signal};
/// use informer_core::{Failure, Informer, InformerConfig, Instant};
///
/// let now = Instant::from_micros(0);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 42)?;
/// informer.start(now);
/// let Some(Command::Open { exchange, .. }) = informer.poll_command(now) else { panic!() };
/// let failed = Signal::Failed { failure: Failure::Unreachable, message: "connection refused" };
/// assert_eq!(informer.signal(exchange, failed, now), Some(0));
///
/// let status = informer.status();
/// assert!(!status.synced && !status.following);
/// assert!(matches!(status.phase, Phase::Waiting { cause: Failure::Unreachable, .. }));
/// assert_eq!(status.last_failure.unwrap().message, "connection refused");
/// assert_eq!(status.counts.failures, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct InformerStatus<'a, X> {
    /// What it is doing. If it waits: why, and until when.
    pub phase: Phase,
    /// The last failure, with the message of the server or the transport.
    pub last_failure: Option<&'a LastFailure<X>>,
    /// The version up to which the server has reported all changes; `None` before the first full state.
    pub version: Option<&'a str>,
    /// Whether the first full state is in the store.
    pub synced: bool,
    /// Whether changes arrive now: see [`Reflector::is_following`](crate::reflector::Reflector::is_following).
    pub following: bool,
    /// Whether the server does not serve the kind: see
    /// [`Reflector::is_gone`](crate::reflector::Reflector::is_gone).
    pub gone: bool,
    /// When the last byte arrived.
    pub last_byte: Option<Instant>,
    /// When the last event or object arrived.
    pub last_event: Option<Instant>,
    /// When the last bookmark arrived.
    pub last_bookmark: Option<Instant>,
    /// Objects in the store.
    pub objects: usize,
    /// Keys or changes between reflector and store.
    pub queued: usize,
    /// Whether a listener holds up changes, by its [policy](crate::processor::Backlog) or because its
    /// storage is full. It must poll.
    pub stalled: bool,
    /// Whether the newest full state contained an object without a readable key. In that case nothing was
    /// deleted, so the store may still hold objects that are gone.
    pub unswept: bool,
    /// Counters since the start.
    pub counts: Counts,
}

/// Counters since the start of an informer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes received.
    pub bytes: u64,
    /// Objects received in lists and events.
    pub objects: u64,
    /// Bookmarks received.
    pub bookmarks: u64,
    /// Full states read. The first one is not a relist.
    pub full_states: u64,
    /// Failures.
    pub failures: u64,
    /// Objects that could not be used.
    pub rejected: u64,
    /// Reports of such objects that were dropped because they were not polled in time.
    pub reports_lost: u64,
    /// Changes that changed nothing and made no notification.
    pub suppressed: u64,
}

/// An object that was left out because it could not be used. `X` is the text of the storage.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RejectedObject<K, X> {
    /// Where it was.
    pub place: Place,
    /// Its key, if it could be read.
    pub key: Option<K>,
    /// Its UID, if it could be read.
    pub uid: Option<X>,
    /// Its version, if it could be read.
    pub version: Option<X>,
    /// Why it could not be used.
    pub reason: X,
}

/// One line: what was left out, and why.
impl<K: fmt::Debug, X: AsRef<str>> fmt::Display for RejectedObject<K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "the object {key:?}")?,
            None => f.write_str("an object")?,
        }
        if let Some(version) = &self.version {
            write!(f, " at version {}", version.as_ref())?;
        }
        write!(f, " was left out: {}", self.reason.as_ref())
    }
}
