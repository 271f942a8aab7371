//! All listeners: which of them have news, and how many ask for patience.

use core::fmt;

use super::listener::Listener;
use crate::object::Resource;
use crate::storage::{FewPlaces, Full, NONE, Slab, Storage};

/// The listeners by their places. Every change of one goes through here, so that it is known without a
/// look at the others which have news and whether all have room: both are asked with every event and with
/// every poll of every listener.
pub(super) struct Listeners<T: Resource + Clone, S: Storage> {
    seats: FewPlaces<S, Seat<T, S>>,
    /// Those that have news, linked in the order in which it came.
    first: u32,
    last: u32,
    /// How many have no room.
    crowded: usize,
}

struct Seat<T: Resource + Clone, S: Storage> {
    listener: Listener<T, S>,
    crowded: bool,
    /// Whether it is linked with those that have news, and between which two.
    linked: bool,
    before: u32,
    after: u32,
}

impl<T: Resource + Clone, S: Storage> Listeners<T, S> {
    pub(super) fn insert(&mut self, listener: Listener<T, S>) -> Result<u32, Full> {
        let at = self.seats.insert(Seat {
            listener,
            crowded: false,
            linked: false,
            before: NONE,
            after: NONE,
        })?;
        // What it came with counts.
        self.change(at, |_| ());
        Ok(at)
    }

    /// Removes a listener that is there.
    pub(super) fn remove(&mut self, at: u32) {
        self.unlink(at);
        if let Some(seat) = self.seats.remove_linked(at) {
            self.crowded -= usize::from(seat.crowded);
        }
    }

    pub(super) fn get(&self, at: u32) -> Option<&Listener<T, S>> {
        Some(&self.seats.get(at)?.listener)
    }

    /// Changes a listener.
    pub(super) fn change<R>(
        &mut self,
        at: u32,
        change: impl FnOnce(&mut Listener<T, S>) -> R,
    ) -> Option<R> {
        let seat = self.seats.get_mut(at)?;
        let outcome = change(&mut seat.listener);
        self.crowded -= usize::from(seat.crowded);
        seat.crowded = !seat.listener.has_room();
        self.crowded += usize::from(seat.crowded);
        if seat.listener.take_news() && !seat.linked {
            seat.linked = true;
            seat.before = self.last;
            self.follow(self.last, at);
            self.last = at;
        }
        Some(outcome)
    }

    /// Changes all of them.
    pub(super) fn change_all(&mut self, mut change: impl FnMut(&mut Listener<T, S>)) {
        for at in 0..self.bound() {
            self.change(at, &mut change);
        }
    }

    /// The listener whose news came first. Its news is known then.
    pub(super) fn pop_news(&mut self) -> Option<(u32, &Listener<T, S>)> {
        let at = (self.first != NONE).then_some(self.first)?;
        self.unlink(at);
        Some((at, &self.seats.linked(at)?.listener))
    }

    /// Whether all have room.
    pub(super) const fn have_room(&self) -> bool {
        self.crowded == 0
    }

    /// All places are below this one.
    pub(super) const fn bound(&self) -> u32 {
        self.seats.bound()
    }

    /// All listeners with their places.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Listener<T, S>)> {
        self.seats.iter().map(|(at, seat)| (at, &seat.listener))
    }

    fn unlink(&mut self, at: u32) {
        let Some(seat) = self.seats.linked_mut(at).filter(|seat| seat.linked) else {
            return;
        };
        let (before, after) = (seat.before, seat.after);
        seat.linked = false;
        (seat.before, seat.after) = (NONE, NONE);
        self.follow(before, after);
        if after == NONE {
            self.last = before;
        } else if let Some(seat) = self.seats.linked_mut(after) {
            seat.before = before;
        }
    }

    /// After the one at `before`, or as the first one, comes the one at `after`.
    fn follow(&mut self, before: u32, after: u32) {
        if before == NONE {
            self.first = after;
        } else if let Some(seat) = self.seats.linked_mut(before) {
            seat.after = after;
        }
    }
}

impl<T: Resource + Clone, S: Storage> Default for Listeners<T, S> {
    fn default() -> Self {
        Self {
            seats: Slab::default(),
            first: NONE,
            last: NONE,
            crowded: 0,
        }
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for Listeners<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("seats", &self.seats)
            .field("crowded", &self.crowded)
            .finish_non_exhaustive()
    }
}
