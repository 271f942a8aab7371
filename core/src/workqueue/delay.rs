//! The schedule of waiting items.

use super::queue::Entry;
use crate::invariant::cannot_happen;
use crate::storage::{Cells, Full, NONE, Places, Storage};
use crate::time::Instant;

/// A binary heap of entry numbers: no entry is due before its parent. Each entry knows its position in
/// the heap, so any entry can be moved or removed.
pub(super) struct Schedule<S: Storage> {
    heap: S::Cells<u32>,
    pub(super) len: usize,
    /// The rank of the next entry among those due at the same time.
    order: u64,
}

/// The part of the schedule that an entry holds.
#[derive(Clone, Copy)]
pub(super) struct Timer {
    due: Instant,
    order: u64,
    /// The position in the heap, or `NONE`.
    position: u32,
}

impl Timer {
    pub(super) const OFF: Self = Self {
        due: Instant::from_micros(0),
        order: 0,
        position: NONE,
    };

    pub(super) const fn is_on(&self) -> bool {
        self.position != NONE
    }
}

impl<S: Storage> Schedule<S> {
    pub(super) fn new() -> Self {
        Self {
            heap: Default::default(),
            len: 0,
            order: 0,
        }
    }

    /// Returns the entry that is due first, and when.
    pub(super) fn first<K>(&self, entries: &Places<S, Entry<K>>) -> Option<(u32, Instant)> {
        let at = self.at(0)?;
        Some((at, entries.linked(at)?.timer.due))
    }

    /// Returns the last entry of the heap, which is the cheapest to remove.
    pub(super) fn last(&self) -> Option<u32> {
        self.at(self.len.checked_sub(1)?)
    }

    /// Makes room for one more entry.
    pub(super) fn reserve(&mut self) -> Result<(), Full> {
        self.heap.grow(self.len + 1)
    }

    /// Schedules an entry at `due`, unless it is due earlier already. Call [`reserve`](Self::reserve)
    /// first.
    pub(super) fn set<K>(&mut self, at: u32, due: Instant, entries: &mut Places<S, Entry<K>>) {
        let Some(entry) = entries.linked_mut(at) else {
            return;
        };
        let position = if entry.timer.is_on() {
            if entry.timer.due <= due {
                return;
            }
            entry.timer.position as usize
        } else {
            self.len += 1;
            self.len - 1
        };
        entry.timer.due = due;
        entry.timer.order = self.order;
        self.order += 1;
        self.rise(at, position, entries);
    }

    /// Removes a waiting entry from the schedule.
    pub(super) fn remove<K>(&mut self, at: u32, entries: &mut Places<S, Entry<K>>) {
        let entry = entries.linked_mut(at).filter(|entry| entry.timer.is_on());
        let (Some(entry), Some(last)) = (entry, self.last()) else {
            return cannot_happen("an entry to remove from the schedule does not wait", ());
        };
        let hole = entry.timer.position as usize;
        entry.timer = Timer::OFF;
        self.len -= 1;
        // The last entry fills the hole. It moves down or up from there, never both.
        if last != at && self.sink(last, hole, entries) == hole {
            self.rise(last, hole, entries);
        }
    }

    /// Puts the entry at `position` or above, and moves the entries on the way down.
    fn rise<K>(&mut self, at: u32, mut position: usize, entries: &mut Places<S, Entry<K>>) {
        while position > 0 {
            let parent = (position - 1) / 2;
            let Some(above) = self.at(parent) else {
                cannot_happen("a position without a parent", ());
                break;
            };
            if Self::rank(above, entries) <= Self::rank(at, entries) {
                break;
            }
            self.put(above, position, entries);
            position = parent;
        }
        self.put(at, position, entries);
    }

    /// Puts the entry at `position` or below, and moves the entries on the way up. Returns the final
    /// position.
    fn sink<K>(
        &mut self,
        at: u32,
        mut position: usize,
        entries: &mut Places<S, Entry<K>>,
    ) -> usize {
        loop {
            let children = [2 * position + 1, 2 * position + 2];
            let below = children
                .into_iter()
                .filter_map(|child| Some((self.at(child)?, child)));
            match below.min_by_key(|(below, _)| Self::rank(*below, entries)) {
                Some((below, child)) if Self::rank(below, entries) < Self::rank(at, entries) => {
                    self.put(below, position, entries);
                    position = child;
                }
                _ => break,
            }
        }
        self.put(at, position, entries);
        position
    }

    fn at(&self, position: usize) -> Option<u32> {
        if position >= self.len {
            return None;
        }
        let entry = self.heap.get(position).copied();
        entry.or_else(|| cannot_happen("a position beyond the heap", None))
    }

    fn put<K>(&mut self, at: u32, position: usize, entries: &mut Places<S, Entry<K>>) {
        match self.heap.get_mut(position) {
            Some(place) => *place = at,
            None => cannot_happen("a position beyond the heap", ()),
        }
        if let Some(entry) = entries.linked_mut(at) {
            // There are as many positions as entries, and entries are numbered with 32 bits.
            entry.timer.position = position as u32;
        }
    }

    /// Returns the sort key: by time, then by order of scheduling.
    fn rank<K>(at: u32, entries: &Places<S, Entry<K>>) -> Option<(Instant, u64)> {
        let timer = entries.linked(at)?.timer;
        Some((timer.due, timer.order))
    }
}
