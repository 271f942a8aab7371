//! The values that pass from one stage to the next.
//!
//! ```text
//! bytes ─decode─► Fact ─reflector─► Change ─queue─► Step ─indexer─► Notification ─processor─► listener
//! ```
//!
//! * A **full state** is the set of all objects at one version: a list, or a watch that begins with
//!   every object. Reading it again is a *relist*.
//! * A **tombstone** (client-go: `DeletedFinalStateUnknown`) is a deletion that a relist inferred.
//! * A **resync** shows the store to a listener again. It sends no request.

#[cfg(feature = "alloc")]
use alloc::{boxed::Box, string::String, vec::Vec};
use core::fmt::{self, Write as _};

use crate::failure::{Failure, Sieve};
use crate::known::Epoch;
use crate::object::Resource;

/// A statement by the server, as a decoder read it. The reflector consumes it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Fact<'a, T: Resource> {
    /// The answer has begun.
    Opened,
    /// An object of a list.
    Item(T),
    /// The end of a list, or of one page of it.
    PageEnd {
        /// The version of the list.
        version: &'a str,
        /// The token of the next page, if there is one.
        next: Option<&'a str>,
        /// How many objects are on later pages, if the server said so.
        remaining: Option<u64>,
    },
    /// An object was added, or belongs to the state that a watch begins with.
    Added(T),
    /// An object changed.
    Modified(T),
    /// An object was deleted. This is its last state.
    Deleted(T),
    /// The watch has reported everything up to this version.
    Bookmark {
        /// That version.
        version: &'a str,
    },
    /// The bookmark that ends a streamed list.
    InitialEnd {
        /// The version of the streamed list.
        version: &'a str,
    },
    /// An object that could not be decoded, or that the server should not have sent.
    Rejected(Rejected<'a, T::Key>),
    /// The answer is complete.
    Closed,
    /// The answer is, or contains, a failure.
    Failed {
        /// The class of the failure.
        failure: Failure,
        /// The message for people.
        message: &'a str,
    },
}

/// An object that was left out because it cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "users build it")]
pub struct Rejected<'a, K> {
    /// Where the object was.
    pub place: Place,
    /// The key, if it could be read.
    pub key: Option<K>,
    /// The uid; empty if it could not be read. If the store holds another uid under this key, that
    /// object is gone.
    pub uid: &'a str,
    /// The version; empty if it could not be read.
    pub version: &'a str,
    /// Why the object was rejected, for people.
    pub reason: &'a str,
}

/// Where a rejected object was.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Place {
    /// In a list.
    Item,
    /// In an event that adds or modifies it.
    Upsert,
    /// In an event that deletes it.
    Delete,
    /// In an event of unknown type.
    Unknown,
}

/// What a fact means for the set of objects. The reflector makes it, a queue consumes it.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::flow::{Change, Step};
/// use informer_core::indexer::StoreLimits;
/// use informer_core::queue::{NothingKnown, Queue, QueueKind, Relist};
/// use informer_core::storage::{Heap, Seed};
///
/// let pod = decode_object(&mut Lean, br#"{"metadata":{"name":"web"}}"#)?;
/// let mut queue: Queue<_, Heap> =
///     Queue::new(QueueKind::DeltaFifo, Relist::Streamed, StoreLimits::NONE, Seed::new(42));
/// assert!(queue.push(Change::Added(pod), &NothingKnown).is_ok());
/// let Some(Step::Delta { delta, .. }) = queue.next_step() else { panic!() };
/// assert_eq!(delta.key().as_str(), "web");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Change<T: Resource> {
    /// A new full state begins. It replaces one that is still incomplete.
    ReplaceBegin {
        /// Whether a watch streams it. Then an object may come more than once.
        streamed: bool,
    },
    /// The full state contains this object.
    ReplaceItem(T),
    /// The full state contained this object, but it was deleted while the state was streamed.
    ReplaceRemove(T),
    /// The full state contains an object that could not be decoded, under this key if it is known.
    ReplaceUnreadable(Option<T::Key>),
    /// The full state is complete. Its version is the one just adopted.
    ReplaceEnd,
    /// The full state was abandoned.
    ReplaceAbandon,
    /// The object was added.
    Added(T),
    /// The object was changed.
    Updated(T),
    /// The object was deleted.
    Deleted(T),
    /// The object with this key was deleted, but its last state could not be decoded.
    DeletedUnreadable(T::Key),
    /// The object with this key is gone. Another object, by its uid, took its place and cannot be
    /// used.
    Displaced(T::Key),
    /// Nothing changed up to the adopted version.
    Bookmark,
    /// The server does not serve the kind any more, so all objects are gone. A full state that is not
    /// complete is abandoned.
    KindGone,
}

impl<T: Resource> Change<T> {
    /// The object in this change, if any.
    pub(crate) const fn object_mut(&mut self) -> Option<&mut T> {
        match self {
            Self::ReplaceItem(object)
            | Self::ReplaceRemove(object)
            | Self::Added(object)
            | Self::Updated(object)
            | Self::Deleted(object) => Some(object),
            Self::ReplaceBegin { .. }
            | Self::ReplaceUnreadable(_)
            | Self::ReplaceEnd
            | Self::ReplaceAbandon
            | Self::DeletedUnreadable(_)
            | Self::Displaced(_)
            | Self::Bookmark
            | Self::KindGone => None,
        }
    }
}

/// What the store applies next. A queue makes it, the indexer applies it.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::flow::{Delta, Step};
/// use informer_core::indexer::{Indexer, Rules};
/// use informer_core::queue::Epoch;
/// use informer_core::storage::{Heap, Seed};
///
/// let pod = decode_object(&mut Lean, br#"{"metadata":{"name":"web"}}"#)?;
/// let step = Step::Delta { delta: Delta::Added(pod), initial: false, seen: Epoch::NEVER };
/// let mut store: Indexer<_, Heap> = Indexer::new(Seed::new(42));
/// store.apply(step, Rules::default());
/// assert_eq!(store.len(), 1);
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Step<T: Resource> {
    /// A change of one object.
    Delta {
        /// The change.
        delta: Delta<T>,
        /// Whether the store does not hold its first full state yet.
        initial: bool,
        /// The round that contained the object. [`Epoch::NEVER`] keeps what the store has recorded.
        seen: Epoch,
    },
    /// A full state contained an unreadable object with this key. The store keeps what it has.
    Seen {
        /// The key.
        key: T::Key,
        /// The round of the full state.
        seen: Epoch,
    },
    /// A full state to apply in one step. Only an in-order queue makes it.
    #[cfg(feature = "alloc")]
    FullState {
        /// The full state. It is boxed because it is rare, and would make every step larger.
        state: Box<FullState<T>>,
        /// Whether it is the first full state.
        initial: bool,
    },
}

impl<T: Resource> Step<T> {
    /// The delta, if this step is one.
    #[must_use]
    pub fn into_delta(self) -> Option<Delta<T>> {
        match self {
            Self::Delta { delta, .. } => Some(delta),
            _ => None,
        }
    }
}

/// A full state in one value.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct FullState<T: Resource> {
    /// The objects.
    pub objects: Vec<T>,
    /// Keys of objects that could not be read. The store keeps what it has under them.
    pub unreadable: Vec<T::Key>,
    /// Keys that the full state does not contain: deleted while it was streamed, or taken by
    /// another object that could not be read. The store deletes them even if the full state is not
    /// complete.
    pub gone: Vec<T::Key>,
    /// Whether the fields above name everything in the full state. If not, nothing else may be
    /// deleted.
    pub complete: bool,
    /// The version that the store adopts, if any.
    pub version: Option<String>,
}

/// A change of one object on its way through a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Delta<T: Resource> {
    /// A watch reported a new object.
    Added(T),
    /// A watch reported a changed object.
    Updated(T),
    /// The object is gone.
    Deleted(Deletion<T>),
    /// A full state contained the object.
    Replaced(T),
    /// A resync shows the object again.
    Sync(T),
}

/// How an object was deleted.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Deletion<T: Resource> {
    /// The server reported the deletion, with the last state.
    Observed(T),
    /// The object was missing from a full state. client-go calls this a tombstone,
    /// `DeletedFinalStateUnknown`.
    Inferred {
        /// The key of the missing object.
        key: T::Key,
        /// The last state in the store, if any.
        last: Option<T>,
    },
    /// The server reported the deletion, but its last state could not be read.
    Unreadable(T::Key),
    /// No event and no full state says that it is gone, but it is: another object, by its uid, took its
    /// place and cannot be used, the server does not serve its kind any more, or its source was removed.
    Displaced {
        /// The key of the deleted object.
        key: T::Key,
        /// What reported the other object, [`Cause::KindGone`], or [`Cause::SourceRemoved`].
        cause: Cause,
    },
}

impl<T: Resource> Delta<T> {
    /// The key of the object.
    #[must_use]
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => object.key(),
            Self::Deleted(deletion) => deletion.key(),
        }
    }

    /// The object; for a deletion, its last known state.
    #[must_use]
    pub fn object(&self) -> Option<&T> {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object)
            | Self::Deleted(Deletion::Observed(object)) => Some(object),
            Self::Deleted(Deletion::Inferred { last, .. }) => last.as_ref(),
            Self::Deleted(Deletion::Unreadable(_) | Deletion::Displaced { .. }) => None,
        }
    }
}

impl<T: Resource> Deletion<T> {
    /// The key of the deleted object.
    #[must_use]
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Observed(object) => object.key(),
            Self::Inferred { key, .. } | Self::Unreadable(key) | Self::Displaced { key, .. } => key,
        }
    }
}

/// A change that a listener receives. The store already contains it.
///
/// ```
/// use informer_core::decode::{Lean, decode_object};
/// use informer_core::{Cause, Notification};
///
/// let json = br#"{"metadata":{"namespace":"web","name":"shop-1"}}"#;
/// let object = decode_object(&mut Lean, json)?;
/// let added = Notification::Added { object, initial: true, cause: Cause::Relist };
/// assert_eq!(added.key().name(), "shop-1");
/// assert!(added.is_initial());
/// assert_eq!(added.to_string(), "added web/shop-1 (initial, relist)");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Notification<T: Resource> {
    /// An object that is new to the listener.
    Added {
        /// The object.
        object: T,
        /// Whether it belongs to the state that the listener starts with.
        initial: bool,
        /// What caused the notification.
        cause: Cause,
    },
    /// A new state of an object that the listener knows. A resync repeats the same state.
    Updated {
        /// The previous state.
        old: T,
        /// The new state.
        new: T,
        /// What caused the notification.
        cause: Cause,
    },
    /// An object is gone.
    Deleted {
        /// Its key.
        key: T::Key,
        /// Its last state. It may be missing if the deletion was inferred.
        last: Option<T>,
        /// Whether the server reported the deletion or a relist inferred it.
        certainty: Certainty,
        /// What caused the notification.
        cause: Cause,
    },
}

impl<T: Resource> Notification<T> {
    /// The key of the object.
    #[must_use]
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Added { object, .. } => object.key(),
            Self::Updated { new, .. } => new.key(),
            Self::Deleted { key, .. } => key,
        }
    }

    /// Whether it is an add that belongs to the state that the listener starts with.
    #[must_use]
    pub const fn is_initial(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. })
    }

    /// What caused the notification.
    #[must_use]
    pub const fn cause(&self) -> Cause {
        match self {
            Self::Added { cause, .. }
            | Self::Updated { cause, .. }
            | Self::Deleted { cause, .. } => *cause,
        }
    }
}

/// One line for people: `added web/shop-1 (initial, relist)`, `updated web/shop-1 to 42 (watch)`,
/// `deleted web/shop-1 (inferred, relist)`.
impl<T: Resource<Key: fmt::Display>> fmt::Display for Notification<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, cause) = (self.key(), self.cause());
        // This goes to logs and terminals, and names are untrusted.
        let mut f = Sieve(f);
        match self {
            Self::Added { initial: true, .. } => write!(f, "added {key} (initial, {cause})"),
            Self::Added { .. } => write!(f, "added {key} ({cause})"),
            Self::Updated { new, .. } => {
                write!(f, "updated {key} to {} ({cause})", new.version())
            }
            Self::Deleted { certainty, .. } => {
                write!(f, "deleted {key} ({certainty}, {cause})")
            }
        }
    }
}

/// What caused a notification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Cause {
    /// A watch event.
    Watch,
    /// A full state: the first one, or a relist.
    Relist,
    /// The listener's resync period. It repeats the store without a request to the server.
    Resync,
    /// The listener joined late and receives what the store holds.
    Replay,
    /// A source was removed, and no other source shows the object. It may still exist.
    SourceRemoved,
    /// The server does not serve the kind any more, for example because its CRD was deleted. Only with
    /// [`WhenGone::Empty`](crate::reflector::WhenGone::Empty).
    KindGone,
}

/// How certain a deletion is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Certainty {
    /// The server reported the deletion, with the last state.
    Observed,
    /// The server has not reported it: the object was missing from a full state, another object (by uid)
    /// took its place, its kind is gone, or its source was removed.
    Inferred,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Watch => "watch",
            Self::Relist => "relist",
            Self::Resync => "resync",
            Self::Replay => "replay",
            Self::SourceRemoved => "source removed",
            Self::KindGone => "kind gone",
        })
    }
}

impl fmt::Display for Certainty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Observed => "observed",
            Self::Inferred => "inferred",
        })
    }
}
