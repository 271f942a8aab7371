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
mod in_order;

// A full state that is collected before it is delivered.
mod staging;

use alloc::string::String;

use crate::flow::{Change, Deletion, Delta};
use crate::indexer::Indexer;
use crate::object::Resource;
use crate::storage::{Full, Seed, Storage};

pub use delta_fifo::{DeltaFifo, ReplaceAs};
pub use in_order::{Batch, FullState, InOrderQueue, Queued};
pub use known::{Epoch, KnownObjects, NothingKnown};
pub use popped::Popped;
use staging::Staging;
pub use transform::{QueueError, Refusal, Transform};

/// Which queue an informer uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum QueueKind {
    /// [`DeltaFifo`]: changes grouped by key.
    DeltaFifo,
    /// [`InOrderQueue`]: changes as they came, a full state in one step.
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
    Staged,
}

/// The queue of an informer.
#[derive(Debug)]
pub(crate) struct ChangeQueue<T: Resource + Clone, S: Storage> {
    queue: Either<T, S>,
    relist: Relist,
    transform: Option<Transform<T>>,
    seed: Seed,
    staging: Option<Staging<T>>,
    /// The full state under way contains something that could not even be named.
    blind: bool,
}

#[derive(Debug)]
enum Either<T: Resource + Clone, S: Storage> {
    DeltaFifo(DeltaFifo<T, S>),
    InOrder(InOrderQueue<T>),
}

/// What is to be applied to the store next.
pub(crate) enum Step<T: Resource> {
    Delta {
        delta: Delta<T>,
        initial: bool,
        seen: Epoch,
    },
    FullState {
        state: FullState<T>,
        initial: bool,
    },
    SyncAll,
    Bookmark(String),
}

impl<T: Resource + Clone, S: Storage> ChangeQueue<T, S> {
    pub(crate) fn new(kind: QueueKind, relist: Relist, seed: Seed) -> Self {
        let queue = match kind {
            QueueKind::DeltaFifo => Either::DeltaFifo(DeltaFifo::new(seed.clone())),
            QueueKind::InOrder => Either::InOrder(InOrderQueue::new(seed.clone())),
        };
        Self {
            queue,
            relist,
            transform: None,
            seed,
            staging: None,
            blind: false,
        }
    }

    pub(crate) fn set_transform(&mut self, transform: Transform<T>) {
        self.transform = Some(transform);
    }

    /// Lets the object of a change pass the transform.
    pub(crate) fn transform(&self, change: &mut Change<T>) -> Result<(), QueueError> {
        match (&self.transform, change.object_mut()) {
            (Some(transform), Some(object)) => transform.apply(object),
            _ => Ok(()),
        }
    }

    /// Takes a change. `version` is the one that the reflector has adopted with it.
    pub(crate) fn push(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
        version: &str,
    ) -> Result<(), QueueError> {
        match change {
            Change::ReplaceBegin { streamed } => {
                self.blind = false;
                match &mut self.queue {
                    Either::DeltaFifo(fifo) if self.relist == Relist::Streamed => {
                        fifo.begin_replace();
                    }
                    _ => self.staging = Some(Staging::new(self.seed.clone(), streamed)),
                }
                Ok(())
            }
            Change::ReplaceAbandon => {
                self.staging = None;
                if let Either::DeltaFifo(fifo) = &mut self.queue {
                    fifo.abandon_replace();
                }
                Ok(())
            }
            change if self.staging.is_some() => self.push_staged(change, store, version),
            change => match &mut self.queue {
                Either::DeltaFifo(fifo) => push_to_fifo(fifo, change, store, &mut self.blind),
                Either::InOrder(queue) => push_in_order(queue, change, version),
            },
        }
    }

    fn push_staged(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
        version: &str,
    ) -> Result<(), QueueError> {
        let Some(staging) = &mut self.staging else {
            return Ok(());
        };
        match change {
            Change::ReplaceItem(object) => staging.put(object),
            Change::ReplaceRemove(object) => staging.remove(object.key()),
            Change::DeletedUnreadable(key) => staging.remove(&key),
            Change::ReplaceUnreadable(key) => staging.unreadable(key),
            Change::ReplaceEnd => {
                let Some(state) = self.staging.take().map(|staging| staging.finish(version)) else {
                    return Ok(());
                };
                return match &mut self.queue {
                    Either::DeltaFifo(fifo) => replace_fifo(fifo, state, store),
                    Either::InOrder(queue) => queue.replace(state),
                };
            }
            // Live changes come only before a full state begins or after it ends.
            Change::ReplaceBegin { .. }
            | Change::ReplaceAbandon
            | Change::Added(_)
            | Change::Updated(_)
            | Change::Deleted(_)
            | Change::Bookmark => {}
        }
        Ok(())
    }

    /// Shows everything in the store again.
    pub(crate) fn resync(&mut self, store: &Indexer<T, S>) -> Result<(), Full> {
        match &mut self.queue {
            Either::DeltaFifo(fifo) => fifo.resync(&**store),
            Either::InOrder(queue) => {
                queue.resync();
                Ok(())
            }
        }
    }

    /// What is to be applied next.
    pub(crate) fn next(&mut self) -> Option<Step<T>> {
        match &mut self.queue {
            Either::DeltaFifo(fifo) => fifo.next_delta().map(|step| Step::Delta {
                delta: step.delta,
                initial: step.initial,
                seen: step.seen,
            }),
            Either::InOrder(queue) => {
                let (item, initial) = queue.pop()?;
                Some(match item {
                    Queued::Delta(delta) => Step::Delta {
                        delta,
                        initial,
                        seen: Epoch::NEVER,
                    },
                    Queued::ReplacedAll(state) => Step::FullState { state, initial },
                    Queued::SyncAll => Step::SyncAll,
                    Queued::Bookmark(version) => Step::Bookmark(version),
                })
            }
        }
    }

    pub(crate) const fn kind(&self) -> QueueKind {
        match &self.queue {
            Either::DeltaFifo(_) => QueueKind::DeltaFifo,
            Either::InOrder(_) => QueueKind::InOrder,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.queue {
            Either::DeltaFifo(fifo) => fifo.len(),
            Either::InOrder(queue) => queue.len(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match &self.queue {
            Either::DeltaFifo(fifo) => fifo.is_empty(),
            Either::InOrder(queue) => queue.is_empty(),
        }
    }

    pub(crate) const fn is_synced(&self) -> bool {
        match &self.queue {
            Either::DeltaFifo(fifo) => fifo.is_synced(),
            Either::InOrder(queue) => queue.is_synced(),
        }
    }
}

fn push_to_fifo<T: Resource + Clone, S: Storage>(
    fifo: &mut DeltaFifo<T, S>,
    change: Change<T>,
    store: &mut Indexer<T, S>,
    blind: &mut bool,
) -> Result<(), QueueError> {
    match change {
        Change::ReplaceItem(object) => fifo.replace_item(object),
        Change::ReplaceRemove(object) | Change::Deleted(object) => fifo.delete(object, &**store),
        Change::ReplaceUnreadable(Some(key)) => {
            fifo.replace_unreadable(&key);
            store.mark_seen(&key, fifo.epoch());
            Ok(())
        }
        Change::ReplaceUnreadable(None) => {
            *blind = true;
            Ok(())
        }
        Change::ReplaceEnd if *blind => {
            fifo.end_replace_unswept();
            Ok(())
        }
        Change::ReplaceEnd => Ok(fifo.end_replace(&**store)?),
        Change::Added(object) => fifo.add(object),
        Change::Updated(object) => fifo.update(object),
        Change::DeletedUnreadable(key) => Ok(fifo.delete_as(Deletion::Unreadable(key), &**store)?),
        Change::ReplaceBegin { .. } | Change::ReplaceAbandon | Change::Bookmark => Ok(()),
    }
}

fn push_in_order<T: Resource + Clone>(
    queue: &mut InOrderQueue<T>,
    change: Change<T>,
    version: &str,
) -> Result<(), QueueError> {
    match change {
        Change::Added(object) => queue.add(object),
        Change::Updated(object) => queue.update(object),
        Change::Deleted(object) => queue.delete(object),
        Change::DeletedUnreadable(key) => {
            queue.delete_as(Deletion::Unreadable(key));
            Ok(())
        }
        Change::Bookmark => {
            queue.bookmark(version);
            Ok(())
        }
        // A full state goes through the staging.
        Change::ReplaceBegin { .. }
        | Change::ReplaceItem(_)
        | Change::ReplaceRemove(_)
        | Change::ReplaceUnreadable(_)
        | Change::ReplaceEnd
        | Change::ReplaceAbandon => Ok(()),
    }
}

fn replace_fifo<T: Resource + Clone, S: Storage>(
    fifo: &mut DeltaFifo<T, S>,
    state: FullState<T>,
    store: &mut Indexer<T, S>,
) -> Result<(), QueueError> {
    fifo.begin_replace();
    for object in state.objects {
        fifo.replace_item(object)?;
    }
    let mut blind = !state.complete;
    for key in state.unreadable {
        push_to_fifo(
            fifo,
            Change::ReplaceUnreadable(Some(key)),
            store,
            &mut blind,
        )?;
    }
    push_to_fifo(fifo, Change::ReplaceEnd, store, &mut blind)
}
