//! Tasks that wait for a change.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::mem;
use core::task::Waker;

/// Tasks that wait for a change of some data. Keep it behind the same lock as the data.
///
/// A waiting task checks the data under the lock and, if there is no change yet, leaves its waker
/// here. A writer takes the wakers under the same lock and wakes them after it releases the lock.
/// So no wake-up is lost.
///
/// ```
/// use informer_core::Wakers;
/// use core::task::Waker;
///
/// let mut waiting = Wakers::default();
/// let ticket = waiting.ticket();
/// waiting.wait(ticket, Waker::noop());
/// waiting.wait(ticket, Waker::noop());
/// assert_eq!(waiting.len(), 1);
/// waiting.take().into_iter().for_each(Waker::wake);
/// assert!(waiting.is_empty());
/// ```
#[derive(Default)]
pub struct Wakers {
    tickets: u64,
    /// By ticket. There may be thousands of tasks, and all of them wait again after each change.
    waiting: BTreeMap<u64, Waker>,
}

impl Wakers {
    /// Issues a ticket for one task.
    #[must_use]
    pub const fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Stores the waker of a task until the next change. A ticket keeps only its newest waker.
    pub fn wait(&mut self, ticket: u64, waker: &Waker) {
        match self.waiting.get_mut(&ticket) {
            Some(before) => before.clone_from(waker),
            None => drop(self.waiting.insert(ticket, waker.clone())),
        }
    }

    /// Removes the waker of this ticket.
    pub fn forget(&mut self, ticket: u64) {
        self.waiting.remove(&ticket);
    }

    /// Takes all wakers, in the order of their tickets. Wake them after you release the lock.
    #[must_use = "a task that is not woken waits forever"]
    pub fn take(&mut self) -> Vec<Waker> {
        mem::take(&mut self.waiting).into_values().collect()
    }

    /// The number of waiting tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no task waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

debug_fields!([] Wakers[], self: waiting = self.waiting.len());
