//! Keys that a full state contained, unreadable, until the store has noted them.

use crate::known::Epoch;
use crate::object::Resource;
use crate::storage::{Cells as _, Full, Storage};

/// Their order does not matter: marking what the store has is all that is done with them.
pub(super) struct Unreadable<T: Resource, S: Storage> {
    keys: S::Cells<Option<(T::Key, Epoch)>>,
    len: usize,
}

impl<T: Resource, S: Storage> Unreadable<T, S> {
    pub(super) fn new() -> Self {
        Self {
            keys: Default::default(),
            len: 0,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn push(&mut self, key: T::Key, seen: Epoch) -> Result<(), Full> {
        self.keys.grow(self.len + 1)?;
        *self.keys.get_mut(self.len).ok_or(Full)? = Some((key, seen));
        self.len += 1;
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<(T::Key, Epoch)> {
        self.len = self.len.checked_sub(1)?;
        self.keys.get_mut(self.len)?.take()
    }
}
