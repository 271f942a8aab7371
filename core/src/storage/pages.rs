//! Copy-on-write pages of cells.

use alloc::sync::Arc as Root;

use triomphe::Arc;

use super::{Cells, Full, NONE};
use crate::invariant::cannot_happen;

/// Copy-on-write cells in pages of `CELLS` cells each. The pages form a tree: the root has branches, a
/// branch has twigs, and a twig has pages.
///
/// A clone copies one pointer. A write to a page that a clone still shares copies that page and the path
/// to it: a twig of at most 16 pointers, a branch of at most 32, and the root with one pointer per
/// branch. So the writes after a snapshot pay for it, page by page. Readers never do.
///
/// Nodes are narrow, because copying a pointer changes a reference count that is probably not in the
/// cache, and dropping the old node changes it again. The tree has few levels, because each level adds
/// a step to every access. They have no counter of weak pointers, because there are none.
#[derive(Clone)]
pub struct Pages<T, const CELLS: usize> {
    root: Root<[Branch<T, CELLS>]>,
    len: usize,
}

type Branch<T, const CELLS: usize> = Node<Twig<T, CELLS>, 32>;
type Twig<T, const CELLS: usize> = Node<Page<T, CELLS>, 16>;

/// A part of the tree: a page, or a node with its children.
trait Part<T>: Default + Clone {
    /// How many cells it has when it is full. A power of two, so that finding a cell takes only shifts.
    const SPAN: usize;

    /// The cell with the number `at`, counted from the start of this part or of any part around it.
    fn get(&self, at: usize) -> Option<&T>;

    /// The same for writing. Copies whatever is shared.
    fn get_mut(&mut self, at: usize) -> Option<&mut T>;

    /// Makes sure that the cell exists.
    fn add(&mut self, at: usize);
}

#[derive(Clone)]
struct Page<T, const CELLS: usize>(Arc<[T; CELLS]>);

impl<T: Default + Clone, const CELLS: usize> Part<T> for Page<T, CELLS> {
    const SPAN: usize = {
        assert!(CELLS.is_power_of_two(), "a page must have 2^n cells");
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

#[derive(Clone)]
struct Node<P, const WIDTH: usize>(Arc<[Option<P>; WIDTH]>);

impl<P, const WIDTH: usize> Node<P, WIDTH> {
    /// Which child has the cell with the number `at`.
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
            None => cannot_happen("a node has no room for a child", ()),
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
        Root::make_mut(&mut self.root).get_mut(branch)?.get_mut(at)
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
            match Root::make_mut(&mut self.root).get_mut(branch) {
                Some(branch) => branch.add(self.len),
                None => cannot_happen("the newest branch is missing", ()),
            }
            self.len += CELLS;
        }
        Ok(())
    }
}

impl<T, const CELLS: usize> Default for Pages<T, CELLS> {
    fn default() -> Self {
        Self {
            root: Root::default(),
            len: 0,
        }
    }
}

debug_fields!([T, const CELLS: usize] Pages[T, CELLS], self: len);

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::boxed::Box;
    use core::fmt;

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
    fn a_clone_does_not_see_later_writes_whatever_the_type() {
        a_clone_does_not_see_later_writes::<_, 64>(|at| at as u32);
        a_clone_does_not_see_later_writes::<_, 4>(Box::new);
        a_clone_does_not_see_later_writes::<_, 1>(|at| [[at; 16]; 8]);
        a_clone_does_not_see_later_writes::<_, 8>(|_| ());
    }

    #[test]
    fn every_cell_exists_exactly_once() {
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
