//! Objects that handlers are done with.
//!
//! A driver allocates objects, and the last handler that has seen an old state would free it. On a runtime with
//! several threads both happen at the same time, and glibc's allocator takes a lock for each: typed pods that
//! changed as fast as they could made six to ten system calls per change to wait for it. So while a driver is at
//! work, handlers hand old states over to it, a batch at a time. A call that does not return keeps those of its
//! batch, at most 63.

use std::mem;

use informer_core::{Notification, Object};

use super::State;

/// The old state in a notification, which its handler may be the last to have.
pub(crate) fn old_state<K>(notification: &Notification<Object<K>>) -> Option<Object<K>> {
    match notification {
        Notification::Added { .. } => None,
        Notification::Updated { old, .. } => Some(old.clone()),
        Notification::Deleted { last, .. } => last.clone(),
    }
}

impl<K: Send + Sync + 'static> State<K> {
    /// Takes these objects over, if a driver will drop them soon.
    pub(super) fn hand_over(&mut self, spent: &mut Vec<Object<K>>) {
        if self.is_driven() {
            self.spent.append(spent);
        }
    }

    /// Gives what was handed over to a driver, which drops it when it has released the lock. `room` is empty.
    pub(crate) fn swap_spent(&mut self, room: &mut Vec<Object<K>>) {
        mem::swap(&mut self.spent, room);
    }
}
