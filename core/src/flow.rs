//! The nouns that cross a border between two stages, on one page.
//!
//! ```text
//! bytes ─decode─► Fact ─reflector─► Change ─queue─► Step ─indexer─► Notification ─processor─► listener
//! ```

#[cfg(feature = "alloc")]
use alloc::boxed::Box;
#[cfg(feature = "alloc")]
use alloc::string::String;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::failure::{Failure, Sieve};
use crate::known::Epoch;
use crate::object::Resource;

/// One fact that an answer of the server stated. Made by a decoder, read by the reflector.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Fact<'a, T: Resource> {
    /// The answer has begun.
    Opened,
    /// One object of a list.
    Item(T),
    /// A list, or a page of one, is complete.
    PageEnd {
        /// The version of the list.
        version: &'a str,
        /// The token of the next page, if there is one.
        next: Option<&'a str>,
        /// How many objects are on the pages to come, if the server told.
        remaining: Option<u64>,
    },
    /// An object appeared, or a watch that began with the whole state shows one.
    Added(T),
    /// An object changed.
    Modified(T),
    /// An object is gone; this is its last state.
    Deleted(T),
    /// Everything up to this version has been reported.
    Bookmark {
        /// The version reached.
        version: &'a str,
    },
    /// The bookmark that closes the streamed state.
    InitialEnd {
        /// The version of the streamed state.
        version: &'a str,
    },
    /// An object that could not be decoded, or that the server should not have sent.
    Rejected(Rejected<'a, T::Key>),
    /// The answer is complete.
    Closed,
    /// The answer is, or contains, a failure.
    Failed {
        /// Its class.
        failure: Failure,
        /// Its text for people.
        message: &'a str,
    },
}

/// An object that was left out because it could not be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "decoders of users make it")]
pub struct Rejected<'a, K> {
    /// Where it stood.
    pub place: Place,
    /// Its key, if that much could be read.
    pub key: Option<K>,
    /// Its uid; empty if it could not be read. If it is not that of the object which is known under
    /// the key, that one is gone.
    pub uid: &'a str,
    /// Its version; empty if it could not be read.
    pub version: &'a str,
    /// Why it was rejected, for people.
    pub reason: &'a str,
}

/// Where a rejected object stood.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Place {
    /// In a list.
    Item,
    /// In an event that says it exists.
    Upsert,
    /// In an event that says it is gone.
    Delete,
    /// In an event that we do not know.
    Unknown,
}

/// What a fact means for the set of objects. Made by the reflector, read by the queue.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Change<T: Resource> {
    /// A new full state begins. What was begun before it counts as abandoned.
    ReplaceBegin {
        /// Whether it is streamed by a watch, so that an object may come more than once.
        streamed: bool,
    },
    /// The full state contains this object.
    ReplaceItem(T),
    /// The full state contained this object, and then it was deleted while the state was streamed.
    ReplaceRemove(T),
    /// The full state contains something under this key that could not be decoded; without a key,
    /// it contains something unknown.
    ReplaceUnreadable(Option<T::Key>),
    /// The full state is complete; the version just adopted is its version.
    ReplaceEnd,
    /// The full state was not completed.
    ReplaceAbandon,
    /// The object was added.
    Added(T),
    /// The object was changed.
    Updated(T),
    /// The object was deleted.
    Deleted(T),
    /// The object under this key was deleted, its last state could not be decoded.
    DeletedUnreadable(T::Key),
    /// The object under this key is gone: another one, by its UID, has taken its place and could not be
    /// used.
    Displaced(T::Key),
    /// Nothing changed up to the adopted version.
    Bookmark,
}

impl<T: Resource> Change<T> {
    /// The object that came with it.
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
            | Self::Bookmark => None,
        }
    }
}

/// What the store is to apply next. Handed out by a queue, applied by the indexer.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Step<T: Resource> {
    /// One change of one object.
    Delta {
        /// The change.
        delta: Delta<T>,
        /// Whether it comes before the first full state is complete in the store.
        initial: bool,
        /// The round that contained the object; [`Epoch::NEVER`] leaves what the store has noted.
        seen: Epoch,
    },
    /// A full state contained something under this key that could not be read. What the store has
    /// under it stays.
    Seen {
        /// The key.
        key: T::Key,
        /// The full state.
        seen: Epoch,
    },
    /// A full state to be applied in one step: an in-order queue has these.
    #[cfg(feature = "alloc")]
    FullState {
        /// The full state, boxed: it is rare, and every step would be as large as it.
        state: Box<FullState<T>>,
        /// Whether it is the first one.
        initial: bool,
    },
}

impl<T: Resource> Step<T> {
    /// The bare delta; `None` for the other steps.
    pub fn into_delta(self) -> Option<Delta<T>> {
        match self {
            Self::Delta { delta, .. } => Some(delta),
            Self::Seen { .. } => None,
            #[cfg(feature = "alloc")]
            Self::FullState { .. } => None,
        }
    }
}

/// A full state as one value.
#[cfg(feature = "alloc")]
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct FullState<T: Resource> {
    /// Its objects.
    pub objects: Vec<T>,
    /// Keys that it contains, but whose objects could not be read: what the store has under them stays.
    pub unreadable: Vec<T::Key>,
    /// Keys that it certainly does not contain: deleted while the state was streamed, or taken by
    /// another object that could not be read. What the store has under them is deleted, whether or not
    /// the state is complete.
    pub gone: Vec<T::Key>,
    /// Whether everything that it contains is named above. If not, nothing else may be deleted.
    pub complete: bool,
    /// Its version, if the store shall adopt it.
    pub version: Option<String>,
}

/// One change of one object on its way through a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Delta<T: Resource> {
    /// A watch reported the object as new.
    Added(T),
    /// A watch reported the object as changed.
    Updated(T),
    /// The object is gone.
    Deleted(Deletion<T>),
    /// A full state contained the object.
    Replaced(T),
    /// The store shows the object again, on request.
    Sync(T),
}

/// How an object went.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Deletion<T: Resource> {
    /// The server reported it, with the last state.
    Observed(T),
    /// It was found missing. client-go calls this a tombstone, `DeletedFinalStateUnknown`.
    Inferred {
        /// Whose absence it is.
        key: T::Key,
        /// The last state known here, if any.
        last: Option<T>,
    },
    /// The server reported it, but the last state could not be read.
    Unreadable(T::Key),
    /// Another object, by its UID, has taken its place and could not be used.
    Displaced {
        /// Whose place it was.
        key: T::Key,
        /// What brought the other one.
        cause: Cause,
    },
}

impl<T: Resource> Delta<T> {
    /// The key of the object.
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Added(object)
            | Self::Updated(object)
            | Self::Replaced(object)
            | Self::Sync(object) => object.key(),
            Self::Deleted(deletion) => deletion.key(),
        }
    }

    /// The object; for a deletion its last known state.
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
    /// The key of the object.
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Observed(object) => object.key(),
            Self::Inferred { key, .. } | Self::Unreadable(key) | Self::Displaced { key, .. } => key,
        }
    }
}

/// What a listener is told. The store shows the change already when the notification is made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Notification<T: Resource> {
    /// An object that the listener did not know.
    Added {
        /// The object.
        object: T,
        /// Whether it belongs to the state that the listener starts with.
        initial: bool,
        /// What brought it.
        cause: Cause,
    },
    /// An object that the listener knows, in another state (or in the same one, for a resync).
    Updated {
        /// The state before.
        old: T,
        /// The state now.
        new: T,
        /// What brought it.
        cause: Cause,
    },
    /// An object that is gone.
    Deleted {
        /// Its key.
        key: T::Key,
        /// Its last state; may be missing if the deletion was inferred.
        last: Option<T>,
        /// Whether the server said so, or it was found missing.
        certainty: Certainty,
        /// What brought it.
        cause: Cause,
    },
}

impl<T: Resource> Notification<T> {
    /// The key of the object.
    pub fn key(&self) -> &T::Key {
        match self {
            Self::Added { object, .. } => object.key(),
            Self::Updated { new, .. } => new.key(),
            Self::Deleted { key, .. } => key,
        }
    }

    /// Whether it is an add that belongs to the state which the listener starts with.
    #[must_use]
    pub const fn is_initial(&self) -> bool {
        matches!(self, Self::Added { initial: true, .. })
    }

    /// What brought it.
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
        // It goes to logs and terminals, and names are what somebody else has chosen.
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

/// What made a notification.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Cause {
    /// A watch event.
    Watch,
    /// The full state was read: at the start, or again.
    Relist,
    /// The resync period of the listener: the store is shown again, the server was not asked.
    Resync,
    /// The listener joined late and is shown what the store holds.
    Replay,
}

/// How sure a deletion is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Certainty {
    /// The server reported the deletion, with the last state.
    Observed,
    /// The object was missing in a full state, or another one (by UID) took its place.
    Inferred,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Watch => "watch",
            Self::Relist => "relist",
            Self::Resync => "resync",
            Self::Replay => "replay",
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
