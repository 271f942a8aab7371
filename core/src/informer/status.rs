//! How an informer is doing, and how fresh it is.

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

/// What can be asked of an informer.
impl<D: Decode, S: Storage> Informer<D, S> {
    /// Whether it was stopped.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Indexer<D::Object, S> {
        &self.store
    }

    /// The reflector, for those who want to know more than [`status`](Self::status) tells.
    #[must_use]
    pub const fn reflector(&self) -> &Reflector<S> {
        &self.reflector
    }

    /// Whether the first full state is in the store. It says nothing about listeners: see
    /// [`listener_status`](Self::listener_status). It never turns back.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        match &self.stopped {
            Some(stopped) => stopped.synced,
            None => self.queue.is_synced(),
        }
    }

    /// Whether something is held up by a listener: [`InformerStatus::stalled`], for those who ask often.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        !self.is_drained()
    }

    /// How a listener is doing, its own sync included; `None` if there is no such listener.
    #[must_use]
    pub fn listener_status(&self, listener: ListenerId) -> Option<ListenerStatus> {
        self.processor.status(listener)
    }

    /// All listeners.
    pub fn listeners(&self) -> impl Iterator<Item = ListenerId> {
        self.processor.listeners()
    }

    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> InformerStatus<'_, S::Text> {
        InformerStatus {
            phase: self.reflector.phase(),
            last_failure: self.reflector.last_failure(),
            version: self.reflector.version(),
            synced: self.is_synced(),
            following: self.reflector.is_following(),
            last_byte: self.heard.last_byte,
            last_event: self.heard.last_event,
            last_bookmark: self.heard.last_bookmark,
            objects: self.store.len(),
            queued: self.queue.len() + self.telling.told.len(),
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

    /// Whether the store follows the server now. All of this must hold:
    ///
    /// * the first full state is in the store;
    /// * a watch has been answered, and nothing has failed since: any failure makes this false at once,
    ///   until the next watch is answered;
    /// * no listener holds up the changes;
    /// * something was heard at most `within` ago.
    ///
    /// A watch that ends in good order, as each does every few minutes, changes nothing: the next one is
    /// asked for within seconds. A connection that is dead without a sign is noticed when `within` has passed. A
    /// server sends bookmarks about once a minute, so two minutes are a good value for a readiness probe.
    #[must_use]
    pub fn is_fresh(&self, within: Duration, now: Instant) -> bool {
        self.is_synced()
            && self.reflector.is_following()
            && self.is_drained()
            && !self.queue.is_sweeping()
            && self
                .heard
                .last_fact
                .is_some_and(|heard| now.max(self.now).since(heard) <= within)
    }

    /// Whether the store shows at least the state of `version`, such as the one that a write of one's
    /// own was answered with. Ask again after each call that took something.
    ///
    /// # Errors
    /// One of the versions is not a decimal number, so nobody can tell. Or the object of the write could
    /// not be used, so the store does not show it; the error names the object. Of a write that only a
    /// full state brought it can be told no more than between which versions it is, so the object may be
    /// another one than that of the caller.
    pub fn wait_for(&self, version: &str) -> Result<Poll<()>, WaitError<'_, KeyOf<D>, S::Text>> {
        let Some(known) = self.reflector.version() else {
            // Nothing is known yet, but a version that cannot be compared never will be.
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

/// How an informer is doing. Plain data; `X` is the text of its storage.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct InformerStatus<'a, X> {
    /// What it is doing, and if it waits, why and until when.
    pub phase: Phase,
    /// The failure that happened last, with what the server or the transport said.
    pub last_failure: Option<&'a LastFailure<X>>,
    /// The version up to which the server has reported everything; `None` before the first full state.
    pub version: Option<&'a str>,
    /// Whether the first full state is in the store.
    pub synced: bool,
    /// Whether the changes reach us now: see [`Reflector::is_following`](crate::reflector::Reflector::is_following).
    pub following: bool,
    /// When the last byte came.
    pub last_byte: Option<Instant>,
    /// When the last event or object came.
    pub last_event: Option<Instant>,
    /// When the last bookmark came.
    pub last_bookmark: Option<Instant>,
    /// Objects in the store.
    pub objects: usize,
    /// Keys or changes between reflector and store.
    pub queued: usize,
    /// Whether something is held up, because a listener that stalls, by its
    /// [policy](crate::processor::Backlog) or by a bound of the storage, has not polled.
    pub stalled: bool,
    /// Whether the newest full state contained an object that could not even be named, so that nothing
    /// was deleted: what has vanished meanwhile may still be in the store.
    pub unswept: bool,
    /// Counters since the start.
    pub counts: Counts,
}

/// What has happened since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Counts {
    /// Bytes received.
    pub bytes: u64,
    /// Objects received in lists and events.
    pub objects: u64,
    /// Bookmarks received.
    pub bookmarks: u64,
    /// Full states read; one more than the relists.
    pub full_states: u64,
    /// Failures.
    pub failures: u64,
    /// Objects that could not be used.
    pub rejected: u64,
    /// Reports of such objects that nobody took in time.
    pub reports_lost: u64,
    /// Changes that changed nothing and were not told.
    pub suppressed: u64,
}

/// An object that was left out because it could not be used. `X` is the text of the storage.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct RejectedObject<K, X> {
    /// Where it stood.
    pub place: Place,
    /// Its key, if that much could be read.
    pub key: Option<K>,
    /// Its uid; empty if it could not be read.
    pub uid: X,
    /// Its version; empty if it could not be read.
    pub version: X,
    /// Why, for people.
    pub reason: X,
}

/// One line for people: what was left out, and why.
impl<K: fmt::Debug, X: AsRef<str>> fmt::Display for RejectedObject<K, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            Some(key) => write!(f, "the object {key:?}")?,
            None => f.write_str("an object")?,
        }
        if !self.version.as_ref().is_empty() {
            write!(f, " at version {}", self.version.as_ref())?;
        }
        write!(f, " was left out: {}", self.reason.as_ref())
    }
}
