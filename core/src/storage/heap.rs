//! Storage from the allocator.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Bytes, Cells, Full, Kept, NONE, Pages, Snapshots, Storage, Text};

/// Storage from the allocator. It grows as needed, up to the 2³² cells that a 32-bit number can name.
///
/// ```
/// use informer_core::indexer::Indexer;
/// use informer_core::storage::{Full, Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let mut store: Indexer<Object<u32>, Heap> = Indexer::new(Seed::new(1));
/// for n in 0..1_000 {
///     store.put(Object::builder(ObjectKey::new("default", &n.to_string()))
///         .version("1")
///         .body(n))?;
/// }
///
/// // A snapshot shares its pages with the store, so it costs a few pointers.
/// let before = store.snapshot();
/// store.remove(&ObjectKey::new("default", "7"));
/// assert_eq!((before.len(), store.len()), (1_000, 999));
/// # Ok::<(), Full>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "names a family; it has no values")]
pub enum Heap {}

impl Storage for Heap {
    type Cells<T: Default> = Vec<T>;
    type Few<T: Default> = Vec<T>;
    type Pages<T: Default + Clone, const CELLS: usize> = Pages<T, CELLS>;
    type FewPages<T: Default + Clone> = Arc<Vec<T>>;
    type Sources<T: Default> = Vec<T>;
    type Holds<T: Default + Clone> = Pages<T, 16>;
    type Kept<V: Clone> = Frozen<V>;
    type Text = String;
    type Bytes = Arc<[u8]>;
}

impl Snapshots for Heap {}

impl<T: Default> Cells<T> for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        NONE as usize
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.as_slice().get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.as_mut_slice().get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if len > NONE as usize {
            return Err(Full);
        }
        if self.len() < len {
            self.resize_with(len, T::default);
        }
        Ok(())
    }
}

/// One page for all cells, shared until the first write.
impl<T: Default + Clone> Cells<T> for Arc<Vec<T>> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn capacity(&self) -> usize {
        NONE as usize
    }

    fn get(&self, at: usize) -> Option<&T> {
        self.as_slice().get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        Self::make_mut(self).get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        if self.as_slice().len() < len {
            Cells::grow(Self::make_mut(self), len)?;
        }
        Ok(())
    }
}

impl Text for String {
    fn set(&mut self, text: &str) -> Result<(), Full> {
        self.set_beginning(text);
        Ok(())
    }

    fn set_beginning(&mut self, text: &str) {
        self.clear();
        self.push_str(text);
    }
}

impl Bytes for Arc<[u8]> {
    fn copy(bytes: &[u8]) -> Result<Self, Full> {
        Ok(bytes.into())
    }
}

/// Keeps a clone, which never changes.
#[derive(Clone, Debug)]
pub struct Frozen<V>(V);

impl<V: Clone> Kept<V> for Frozen<V> {
    const IS_LIVE: bool = false;

    fn keep(live: &V) -> Self {
        Self(live.clone())
    }

    fn shown<'a>(&'a self, _: &'a V) -> &'a V {
        &self.0
    }
}
