//! The store: objects by key, with any number of indices.

// Applies steps to the store and makes notifications of them.
mod apply;

// Index functions.
mod function;

// An index and its values.
mod index;

// The sorted values of an ordered index.
mod order;

// Which objects are filed under a value.
mod postings;

// Files an object under its values.
mod filing;

// The results of index lookups.
mod filed;

// Which sources show an object.
mod holds;

// Reading a store.
mod view;

use core::fmt;
use core::ops::Deref;

use crate::invariant::cannot_happen;
use crate::known::{Epoch, Known as _};
pub use crate::limits::StoreLimits;
use crate::object::Resource;
use crate::storage::{Full, NONE, Seed, Snapshots, Storage, Text};

pub use apply::{Applied, Notifications, Rules};
pub use filed::{ByIndex, IndexTable};
#[cfg(feature = "alloc")]
pub use function::Subject;
pub use function::{IndexFn, PlainFn};
pub(crate) use holds::Shown;
use index::Index;
pub use index::{IndexId, IndexName, IndexRef, RangeError, UnknownIndex};
use view::Slot;
pub use view::{Cursor, View};

/// A store of objects by key, with any number of named indices.
///
/// ```
/// use informer_core::indexer::{IndexFn, Indexer};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let pod = |name: &str, app: &str| Object::builder(ObjectKey::new("default", name))
///     .version("1")
///     .labels([("app", app)])
///     .body(());
/// let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
/// store.put(pod("a", "web"))?;
///
/// // You can add an index at any time. It files the stored objects at once.
/// let by_app = store.add_index(
///     "app",
///     IndexFn::new(|pod: &Object<()>, file| {
///         if let Some(app) = pod.labels().get("app") {
///             file(app.as_bytes());
///         }
///     }),
/// )?;
/// store.put(pod("b", "web"))?;
/// store.put(pod("c", "db"))?;
///
/// let before = store.snapshot();
/// store.remove(&ObjectKey::new("default", "b"));
/// let names = |pods: &mut dyn Iterator<Item = &Object<()>>| {
///     pods.map(|pod| pod.key().name().to_owned()).collect::<Vec<_>>()
/// };
/// assert_eq!(names(&mut store.by_index(by_app, "web")?), ["a"]);
/// assert_eq!(names(&mut before.by_index("app", "web")?), ["a", "b"]);
/// assert_eq!(store.table("app")?.to_string(), "web: default/a\ndb: default/c\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Indexer<T: Resource + Clone, S: Storage> {
    view: View<T, S>,
    /// The version of the object that is being put.
    next_version: S::Text,
}

/// The hash of a key, and the slot of its object if there is one.
#[derive(Clone, Copy)]
struct Place {
    hash: u32,
    slot: Option<u32>,
}

/// One write of [`Indexer::write_all`].
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Write<T: Resource> {
    /// Put this object.
    Put(T),
    /// Remove the object with this key.
    Remove(T::Key),
}

impl<T: Resource + Clone, S: Storage> Indexer<T, S> {
    /// An empty store without indices.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            view: View::new(seed),
            next_version: S::Text::default(),
        }
    }

    /// Sets the limits of the store. Stored objects stay.
    #[must_use]
    pub const fn with_limits(mut self, limits: StoreLimits) -> Self {
        self.view.limits = limits;
        self
    }

    /// Puts `object` under its key and returns the object that was there. The store takes the version of
    /// the object.
    ///
    /// # Errors
    /// [`Full`] if there is no room. Nothing has changed then.
    pub fn put(&mut self, object: T) -> Result<Option<T>, Full> {
        // If the version does not fit, the object must not be stored either.
        self.next_version.set(object.version())?;
        let before = self.put_seen(object, Epoch::NEVER)?;
        core::mem::swap(&mut self.view.version, &mut self.next_version);
        Ok(before)
    }

    /// Removes the object under `key`. The store keeps its version.
    pub fn remove(&mut self, key: &T::Key) -> Option<T> {
        let hash = self.view.seed.hash(key);
        let at = self.view.find_hashed(hash, key)?;
        self.view.keys.remove_entered(hash, at);
        let Slot {
            object,
            mark,
            postings,
            ..
        } = self.view.slots.remove_linked(at)?;
        self.view.holds.clear(mark);
        self.unfile_from(postings, None);
        self.view.bytes = self.view.bytes.saturating_sub(object.size() as u64);
        Some(object)
    }

    /// Replaces all objects with `objects`. If a key occurs twice, the last object wins. The store takes
    /// `version`.
    ///
    /// # Errors
    /// [`Full`] at the first object without room. The objects before it are stored.
    pub fn replace(
        &mut self,
        objects: impl IntoIterator<Item = T>,
        version: &str,
    ) -> Result<(), Full> {
        let seen = self.view.newest.next();
        for object in objects {
            self.put_seen(object, seen)?;
        }
        self.sweep(seen, |_| {});
        self.set_version(version)
    }

    /// Does several writes in order. `informer_indexers::shared` publishes them as one.
    ///
    /// # Errors
    /// [`Full`] at the first write without room. The writes before it are done.
    pub fn write_all(&mut self, writes: impl IntoIterator<Item = Write<T>>) -> Result<(), Full> {
        for write in writes {
            match write {
                Write::Put(object) => {
                    self.put(object)?;
                }
                Write::Remove(key) => {
                    self.remove(&key);
                }
            }
        }
        Ok(())
    }

    /// Sets the version of the store.
    ///
    /// # Errors
    /// [`Full`] if the text does not fit.
    pub fn set_version(&mut self, version: &str) -> Result<(), Full> {
        self.view.version.set(version)
    }

    /// Adds an index and files all stored objects in it.
    ///
    /// # Errors
    /// The name is taken, or there is no room. Nothing has changed then.
    pub fn add_index(&mut self, name: &str, function: IndexFn<T>) -> Result<IndexId, IndexError> {
        if self.view.index(name).is_ok() {
            return Err(IndexError::NameTaken(IndexName::new(name)));
        }
        let mut text = S::Text::default();
        text.set(name)?;
        let serial = self.view.indices_made;
        let at = self
            .view
            .indices
            .insert(Index::new(serial, text, function))?;
        self.view.indices_made = serial.wrapping_add(1);
        for slot in 0..self.view.slots.bound() {
            if let Some(Slot { object, .. }) = self.view.slots.get(slot).cloned()
                && let Err(full) = self.file(slot, at, &object)
            {
                self.drop_index(at);
                return Err(full.into());
            }
        }
        Ok(IndexId { at, serial })
    }

    /// Adds several indices, or none.
    ///
    /// # Errors
    /// A name is taken or occurs twice, or there is no room. Nothing has changed then.
    pub fn add_indices(&mut self, indices: &[(&str, IndexFn<T>)]) -> Result<(), IndexError> {
        for (at, (name, _)) in indices.iter().enumerate() {
            let repeated = indices.iter().skip(at + 1).any(|(other, _)| other == name);
            if repeated || self.view.index(*name).is_ok() {
                return Err(IndexError::NameTaken(IndexName::new(name)));
            }
        }
        for (at, (name, function)) in indices.iter().enumerate() {
            if let Err(error) = self.add_index(name, function.clone()) {
                for (added, _) in indices.iter().take(at) {
                    let _ = self.remove_index(*added);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Removes an index. Earlier snapshots keep it. Its [`IndexId`] is never reused; its name may be.
    ///
    /// # Errors
    /// There is no such index.
    pub fn remove_index<'a>(&mut self, index: impl Into<IndexRef<'a>>) -> Result<(), UnknownIndex> {
        let id = self.view.index(index)?;
        self.drop_index(id.at);
        Ok(())
    }

    fn drop_index(&mut self, at: u32) {
        for slot in 0..self.view.slots.bound() {
            self.unfile(slot, Some(at));
        }
        self.view.indices.remove_linked(at);
    }

    /// A view that never changes. It costs a few pointers and blocks nothing.
    #[must_use]
    pub fn snapshot(&self) -> View<T, S>
    where
        S: Snapshots,
    {
        self.view.clone()
    }

    /// Puts `object` and marks it as part of the full state `seen`.
    pub(crate) fn put_seen(&mut self, object: T, seen: Epoch) -> Result<Option<T>, Full> {
        let place = self.place_of(object.key());
        self.put_at(place, object, seen)
    }

    /// Where the object under `key` is.
    fn place_of(&self, key: &T::Key) -> Place {
        let hash = self.view.seed.hash(key);
        Place {
            hash,
            slot: self.view.find_hashed(hash, key),
        }
    }

    /// Puts `object` at its place and marks it as part of the full state `seen`.
    fn put_at(&mut self, place: Place, object: T, seen: Epoch) -> Result<Option<T>, Full> {
        let stored = place.slot.and_then(|at| self.view.slots.linked(at));
        let less = stored.map_or(0, |slot| slot.object.size() as u64);
        let bytes = self.view.bytes.saturating_sub(less) + object.size() as u64;
        let objects = self.view.len() + usize::from(stored.is_none());
        if !self.view.limits.allow(objects, bytes) {
            return Err(Full);
        }
        self.reserve_hold(place.slot)?;
        let held = self.view.bytes;
        let placed = match place.slot {
            Some(at) => self
                .overwrite(at, object, seen)
                .map(|before| (at, Some(before))),
            None => self.insert(place.hash, object, seen).map(|at| (at, None)),
        };
        // A failed attempt may have changed the count before it was undone.
        self.view.bytes = if placed.is_ok() { bytes } else { held };
        let (at, before) = placed?;
        self.view.newest = self.view.newest.max(seen);
        if self.view.holds.several {
            self.hold(at, seen)?;
            self.note_writer(at);
        }
        Ok(before)
    }

    fn overwrite(&mut self, at: u32, object: T, seen: Epoch) -> Result<T, Full> {
        if let Err(full) = self.refile(at, &object) {
            // Undo: without the new postings there is room for the old ones again.
            let before = self.view.slots.linked(at).ok_or(Full)?.object.clone();
            self.unfile(at, None);
            if self.file_everywhere(at, &before).is_err() {
                cannot_happen("no room for postings that were just removed", ());
            }
            return Err(full);
        }
        let slot = self.view.slots.linked_mut(at).ok_or(Full)?;
        if seen != Epoch::NEVER && !self.view.holds.several {
            slot.mark = seen.to_bits();
        }
        slot.identity = T::identity(object.key());
        Ok(core::mem::replace(&mut slot.object, object))
    }

    fn insert(&mut self, hash: u32, object: T, seen: Epoch) -> Result<u32, Full> {
        self.view.keys.reserve()?;
        let at = self.view.slots.insert(Slot {
            object: object.clone(),
            identity: T::identity(object.key()),
            mark: self.view.holds.first_mark(seen),
            postings: NONE,
        })?;
        self.view.keys.insert_reserved(hash, at);
        if let Err(full) = self.file_everywhere(at, &object) {
            self.remove(object.key());
            return Err(full);
        }
        Ok(at)
    }

    /// Notes that a full state contains the object under `key`, so that the sweep at its end keeps it.
    fn mark_seen(&mut self, key: &T::Key, seen: Epoch) -> Result<(), Full> {
        match self.place_of(key).slot {
            Some(at) => self.hold(at, seen),
            None => Ok(()),
        }
    }

    /// Lets go of all objects that the full state `seen` did not contain.
    fn sweep(&mut self, seen: Epoch, mut removed: impl FnMut(T)) {
        self.view.newest = self.view.newest.max(seen);
        let source = self.view.holds.source;
        for at in 0..self.view.slots.bound() {
            let shown = self.view.shown_by(source);
            let Some((object, _)) = shown.at(at).filter(|(_, last)| *last != seen) else {
                continue;
            };
            let key = object.key().clone();
            match self.let_go(&key) {
                Some(object) => removed(object),
                None if self.view.holds.several => {}
                None => cannot_happen("a stored object is not under its key", ()),
            }
        }
    }
}

/// Continues from the state of a view.
impl<T: Resource + Clone, S: Storage> From<View<T, S>> for Indexer<T, S> {
    fn from(view: View<T, S>) -> Self {
        Self {
            view,
            next_version: S::Text::default(),
        }
    }
}

impl<T: Resource + Clone, S: Storage> Deref for Indexer<T, S> {
    type Target = View<T, S>;

    fn deref(&self) -> &View<T, S> {
        &self.view
    }
}

debug_fields!([T: Resource + Clone, S: Storage] Indexer[T, S], self: view; all);

/// Why an index was not added.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// There is already an index with this name.
    NameTaken(IndexName),
    /// The storage is full.
    Full,
}

impl From<Full> for IndexError {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken(name) => {
                write!(f, "there is already an index {name}; choose another name")
            }
            Self::Full => f.write_str("the storage of the indexer is full; make it larger"),
        }
    }
}

impl core::error::Error for IndexError {}
