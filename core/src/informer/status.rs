//! How an informer is doing, and how fresh it is.

use core::fmt;

use crate::flow::Place;
use crate::reflector::{LastFailure, Phase};
use crate::time::Instant;

/// How an informer is doing. Plain data; `X` is the text of its storage.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Status<'a, X> {
    /// What it is doing, and if it waits, why and until when.
    pub phase: Phase,
    /// The failure that happened last, with what the server or the transport said.
    pub last_failure: Option<&'a LastFailure<X>>,
    /// The version up to which the server has reported everything; empty before the first full state.
    pub version: &'a str,
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
