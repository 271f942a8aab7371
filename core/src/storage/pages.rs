//! Cells in pages that are shared until one of them is written.

use alloc::sync::Arc;
use core::fmt;

use super::{Cells, Full, NONE};

/// Cells in pages behind shared pointers: the root has branches, a branch has twigs, a twig has pages,
/// a page has cells.
///
/// A clone copies one pointer. A write to a page that a clone still sees first copies that page and
/// what leads to it: a twig of at most 16 pointers, a branch of at most 32, and the root with one
/// pointer for each branch. So the price of a snapshot is paid by the writes after it, page by page,
/// and never by the reader.
///
/// To copy a pointer is to count, in memory that is likely not in the cache, and once more when the old
/// page goes. That is why nothing here is wide, and why pages of cells that own something are shorter
/// than pages of plain ones, which are copied as bytes are.
pub struct Pages<T> {
    root: Arc<[Branch<T>]>,
    len: usize,
}

type Branch<T> = Arc<[Twig<T>]>;
type Twig<T> = Arc<[Page<T>]>;
type Page<T> = Arc<[T]>;

/// Twigs in a full branch.
const TWIGS: usize = 32;
/// Pages in a full twig.
const PAGES: usize = 16;

impl<T> Pages<T> {
    /// Cells in a page: a power of two, so that the way to a cell is a matter of shifts.
    const CELLS: usize = if core::mem::needs_drop::<T>() {
        8
    } else {
        match 512_usize.checked_div(size_of::<T>()) {
            Some(cells @ 1..) => 1 << cells.ilog2(),
            _ => 1,
        }
    };

    /// The numbers of branch, twig, page and cell.
    const fn path(at: usize) -> (usize, usize, usize, usize) {
        let page = at / Self::CELLS;
        let twig = page / PAGES;
        (twig / TWIGS, twig % TWIGS, page % PAGES, at % Self::CELLS)
    }
}

impl<T: Default + Clone> Pages<T> {
    /// Adds a page behind the last one, on a new twig and a new branch where the last ones are full.
    fn add_page(&mut self) -> Option<()> {
        let (_, twig, page, _) = Self::path(self.len);
        if (twig, page) == (0, 0) {
            push(&mut self.root, Arc::default());
        }
        let branch = Arc::make_mut(&mut self.root).last_mut()?;
        if page == 0 {
            push(branch, Arc::default());
        }
        let twig = Arc::make_mut(branch).last_mut()?;
        let cells = core::iter::repeat_with(T::default).take(Self::CELLS);
        push(twig, cells.collect());
        self.len += Self::CELLS;
        Some(())
    }
}

/// A copy with one more at the end. There is no room kept for it: that would be one more pointer on the
/// way to every cell.
fn push<C: Clone>(shared: &mut Arc<[C]>, last: C) {
    *shared = shared.iter().cloned().chain([last]).collect();
}

impl<T: Default + Clone> Cells<T> for Pages<T> {
    fn len(&self) -> usize {
        self.len
    }

    fn capacity(&self) -> usize {
        NONE as usize
    }

    fn get(&self, at: usize) -> Option<&T> {
        let (branch, twig, page, cell) = Self::path(at);
        self.root.get(branch)?.get(twig)?.get(page)?.get(cell)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let (branch, twig, page, cell) = Self::path(at);
        let branch = Arc::make_mut(&mut self.root).get_mut(branch)?;
        let twig = Arc::make_mut(branch).get_mut(twig)?;
        let page = Arc::make_mut(twig).get_mut(page)?;
        Arc::make_mut(page).get_mut(cell)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > NONE as usize {
            return Err(Full);
        }
        while self.len < len {
            self.add_page().ok_or(Full)?;
        }
        Ok(())
    }
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self {
            root: Arc::default(),
            len: 0,
        }
    }
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        Self {
            root: Arc::clone(&self.root),
            len: self.len,
        }
    }
}

impl<T> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;

    fn a_clone_does_not_see_later_writes<T>(number: impl Fn(usize) -> T)
    where
        T: Default + Clone + PartialEq + fmt::Debug,
    {
        let mut pages = Pages::<T>::default();
        pages.grow(10_000).unwrap();
        for at in 0..pages.len() {
            *pages.get_mut(at).unwrap() = number(at);
        }
        let before = pages.clone();
        for at in (0..pages.len()).step_by(7) {
            *pages.get_mut(at).unwrap() = number(0);
        }
        pages.grow(20_000).unwrap();
        for at in 0..before.len() {
            assert_eq!(before.get(at), Some(&number(at)));
            let now = if at % 7 == 0 { 0 } else { at };
            assert_eq!(pages.get(at), Some(&number(now)));
        }
        assert_eq!(before.get(before.len()), None);
        assert_eq!(pages.get(before.len()), Some(&T::default()));
    }

    #[test]
    fn a_clone_does_not_see_later_writes_of_any_kind() {
        a_clone_does_not_see_later_writes(|at| at as u32);
        a_clone_does_not_see_later_writes(Box::new);
        // Larger than a page would be: one in each.
        a_clone_does_not_see_later_writes(|at| [[at; 16]; 8]);
        a_clone_does_not_see_later_writes(|_| ());
    }

    #[test]
    fn every_cell_is_there_once_and_no_other() {
        let mut pages = Pages::<Box<u8>>::default();
        let branch = TWIGS * PAGES * Pages::<Box<u8>>::CELLS;
        pages.grow(2 * branch + 1).unwrap();
        assert_eq!(pages.root.len(), 3);
        for at in 0..pages.len() {
            **pages.get_mut(at).unwrap() += 1;
        }
        assert!((0..pages.len()).all(|at| pages.get(at) == Some(&Box::new(1))));
        assert_eq!(pages.get(pages.len()), None);
        assert_eq!(pages.get_mut(pages.len()), None);
        assert_eq!(pages.grow(usize::MAX), Err(Full));
    }

    #[test]
    fn only_the_written_page_is_copied() {
        let mut pages = Pages::<u32>::default();
        let cells = Pages::<u32>::CELLS;
        pages.grow(3 * cells).unwrap();
        let before = pages.clone();
        *pages.get_mut(cells).unwrap() = 1;
        let same = |page: usize| {
            core::ptr::eq(
                before.get(page * cells).unwrap(),
                pages.get(page * cells).unwrap(),
            )
        };
        assert_eq!([same(0), same(1), same(2)], [true, false, true]);
    }
}
