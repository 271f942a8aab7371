//! Where the machines keep things.
//!
//! The machines are written once, over three kinds of container: numbered [`Cells`] (and on top of
//! them a [`Slab`] and a [`Table`]), [`Text`] and [`Bytes`]. A [`Storage`] says what these are made
//! of: [`Heap`] takes them from the allocator, [`Fixed`] has them inline, of a size that is part of
//! the type.
//!
//! Nothing is held in a container of containers but a few listeners and indices: chains, backlogs and
//! postings are cells linked by their numbers. So a storage of fixed size has one bound per stage, and
//! not a product of bounds.

// The family on the allocator.
#[cfg(feature = "alloc")]
mod heap;

// The family of fixed size.
#[cfg(feature = "heapless")]
mod fixed;

// Cells in pages that are shared until one of them is written.
#[cfg(feature = "alloc")]
mod pages;

// Numbered places that are handed out, given back and handed out again.
mod slab;

// From the hash of a key to the number of its place.
mod table;

use core::fmt;

#[cfg(feature = "heapless")]
pub use fixed::{Fixed, Live};
#[cfg(feature = "alloc")]
pub use heap::{Frozen, Heap};
#[cfg(feature = "alloc")]
pub use pages::Pages;
pub(crate) use slab::Ends;
pub use slab::{Cell, Slab};
pub use table::{Bucket, Seed, Table};

/// A family of containers.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a storage",
    note = "use `Heap` (feature `alloc`), or `Fixed` (feature `heapless`)"
)]
pub trait Storage {
    /// Cells that one machine reads and writes.
    type Cells<T: Default>: Cells<T>;
    /// Cells for what there are only few of: listeners and reports.
    type Few<T: Default>: Cells<T>;
    /// Cells of the store. [`Snapshots`] says whether a clone of them is cheap: then `CELLS` of them are
    /// copied together when one is written.
    type Pages<T: Default + Clone, const CELLS: usize>: Cells<T> + Clone;
    /// Cells for what a store has only few of: indices.
    type FewPages<T: Default + Clone>: Cells<T> + Clone;
    /// What a late joiner keeps of the store that it is shown.
    type Kept<V: Clone>: Kept<V>;
    /// A short text: a version, a token, a message.
    type Text: Text;
    /// The value of an index; a clone is cheap.
    type Bytes: Bytes;
}

/// A storage whose [`Storage::Pages`] are shared when they are cloned and copied when one of them is
/// written, so that a snapshot of the store costs a few pointers.
pub trait Snapshots: Storage {}

/// Numbered cells, from 0 on.
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

    /// Makes sure that there are at least `len` cells. New ones hold the default value.
    ///
    /// # Errors
    /// [`Full`] if the storage cannot hold so many; nothing has changed then.
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

    /// Replaces the text.
    ///
    /// # Errors
    /// [`Full`] if it does not fit; the text is unchanged then.
    fn set(&mut self, text: &str) -> Result<(), Full>;

    /// Replaces the text by as much of `text` as fits.
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

/// What is kept of something that goes on changing while it is being shown to somebody.
pub trait Kept<V> {
    /// Whether nothing is kept, so that the thing itself must not change meanwhile.
    const NOTHING: bool;

    /// Keeps what there is to be kept of `live`.
    fn keep(live: &V) -> Self;

    /// What is to be shown: what was kept, or the thing itself.
    fn shown<'a>(&'a self, live: &'a V) -> &'a V;
}

/// A bound of the storage is reached. Nothing has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "there is nothing more to say")]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the storage is full")
    }
}

impl core::error::Error for Full {}

/// A slab in the cells of a storage.
pub(crate) type Places<S, T> = Slab<T, <S as Storage>::Cells<Cell<T>>>;

/// A slab in the cells for what there are only few of.
pub(crate) type FewPlaces<S, T> = Slab<T, <S as Storage>::Few<Cell<T>>>;

/// A slab in the pages for what a store has only few of.
pub(crate) type FewSharedPlaces<S, T> = Slab<T, <S as Storage>::FewPages<Cell<T>>>;

/// A slab in the pages of a storage. The pages are short: what one of them owns is cloned with it.
pub(crate) type SharedPlaces<S, T> = Slab<T, <S as Storage>::Pages<Cell<T>, 8>>;

/// A table in the pages of a storage. Its buckets are small.
pub(crate) type SharedTable<S> = Table<<S as Storage>::Pages<Bucket, 64>>;

/// The number that stands for "no cell".
pub(crate) const NONE: u32 = u32::MAX;
