//! The objects that could not be used, until somebody asks for them.

use core::fmt;

use super::status::RejectedObject;
use crate::failure::{Message, bounded};
use crate::flow::{Place, Rejected};
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

impl<K: Clone, S: Storage> Reports<K, S> {
    pub(super) fn new() -> Self {
        Self {
            ring: Default::default(),
            first: 0,
            len: 0,
            rejected: 0,
            lost: 0,
        }
    }

    /// Reports what the decoder could not use.
    pub(super) fn rejected(&mut self, rejected: &Rejected<'_, K>) {
        self.keep(
            rejected.place,
            rejected.key.clone(),
            rejected.version,
            &rejected.reason,
        );
    }

    /// Reports what the transform refused.
    pub(super) fn refused(
        &mut self,
        place: Place,
        key: K,
        version: &str,
        reason: &dyn fmt::Display,
    ) {
        self.keep(place, Some(key), version, reason);
    }

    pub(super) fn pop(&mut self) -> Option<RejectedObject<K, S::Text>> {
        let report = self.ring.get_mut(self.first)?.take()?;
        self.first = (self.first + 1) % self.size();
        self.len -= 1;
        Some(report)
    }

    /// Keeps a report, if need be instead of the oldest one.
    fn keep(&mut self, place: Place, key: Option<K>, version: &str, reason: &dyn fmt::Display) {
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
            *free = Some(RejectedObject {
                place,
                key,
                version: beginning(bounded(version)),
                reason: beginning(Message::of(reason).as_str()),
            });
            self.len += 1;
        }
    }

    fn size(&self) -> usize {
        self.ring.capacity().min(KEPT)
    }
}

fn beginning<X: Text>(text: &str) -> X {
    let mut kept = X::default();
    kept.set_beginning(text);
    kept
}
