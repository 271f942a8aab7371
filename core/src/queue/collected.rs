//! The way of changes whose full states are collected first, and delivered in one piece or not at all.

use super::in_order::{FullState, InOrderQueue};
use super::staging::{Staged, Staging};
use super::streamed::Streamed;
use super::transform::QueueError;
use super::{QueueKind, Step};
use crate::flow::{Cause, Change, Deletion};
use crate::indexer::{Indexer, StoreLimits, is_another};
use crate::object::Resource;
use crate::storage::{Full, Seed, Storage};

#[derive(Debug)]
pub(crate) struct Collected<T: Resource + Clone, S: Storage> {
    seed: Seed,
    limits: StoreLimits,
    /// The full state under way.
    staging: Option<Staging<T>>,
    queue: Either<T, S>,
}

#[derive(Debug)]
enum Either<T: Resource + Clone, S: Storage> {
    DeltaFifo(Streamed<T, S>),
    InOrder(InOrderQueue<T>),
}

impl<T: Resource + Clone, S: Storage> Collected<T, S> {
    pub(super) fn new(kind: QueueKind, limits: StoreLimits, seed: Seed) -> Self {
        let queue = match kind {
            QueueKind::DeltaFifo => Either::DeltaFifo(Streamed::new(seed.clone())),
            QueueKind::InOrder => Either::InOrder(InOrderQueue::new(seed.clone())),
        };
        Self {
            seed,
            limits,
            staging: None,
            queue,
        }
    }

    pub(super) fn push(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
        version: &str,
    ) -> Result<(), QueueError> {
        match (change, &mut self.staging) {
            (Change::ReplaceBegin { streamed }, staging) => {
                *staging = Some(Staging::new(self.seed.clone(), self.limits, streamed));
            }
            (Change::ReplaceAbandon, staging) => *staging = None,
            (Change::ReplaceItem(object), Some(staging)) => staging.put(object)?,
            (Change::ReplaceRemove(object), Some(staging)) => {
                staging.remove(object.key().clone())?;
            }
            (Change::DeletedUnreadable(key) | Change::Displaced(key), Some(staging)) => {
                staging.remove(key)?;
            }
            (Change::ReplaceUnreadable(key), Some(staging)) => staging.unreadable(key)?,
            (Change::ReplaceEnd, staging) => {
                if let Some(state) = staging.take().map(|staging| staging.finish(version)) {
                    return self.replace(state, store);
                }
            }
            (change, _) => return self.push_live(change, store, version),
        }
        Ok(())
    }

    /// See [`ChangeQueue::displaces`](super::ChangeQueue::displaces).
    pub(super) fn displaces(&mut self, key: &T::Key, uid: &str, store: &Indexer<T, S>) -> bool {
        match self.staging.as_mut().and_then(|staging| staging.get(key)) {
            Some(Staged::Object(object)) => is_another(object, uid),
            Some(Staged::Gone(_)) => false,
            Some(Staged::Unreadable(_)) | None => {
                store.get(key).is_some_and(|object| is_another(object, uid))
            }
        }
    }

    pub(super) fn resync(&mut self, store: &Indexer<T, S>) -> Result<(), Full> {
        match &mut self.queue {
            Either::DeltaFifo(queue) => queue.fifo.resync(&**store),
            Either::InOrder(queue) => {
                queue.resync();
                Ok(())
            }
        }
    }

    pub(super) fn next(&mut self) -> Option<Step<T>> {
        match &mut self.queue {
            Either::DeltaFifo(queue) => queue.fifo.next_delta(),
            Either::InOrder(queue) => {
                let (entry, initial) = queue.pop()?;
                Some(Step::InOrder(entry, initial))
            }
        }
    }

    pub(super) const fn is_in_order(&self) -> bool {
        matches!(self.queue, Either::InOrder(_))
    }

    pub(super) fn len(&self) -> usize {
        match &self.queue {
            Either::DeltaFifo(queue) => queue.fifo.len(),
            Either::InOrder(queue) => queue.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match &self.queue {
            Either::DeltaFifo(queue) => queue.fifo.is_empty(),
            Either::InOrder(queue) => queue.is_empty(),
        }
    }

    pub(super) const fn is_synced(&self) -> bool {
        match &self.queue {
            Either::DeltaFifo(queue) => queue.fifo.is_synced(),
            Either::InOrder(queue) => queue.is_synced(),
        }
    }

    /// A change outside of a full state.
    fn push_live(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
        version: &str,
    ) -> Result<(), QueueError> {
        match &mut self.queue {
            Either::DeltaFifo(queue) => queue.push(change, store),
            Either::InOrder(queue) => match change {
                Change::Added(object) => queue.add(object),
                Change::Updated(object) => queue.update(object),
                Change::Deleted(object) => queue.delete(object),
                Change::DeletedUnreadable(key) => {
                    queue.delete_as(Deletion::Unreadable(key));
                    Ok(())
                }
                Change::Displaced(key) => {
                    let cause = Cause::Watch;
                    queue.delete_as(Deletion::Displaced { key, cause });
                    Ok(())
                }
                Change::Bookmark => {
                    queue.bookmark(version);
                    Ok(())
                }
                // Parts of a full state that never began.
                Change::ReplaceBegin { .. }
                | Change::ReplaceItem(_)
                | Change::ReplaceRemove(_)
                | Change::ReplaceUnreadable(_)
                | Change::ReplaceEnd
                | Change::ReplaceAbandon => Ok(()),
            },
        }
    }

    fn replace(
        &mut self,
        state: FullState<T>,
        store: &mut Indexer<T, S>,
    ) -> Result<(), QueueError> {
        let queue = match &mut self.queue {
            Either::InOrder(queue) => return queue.replace(state),
            Either::DeltaFifo(queue) => queue,
        };
        let items = state.objects.into_iter().map(Change::ReplaceItem);
        let kept = state
            .unreadable
            .into_iter()
            .map(Some)
            .map(Change::ReplaceUnreadable);
        let gone = state.gone.into_iter().map(Change::Displaced);
        let blind = (!state.complete).then_some(Change::ReplaceUnreadable(None));
        let replaced = core::iter::once(Change::ReplaceBegin { streamed: false })
            .chain(items)
            .chain(kept)
            .chain(gone)
            .chain(blind)
            .chain([Change::ReplaceEnd])
            .try_for_each(|change| queue.push(change, store));
        if replaced.is_err() {
            queue.push(Change::ReplaceAbandon, store)?;
        }
        replaced
    }
}
