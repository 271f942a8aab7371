//! All listeners: which have news, and how many are full.

use super::listener::Listener;
use crate::object::Resource;
use crate::storage::{Ends, FewPlaces, Full, Links, Slab, Storage};

/// The listeners by place. Every change to a listener goes through [`change`](Self::change). It keeps
/// track of which listeners have news and whether all have room, because every event and every poll asks
/// for that.
pub(super) struct Listeners<T: Resource + Clone, S: Storage> {
    seats: FewPlaces<S, Seat<T, S>>,
    /// A linked list of the listeners with news, oldest news first.
    news: Ends,
    /// How many have no room.
    crowded: usize,
}

struct Seat<T: Resource + Clone, S: Storage> {
    listener: Listener<T, S>,
    crowded: bool,
    /// Whether it is in the list of listeners with news, and its neighbours there.
    linked: bool,
    links: Links,
}

impl<T: Resource + Clone, S: Storage> Listeners<T, S> {
    pub(super) fn insert(&mut self, listener: Listener<T, S>) -> Result<u32, Full> {
        let at = self.seats.insert(Seat {
            listener,
            crowded: false,
            linked: false,
            links: self.news.links(),
        })?;
        // Count the news and the room that it starts with.
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
    #[inline]
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
        // A paused listener has no use for news. It gets some when it goes on.
        let news = core::mem::take(&mut seat.listener.news) && !seat.listener.paused;
        if news && !seat.linked {
            seat.linked = true;
            seat.links = self.news.links();
            self.news
                .push(at, &mut self.seats, |seat| &mut seat.links.after);
        }
        Some(outcome)
    }

    /// Changes all of them.
    pub(super) fn change_all(&mut self, mut change: impl FnMut(&mut Listener<T, S>)) {
        for at in 0..self.bound() {
            self.change(at, &mut change);
        }
    }

    /// Takes the listener with the oldest news off the list.
    pub(super) fn pop_news(&mut self) -> Option<(u32, &Listener<T, S>)> {
        let at = self.news.first()?;
        self.unlink(at);
        Some((at, &self.seats.linked(at)?.listener))
    }

    /// Whether all have room.
    pub(super) const fn have_room(&self) -> bool {
        self.crowded == 0
    }

    /// One more than the largest place.
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
        seat.linked = false;
        let links = seat.links;
        self.news
            .remove(links, &mut self.seats, |seat| &mut seat.links);
    }
}

impl<T: Resource + Clone, S: Storage> Default for Listeners<T, S> {
    fn default() -> Self {
        Self {
            seats: Slab::default(),
            news: Ends::EMPTY,
            crowded: 0,
        }
    }
}

debug_fields!([T: Resource + Clone, S: Storage] Listeners[T, S], self: seats, crowded);
