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
    /// In the order in which they came; what came again under the same key leaves a gap.
    staged: Vec<Option<Staged<T>>>,
    /// Places in `staged` by key. A plain list needs it only from the first object on that cannot be
    /// read; in a streamed state an object may come again.
    places: Option<Table<Vec<Bucket>>>,
    complete: bool,
}

/// What is known of a key.
#[derive(Debug)]
pub(super) enum Staged<T: Resource> {
    /// The full state contains this object; it is the last form that could be read.
    Object(T),
    /// It contains something that could not be read: what the store has stays.
    Unreadable(T::Key),
    /// What the store has is gone.
    Gone(T::Key),
}

impl<T: Resource> Staged<T> {
    fn key(&self) -> &T::Key {
        match self {
            Self::Object(object) => object.key(),
            Self::Unreadable(key) | Self::Gone(key) => key,
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

    /// Something that cannot be read changes nothing about what is known of its key.
    pub(super) fn unreadable(&mut self, key: Option<T::Key>) {
        match key {
            Some(key) if self.get(&key).is_none() => self.stage(Staged::Unreadable(key)),
            Some(_) => {}
            None => self.complete = false,
        }
    }

    pub(super) fn remove(&mut self, key: T::Key) {
        self.index();
        self.stage(Staged::Gone(key));
    }

    /// What is known of a key.
    pub(super) fn get(&mut self, key: &T::Key) -> Option<&Staged<T>> {
        self.index();
        let at = self.find(key)?;
        self.staged.get(at as usize)?.as_ref()
    }

    pub(super) fn finish(self, version: &str) -> FullState<T> {
        let mut state = FullState {
            objects: Vec::with_capacity(self.staged.len()),
            unreadable: Vec::new(),
            gone: Vec::new(),
            complete: self.complete,
            version: String::from(version),
        };
        for staged in self.staged.into_iter().flatten() {
            match staged {
                Staged::Object(object) => state.objects.push(object),
                Staged::Unreadable(key) => state.unreadable.push(key),
                Staged::Gone(key) => state.gone.push(key),
            }
        }
        state
    }

    /// Makes sure that places can be found by key. Of a key that stands there twice the last one counts.
    fn index(&mut self) {
        if self.places.is_none() {
            self.places = Some(Table::default());
            let staged = core::mem::take(&mut self.staged);
            staged
                .into_iter()
                .flatten()
                .for_each(|staged| self.stage(staged));
        }
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
