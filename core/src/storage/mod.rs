//! The containers that the machines keep their data in.
//!
//! Every machine is written once, over three kinds of container: numbered [`Cells`] (with a [`Slab`]
//! and a [`Table`] on top), [`Text`] and [`Bytes`]. A [`Storage`] picks the types. [`Heap`] takes them
//! from the allocator. `Fixed`, of the feature `heapless`, stores them inline, with sizes that are part of the type.
//!
//! Only listeners and indices contain containers, and there are few of them. Chains, backlogs and
//! postings are cells that are linked by their numbers. So a fixed-size storage has one bound per stage
//! instead of a product of bounds.

// Storage from the allocator.
#[cfg(feature = "alloc")]
mod heap;

// Fixed-size storage.
#[cfg(feature = "heapless")]
mod fixed;

// Copy-on-write pages of cells.
#[cfg(feature = "alloc")]
mod pages;

// Numbered places that are reused.
mod slab;

// Linked lists over numbered places.
mod list;

// A hash table from keys to places.
mod table;

use core::fmt;

#[cfg(feature = "heapless")]
pub use fixed::{Fixed, Live};
#[cfg(feature = "alloc")]
pub use heap::{Frozen, Heap};
pub(crate) use list::{Ends, Links};
#[cfg(feature = "alloc")]
pub use pages::Pages;
pub use slab::{Cell, Slab};
pub use table::{Bucket, Seed, Table};

/// A family of containers. Nobody makes a value of it. It is `Copy` so that types over a storage can
/// derive `Clone`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a storage",
    note = "use `Heap` (feature `alloc`), or `Fixed` (feature `heapless`)"
)]
pub trait Storage: Copy {
    /// Cells of one machine.
    type Cells<T: Default>: Cells<T>;
    /// Cells for the few listeners and reports.
    type Few<T: Default>: Cells<T>;
    /// Cells of the store. If the storage supports [`Snapshots`], a clone is cheap, and a write copies
    /// `CELLS` cells at once.
    type Pages<T: Default + Clone, const CELLS: usize>: Cells<T> + Clone;
    /// Cells of the store for its few indices.
    type FewPages<T: Default + Clone>: Cells<T> + Clone;
    /// Cells for the sources of an informer.
    type Sources<T: Default>: Cells<T>;
    /// Cells of the store that note which sources show an object, if there are several.
    type Holds<T: Default + Clone>: Cells<T> + Clone;
    /// What a listener that joins late keeps of the store for its replay.
    type Kept<V: Clone>: Kept<V>;
    /// A short text: a version, a page token, a message.
    type Text: Text;
    /// A value of an index. Cloning it must be cheap.
    type Bytes: Bytes;
}

/// A storage with copy-on-write [`Storage::Pages`], so that a snapshot of the store costs a few pointers.
pub trait Snapshots: Storage {}

/// Numbered cells, starting at 0.
pub trait Cells<T>: Default {
    /// How many cells there are.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many cells there can be.
    fn capacity(&self) -> usize;

    /// The cell with the number `at`.
    fn get(&self, at: usize) -> Option<&T>;

    /// The cell with the number `at`, for writing.
    fn get_mut(&mut self, at: usize) -> Option<&mut T>;

    /// Makes sure that there are at least `len` cells. New cells hold the default value.
    ///
    /// # Errors
    /// [`Full`] if there can be no `len` cells. Nothing has changed then.
    fn grow(&mut self, len: usize) -> Result<(), Full>;
}

/// A short text.
pub trait Text: Default + Clone + PartialEq + fmt::Debug + AsRef<str> {
    /// A copy of `text`.
    ///
    /// # Errors
    /// [`Full`] if it does not fit.
    fn copy(text: &str) -> Result<Self, Full> {
        let mut copy = Self::default();
        copy.set(text)?;
        Ok(copy)
    }

    /// A copy of as much of `text` as fits.
    fn beginning(text: &str) -> Self {
        let mut copy = Self::default();
        copy.set_beginning(text);
        copy
    }

    /// Replaces the text.
    ///
    /// # Errors
    /// [`Full`] if it does not fit. The text is unchanged then.
    fn set(&mut self, text: &str) -> Result<(), Full>;

    /// Replaces the text with as much of `text` as fits.
    fn set_beginning(&mut self, text: &str);
}

/// A short string of bytes.
pub trait Bytes: Clone + AsRef<[u8]> + Sized {
    /// A copy of `bytes`.
    ///
    /// # Errors
    /// [`Full`] if they do not fit.
    fn copy(bytes: &[u8]) -> Result<Self, Full>;
}

/// What a reader keeps of a value that may change while it is being read.
pub trait Kept<V> {
    /// Whether nothing is kept. The value itself must not change then until the reader is done.
    const IS_LIVE: bool;

    /// Keeps `live` for later.
    fn keep(live: &V) -> Self;

    /// The value to read: the kept one, or `live` itself.
    fn shown<'a>(&'a self, live: &'a V) -> &'a V;
}

/// A bound of the storage has been reached. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "has no details to add")]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the storage is full")
    }
}

impl core::error::Error for Full {}

/// A slab in the cells of a storage.
pub(crate) type Places<S, T> = Slab<T, <S as Storage>::Cells<Cell<T>>>;

/// A slab for a few listeners or reports.
pub(crate) type FewPlaces<S, T> = Slab<T, <S as Storage>::Few<Cell<T>>>;

/// A slab for the sources of an informer.
pub(crate) type SourcePlaces<S, T> = Slab<T, <S as Storage>::Sources<Cell<T>>>;

/// A slab for the few indices of a store.
pub(crate) type FewSharedPlaces<S, T> = Slab<T, <S as Storage>::FewPages<Cell<T>>>;

/// A slab in the pages of a storage. Pages are short because a write clones everything that a page owns.
pub(crate) type SharedPlaces<S, T> = Slab<T, <S as Storage>::Pages<Cell<T>, 8>>;

/// A table in the pages of a storage. Pages are longer because buckets are small.
pub(crate) type SharedTable<S> = Table<<S as Storage>::Pages<Bucket, 64>>;

/// The number that stands for "no cell".
pub(crate) const NONE: u32 = u32::MAX;
