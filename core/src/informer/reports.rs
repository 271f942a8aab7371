//! The objects that could not be used, until somebody asks for them.

use core::fmt;

use super::status::RejectedObject;
use crate::failure::{Message, bounded};
use crate::flow::Rejected;
use crate::storage::{Cells as _, Storage, Text};

/// How many reports are kept, if the storage has room for so many.
const KEPT: usize = 64;

/// The newest reports, in a ring.
pub(super) struct Reports<K, S: Storage> {
    ring: S::Few<Option<RejectedObject<K, S::Text>>>,
    first: usize,
    len: usize,
    pub(super) rejected: u64,
    pub(super) lost: u64,
}

impl<K, S: Storage> Reports<K, S> {
    pub(super) fn new() -> Self {
        Self {
            ring: Default::default(),
            first: 0,
            len: 0,
            rejected: 0,
            lost: 0,
        }
    }

    pub(super) fn pop(&mut self) -> Option<RejectedObject<K, S::Text>> {
        let report = self.ring.get_mut(self.first)?.take()?;
        self.first = (self.first + 1) % self.size();
        self.len -= 1;
        Some(report)
    }

    /// Keeps a report, if need be instead of the oldest one.
    pub(super) fn keep(&mut self, report: RejectedObject<K, S::Text>) {
        self.rejected += 1;
        let size = self.size();
        if self.ring.grow(size).is_err() || size == 0 {
            self.lost += 1;
            return;
        }
        if self.len == size {
            self.lost += u64::from(self.pop().is_some());
        }
        if let Some(free) = self.ring.get_mut((self.first + self.len) % size) {
            *free = Some(report);
            self.len += 1;
        }
    }

    fn size(&self) -> usize {
        self.ring.capacity().min(KEPT)
    }
}

impl<K: Clone, X: Text> RejectedObject<K, X> {
    /// As much of it as is kept, with its reason.
    pub(super) fn of(rejected: &Rejected<'_, K>, reason: &dyn fmt::Display) -> Self {
        Self {
            place: rejected.place,
            key: rejected.key.clone(),
            uid: beginning(bounded(rejected.uid)),
            version: beginning(bounded(rejected.version)),
            reason: beginning(Message::of(reason).as_str()),
        }
    }
}

fn beginning<X: Text>(text: &str) -> X {
    let mut kept = X::default();
    kept.set_beginning(text);
    kept
}
