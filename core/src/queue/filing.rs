//! Files a change in the queue: the one place that decides what each kind of change means to it.

use super::cursor::{Cursor, Work};
#[cfg(feature = "alloc")]
use super::in_order::InOrderQueue;
use super::{Order, Queue, Replacing};
#[cfg(feature = "alloc")]
use crate::flow::FullState;
use crate::flow::{Cause, Change, Deletion};
use crate::invariant::cannot_happen;
use crate::known::Known;
use crate::object::Resource;
use crate::storage::{Full, Storage};

impl<T: Resource + Clone, S: Storage> Queue<T, S> {
    pub(super) fn file(&mut self, change: Change<T>, known: &impl Known<T>) -> Result<(), Full> {
        match &mut self.order {
            Order::ByKey(fifo) => match change {
                Change::ReplaceBegin { .. } => {
                    let nothing_queued =
                        fifo.is_empty() && self.fed.is_none() && self.unreadable.is_empty();
                    self.state = Replacing {
                        from_nothing: nothing_queued && known.is_empty(),
                        ..Replacing::default()
                    };
                    fifo.begin_replace(known);
                }
                Change::ReplaceItem(object) => fifo.replace_item(object)?,
                Change::ReplaceRemove(object) | Change::Deleted(object) => {
                    fifo.delete(object, known)?;
                }
                Change::ReplaceUnreadable(Some(key)) => {
                    fifo.replace_unreadable(&key);
                    self.unreadable.insert((key, fifo.epoch()))?;
                }
                Change::ReplaceUnreadable(None) => self.state.unnamed = true,
                Change::ReplaceEnd => {
                    let (state, first) = (fifo.epoch(), !fifo.is_synced());
                    if self.state.no_room {
                        // Deleting what vanished makes room for a retry, but the store is not complete.
                        fifo.abandon_replace();
                    } else {
                        fifo.end_replace_unswept();
                    }
                    if !self.state.unnamed && !self.state.from_nothing {
                        self.cursor = Some(Cursor::new(Work::Sweep { state, first }));
                    }
                }
                Change::ReplaceAbandon => fifo.abandon_replace(),
                Change::Added(object) => fifo.add(object)?,
                Change::Updated(object) => fifo.update(object)?,
                Change::DeletedUnreadable(key) => {
                    fifo.delete_as(Deletion::Unreadable(key), known)?;
                }
                Change::Displaced(key) => {
                    let cause = if fifo.is_replacing() {
                        Cause::Relist
                    } else {
                        Cause::Watch
                    };
                    fifo.delete_as(Deletion::Displaced { key, cause }, known)?;
                }
                Change::Bookmark => {}
                Change::KindGone => cannot_happen("an end of the kind was to be filed", ()),
            },
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => file_in_order(queue, change),
        }
        Ok(())
    }

    /// Files a collected full state in one piece.
    #[cfg(feature = "alloc")]
    pub(super) fn deliver(
        &mut self,
        state: FullState<T>,
        known: &impl Known<T>,
    ) -> Result<(), Full> {
        if let Order::AsTheyCame(queue) = &mut self.order {
            queue.replace(state);
            return Ok(());
        }
        let items = state.objects.into_iter().map(Change::ReplaceItem);
        let kept = state.unreadable.into_iter();
        let kept = kept.map(|key| Change::ReplaceUnreadable(Some(key)));
        let gone = state.gone.into_iter().map(Change::Displaced);
        let unnamed = (!state.complete).then_some(Change::ReplaceUnreadable(None));
        let filed = core::iter::once(Change::ReplaceBegin { streamed: false })
            .chain(items)
            .chain(kept)
            .chain(gone)
            .chain(unnamed)
            .chain([Change::ReplaceEnd])
            .try_for_each(|change| self.file(change, known));
        if filed.is_err() {
            self.file(Change::ReplaceAbandon, known)?;
        }
        filed
    }
}

/// Files a change that is not part of a collected full state.
#[cfg(feature = "alloc")]
fn file_in_order<T: Resource + Clone>(queue: &mut InOrderQueue<T>, change: Change<T>) {
    match change {
        Change::Added(object) => queue.add(object),
        Change::Updated(object) => queue.update(object),
        Change::Deleted(object) => queue.delete(object),
        Change::DeletedUnreadable(key) => queue.delete_as(Deletion::Unreadable(key)),
        Change::Displaced(key) => {
            let cause = Cause::Watch;
            queue.delete_as(Deletion::Displaced { key, cause });
        }
        // A bookmark does not change the store. The others are parts of a full state that never began.
        Change::Bookmark
        | Change::ReplaceItem(_)
        | Change::ReplaceRemove(_)
        | Change::ReplaceUnreadable(_) => {}
        Change::ReplaceBegin { .. } | Change::ReplaceEnd | Change::ReplaceAbandon => {
            cannot_happen("a begin or an end of a full state passed the stage", ());
        }
        Change::KindGone => cannot_happen("an end of the kind was to be filed", ()),
    }
}
