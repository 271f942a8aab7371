//! Tasks that wait for something to change.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use core::mem;
use core::task::Waker;

/// The tasks that wait for a change of something that lies behind a lock, together with this.
///
/// Who waits looks, under the lock, whether what it waits for has come, and if not leaves its waker
/// here; who changes something takes the wakers, still under the lock, and wakes them after it. So no
/// wake-up is lost.
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
    /// By their tickets: there may be thousands, who all wait again after each change.
    waiting: BTreeMap<u64, Waker>,
}

impl Wakers {
    /// A number for somebody who may wait here.
    pub const fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Wakes this task at the next change. Of one ticket only the newest waker is kept.
    pub fn wait(&mut self, ticket: u64, waker: &Waker) {
        match self.waiting.get_mut(&ticket) {
            Some(before) => before.clone_from(waker),
            None => drop(self.waiting.insert(ticket, waker.clone())),
        }
    }

    /// Who has this ticket does not wait any more.
    pub fn forget(&mut self, ticket: u64) {
        self.waiting.remove(&ticket);
    }

    /// All who wait, in the order of their tickets, to be woken when the lock is given back.
    #[must_use = "who is not woken waits for ever"]
    pub fn take(&mut self) -> Vec<Waker> {
        mem::take(&mut self.waiting).into_values().collect()
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

impl fmt::Debug for Wakers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wakers")
            .field("waiting", &self.waiting.len())
            .finish_non_exhaustive()
    }
}
