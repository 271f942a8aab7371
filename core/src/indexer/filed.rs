//! The objects filed under a value, and the table of an index.

use core::fmt::{self, Write as _};

use super::index::{Index, Numbers};
use super::postings::Position;
use super::view::View;
use crate::object::Resource;
use crate::storage::Storage;

/// The objects filed under one value of an index, in an order that depends on what was put and removed
/// only.
pub struct Filed<'a, T: Resource + Clone, S: Storage> {
    pub(super) view: &'a View<T, S>,
    pub(super) front: Position,
    pub(super) back: Position,
    pub(super) left: u32,
}

impl<'a, T: Resource + Clone, S: Storage> Filed<'a, T, S> {
    fn next_slot(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let (slot, behind) = self.view.postings.next(self.front)?;
        self.front = behind;
        Some(slot)
    }

    fn next_slot_back(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let (slot, before) = self.view.postings.next_back(self.back)?;
        self.back = before;
        Some(slot)
    }

    /// The numbers of their slots.
    pub(super) fn slots(mut self) -> impl Iterator<Item = u32> + use<'a, T, S> {
        core::iter::from_fn(move || self.next_slot())
    }

    fn object(&self, slot: u32) -> Option<&'a T> {
        Some(&self.view.slots.get(slot)?.object)
    }
}

impl<'a, T: Resource + Clone, S: Storage> Iterator for Filed<'a, T, S> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        let slot = self.next_slot()?;
        self.object(slot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<T: Resource + Clone, S: Storage> DoubleEndedIterator for Filed<'_, T, S> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let slot = self.next_slot_back()?;
        self.object(slot)
    }
}

impl<T: Resource + Clone, S: Storage> ExactSizeIterator for Filed<'_, T, S> {}

impl<T: Resource + Clone, S: Storage> fmt::Debug for Filed<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filed")
            .field("left", &self.left)
            .finish_non_exhaustive()
    }
}

/// The table of an index, or a part of it: a line for each value with the keys filed under it.
pub struct IndexTable<'a, T: Resource + Clone, S: Storage> {
    pub(super) view: &'a View<T, S>,
    pub(super) index: &'a Index<T, S>,
    pub(super) numbers: Numbers<'a, S>,
}

impl<'a, T: Resource + Clone, S: Storage> IndexTable<'a, T, S> {
    /// Every value with the objects filed under it, in the order of [`View::index_values`].
    pub fn rows(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&'a [u8], Filed<'a, T, S>)> + use<'a, T, S> {
        let Self { view, index, .. } = *self;
        self.numbers.clone().filter_map(move |at| {
            let value = index.value(at)?;
            Some((value.bytes.as_ref(), view.filed_under(index, at)))
        })
    }

    /// The objects of all rows. One that is filed under several values is shown as often.
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

impl<T: Resource + Clone, S: Storage> fmt::Debug for IndexTable<'_, T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexTable")
            .field("index", &self.index.name)
            .finish_non_exhaustive()
    }
}
