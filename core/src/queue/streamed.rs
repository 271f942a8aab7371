//! The way of changes that are queued as they come: a DeltaFIFO, and nothing before it.

use super::delta_fifo::DeltaFifo;
use super::transform::QueueError;
use crate::flow::{Cause, Change, Deletion};
use crate::indexer::Indexer;
use crate::object::Resource;
use crate::storage::{Seed, Storage};

#[derive(Debug)]
pub(crate) struct Streamed<T: Resource + Clone, S: Storage> {
    pub(super) fifo: DeltaFifo<T, S>,
    /// The full state under way contains something that could not even be named.
    blind: bool,
    /// The full state under way contains something for which the store has no room.
    pub(super) overflowed: bool,
}

impl<T: Resource + Clone, S: Storage> Streamed<T, S> {
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            fifo: DeltaFifo::new(seed),
            blind: false,
            overflowed: false,
        }
    }

    /// The store had no room for a change. Says whether that concerns the full state under way, which
    /// is then read to its end all the same.
    pub(super) const fn note_overflow(&mut self) -> bool {
        self.overflowed |= self.fifo.is_replacing();
        self.fifo.is_replacing()
    }

    pub(super) fn push(
        &mut self,
        change: Change<T>,
        store: &mut Indexer<T, S>,
    ) -> Result<(), QueueError> {
        let fifo = &mut self.fifo;
        match change {
            Change::ReplaceBegin { .. } => {
                self.blind = false;
                self.overflowed = false;
                fifo.begin_replace(&**store);
            }
            Change::ReplaceItem(object) => fifo.replace_item(object)?,
            Change::ReplaceRemove(object) | Change::Deleted(object) => {
                fifo.delete(object, &**store)?;
            }
            Change::ReplaceUnreadable(Some(key)) => {
                fifo.replace_unreadable(&key);
                store.mark_seen(&key, fifo.epoch());
            }
            Change::ReplaceUnreadable(None) => self.blind = true,
            // What has vanished is known, and makes room for another try; but this is not the state.
            Change::ReplaceEnd if self.overflowed => {
                if !self.blind {
                    fifo.sweep(&**store)?;
                }
                fifo.abandon_replace();
            }
            Change::ReplaceEnd if self.blind => fifo.end_replace_unswept(),
            Change::ReplaceEnd => fifo.end_replace(&**store)?,
            Change::ReplaceAbandon => fifo.abandon_replace(),
            Change::Added(object) => fifo.add(object)?,
            Change::Updated(object) => fifo.update(object)?,
            Change::DeletedUnreadable(key) => {
                fifo.delete_as(Deletion::Unreadable(key), &**store)?;
            }
            Change::Displaced(key) => {
                let cause = if fifo.is_replacing() {
                    Cause::Relist
                } else {
                    Cause::Watch
                };
                fifo.delete_as(Deletion::Displaced { key, cause }, &**store)?;
            }
            Change::Bookmark => {}
        }
        Ok(())
    }
}
