//! The state of an informer, and how fresh it is.

use core::fmt;
use core::ops::AddAssign;
use core::task::Poll;
use core::time::Duration;

use super::source::Source;
use super::{Informer, KeyOf, WaitError};
use crate::decode::Decode;
use crate::flow::Place;
use crate::indexer::Indexer;
use crate::processor::{ListenerId, ListenerStatus};
use crate::reflector::{LastFailure, Phase};
use crate::source::SourceId;
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

    /// Whether the first full states of all sources are in the store. Once true, this stays true until a
    /// source is added or [expected](Self::expect_sources). For listeners, see [`listener_status`](Self::listener_status).
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.stopped
            .unwrap_or_else(|| !self.more_to_come && self.staying().all(Source::is_synced))
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

    /// The state of the informer. With several sources: the phase of one that is not synced or does not follow
    /// its server, if there is one, the last failure of any, and the counters of all, without those of sources that
    /// are gone.
    #[must_use]
    pub fn status(&self) -> InformerStatus<'_, S::Text> {
        let sources = || self.sources.iter().map(|(_, source)| source);
        let behind = |source: &&Source<D, S>| !source.reflector.is_following();
        let worst = self
            .staying()
            .filter(behind)
            .min_by_key(|it| it.is_synced());
        let shown = worst.or_else(|| sources().next());
        let failures = sources().filter_map(|source| source.reflector.last_failure());
        let mut counts = Counts {
            suppressed: self.suppressed,
            ..Counts::default()
        };
        sources().for_each(|source| counts += &source.counts());
        InformerStatus {
            phase: shown.map_or_else(
                || self.phase_without_sources(),
                |source| source.reflector.phase(),
            ),
            last_failure: failures.max_by_key(|failure| failure.at),
            version: self
                .only_source()
                .and_then(|source| source.reflector.version()),
            synced: self.is_synced(),
            following: worst.is_none() && self.is_running(),
            last_byte: sources().filter_map(|source| source.heard.last_byte).max(),
            last_event: sources().filter_map(|source| source.heard.last_event).max(),
            last_bookmark: sources()
                .filter_map(|source| source.heard.last_bookmark)
                .max(),
            gone: sources().any(|source| source.reflector.is_gone()),
            objects: self.store.len(),
            queued: sources().map(|source| source.queue.len()).sum::<usize>()
                + self.unpublished.notifications.len(),
            stalled: self.is_stalled(),
            unswept: sources().any(|source| source.gaps.unswept),
            sources: self.sources.len(),
            counts,
        }
    }

    const fn phase_without_sources(&self) -> Phase {
        if self.is_stopped() {
            Phase::Stopped
        } else {
            Phase::Idle
        }
    }

    /// The state of a source; `None` if there is no such source.
    #[must_use]
    pub fn source_status(&self, source: SourceId) -> Option<SourceStatus<'_, S::Text>> {
        let source = self.source(source)?;
        Some(SourceStatus {
            phase: source.reflector.phase(),
            last_failure: source.reflector.last_failure(),
            version: source.reflector.version(),
            synced: source.is_synced(),
            following: source.reflector.is_following(),
            gone: source.reflector.is_gone(),
            leaving: source.leaving,
            last_byte: source.heard.last_byte,
            last_event: source.heard.last_event,
            last_bookmark: source.heard.last_bookmark,
            unswept: source.gaps.unswept,
            counts: source.counts(),
        })
    }

    /// Whether the store follows the server now. This is true if all of these hold:
    ///
    /// * The first full state is in the store.
    /// * A watch has been answered, and nothing has failed since. A failure makes this false at once,
    ///   until the next watch is answered.
    /// * No listener holds up the changes.
    /// * The server sent something at most `within` ago.
    ///
    /// With several sources, all of this must hold for each of them.
    ///
    /// The regular end of a watch, every few minutes, changes nothing: the next request follows within
    /// seconds. A silently dead connection is noticed when `within` has passed. A server sends bookmarks
    /// about once a minute, so two minutes are a good value for a readiness probe.
    #[must_use]
    pub fn is_fresh(&self, within: Duration, now: Instant) -> bool {
        let is_recent = |heard| now.max(self.now).since(heard) <= within;
        self.is_synced()
            && self.is_running()
            && self.is_drained()
            && self.staying().all(|source| {
                source.reflector.is_following()
                    && !source.queue.is_sweeping()
                    && source.heard.last_fact.is_some_and(is_recent)
            })
    }

    /// The version whose state the store shows, no more and no less. `None` while it shows no such state:
    /// before the first full state, during a relist or until the one that is needed, while changes, a sweep
    /// or a resync are on their way into the store, while objects have no room, after a stop, and with
    /// several sources, each of which has a version of [its own](Self::exact_version_of).
    ///
    /// Two things may still be missing or too many: objects that were [left out](Self::left_out), and, if
    /// the last full state was [not swept](InformerStatus::unswept), objects that are gone.
    #[must_use]
    pub fn exact_version(&self) -> Option<&str> {
        self.exact_version_of(self.only_source()?.id)
    }

    /// [`exact_version`](Self::exact_version) of what one source shows.
    #[must_use]
    pub fn exact_version_of(&self, source: SourceId) -> Option<&str> {
        let reflector = self.reflector(source)?;
        // A store without room needs a relist, so it is not live either.
        let exact = reflector.is_live() && self.is_settled();
        reflector.version().filter(|_| exact)
    }

    /// The objects that could not be used, and that the store therefore does not show in their newest state.
    /// An object is forgotten when it becomes usable or is gone. If there are many, the oldest are
    /// remembered as one, without a key.
    pub fn left_out(&self) -> impl Iterator<Item = &RejectedObject<KeyOf<D>, S::Text>> {
        let sources = self.sources.iter();
        sources.flat_map(|(_, source)| source.gaps.unshown.objects())
    }

    /// Whether the store shows at least the state of `version`, for example that of your own write. While
    /// this is pending, ask again after each call that changes the informer.
    ///
    /// With several sources, all of them must have reached the version. A source without changes hears of
    /// it with the next bookmark, about a minute later. Use [`wait_for_in`](Self::wait_for_in) if you know
    /// which source shows the object.
    ///
    /// # Errors
    /// One of the versions is not a decimal number, so they cannot be compared. Or the object of the write
    /// could not be used, so the store does not show it. The error names the object. If only a full state
    /// contained the write, its exact version is unknown, so the named object may not be yours.
    pub fn wait_for(&self, version: &str) -> Result<Poll<()>, WaitError<'_, KeyOf<D>, S::Text>> {
        // Report an invalid version at once, even if there is nothing to compare it with yet.
        compare_versions(version, version)?;
        let mut pending = self.more_to_come;
        for source in self.staying() {
            pending |= self.wait_for_in(source.id, version)?.is_pending();
        }
        Ok(if pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        })
    }

    /// [`wait_for`](Self::wait_for) in one source. Waits for ever if there is no such source.
    ///
    /// # Errors
    /// Like [`wait_for`](Self::wait_for).
    pub fn wait_for_in(
        &self,
        source: SourceId,
        version: &str,
    ) -> Result<Poll<()>, WaitError<'_, KeyOf<D>, S::Text>> {
        compare_versions(version, version)?;
        let Some(source) = self.source(source) else {
            return Ok(Poll::Pending);
        };
        let Some(known) = source.reflector.version() else {
            return Ok(Poll::Pending);
        };
        let reached = compare_versions(known, version)?.is_ge();
        if !reached || !self.is_settled() || source.gaps.incomplete {
            return Ok(Poll::Pending);
        }
        match source.gaps.unshown.covering(version) {
            Some(object) => Err(WaitError::Rejected(object)),
            None => Ok(Poll::Ready(())),
        }
    }

    /// Whether it has been started, and neither stopped nor suspended.
    const fn is_running(&self) -> bool {
        self.started && !self.suspended && !self.is_stopped()
    }

    /// All sources that were not removed.
    fn staying(&self) -> impl Iterator<Item = &Source<D, S>> {
        let sources = self.sources.iter().map(|(_, source)| source);
        sources.filter(|source| !source.leaving)
    }
}

impl<D: Decode, S: Storage> Source<D, S> {
    fn counts(&self) -> Counts {
        Counts {
            full_states: self.reflector.full_states(),
            failures: self.reflector.failures(),
            rejected: self.gaps.reports.rejected,
            reports_lost: self.gaps.reports.lost,
            ..self.heard.counts
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
    /// How many sources there are, including those that were removed and still have objects in the store.
    pub sources: usize,
    /// Counters since the start.
    pub counts: Counts,
}

/// The state of one source of an informer. `X` is the text of its storage.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct SourceStatus<'a, X> {
    /// What it is doing. If it waits: why, and until when.
    pub phase: Phase,
    /// The last failure, with the message of the server or the transport.
    pub last_failure: Option<&'a LastFailure<X>>,
    /// The version up to which the server has reported all changes; `None` before the first full state.
    pub version: Option<&'a str>,
    /// Whether its first full state is in the store.
    pub synced: bool,
    /// Whether changes arrive now: see [`Reflector::is_following`](crate::reflector::Reflector::is_following).
    pub following: bool,
    /// Whether the server does not serve the kind: see
    /// [`Reflector::is_gone`](crate::reflector::Reflector::is_gone).
    pub gone: bool,
    /// Whether it was removed, and what only it shows is being deleted.
    pub leaving: bool,
    /// When the last byte arrived.
    pub last_byte: Option<Instant>,
    /// When the last event or object arrived.
    pub last_event: Option<Instant>,
    /// When the last bookmark arrived.
    pub last_bookmark: Option<Instant>,
    /// Whether its newest full state contained an object without a readable key: see
    /// [`InformerStatus::unswept`].
    pub unswept: bool,
    /// Counters since it was added. Changes that changed nothing are counted for the informer alone.
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

impl AddAssign<&Self> for Counts {
    fn add_assign(&mut self, other: &Self) {
        let Self {
            bytes,
            objects,
            bookmarks,
            full_states,
            failures,
            rejected,
            reports_lost,
            suppressed,
        } = other;
        self.bytes += bytes;
        self.objects += objects;
        self.bookmarks += bookmarks;
        self.full_states += full_states;
        self.failures += failures;
        self.rejected += rejected;
        self.reports_lost += reports_lost;
        self.suppressed += suppressed;
    }
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
