//! The results of index lookups.

use core::fmt::{self, Write as _};

use super::index::{Index, Numbers};
use super::postings::Position;
use super::view::View;
use crate::object::Resource;
use crate::storage::Storage;

/// Iterates over the objects that an index files under one value, in an order that depends only on the
/// writes. Made by [`View::by_index`].
pub struct ByIndex<'a, T: Resource + Clone, S: Storage> {
    pub(super) view: &'a View<T, S>,
    pub(super) front: Position,
    pub(super) back: Position,
    pub(super) left: u32,
}

impl<'a, T: Resource + Clone, S: Storage> ByIndex<'a, T, S> {
    #[inline]
    fn next_slot(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let (slot, behind) = self.view.postings.next(self.front)?;
        self.front = behind;
        Some(slot)
    }

    /// The slots of the objects.
    pub(super) fn slots(mut self) -> impl Iterator<Item = u32> + use<'a, T, S> {
        core::iter::from_fn(move || self.next_slot())
    }

    #[inline]
    fn object(&self, slot: u32) -> Option<&'a T> {
        Some(&self.view.slots.get(slot)?.object)
    }
}

impl<'a, T: Resource + Clone, S: Storage> Iterator for ByIndex<'a, T, S> {
    type Item = &'a T;

    #[inline]
    fn next(&mut self) -> Option<&'a T> {
        let slot = self.next_slot()?;
        self.object(slot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T: Resource + Clone, S: Storage> DoubleEndedIterator for ByIndex<'_, T, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let (slot, before) = self.view.postings.next_back(self.back)?;
        self.back = before;
        self.object(slot)
    }
}

impl<T: Resource + Clone, S: Storage> ExactSizeIterator for ByIndex<'_, T, S> {}

debug_fields!([T: Resource + Clone, S: Storage] ByIndex['_, T, S], self: left);

/// The rows of an index, or of a range of it: each value with the objects filed under it. It prints as
/// one line per value.
pub struct IndexTable<'a, T: Resource + Clone, S: Storage> {
    pub(super) view: &'a View<T, S>,
    pub(super) index: &'a Index<T, S>,
    pub(super) numbers: Numbers<'a, S>,
}

impl<'a, T: Resource + Clone, S: Storage> IndexTable<'a, T, S> {
    /// Each value with the objects filed under it, in the order of [`View::index_values`].
    pub fn rows(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a [u8], ByIndex<'a, T, S>)> + use<'a, T, S> {
        let Self { view, index, .. } = *self;
        self.numbers.filter_map(move |at| {
            let value = index.value(at)?;
            Some((value.bytes.as_ref(), view.filed_under(index, at)))
        })
    }

    /// The objects of all rows. An object that is filed under several values occurs several times.
    pub fn objects(&self) -> impl DoubleEndedIterator<Item = &'a T> + use<'a, T, S> {
        self.rows().flat_map(|(_, objects)| objects)
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Display for IndexTable<'_, T, S>
where
    T::Key: fmt::Display,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (value, objects) in self.rows() {
            for chunk in value.utf8_chunks() {
                for char in chunk.valid().chars() {
                    match char {
                        char if char.is_control() => write!(f, "{}", char.escape_default())?,
                        char => f.write_char(char)?,
                    }
                }
                for byte in chunk.invalid() {
                    write!(f, "\\x{byte:02x}")?;
                }
            }
            f.write_str(":")?;
            for object in objects {
                write!(f, " {}", object.key())?;
            }
            f.write_str("\n")?;
        }
        Ok(())
    }
}

debug_fields!([T: Resource + Clone, S: Storage] IndexTable['_, T, S], self:
    index = self.index.name);
