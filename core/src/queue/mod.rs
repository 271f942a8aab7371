//! The queues between the reflector and the store.
//!
//! [`DeltaFifo`] groups changes by key; [`InOrderQueue`] keeps them as they came and takes a full
//! state as one of them. Both can be used alone. An informer has one of them, behind one interface
//! that takes a [`Change`] and hands out what is to be applied to the store next.

// What a queue is told of the store.
mod known;

// A function at the entrance.
mod transform;

// Chains of deltas by key.
mod delta_fifo;

// One chain on its way out.
mod popped;

// Everything in the order in which it came.
#[cfg(feature = "alloc")]
mod in_order;

// The way of changes that are queued as they come.
mod streamed;

// A full state that is collected before it is delivered.
#[cfg(feature = "alloc")]
mod staging;

// The way of changes whose full states are collected first.
#[cfg(feature = "alloc")]
mod collected;

use crate::flow::{Change, Delta};
use crate::indexer::{Indexer, is_another};
use crate::informer::InformerConfig;
use crate::object::Resource;
use crate::storage::{Full, Seed, Storage};

#[cfg(feature = "alloc")]
use collected::Collected;
pub use delta_fifo::{DeltaFifo, ReplaceAs};
#[cfg(feature = "alloc")]
pub use in_order::{Batch, FullState, InOrderQueue, Queued};
pub use known::{Epoch, KnownObjects, NothingKnown};
pub use popped::Popped;
use streamed::Streamed;
pub use transform::{QueueError, Transform, TransformError};

/// Which queue an informer uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum QueueKind {
    /// [`DeltaFifo`]: changes grouped by key.
    DeltaFifo,
    /// [`InOrderQueue`]: changes as they came, a full state in one step.
    #[cfg(feature = "alloc")]
    InOrder,
}

/// When the objects of a full state reach the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum Relist {
    /// Each as it is decoded: no second copy of the state is held, and a list that breaks half-way
    /// has deleted nothing. An in-order queue delivers a full state in one step whatever this says.
    Streamed,
    /// All at the end, as client-go does. What an interrupted list brought is discarded.
    #[cfg(feature = "alloc")]
    Staged,
}

/// The queue of an informer.
#[derive(Debug)]
pub(crate) enum ChangeQueue<T: Resource + Clone, S: Storage> {
    Streamed(Streamed<T, S>),
    #[cfg(feature = "alloc")]
    Collected(Collected<T, S>),
}

/// What is to be applied to the store next.
pub(crate) enum Step<T: Resource> {
    Delta {
        delta: Delta<T>,
        initial: bool,
        seen: Epoch,
    },
    /// An entry of an in-order queue, and whether it comes before the end of the first full state.
    #[cfg(feature = "alloc")]
    InOrder(Queued<T>, bool),
}

impl<T: Resource + Clone, S: Storage> ChangeQueue<T, S> {
    pub(crate) fn new(config: &InformerConfig, seed: Seed) -> Self {
        match (config.queue, config.relist) {
            (QueueKind::DeltaFifo, Relist::Streamed) => Self::Streamed(Streamed::new(seed)),
            #[cfg(feature = "alloc")]
            (kind, _) => Self::Collected(Collected::new(kind, config.limits, seed)),
        }
    }

    /// Takes a change. `version` is the one that the reflector has adopted with it.
    #[cfg_attr(
        not(feature = "alloc"),
        expect(unused_variables, reason = "only what is collected carries a version")
    )]
    pub(crate) fn push(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
        version: &str,
    ) -> Result<(), QueueError> {
        match self {
            // Here the store is told the version when the queue is empty.
            Self::Streamed(queue) => queue.push(change, store),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.push(change, store, version),
        }
    }

    /// Whether an object with this uid, which could not be used, is another one than the object that is
    /// known under its key. Asked when all that was queued is in the store.
    pub(crate) fn displaces(&mut self, key: &T::Key, uid: &str, store: &Indexer<T, S>) -> bool {
        match self {
            Self::Streamed(_) => store.get(key).is_some_and(|object| is_another(object, uid)),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.displaces(key, uid, store),
        }
    }

    /// Shows everything in the store again.
    pub(crate) fn resync(&mut self, store: &Indexer<T, S>) -> Result<(), Full> {
        match self {
            Self::Streamed(queue) => queue.fifo.resync(&**store),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.resync(store),
        }
    }

    /// What is to be applied next.
    pub(crate) fn next(&mut self) -> Option<Step<T>> {
        match self {
            Self::Streamed(queue) => queue.fifo.next_delta(),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.next(),
        }
    }

    /// The store had no room for a change. Says whether that concerns the full state under way, which
    /// is then read to its end all the same: only then it is known what makes room.
    pub(crate) const fn note_overflow(&mut self) -> bool {
        match self {
            Self::Streamed(queue) => queue.note_overflow(),
            #[cfg(feature = "alloc")]
            Self::Collected(_) => false,
        }
    }

    /// Whether the full state under way contains something for which the store had no room.
    pub(crate) const fn has_overflowed(&self) -> bool {
        match self {
            Self::Streamed(queue) => queue.overflowed,
            #[cfg(feature = "alloc")]
            Self::Collected(_) => false,
        }
    }

    /// Whether its full states go to the store before they are complete.
    pub(crate) const fn is_streamed(&self) -> bool {
        matches!(self, Self::Streamed(_))
    }

    /// Whether it says itself which version the store has reached.
    pub(crate) const fn tells_version(&self) -> bool {
        match self {
            Self::Streamed(_) => false,
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.is_in_order(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Streamed(queue) => queue.fifo.len(),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Streamed(queue) => queue.fifo.is_empty(),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.is_empty(),
        }
    }

    pub(crate) const fn is_synced(&self) -> bool {
        match self {
            Self::Streamed(queue) => queue.fifo.is_synced(),
            #[cfg(feature = "alloc")]
            Self::Collected(queue) => queue.is_synced(),
        }
    }
}
