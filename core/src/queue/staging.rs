//! A full state that is collected before it is delivered.

use alloc::string::String;
use alloc::vec::Vec;

use super::in_order::FullState;
use crate::indexer::StoreLimits;
use crate::object::Resource;
use crate::storage::{Bucket, Full, Seed, Table};

/// Collects a full state, so that it can be delivered in one piece or not at all.
#[derive(Debug)]
pub(super) struct Staging<T: Resource> {
    seed: Seed,
    limits: StoreLimits,
    /// In the order in which they came.
    staged: Vec<Staged<T>>,
    /// How many of them are objects, and what the server sent for these.
    objects: usize,
    bytes: u64,
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

    /// How many objects it is, and of how many bytes.
    fn size(&self) -> (usize, u64) {
        match self {
            Self::Object(object) => (1, object.size() as u64),
            Self::Unreadable(_) | Self::Gone(_) => (0, 0),
        }
    }
}

impl<T: Resource> Staging<T> {
    pub(super) fn new(seed: Seed, limits: StoreLimits, streamed: bool) -> Self {
        Self {
            seed,
            limits,
            staged: Vec::new(),
            objects: 0,
            bytes: 0,
            places: streamed.then(Table::default),
            complete: true,
        }
    }

    pub(super) fn put(&mut self, object: T) -> Result<(), Full> {
        self.stage(Staged::Object(object))
    }

    /// Something that cannot be read changes nothing about what is known of its key.
    pub(super) fn unreadable(&mut self, key: Option<T::Key>) -> Result<(), Full> {
        match key {
            Some(key) if self.get(&key).is_none() => self.stage(Staged::Unreadable(key)),
            Some(_) => Ok(()),
            None => {
                self.complete = false;
                Ok(())
            }
        }
    }

    pub(super) fn remove(&mut self, key: T::Key) -> Result<(), Full> {
        self.index();
        self.stage(Staged::Gone(key))
    }

    /// What is known of a key.
    pub(super) fn get(&mut self, key: &T::Key) -> Option<&Staged<T>> {
        self.index();
        self.staged.get(self.find(key)? as usize)
    }

    pub(super) fn finish(self, version: &str) -> FullState<T> {
        let mut state = FullState {
            objects: Vec::with_capacity(self.objects),
            unreadable: Vec::new(),
            gone: Vec::new(),
            complete: self.complete,
            version: String::from(version),
        };
        for staged in self.staged {
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
        if self.places.is_some() {
            return;
        }
        self.places = Some(Table::default());
        (self.objects, self.bytes) = (0, 0);
        for staged in core::mem::take(&mut self.staged) {
            // It had room before, and needs no more now.
            let _ = self.stage(staged);
        }
    }

    fn stage(&mut self, staged: Staged<T>) -> Result<(), Full> {
        let at = self.find(staged.key()).map(|at| at as usize);
        let before = at.and_then(|at| self.staged.get(at)).map(Staged::size);
        let (objects_before, bytes_before) = before.unwrap_or_default();
        let (objects, bytes) = staged.size();
        let objects = (self.objects + objects).saturating_sub(objects_before);
        let bytes = (self.bytes + bytes).saturating_sub(bytes_before);
        // Keys without objects take room, too: there may be as many of them as of objects.
        let keys = self.staged.len() + usize::from(before.is_none());
        if !self.limits.allow(objects.max(keys - objects), bytes) {
            return Err(Full);
        }
        (self.objects, self.bytes) = (objects, bytes);
        if let Some(place) = at.and_then(|at| self.staged.get_mut(at)) {
            *place = staged;
            return Ok(());
        }
        if let Some(places) = &mut self.places {
            let at = u32::try_from(self.staged.len()).unwrap_or(u32::MAX);
            places.insert(self.seed.hash(staged.key()), at)?;
        }
        self.staged.push(staged);
        Ok(())
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.places.as_ref()?.find(self.seed.hash(key), |at| {
            let staged = self.staged.get(at as usize);
            staged.is_some_and(|staged| staged.key() == key)
        })
    }
}
