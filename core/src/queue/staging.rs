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
    objects: Vec<Option<T>>,
    /// Places in `objects` by key. Only a streamed state needs it: there an object may come again.
    places: Option<Table<Vec<Bucket>>>,
    unreadable: Vec<T::Key>,
    complete: bool,
}

impl<T: Resource> Staging<T> {
    pub(super) fn new(seed: Seed, streamed: bool) -> Self {
        Self {
            seed,
            objects: Vec::new(),
            places: streamed.then(Table::default),
            unreadable: Vec::new(),
            complete: true,
        }
    }

    pub(super) fn put(&mut self, object: T) {
        if let Some(place) = self.place_of(object.key()) {
            *place = Some(object);
            return;
        }
        if let Some(places) = &mut self.places {
            let at = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
            let entered = places.insert(self.seed.hash(object.key()), at);
            debug_assert_eq!(entered, Ok(()));
        }
        self.objects.push(Some(object));
    }

    pub(super) fn remove(&mut self, key: &T::Key) {
        let hash = self.seed.hash(key);
        let (Some(at), Some(places)) = (self.find(key), &mut self.places) else {
            return;
        };
        places.remove(hash, at);
        if let Some(place) = self.objects.get_mut(at as usize) {
            *place = None;
        }
    }

    pub(super) fn unreadable(&mut self, key: Option<T::Key>) {
        match key {
            Some(key) => self.unreadable.push(key),
            None => self.complete = false,
        }
    }

    pub(super) fn finish(self, version: &str) -> FullState<T> {
        FullState {
            objects: self.objects.into_iter().flatten().collect(),
            unreadable: self.unreadable,
            complete: self.complete,
            version: String::from(version),
        }
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.places.as_ref()?.find(self.seed.hash(key), |at| {
            let object = self.objects.get(at as usize).and_then(Option::as_ref);
            object.is_some_and(|object| object.key() == key)
        })
    }

    fn place_of(&mut self, key: &T::Key) -> Option<&mut Option<T>> {
        let at = self.find(key)?;
        self.objects.get_mut(at as usize)
    }
}
