//! How an object is filed under the values of the indices, and taken out again.

use super::Indexer;
use super::postings::Posting;
use crate::object::Resource;
use crate::storage::{Full, NONE, Storage};

/// How many postings of an object in one index are compared with its values before they are filed anew.
const BITS: usize = 64;

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// Files the object in `slot` as `object` asks for, in every index whose values differ.
    pub(super) fn refile(&mut self, slot: u32, object: &T) -> Result<(), Full> {
        for at in 0..self.view.indices.bound() {
            if !self.is_filed_as(slot, at, object) {
                self.unfile(slot, Some(at));
                self.file(slot, at, object)?;
            }
        }
        Ok(())
    }

    /// Whether an index has the object in `slot` under exactly the values of `object`.
    fn is_filed_as(&self, slot: u32, at: u32, object: &T) -> bool {
        let Some(index) = self.view.indices.get(at) else {
            return true;
        };
        // One bit for each posting of the slot in this index, cleared when a value meets it. More
        // postings than bits count as a difference, which costs time and nothing else.
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

    /// Files the object in `slot` under all values of `object` in one index, where it is not filed yet.
    pub(super) fn file(&mut self, slot: u32, at: u32, object: &T) -> Result<(), Full> {
        let Some(function) = self
            .view
            .indices
            .get(at)
            .map(|index| index.function.clone())
        else {
            return Ok(());
        };
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
        let Some(index) = view.indices.get(at) else {
            return Ok(());
        };
        // A function may give the same value twice.
        let hash = view.seed.hash(bytes);
        let value = index.find_hashed(hash, bytes);
        let list = value.and_then(|value| index.value(value));
        let newest = list.and_then(|value| view.postings.newest(&value.filed));
        if newest.is_some_and(|newest| newest.slot == slot) {
            return Ok(());
        }
        let (Some(index), Some(place)) = (view.indices.get_mut(at), view.slots.get_mut(slot))
        else {
            return Ok(());
        };
        let posting = Posting {
            index: at,
            value: NONE,
            slot,
            sibling: place.postings,
        };
        place.postings = index.file(&mut view.postings, (hash, value), bytes, posting)?;
        Ok(())
    }

    /// Takes the object in `slot` out of one index, or out of all.
    pub(super) fn unfile(&mut self, slot: u32, only: Option<u32>) {
        let Some(first) = self.view.slots.get(slot).map(|slot| slot.postings) else {
            return;
        };
        let kept = self.unfile_from(first, only);
        if kept != first
            && let Some(slot) = self.view.slots.get_mut(slot)
        {
            slot.postings = kept;
        }
    }

    /// Takes an object out of one index, or out of all, given the first of its postings. Gives the first
    /// that it still has.
    pub(super) fn unfile_from(&mut self, mut first: u32, only: Option<u32>) -> u32 {
        let view = &mut self.view;
        let (mut at, mut kept) = (first, NONE);
        while let Some(posting) = view.postings.get(at) {
            if only.is_none_or(|only| only == posting.index) {
                if let Some(index) = view.indices.get_mut(posting.index) {
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
