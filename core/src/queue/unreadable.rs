//! Keys of unreadable objects in a full state, until the store has marked them as seen.

use crate::invariant::cannot_happen;
use crate::known::Epoch;
use crate::object::Resource;
use crate::storage::{Cells as _, Full, Storage};

/// A stack of keys. Their order does not matter, because the store only marks them.
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
        let Some(place) = self.keys.get_mut(self.len) else {
            return cannot_happen("a place that was just made is missing", Err(Full));
        };
        *place = Some((key, seen));
        self.len += 1;
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Option<(T::Key, Epoch)> {
        self.len = self.len.checked_sub(1)?;
        let key = self.keys.get_mut(self.len).and_then(Option::take);
        key.or_else(|| cannot_happen("a place below the length is empty", None))
    }
}
