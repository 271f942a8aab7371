//! Numbered places that are handed out, given back and handed out again.

use core::fmt;
use core::marker::PhantomData;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// One place of a [`Slab`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a storage only moves it")]
pub enum Cell<T> {
    /// Free; holds the number of the next free one.
    Vacant(u32),
    /// Taken.
    Taken(T),
}

impl<T> Default for Cell<T> {
    fn default() -> Self {
        Self::Vacant(NONE)
    }
}

/// Numbered places over some cells. The place given back last is handed out first, so numbers, and
/// with them the order of iteration, are a function of the calls made.
#[derive(Clone)]
pub struct Slab<T, C> {
    cells: C,
    /// The first free place below `used`.
    free: u32,
    /// Places that have ever been taken.
    used: u32,
    len: u32,
    kind: PhantomData<T>,
}

impl<T, C: Cells<Cell<T>>> Slab<T, C> {
    /// How many places are taken.
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether no place is taken.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All numbers handed out so far are below this one.
    pub const fn bound(&self) -> u32 {
        self.used
    }

    /// How many more values find a place.
    pub fn room(&self) -> usize {
        self.cells.capacity().saturating_sub(self.len())
    }

    /// Makes sure that one more value finds a place.
    ///
    /// # Errors
    /// [`Full`] if it does not.
    pub fn reserve(&mut self) -> Result<(), Full> {
        if self.free != NONE {
            return Ok(());
        }
        self.cells.grow(self.used as usize + 1)
    }

    /// Puts `value` into a free place and says which.
    ///
    /// # Errors
    /// [`Full`] if there is none; call [`reserve`](Self::reserve) first not to lose the value.
    pub fn insert(&mut self, value: T) -> Result<u32, Full> {
        self.reserve()?;
        let at = if self.free == NONE {
            self.used
        } else {
            self.free
        };
        let Some(cell) = self.cells.get_mut(at as usize) else {
            return cannot_happen("a reserved place is missing", Err(Full));
        };
        match core::mem::replace(cell, Cell::Taken(value)) {
            Cell::Vacant(_) if self.free == NONE => self.used += 1,
            Cell::Vacant(next) => self.free = next,
            Cell::Taken(_) => self.used += cannot_happen("a free place is taken", 1),
        }
        self.len += 1;
        Ok(at)
    }

    /// Takes the value out of a place and gives the place back.
    pub fn remove(&mut self, at: u32) -> Option<T> {
        // Looked at first: to write is to copy, where pages are shared.
        self.get(at)?;
        let cell = self.cells.get_mut(at as usize)?;
        let Cell::Taken(value) = core::mem::replace(cell, Cell::Vacant(self.free)) else {
            return cannot_happen("a taken place is free", None);
        };
        self.free = at;
        self.len -= 1;
        Some(value)
    }

    /// [`get`](Self::get) where a link leads, or a table: that place is taken.
    #[track_caller]
    pub(crate) fn linked(&self, at: u32) -> Option<&T> {
        must_be_taken(self.get(at))
    }

    /// [`get_mut`](Self::get_mut) where a link leads, or a table: that place is taken.
    #[track_caller]
    pub(crate) fn linked_mut(&mut self, at: u32) -> Option<&mut T> {
        must_be_taken(self.get_mut(at))
    }

    /// [`remove`](Self::remove) where a link leads, or a table: that place is taken.
    #[track_caller]
    pub(crate) fn remove_linked(&mut self, at: u32) -> Option<T> {
        must_be_taken(self.remove(at))
    }

    /// The value in a place.
    pub fn get(&self, at: u32) -> Option<&T> {
        match self.cells.get(at as usize)? {
            Cell::Taken(value) => Some(value),
            Cell::Vacant(_) => None,
        }
    }

    /// The value in a place, for writing.
    pub fn get_mut(&mut self, at: u32) -> Option<&mut T> {
        match self.cells.get_mut(at as usize)? {
            Cell::Taken(value) => Some(value),
            Cell::Vacant(_) => None,
        }
    }

    /// All taken places in the order of their numbers.
    pub fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a T)>
    where
        T: 'a,
    {
        (0..self.used).filter_map(|at| Some((at, self.get(at)?)))
    }
}

#[track_caller]
fn must_be_taken<T>(value: Option<T>) -> Option<T> {
    if value.is_none() {
        return cannot_happen("a link leads to a free place", None);
    }
    value
}

impl<T, C: Cells<Cell<T>>> Default for Slab<T, C> {
    fn default() -> Self {
        Self {
            cells: C::default(),
            free: NONE,
            used: 0,
            len: 0,
            kind: PhantomData,
        }
    }
}

impl<T, C> fmt::Debug for Slab<T, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slab")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

/// First and last of some cells that are linked one after the other; the links are in the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Default for Ends {
    fn default() -> Self {
        Self {
            first: NONE,
            last: NONE,
        }
    }
}

impl Ends {
    /// The first one, if there is any.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// Makes `at` the last one and says which one was last before, so that it can be linked.
    pub(crate) fn push(&mut self, at: u32) -> Option<u32> {
        let before = core::mem::replace(&mut self.last, at);
        if self.first == NONE {
            self.first = at;
            return None;
        }
        Some(before)
    }

    /// Takes the first one away, whose follower is `next`.
    pub(crate) const fn pop(&mut self, next: u32) {
        self.first = next;
        if next == NONE {
            self.last = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    #[should_panic(expected = "cannot happen: a link leads to a free place")]
    fn a_link_to_a_free_place_is_noticed() {
        let mut slab = Slab::<u32, Vec<Cell<u32>>>::default();
        let at = slab.insert(7).unwrap();
        assert_eq!(slab.remove_linked(at), Some(7));
        slab.linked(at);
    }

    #[test]
    fn places_given_back_are_handed_out_again() {
        let mut slab = Slab::<u32, Vec<Cell<u32>>>::default();
        let places: Vec<_> = (0..10).map(|n| slab.insert(n).unwrap()).collect();
        for round in 0..1_000 {
            assert_eq!(
                slab.remove(places[3]),
                Some(if round == 0 { 3 } else { 99 })
            );
            assert_eq!(slab.remove(places[3]), None);
            assert_eq!(slab.insert(99), Ok(places[3]), "the place given back last");
        }
        assert_eq!((slab.len(), slab.bound()), (10, 10));
        assert_eq!(slab.iter().count(), 10);
    }
}
