//! Files an object under its values in the indices, and removes it again.

use super::postings::Posting;
use super::{IndexFn, Indexer};
use crate::object::Resource;
use crate::storage::{Full, NONE, Storage};

/// An object with fewer postings in an index is refiled there only if its values have changed.
const BITS: usize = 64;

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// Files the object in `slot`, which no index has yet, in all of them.
    pub(super) fn file_everywhere(&mut self, slot: u32, object: &T) -> Result<(), Full> {
        for at in 0..self.view.indices.bound() {
            if self.view.indices.get(at).is_some() {
                self.file(slot, at, object)?;
            }
        }
        Ok(())
    }

    /// Files the object in `slot` under the values of `object`, which has the same key, in each index where they
    /// differ.
    pub(super) fn refile(&mut self, slot: u32, object: &T) -> Result<(), Full> {
        for at in 0..self.view.indices.bound() {
            let index = self.view.indices.get(at);
            let follows_from_key =
                |function: &IndexFn<T>| T::key_has_namespace() && function.is_about_key();
            let may_differ = index.is_some_and(|it| !follows_from_key(&it.function));
            if may_differ && !self.is_filed_as(slot, at, object) {
                self.unfile(slot, Some(at));
                self.file(slot, at, object)?;
            }
        }
        Ok(())
    }

    /// Whether an index files the object in `slot` under exactly the values of `object`.
    fn is_filed_as(&self, slot: u32, at: u32, object: &T) -> bool {
        let Some(index) = self.view.indices.get(at) else {
            return true;
        };
        // One bit per posting of the slot in this index. A value clears the bit of its posting. With
        // more postings than bits, refiling costs time but does no harm.
        let here = || self.view.postings_of(slot).filter(|p| p.index == at);
        let postings = here().take(BITS).count();
        if postings == BITS {
            return false;
        }
        let mut missing = (1_u64 << postings) - 1;
        let mut same = true;
        index.function.values(object, &mut |bytes| {
            if !same {
                return;
            }
            match here().position(|posting| index.is_value(posting.value, bytes)) {
                Some(nth) => missing &= !(1 << nth),
                None => same = false,
            }
        });
        same && missing == 0
    }

    /// Files the object in `slot` under all values of `object`, in an index that does not have it yet.
    pub(super) fn file(&mut self, slot: u32, at: u32, object: &T) -> Result<(), Full> {
        let Some(index) = self.view.indices.linked(at) else {
            return Ok(());
        };
        let function = index.function.clone();
        let mut done = Ok(());
        function.values(object, &mut |bytes| {
            if done.is_ok() {
                done = self.file_under(slot, at, bytes);
            }
        });
        done
    }

    fn file_under(&mut self, slot: u32, at: u32, bytes: &[u8]) -> Result<(), Full> {
        let view = &mut self.view;
        let (Some(index), Some(place)) = (view.indices.linked_mut(at), view.slots.linked_mut(slot))
        else {
            return Ok(());
        };
        let hash = view.seed.hash(bytes);
        let value = index.find_hashed(hash, bytes);
        // A function may return the same value twice.
        let list = value.and_then(|value| index.value(value));
        let newest = list.and_then(|value| view.postings.newest(&value.filed));
        if newest.is_some_and(|newest| newest.slot == slot) {
            return Ok(());
        }
        let posting = Posting {
            index: at,
            value: NONE,
            slot,
            sibling: place.postings,
        };
        place.postings = index.file(&mut view.postings, (hash, value), bytes, posting)?;
        Ok(())
    }

    /// Removes the object in `slot` from one index, or from all.
    pub(super) fn unfile(&mut self, slot: u32, only: Option<u32>) {
        let Some(first) = self.view.slots.get(slot).map(|slot| slot.postings) else {
            return;
        };
        let kept = self.unfile_from(first, only);
        if kept != first
            && let Some(slot) = self.view.slots.linked_mut(slot)
        {
            slot.postings = kept;
        }
    }

    /// Removes an object from one index, or from all. Takes its first posting, and returns the first one
    /// that is left.
    pub(super) fn unfile_from(&mut self, mut first: u32, only: Option<u32>) -> u32 {
        let view = &mut self.view;
        let (mut at, mut kept) = (first, NONE);
        while let Some(posting) = view.postings.linked(at) {
            if only.is_none_or(|only| only == posting.index) {
                if let Some(index) = view.indices.linked_mut(posting.index) {
                    index.unfile(&mut view.postings, posting.value, at);
                }
                if kept == NONE {
                    first = posting.sibling;
                } else {
                    view.postings.set_sibling(kept, posting.sibling);
                }
            } else {
                kept = at;
            }
            at = posting.sibling;
        }
        first
    }
}
