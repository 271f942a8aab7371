//! The family of fixed size.

use super::{Bytes, Cells, Full, Kept, Storage, Text};
use crate::invariant::cannot_happen;

/// Storage inside the value itself, of a size that is part of the type: no allocator is needed.
///
/// `N` is the bound of each stage: objects in the store, keys and changes queued, notifications that
/// wait for one listener, groups of up to four postings of the same value. `FEW` bounds the number of
/// listeners, of indices and of reports. `TEXT` is the longest version, page token, message or index
/// value, in bytes; a page token that does not fit makes the list unpaged, a message is cut.
///
/// A bound that is hit makes the informer wait or, where nobody can wait, read the full state again
/// later and say so ([`Failure::Full`](crate::Failure::Full)); nothing is lost silently.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a name for a family, without values"
)]
pub enum Fixed<const N: usize, const FEW: usize = 4, const TEXT: usize = 64> {}

impl<const N: usize, const FEW: usize, const TEXT: usize> Storage for Fixed<N, FEW, TEXT> {
    type Cells<T: Default> = heapless::Vec<T, N>;
    type Few<T: Default> = heapless::Vec<T, FEW>;
    type Pages<T: Default + Clone, const CELLS: usize> = heapless::Vec<T, N>;
    type FewPages<T: Default + Clone> = heapless::Vec<T, FEW>;
    type Kept<V: Clone> = Live;
    type Text = heapless::String<TEXT>;
    type Bytes = heapless::Vec<u8, TEXT>;
}

impl<T: Default, const N: usize> Cells<T> for heapless::Vec<T, N> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn capacity(&self) -> usize {
        N
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.as_slice().get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.as_mut_slice().get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > N {
            return Err(Full);
        }
        while self.as_slice().len() < len {
            if self.push(T::default()).is_err() {
                return cannot_happen("no room below the bound", Err(Full));
            }
        }
        Ok(())
    }
}

impl<const N: usize> Text for heapless::String<N> {
    fn set(&mut self, text: &str) -> Result<(), Full> {
        if text.len() > N {
            return Err(Full);
        }
        self.set_beginning(text);
        Ok(())
    }

    fn set_beginning(&mut self, text: &str) {
        self.clear();
        let mut end = text.len().min(N);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let fits = text
            .get(..end)
            .is_some_and(|text| self.push_str(text).is_ok());
        if !fits {
            cannot_happen("a text that was cut does not fit", ());
        }
    }
}

impl<const N: usize> Bytes for heapless::Vec<u8, N> {
    fn copy(bytes: &[u8]) -> Result<Self, Full> {
        Self::from_slice(bytes).map_err(|_| Full)
    }
}

/// Nothing: a copy of the store would take as much room again, so the store waits instead until it has
/// been shown.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Live;

impl<V> Kept<V> for Live {
    const NOTHING: bool = true;

    fn keep(_: &V) -> Self {
        Self
    }

    fn shown<'a>(&'a self, live: &'a V) -> &'a V {
        live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let mut text = heapless::String::<4>::default();
        assert_eq!(text.set("four"), Ok(()));
        assert_eq!(text.set("fifth"), Err(Full));
        assert_eq!(text.as_str(), "four");
        text.set_beginning("aaaé");
        assert_eq!(text.as_str(), "aaa", "cut at a character border");
        let mut cells = heapless::Vec::<u32, 3>::default();
        assert_eq!(Cells::grow(&mut cells, 4), Err(Full));
        assert_eq!(Cells::len(&cells), 0);
        assert_eq!(Cells::grow(&mut cells, 3), Ok(()));
        assert_eq!(Cells::get(&cells, 2), Some(&0));
    }
}
