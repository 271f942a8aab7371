//! Reports of objects that could not be used, until they are polled.

use core::fmt;

use super::status::RejectedObject;
use crate::failure::{Message, bounded};
use crate::flow::Rejected;
use crate::invariant::cannot_happen;
use crate::storage::{Cells as _, Storage, Text};

/// The most reports that are kept. The storage may have room for fewer.
const KEPT: usize = 64;

/// A ring of the newest reports.
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

    /// Keeps a report, and drops the oldest one if there is no room.
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
        match self.ring.get_mut((self.first + self.len) % size) {
            Some(free) => *free = Some(report),
            None => cannot_happen("a ring is smaller than its size", ()),
        }
        self.len += 1;
    }

    fn size(&self) -> usize {
        self.ring.capacity().min(KEPT)
    }
}

impl<K: Clone, X: Text> RejectedObject<K, X> {
    /// Copies as much as fits.
    pub(super) fn of(rejected: &Rejected<'_, K>, reason: &dyn fmt::Display) -> Self {
        let known = |text: &str| (!text.is_empty()).then(|| beginning(bounded(text)));
        Self {
            place: rejected.place,
            key: rejected.key.clone(),
            uid: known(rejected.uid),
            version: known(rejected.version),
            reason: beginning(Message::of(reason).as_str()),
        }
    }
}

/// As much of `text` as fits.
pub(super) fn beginning<X: Text>(text: &str) -> X {
    let mut kept = X::default();
    kept.set_beginning(text);
    kept
}
