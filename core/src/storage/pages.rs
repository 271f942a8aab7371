//! Cells in pages that are shared until one of them is written.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{Cells, Full, NONE};

/// Cells per page, and pages per branch.
const FAN: usize = 64;

/// Cells in pages behind shared pointers, in a tree of three levels.
///
/// A clone copies one pointer. A write to a page that a clone still sees copies that page, its branch
/// and the root first, whose sizes are 64 cells, 64 pointers and one pointer per 4,096 cells; so the
/// price of a snapshot is paid by the writes after it, page by page, and never by the reader.
pub struct Pages<T> {
    root: Arc<Vec<Branch<T>>>,
    len: usize,
}

type Branch<T> = Arc<Vec<Arc<[T]>>>;

impl<T> Pages<T> {
    const fn path(at: usize) -> (usize, usize, usize) {
        (at / (FAN * FAN), at / FAN % FAN, at % FAN)
    }
}

impl<T: Default + Clone> Cells<T> for Pages<T> {
    fn len(&self) -> usize {
        self.len
    }

    fn capacity(&self) -> usize {
        NONE as usize
    }

    fn get(&self, at: usize) -> Option<&T> {
        let (branch, page, cell) = Self::path(at);
        self.root.get(branch)?.get(page)?.get(cell)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        let (branch, page, cell) = Self::path(at);
        let branch = Arc::make_mut(&mut self.root).get_mut(branch)?;
        let page = Arc::make_mut(branch).get_mut(page)?;
        Arc::make_mut(page).get_mut(cell)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > NONE as usize {
            return Err(Full);
        }
        while self.len < len {
            let page = core::iter::repeat_with(T::default).take(FAN).collect();
            let root = Arc::make_mut(&mut self.root);
            match root.last_mut() {
                Some(branch) if branch.len() < FAN => Arc::make_mut(branch).push(page),
                _ => root.push(Arc::new(Vec::from([page]))),
            }
            self.len += FAN;
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

    #[test]
    fn a_clone_does_not_see_later_writes() {
        let mut pages = Pages::<u32>::default();
        pages.grow(10_000).unwrap();
        for at in 0..pages.len() {
            *pages.get_mut(at).unwrap() = at as u32;
        }
        let before = pages.clone();
        for at in (0..pages.len()).step_by(7) {
            *pages.get_mut(at).unwrap() = 0;
        }
        pages.grow(20_000).unwrap();
        for at in 0..before.len() {
            assert_eq!(before.get(at), Some(&(at as u32)));
            let now = if at % 7 == 0 { 0 } else { at as u32 };
            assert_eq!(pages.get(at), Some(&now));
        }
        assert_eq!(before.get(before.len()), None);
    }

    #[test]
    fn only_the_written_page_is_copied() {
        let mut pages = Pages::<u32>::default();
        pages.grow(3 * FAN).unwrap();
        let before = pages.clone();
        *pages.get_mut(FAN).unwrap() = 1;
        let same = |page: usize| {
            core::ptr::eq(
                before.get(page * FAN).unwrap(),
                pages.get(page * FAN).unwrap(),
            )
        };
        assert_eq!([same(0), same(1), same(2)], [true, false, true]);
    }
}
