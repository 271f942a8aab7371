//! What a reflector says, put into a DeltaFIFO.

use informer_core::Resource;
use informer_core::flow::{Change, Deletion};
use informer_core::queue::{DeltaFifo, KnownObjects, QueueError};
use informer_core::storage::Heap;

/// Puts a change into a queue, which is shown what its consumer knows.
///
/// # Errors
/// The queue does not take it.
pub fn file<T: Resource + Clone>(
    change: Change<T>,
    fifo: &mut DeltaFifo<T, Heap>,
    known: &impl KnownObjects<T>,
) -> Result<(), QueueError> {
    match change {
        Change::ReplaceBegin { .. } => fifo.begin_replace(known),
        Change::ReplaceItem(object) => fifo.replace_item(object)?,
        Change::ReplaceEnd => fifo.end_replace(known)?,
        Change::ReplaceAbandon => fifo.abandon_replace(),
        Change::Added(object) => fifo.add(object)?,
        Change::Updated(object) => fifo.update(object)?,
        Change::Deleted(object) | Change::ReplaceRemove(object) => fifo.delete(object, known)?,
        Change::DeletedUnreadable(key) => fifo.delete_as(Deletion::Unreadable(key), known)?,
        // Whatever a server lists as a pod can be read as one by these programs.
        Change::ReplaceUnreadable(_) | Change::Displaced(_) | Change::Bookmark => {}
    }
    Ok(())
}
