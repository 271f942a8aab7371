//! `Popped`: the deltas of one key on their way out.

use core::fmt;

use super::delta_fifo::DeltaFifo;
use super::known::Epoch;
use crate::flow::Delta;
use crate::object::Resource;
use crate::storage::Storage;

/// The deltas of one popped key, oldest first.
#[must_use = "what is popped is gone from the queue"]
pub struct Popped<'a, T: Resource + Clone, S: Storage> {
    fifo: &'a mut DeltaFifo<T, S>,
}

impl<'a, T: Resource + Clone, S: Storage> Popped<'a, T, S> {
    pub(super) const fn new(fifo: &'a mut DeltaFifo<T, S>) -> Self {
        Self { fifo }
    }

    /// Whether the queue was not synced when the key was popped.
    #[must_use]
    pub const fn is_initial(&self) -> bool {
        self.fifo.popped.initial
    }

    /// The full state that contained the key last; the store keeps it beside the object.
    #[must_use]
    pub const fn seen(&self) -> Epoch {
        self.fifo.popped.seen
    }
}

impl<T: Resource + Clone, S: Storage> Iterator for Popped<'_, T, S> {
    type Item = Delta<T>;

    fn next(&mut self) -> Option<Delta<T>> {
        self.fifo.take_popped()
    }
}

impl<T: Resource + Clone, S: Storage> Drop for Popped<'_, T, S> {
    fn drop(&mut self) {
        while self.fifo.take_popped().is_some() {}
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for Popped<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Popped")
            .field("initial", &self.is_initial())
            .finish_non_exhaustive()
    }
}
