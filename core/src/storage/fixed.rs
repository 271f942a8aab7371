//! Fixed-size storage, without an allocator.

use super::{Bytes, Cells, Full, Kept, Storage, Text};
use crate::invariant::cannot_happen;

/// Storage inside the value itself, with sizes that are part of the type. It needs no allocator.
///
/// `N` bounds each stage: objects in the store, queued keys and changes, notifications that wait for
/// one listener, and groups of up to four postings of the same index value. `FEW` bounds the listeners,
/// the indices and the reports. `TEXT` is the longest version, page token, message or index value, in
/// bytes. If a page token does not fit, the list is not paged. A message that does not fit is cut.
///
/// `SOURCES` bounds the sources of an informer. With more than one, the store also notes which source shows
/// which object: `HOLDS` bounds these notes, and should be `N` times the number of sources that may show the
/// same object.
///
/// When a bound is reached, the informer waits. Where it cannot wait, it reports
/// [`Failure::Full`](crate::Failure::Full) and relists later. Nothing is lost silently.
///
/// ```
/// use informer_core::Resource;
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Fixed, Full, Seed};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Lamp(u8);
///
/// impl Resource for Lamp {
///     type Key = u8;
///     fn key(&self) -> &u8 {
///         &self.0
///     }
///     fn uid(&self) -> &str {
///         ""
///     }
///     fn version(&self) -> &str {
///         "1"
///     }
///     fn labels(&self, _: &mut dyn FnMut(&str, &str)) {}
/// }
///
/// // A store with room for two objects, all of it on the stack.
/// let mut store: Indexer<Lamp, Fixed<2>> = Indexer::new(Seed::new(1));
/// store.put(Lamp(1))?;
/// store.put(Lamp(2))?;
/// assert_eq!(store.put(Lamp(3)), Err(Full));
/// assert_eq!(store.len(), 2);
/// # Ok::<(), Full>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "names a family; it has no values")]
pub enum Fixed<
    const N: usize,
    const FEW: usize = 4,
    const TEXT: usize = 64,
    const SOURCES: usize = 1,
    const HOLDS: usize = 0,
> {}

impl<const N: usize, const FEW: usize, const TEXT: usize, const SOURCES: usize, const HOLDS: usize>
    Storage for Fixed<N, FEW, TEXT, SOURCES, HOLDS>
{
    type Cells<T: Default> = heapless::Vec<T, N>;
    type Few<T: Default> = heapless::Vec<T, FEW>;
    type Pages<T: Default + Clone, const CELLS: usize> = heapless::Vec<T, N>;
    type FewPages<T: Default + Clone> = heapless::Vec<T, FEW>;
    type Sources<T: Default> = heapless::Vec<T, SOURCES>;
    type Holds<T: Default + Clone> = heapless::Vec<T, HOLDS>;
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
        self.clear();
        self.push_str(text).map_err(|_| Full)
    }

    fn set_beginning(&mut self, text: &str) {
        self.clear();
        for character in text.chars() {
            if self.push(character).is_err() {
                return;
            }
        }
    }
}

impl<const N: usize> Bytes for heapless::Vec<u8, N> {
    fn copy(bytes: &[u8]) -> Result<Self, Full> {
        Self::from_slice(bytes).map_err(|_| Full)
    }
}

/// Keeps nothing. A copy of the store would need as much room again, so the store must not change until
/// the replay ends.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Live;

impl<V> Kept<V> for Live {
    const IS_LIVE: bool = true;

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
    fn a_value_that_does_not_fit_changes_nothing() {
        let mut text = heapless::String::<4>::default();
        assert_eq!(text.set("four"), Ok(()));
        assert_eq!(text.set("fifth"), Err(Full));
        assert_eq!(text.as_str(), "four");
        text.set_beginning("aaaé");
        assert_eq!(text.as_str(), "aaa", "cut at a character boundary");
        let mut cells = heapless::Vec::<u32, 3>::default();
        assert_eq!(Cells::grow(&mut cells, 4), Err(Full));
        assert_eq!(Cells::len(&cells), 0);
        assert_eq!(Cells::grow(&mut cells, 3), Ok(()));
        assert_eq!(Cells::get(&cells, 2), Some(&0));
    }
}
