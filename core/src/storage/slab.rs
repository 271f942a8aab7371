//! Numbered places that are reused.

use core::marker::PhantomData;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// One place of a [`Slab`].
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a storage only moves it")]
pub enum Cell<T> {
    /// Free; holds the number of the next free place.
    Vacant(u32),
    /// Taken.
    Taken(T),
}

impl<T> Default for Cell<T> {
    fn default() -> Self {
        Self::Vacant(NONE)
    }
}

/// Numbered places, stored in cells. The place freed last is reused first, so the numbers, and with them
/// the iteration order, depend only on the calls made.
#[derive(Clone)]
pub struct Slab<T, C> {
    cells: C,
    /// The first free place below `used`.
    free: u32,
    /// How many places have ever been taken.
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

    /// One more than the largest number handed out so far.
    pub const fn bound(&self) -> u32 {
        self.used
    }

    /// How many more values fit.
    pub fn room(&self) -> usize {
        self.cells.capacity().saturating_sub(self.len())
    }

    /// Makes sure that one more value fits.
    ///
    /// # Errors
    /// [`Full`] if it does not.
    pub fn reserve(&mut self) -> Result<(), Full> {
        if self.free != NONE {
            return Ok(());
        }
        self.cells.grow(self.used as usize + 1)
    }

    /// The place that the next value gets.
    pub(crate) fn next_place(&self) -> u32 {
        // `NONE` is larger than the number of any place.
        self.free.min(self.used)
    }

    /// Puts `value` into a free place and returns the number of that place.
    ///
    /// # Errors
    /// [`Full`] if there is no free place. Call [`reserve`](Self::reserve) first to keep the value.
    pub fn insert(&mut self, value: T) -> Result<u32, Full> {
        self.reserve()?;
        let at = self.next_place();
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

    /// Takes the value out of a place and frees the place.
    pub fn remove(&mut self, at: u32) -> Option<T> {
        // Look first: `get_mut` copies a shared page.
        self.get(at)?;
        let cell = self.cells.get_mut(at as usize)?;
        let Cell::Taken(value) = core::mem::replace(cell, Cell::Vacant(self.free)) else {
            return cannot_happen("a taken place is free", None);
        };
        self.free = at;
        self.len -= 1;
        Some(value)
    }

    /// [`get`](Self::get) for a place that a link or a table points to. It must be taken.
    #[inline]
    #[track_caller]
    pub(crate) fn linked(&self, at: u32) -> Option<&T> {
        must_be_taken(self.get(at))
    }

    /// [`get_mut`](Self::get_mut) for a place that a link or a table points to. It must be taken.
    #[inline]
    #[track_caller]
    pub(crate) fn linked_mut(&mut self, at: u32) -> Option<&mut T> {
        must_be_taken(self.get_mut(at))
    }

    /// [`remove`](Self::remove) for a place that a link or a table points to. It must be taken.
    #[inline]
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

    /// All taken places, ordered by number.
    pub fn iter<'a>(&'a self) -> impl Iterator<Item = (u32, &'a T)>
    where
        T: 'a,
    {
        (0..self.used).filter_map(|at| Some((at, self.get(at)?)))
    }
}

#[inline]
#[track_caller]
fn must_be_taken<T>(value: Option<T>) -> Option<T> {
    if value.is_none() {
        cannot_happen("a link leads to a free place", ());
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

debug_fields!([T, C] Slab[T, C], self: len);

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
    fn freed_places_are_reused() {
        let mut slab = Slab::<u32, Vec<Cell<u32>>>::default();
        let places: Vec<_> = (0..10).map(|n| slab.insert(n).unwrap()).collect();
        for round in 0..1_000 {
            assert_eq!(
                slab.remove(places[3]),
                Some(if round == 0 { 3 } else { 99 })
            );
            assert_eq!(slab.remove(places[3]), None);
            assert_eq!(slab.insert(99), Ok(places[3]), "the place freed last");
        }
        assert_eq!((slab.len(), slab.bound()), (10, 10));
        assert_eq!(slab.iter().count(), 10);
    }
}
