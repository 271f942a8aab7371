//! Linked lists over the places of a slab.

use super::{Cell, Cells, NONE, Slab};

/// The first and last cell of a linked list. The links are in the cells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// The neighbours of a cell in a list that is linked both ways; [`NONE`] at either end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Links {
    pub(crate) before: u32,
    pub(crate) after: u32,
}

impl Ends {
    pub(crate) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    /// The first cell, if there is one.
    pub(crate) fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    /// The links of a cell that is pushed next.
    pub(crate) const fn links(&self) -> Links {
        Links {
            before: self.last,
            after: NONE,
        }
    }

    /// Makes `at` the last cell, and links the cell before it to it: `next` is where that cell has the
    /// number of the next one.
    #[inline]
    pub(crate) fn push<T, C: Cells<Cell<T>>>(
        &mut self,
        at: u32,
        cells: &mut Slab<T, C>,
        next: impl FnOnce(&mut T) -> &mut u32,
    ) {
        let before = core::mem::replace(&mut self.last, at);
        if before == NONE {
            self.first = at;
        } else if let Some(before) = cells.linked_mut(before) {
            *next(before) = at;
        }
    }

    /// Removes the first cell, which is followed by `next`.
    pub(crate) const fn pop(&mut self, next: u32) {
        self.first = next;
        if next == NONE {
            self.last = NONE;
        }
    }

    /// Makes the neighbours of a removed cell neighbours of each other.
    #[inline]
    pub(crate) fn remove<T, C: Cells<Cell<T>>>(
        &mut self,
        Links { before, after }: Links,
        cells: &mut Slab<T, C>,
        links: impl Fn(&mut T) -> &mut Links,
    ) {
        if before == NONE {
            self.first = after;
        } else if let Some(before) = cells.linked_mut(before) {
            links(before).after = after;
        }
        if after == NONE {
            self.last = before;
        } else if let Some(after) = cells.linked_mut(after) {
            links(after).before = before;
        }
    }
}
