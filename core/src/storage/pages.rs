//! Cells in pages that are shared until one of them is written.

use alloc::sync::Arc;
use core::fmt;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// Cells in pages behind shared pointers, `CELLS` in each: the root has branches, a branch has twigs, a
/// twig has pages.
///
/// A clone copies one pointer. A write to a page that a clone still sees first copies that page and what
/// leads to it: a twig of at most 16 pointers, a branch of at most 32, and the root with one pointer for
/// each branch. So the price of a snapshot is paid by the writes after it, page by page, and never by
/// the reader.
///
/// To copy a pointer is to count, in memory that is likely not in the cache, and once more when the old
/// page goes: that is why nothing here is wide. Every level is one more step on the way to each cell:
/// that is why there are not more of them.
pub struct Pages<T, const CELLS: usize> {
    root: Arc<[Branch<T, CELLS>]>,
    len: usize,
}

type Branch<T, const CELLS: usize> = Node<Twig<T, CELLS>, 32>;
type Twig<T, const CELLS: usize> = Node<Page<T, CELLS>, 16>;

/// A part of the tree: a page, or a node with what hangs on it.
trait Part<T>: Default + Clone {
    /// How many cells it has when it is full: a power of two, so that the way to a cell is a matter of
    /// shifts.
    const SPAN: usize;

    /// The cell with the number `at`, counted from its beginning or from that of a larger part.
    fn get(&self, at: usize) -> Option<&T>;

    /// The same for writing. What others see as well is copied.
    fn get_mut(&mut self, at: usize) -> Option<&mut T>;

    /// Makes sure that the cell is there.
    fn add(&mut self, at: usize);
}

struct Page<T, const CELLS: usize>(Arc<[T; CELLS]>);

impl<T: Default + Clone, const CELLS: usize> Part<T> for Page<T, CELLS> {
    const SPAN: usize = {
        assert!(CELLS.is_power_of_two(), "pages of 2^n cells");
        CELLS
    };

    fn get(&self, at: usize) -> Option<&T> {
        self.0.get(at % Self::SPAN)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        Arc::make_mut(&mut self.0).get_mut(at % Self::SPAN)
    }

    fn add(&mut self, _: usize) {}
}

impl<T: Default, const CELLS: usize> Default for Page<T, CELLS> {
    fn default() -> Self {
        Self(Arc::new(core::array::from_fn(|_| T::default())))
    }
}

struct Node<P, const WIDTH: usize>(Arc<[Option<P>; WIDTH]>);

impl<P, const WIDTH: usize> Node<P, WIDTH> {
    /// Which of its parts has the cell with the number `at`.
    const fn turn<T>(at: usize) -> usize
    where
        P: Part<T>,
    {
        at / P::SPAN % WIDTH
    }
}

impl<T, P: Part<T>, const WIDTH: usize> Part<T> for Node<P, WIDTH> {
    const SPAN: usize = P::SPAN * WIDTH;

    fn get(&self, at: usize) -> Option<&T> {
        self.0.get(Self::turn(at))?.as_ref()?.get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let parts = Arc::make_mut(&mut self.0);
        parts.get_mut(Self::turn(at))?.as_mut()?.get_mut(at)
    }

    fn add(&mut self, at: usize) {
        match Arc::make_mut(&mut self.0).get_mut(Self::turn(at)) {
            Some(part) => part.get_or_insert_default().add(at),
            None => cannot_happen("a node without room for its parts", ()),
        }
    }
}

impl<P, const WIDTH: usize> Default for Node<P, WIDTH> {
    fn default() -> Self {
        Self(Arc::new([const { None }; WIDTH]))
    }
}

impl<T: Default + Clone, const CELLS: usize> Cells<T> for Pages<T, CELLS> {
    fn len(&self) -> usize {
        self.len
    }

    fn capacity(&self) -> usize {
        NONE as usize
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.root.get(at / Branch::<T, CELLS>::SPAN)?.get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let branch = at / Branch::<T, CELLS>::SPAN;
        Arc::make_mut(&mut self.root).get_mut(branch)?.get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > NONE as usize {
            return Err(Full);
        }
        while self.len < len {
            let branch = self.len / Branch::<T, CELLS>::SPAN;
            if branch == self.root.len() {
                let more = [Branch::default()];
                self.root = self.root.iter().cloned().chain(more).collect();
            }
            match Arc::make_mut(&mut self.root).get_mut(branch) {
                Some(branch) => branch.add(self.len),
                None => cannot_happen("a root without its newest branch", ()),
            }
            self.len += CELLS;
        }
        Ok(())
    }
}

impl<T, const CELLS: usize> Default for Pages<T, CELLS> {
    fn default() -> Self {
        Self {
            root: Arc::default(),
            len: 0,
        }
    }
}

impl<T, const CELLS: usize> Clone for Pages<T, CELLS> {
    fn clone(&self) -> Self {
        Self {
            root: Arc::clone(&self.root),
            len: self.len,
        }
    }
}

// Derived clones would ask for `T: Clone`.
impl<T, const CELLS: usize> Clone for Page<T, CELLS> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<P, const WIDTH: usize> Clone for Node<P, WIDTH> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T, const CELLS: usize> fmt::Debug for Pages<T, CELLS> {
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

    fn a_clone_does_not_see_later_writes<T, const CELLS: usize>(number: impl Fn(usize) -> T)
    where
        T: Default + Clone + PartialEq + fmt::Debug,
    {
        let mut pages = Pages::<T, CELLS>::default();
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
        a_clone_does_not_see_later_writes::<_, 64>(|at| at as u32);
        a_clone_does_not_see_later_writes::<_, 4>(Box::new);
        a_clone_does_not_see_later_writes::<_, 1>(|at| [[at; 16]; 8]);
        a_clone_does_not_see_later_writes::<_, 8>(|_| ());
    }

    #[test]
    fn every_cell_is_there_once_and_no_other() {
        let mut pages = Pages::<Box<u8>, 2>::default();
        pages.grow(2 * Branch::<Box<u8>, 2>::SPAN + 1).unwrap();
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
        let mut pages = Pages::<u32, 16>::default();
        let cells = 16;
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
