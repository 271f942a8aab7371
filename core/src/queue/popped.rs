//! The deltas of one popped key.

use super::delta_fifo::DeltaFifo;
use crate::flow::{Delta, Step};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::Storage;

/// The steps of one popped key, oldest first. Each is a [`Step::Delta`].
#[must_use = "popped deltas are gone from the queue"]
pub struct Popped<'a, T: Resource + Clone, S: Storage> {
    pub(super) fifo: &'a mut DeltaFifo<T, S>,
}

impl<T: Resource + Clone, S: Storage> Popped<'_, T, S> {
    /// Returns the bare deltas, for consumers without a store.
    pub fn deltas(self) -> impl Iterator<Item = Delta<T>> {
        self.filter_map(|step| {
            let delta = step.into_delta();
            delta.or_else(|| cannot_happen("a chain with a step that is not a delta", None))
        })
    }
}

impl<T: Resource + Clone, S: Storage> Iterator for Popped<'_, T, S> {
    type Item = Step<T>;

    fn next(&mut self) -> Option<Step<T>> {
        self.fifo.take_popped()
    }
}

impl<T: Resource + Clone, S: Storage> Drop for Popped<'_, T, S> {
    fn drop(&mut self) {
        while self.fifo.take_popped().is_some() {}
    }
}

debug_fields!([T: Resource + Clone, S: Storage] Popped['_, T, S], self:);
