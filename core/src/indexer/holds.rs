//! Which sources show an object.
//!
//! With one source there is nothing to note: it shows all objects, and a slot has room for the number of
//! the last full state that contained its object. With a second source, every object gets a list of its
//! *holds*, one for each source that shows it, and the slot points to the first of them instead.

use super::Indexer;
use super::view::{Slot, View};
use crate::known::{Epoch, Known};
use crate::object::Resource;
use crate::source::SourceId;
use crate::storage::{Cell, Full, NONE, Slab, Storage};
use crate::version::compare_versions;

/// A source shows an object.
#[derive(Clone, Copy)]
pub(super) struct Hold {
    source: SourceId,
    /// The newest full state of this source that contained the object.
    seen: Epoch,
    /// Whether the stored state came from this source.
    wrote: bool,
    /// The next hold of the same object.
    next: u32,
}

/// All holds of a store.
pub(super) struct Holds<S: Storage> {
    /// Whether objects have holds. If not, all of them belong to `source`.
    pub(super) several: bool,
    /// The source whose step is applied now, or was applied last.
    pub(super) source: SourceId,
    list: Slab<Hold, S::Holds<Cell<Hold>>>,
}

impl<S: Storage> Holds<S> {
    pub(super) fn new() -> Self {
        Self {
            several: false,
            source: SourceId::FIRST,
            list: Slab::default(),
        }
    }

    /// The mark of a new slot, whose object the full state `seen` contained.
    pub(super) const fn first_mark(&self, seen: Epoch) -> u32 {
        if self.several { NONE } else { seen.to_bits() }
    }

    /// The holds of an object, by the mark of its slot.
    fn of(&self, mark: u32) -> impl Iterator<Item = (u32, &Hold)> {
        let mut at = if self.several { mark } else { NONE };
        core::iter::from_fn(move || {
            if at == NONE {
                return None;
            }
            let (here, hold) = (at, self.list.linked(at)?);
            at = hold.next;
            Some((here, hold))
        })
    }

    fn find(&self, mark: u32, source: SourceId) -> Option<(u32, &Hold)> {
        self.of(mark).find(|(_, hold)| hold.source == source)
    }

    /// The newest full state of `source` that contained an object; `None` if the source does not show it.
    pub(super) fn seen_by(&self, mark: u32, source: SourceId) -> Option<Epoch> {
        if !self.several {
            return Some(Epoch::from_bits(mark));
        }
        self.find(mark, source).map(|(_, hold)| hold.seen)
    }

    /// Drops all holds of an object.
    pub(super) fn clear(&mut self, mark: u32) {
        let mut at = if self.several { mark } else { NONE };
        while at != NONE
            && let Some(hold) = self.list.remove_linked(at)
        {
            at = hold.next;
        }
    }
}

impl<S: Storage> Clone for Holds<S> {
    fn clone(&self) -> Self {
        Self {
            several: self.several,
            source: self.source,
            list: self.list.clone(),
        }
    }
}

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// From now on, notes which source shows which object. All objects so far belong to the source of the
    /// last step. Visits every object once.
    pub(crate) fn distinguish_sources(&mut self) -> Result<(), Full> {
        if self.view.holds.several {
            return Ok(());
        }
        let (source, bound) = (self.view.holds.source, self.view.slots.bound());
        for at in 0..bound {
            let Some(slot) = self.view.slots.get(at) else {
                continue;
            };
            let seen = Epoch::from_bits(slot.mark);
            let hold = Hold {
                source,
                seen,
                wrote: true,
                next: NONE,
            };
            match self.view.holds.list.insert(hold) {
                Ok(first) => self.set_mark(at, first),
                Err(full) => {
                    self.forget_holds(at);
                    return Err(full);
                }
            }
        }
        self.view.holds.several = true;
        Ok(())
    }

    /// Takes back what was noted for the objects in the slots below `bound`.
    fn forget_holds(&mut self, bound: u32) {
        for at in 0..bound {
            let mark = self.view.slots.get(at).map(|slot| slot.mark);
            if let Some(hold) = mark.and_then(|mark| self.view.holds.list.remove_linked(mark)) {
                self.set_mark(at, hold.seen.to_bits());
            }
        }
    }

    /// Makes sure that the current source can show the object at `at`, or a new one.
    pub(super) fn reserve_hold(&mut self, at: Option<u32>) -> Result<(), Full> {
        let holds = &self.view.holds;
        if !holds.several {
            return Ok(());
        }
        let mark = at.and_then(|at| Some(self.view.slots.linked(at)?.mark));
        if mark.is_some_and(|mark| holds.find(mark, holds.source).is_some()) {
            return Ok(());
        }
        self.view.holds.list.reserve()
    }

    /// Notes that the current source shows the object at `at`, and that its full state `seen` contained it.
    /// [`Epoch::NEVER`] keeps what was noted before.
    pub(super) fn hold(&mut self, at: u32, seen: Epoch) -> Result<(), Full> {
        self.view.newest = self.view.newest.max(seen);
        let Some(mark) = self.view.slots.linked(at).map(|slot| slot.mark) else {
            return Ok(());
        };
        let holds = &mut self.view.holds;
        if !holds.several {
            if seen != Epoch::NEVER && seen.to_bits() != mark {
                self.set_mark(at, seen.to_bits());
            }
            return Ok(());
        }
        let (source, found) = (holds.source, holds.find(mark, holds.source));
        if let Some((hold, before)) = found {
            if seen != Epoch::NEVER
                && seen != before.seen
                && let Some(hold) = holds.list.linked_mut(hold)
            {
                hold.seen = seen;
            }
            return Ok(());
        }
        let first = holds.list.insert(Hold {
            source,
            seen,
            wrote: false,
            next: mark,
        })?;
        self.set_mark(at, first);
        Ok(())
    }

    /// Notes that the stored state at `at` came from the current source, which holds the object.
    pub(super) fn note_writer(&mut self, at: u32) {
        let holds = &mut self.view.holds;
        let mut next = match self.view.slots.linked(at) {
            Some(slot) if holds.several => slot.mark,
            _ => NONE,
        };
        while next != NONE
            && let Some(hold) = holds.list.linked(next)
        {
            let (here, wrote) = (next, hold.source == holds.source);
            next = hold.next;
            // Look first: writing copies a shared page.
            if hold.wrote != wrote
                && let Some(hold) = holds.list.linked_mut(here)
            {
                hold.wrote = wrote;
            }
        }
    }

    /// Whether `object`, which the current source shows, is older than what another source has shown. What
    /// a source itself has shown counts as older than what it shows now: the order of a source is the order
    /// of its events. Versions that cannot be compared count as newer.
    pub(super) fn is_outdated(&self, stored: &Slot<T>, object: &T) -> bool {
        let holds = &self.view.holds;
        holds.several
            && !holds
                .find(stored.mark, holds.source)
                .is_some_and(|(_, hold)| hold.wrote)
            && is_older(object, &stored.object)
    }

    /// The current source no longer shows the object under `key`. Removes the object, unless another source
    /// shows it.
    pub(super) fn let_go(&mut self, key: &T::Key) -> Option<T> {
        if self.view.holds.several {
            let at = self.place_of(key).slot?;
            self.release(at);
            if self.view.slots.linked(at)?.mark != NONE {
                return None;
            }
        }
        self.remove(key)
    }

    /// Drops the hold of the current source on the object at `at`.
    fn release(&mut self, at: u32) {
        let Some(mark) = self.view.slots.linked(at).map(|slot| slot.mark) else {
            return;
        };
        let holds = &mut self.view.holds;
        let Some((gone, hold)) = holds.find(mark, holds.source) else {
            return;
        };
        let next = hold.next;
        let before = holds
            .of(mark)
            .find_map(|(at, hold)| (hold.next == gone).then_some(at));
        holds.list.remove_linked(gone);
        match before.and_then(|before| holds.list.linked_mut(before)) {
            Some(before) => before.next = next,
            None => self.set_mark(at, next),
        }
    }

    fn set_mark(&mut self, at: u32, mark: u32) {
        if let Some(slot) = self.view.slots.linked_mut(at) {
            slot.mark = mark;
        }
    }
}

/// Whether the version of `object` is smaller than that of `other`. If they cannot be compared, it is not.
pub(super) fn is_older<T: Resource>(object: &T, other: &T) -> bool {
    compare_versions(object.version(), other.version()).is_ok_and(core::cmp::Ordering::is_lt)
}

impl<T: Resource + Clone, S: Storage> View<T, S> {
    /// The sources that show the object under `key`.
    pub fn sources_of(&self, key: &T::Key) -> impl Iterator<Item = SourceId> {
        let at = self.find_hashed(self.seed.hash(key), key);
        let mark = at.and_then(|at| Some(self.slots.linked(at)?.mark));
        let only = mark.filter(|_| !self.holds.several);
        let holds = self.holds.of(mark.unwrap_or(NONE));
        let several = holds.map(|(_, hold)| hold.source);
        only.map(|_| self.holds.source).into_iter().chain(several)
    }

    /// The objects that `source` shows.
    pub(crate) const fn shown_by(&self, source: SourceId) -> Shown<'_, T, S> {
        Shown {
            view: self,
            source,
            all: false,
            new: false,
        }
    }

    /// All objects. Those that `source` does not show count as never seen.
    pub(crate) const fn seen_by(&self, source: SourceId) -> Shown<'_, T, S> {
        Shown {
            view: self,
            source,
            all: true,
            new: false,
        }
    }
}

/// The store as a source sees it.
pub(crate) struct Shown<'a, T: Resource + Clone, S: Storage> {
    view: &'a View<T, S>,
    source: SourceId,
    /// Whether objects of other sources are visible, too.
    all: bool,
    /// Whether the source has shown nothing yet.
    new: bool,
}

impl<T: Resource + Clone, S: Storage> Shown<'_, T, S> {
    /// Says whether the source has shown nothing yet.
    pub(crate) const fn of_new(mut self, new: bool) -> Self {
        self.new = new;
        self
    }

    fn seen(&self, slot: &Slot<T>) -> Option<Epoch> {
        let seen = self.view.holds.seen_by(slot.mark, self.source);
        seen.or_else(|| self.all.then_some(Epoch::NEVER))
    }
}

impl<T: Resource + Clone, S: Storage> Known<T> for Shown<'_, T, S> {
    fn newest(&self) -> Epoch {
        self.view.newest
    }

    fn get(&self, key: &T::Key) -> Option<&T> {
        if !self.view.holds.several {
            return self.view.get(key);
        }
        let at = self.view.find_hashed(self.view.seed.hash(key), key)?;
        let slot = self.view.slots.linked(at)?;
        self.seen(slot).map(|_| &slot.object)
    }

    fn places(&self) -> u32 {
        self.view.slots.bound()
    }

    fn is_empty(&self) -> bool {
        // Without holds, all objects count as shown by each source.
        self.places() == 0 || (self.new && self.view.holds.several)
    }

    fn at(&self, place: u32) -> Option<(&T, Epoch)> {
        let slot = self.view.slots.get(place)?;
        Some((&slot.object, self.seen(slot)?))
    }
}
