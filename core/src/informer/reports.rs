//! Reports of objects that could not be used, until they are polled.

use core::fmt;

use super::status::RejectedObject;
use crate::failure::{Message, bounded};
use crate::flow::Rejected;
use crate::storage::{Ends, FewPlaces, Full, NONE, Slab, Storage, Text};

/// The most reports that are kept. The storage may have room for fewer.
const KEPT: usize = 64;

/// The newest reports, oldest first.
pub(super) struct Reports<K, S: Storage> {
    kept: FewPlaces<S, Report<K, S::Text>>,
    order: Ends,
    pub(super) rejected: u64,
    pub(super) lost: u64,
}

struct Report<K, X> {
    object: RejectedObject<K, X>,
    next: u32,
}

impl<K, S: Storage> Reports<K, S> {
    pub(super) fn new() -> Self {
        Self {
            kept: Slab::default(),
            order: Ends::EMPTY,
            rejected: 0,
            lost: 0,
        }
    }

    pub(super) fn pop(&mut self) -> Option<RejectedObject<K, S::Text>> {
        let report = self.kept.remove_linked(self.order.first()?)?;
        self.order.pop(report.next);
        Some(report.object)
    }

    /// Keeps a report, and drops the oldest one if there is no room.
    pub(super) fn keep(&mut self, object: RejectedObject<K, S::Text>) {
        self.rejected += 1;
        if self.kept.len() == KEPT || self.kept.room() == 0 {
            self.lost += u64::from(self.pop().is_some());
        }
        match self.kept.insert(Report { object, next: NONE }) {
            Ok(at) => self
                .order
                .push(at, &mut self.kept, |report| &mut report.next),
            Err(Full) => self.lost += 1,
        }
    }
}

impl<K: Clone, X: Text> RejectedObject<K, X> {
    /// Copies as much as fits.
    pub(super) fn of(rejected: &Rejected<'_, K>, reason: &dyn fmt::Display) -> Self {
        let known = |text: &str| (!text.is_empty()).then(|| X::beginning(bounded(text)));
        Self {
            place: rejected.place,
            key: rejected.key.clone(),
            uid: known(rejected.uid),
            version: known(rejected.version),
            reason: X::beginning(Message::of(reason).as_str()),
        }
    }
}
