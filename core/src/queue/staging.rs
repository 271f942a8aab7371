//! Collects full states before they are delivered.

use alloc::vec::Vec;

use crate::flow::{Change, FullState};
use crate::invariant::cannot_happen;
use crate::known::Known;
use crate::limits::StoreLimits;
use crate::object::{Resource, is_another};
use crate::storage::{Bucket, Full, Seed, Table};

/// Collects full states, so that each is delivered in one piece or not at all.
#[derive(Debug)]
pub(super) struct Stage<T: Resource> {
    seed: Seed,
    limits: StoreLimits,
    /// The full state that is being collected.
    state: Option<Staging<T>>,
}

/// The result of collecting a change.
pub(super) enum Collected<T: Resource> {
    /// The change belongs to the full state that is being collected.
    Kept,
    /// The change belongs to no full state.
    Live(Change<T>),
    /// The change completed this full state.
    Complete(FullState<T>),
}

impl<T: Resource> Stage<T> {
    pub(super) const fn new(seed: Seed, limits: StoreLimits) -> Self {
        Self {
            seed,
            limits,
            state: None,
        }
    }

    pub(super) fn collect(&mut self, change: Change<T>) -> Result<Collected<T>, Full> {
        let state = match (change, &mut self.state) {
            (Change::ReplaceBegin { streamed }, state) => {
                *state = Some(Staging::new(self.seed.clone(), self.limits, streamed));
                return Ok(Collected::Kept);
            }
            (Change::ReplaceAbandon, state) => {
                *state = None;
                return Ok(Collected::Kept);
            }
            (Change::ReplaceEnd, state) => {
                let complete = state.take().map(Staging::finish);
                return Ok(complete.map_or(Collected::Kept, Collected::Complete));
            }
            (Change::ReplaceItem(object), Some(state)) => state.stage(Staged::Object(object)),
            (Change::ReplaceRemove(object), Some(state)) => state.remove(object.key().clone()),
            (Change::DeletedUnreadable(key) | Change::Displaced(key), Some(state)) => {
                state.remove(key)
            }
            (Change::ReplaceUnreadable(key), Some(state)) => state.unreadable(key),
            (
                change @ (Change::Added(_)
                | Change::Updated(_)
                | Change::Deleted(_)
                | Change::Bookmark
                | Change::KindGone),
                Some(_),
            )
            | (change, None) => return Ok(Collected::Live(change)),
        };
        state.map(|()| Collected::Kept)
    }

    /// Discards the full state that is being collected.
    pub(super) fn abandon(&mut self) {
        self.state = None;
    }

    /// See [`Queue::displaces`](super::Queue::displaces).
    pub(super) fn displaces(&mut self, key: &T::Key, uid: &str, known: &impl Known<T>) -> bool {
        match self.state.as_mut().and_then(|state| state.get(key)) {
            Some(Staged::Object(object)) => is_another(object, uid),
            Some(Staged::Gone(_)) => false,
            Some(Staged::Unreadable(_)) | None => {
                known.get(key).is_some_and(|object| is_another(object, uid))
            }
        }
    }
}

/// A full state that is being collected.
#[derive(Debug)]
struct Staging<T: Resource> {
    seed: Seed,
    limits: StoreLimits,
    /// The entries, in order of arrival.
    staged: Vec<Staged<T>>,
    /// How many of the entries are objects.
    objects: usize,
    /// The size of these objects as the server sent them.
    bytes: u64,
    /// Places in `staged` by key. In a streamed state an object may arrive twice. A plain list needs this
    /// only from its first unreadable object on.
    places: Option<Table<Vec<Bucket>>>,
    complete: bool,
}

/// The entry of a key.
#[derive(Debug)]
enum Staged<T: Resource> {
    /// The full state contains this object. It is the last readable version.
    Object(T),
    /// The full state contains an unreadable object. The object in the store stays.
    Unreadable(T::Key),
    /// The object in the store is gone.
    Gone(T::Key),
}

impl<T: Resource> Staged<T> {
    fn key(&self) -> &T::Key {
        match self {
            Self::Object(object) => object.key(),
            Self::Unreadable(key) | Self::Gone(key) => key,
        }
    }

    /// Returns the number of objects and their bytes.
    fn size(&self) -> (usize, u64) {
        match self {
            Self::Object(object) => (1, object.size() as u64),
            Self::Unreadable(_) | Self::Gone(_) => (0, 0),
        }
    }
}

impl<T: Resource> Staging<T> {
    fn new(seed: Seed, limits: StoreLimits, streamed: bool) -> Self {
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

    /// Records an unreadable object. An earlier entry of its key stays.
    fn unreadable(&mut self, key: Option<T::Key>) -> Result<(), Full> {
        match key {
            Some(key) if self.get(&key).is_none() => return self.stage(Staged::Unreadable(key)),
            Some(_) => {}
            None => self.complete = false,
        }
        Ok(())
    }

    fn remove(&mut self, key: T::Key) -> Result<(), Full> {
        self.index();
        self.stage(Staged::Gone(key))
    }

    /// Returns the entry of a key.
    fn get(&mut self, key: &T::Key) -> Option<&Staged<T>> {
        self.index();
        self.staged.get(self.find(key)? as usize)
    }

    fn finish(self) -> FullState<T> {
        let mut state = FullState {
            objects: Vec::with_capacity(self.objects),
            unreadable: Vec::new(),
            gone: Vec::new(),
            complete: self.complete,
            version: None,
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

    /// Makes sure that entries can be found by key. If a key has two entries, the last one counts.
    fn index(&mut self) {
        if self.places.is_some() {
            return;
        }
        self.places = Some(Table::default());
        (self.objects, self.bytes) = (0, 0);
        for staged in core::mem::take(&mut self.staged) {
            if self.stage(staged).is_err() {
                cannot_happen("what had room before has none now", ());
            }
        }
    }

    fn stage(&mut self, staged: Staged<T>) -> Result<(), Full> {
        let at = self.find(staged.key()).map(|at| at as usize);
        let before = at.and_then(|at| self.staged.get(at)).map(Staged::size);
        let (objects_before, bytes_before) = before.unwrap_or_default();
        let (objects, bytes) = staged.size();
        let objects = (self.objects + objects).saturating_sub(objects_before);
        let bytes = (self.bytes + bytes).saturating_sub(bytes_before);
        // Keys without objects take room as well: there may be as many of them as of objects.
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
            let at = u32::try_from(self.staged.len()).map_err(|_| Full)?;
            places.insert(self.seed.hash(staged.key()), at)?;
        }
        self.staged.push(staged);
        Ok(())
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.places.as_ref()?.find(self.seed.hash(key), |at| {
            let Some(staged) = self.staged.get(at as usize) else {
                return cannot_happen("a place beyond the staged entries", false);
            };
            staged.key() == key
        })
    }
}
