//! A full state that is collected before it is delivered.

use alloc::string::String;
use alloc::vec::Vec;

use super::in_order::FullState;
use crate::object::Resource;
use crate::storage::{Bucket, Seed, Table};

/// Collects a full state, so that it can be delivered in one piece or not at all.
#[derive(Debug)]
pub(super) struct Staging<T: Resource> {
    seed: Seed,
    /// In the order in which they came; what was removed again leaves a gap.
    staged: Vec<Option<Staged<T>>>,
    /// Places in `staged` by key. Only a streamed state needs it: there an object may come again.
    places: Option<Table<Vec<Bucket>>>,
    complete: bool,
}

/// What a full state contains under a key.
#[derive(Debug)]
enum Staged<T: Resource> {
    Object(T),
    Unreadable(T::Key),
}

impl<T: Resource> Staged<T> {
    fn key(&self) -> &T::Key {
        match self {
            Self::Object(object) => object.key(),
            Self::Unreadable(key) => key,
        }
    }
}

impl<T: Resource> Staging<T> {
    pub(super) fn new(seed: Seed, streamed: bool) -> Self {
        Self {
            seed,
            staged: Vec::new(),
            places: streamed.then(Table::default),
            complete: true,
        }
    }

    pub(super) fn put(&mut self, object: T) {
        self.stage(Staged::Object(object));
    }

    pub(super) fn unreadable(&mut self, key: Option<T::Key>) {
        match key {
            Some(key) => self.stage(Staged::Unreadable(key)),
            None => self.complete = false,
        }
    }

    pub(super) fn remove(&mut self, key: &T::Key) {
        let hash = self.seed.hash(key);
        let (Some(at), Some(places)) = (self.find(key), &mut self.places) else {
            return;
        };
        places.remove(hash, at);
        if let Some(place) = self.staged.get_mut(at as usize) {
            *place = None;
        }
    }

    pub(super) fn finish(self, version: &str) -> FullState<T> {
        let mut state = FullState {
            objects: Vec::with_capacity(self.staged.len()),
            unreadable: Vec::new(),
            complete: self.complete,
            version: String::from(version),
        };
        for staged in self.staged.into_iter().flatten() {
            match staged {
                Staged::Object(object) => state.objects.push(object),
                Staged::Unreadable(key) => state.unreadable.push(key),
            }
        }
        state
    }

    fn stage(&mut self, staged: Staged<T>) {
        if let Some(at) = self.find(staged.key()) {
            if let Some(place) = self.staged.get_mut(at as usize) {
                *place = Some(staged);
            }
            return;
        }
        if let Some(places) = &mut self.places {
            let at = u32::try_from(self.staged.len()).unwrap_or(u32::MAX);
            // There is room: it is the heap.
            let _ = places.insert(self.seed.hash(staged.key()), at);
        }
        self.staged.push(Some(staged));
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.places.as_ref()?.find(self.seed.hash(key), |at| {
            let staged = self.staged.get(at as usize).and_then(Option::as_ref);
            staged.is_some_and(|staged| staged.key() == key)
        })
    }
}
