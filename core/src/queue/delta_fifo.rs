//! `DeltaFifo`: one chain of deltas per key, with keys in order of arrival.

use super::popped::Popped;
use crate::flow::{Deletion, Delta, Step};
use crate::known::{Epoch, Known};
use crate::object::Resource;
use crate::storage::{Bucket, Ends, Full, NONE, Places, Seed, Slab, Storage, Table};

/// A queue that groups changes by key.
///
/// Each key has a chain of deltas, oldest first, and one place in the queue. A pop returns the whole
/// chain of the first key. Another change of a queued key does not move the key.
///
/// The queue holds no reference to the store. Methods that must know what is in the store take a view of
/// it: `&indexer`, or [`NothingKnown`](super::NothingKnown).
///
/// ```
/// use informer_core::flow::Delta;
/// use informer_core::queue::{DeltaFifo, NothingKnown};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let pod = |name: &str, version: &str| Object::builder(ObjectKey::new("default", name))
///     .version(version)
///     .body(());
/// let mut fifo: DeltaFifo<_, Heap> = DeltaFifo::new(Seed::new(1));
/// fifo.add(pod("web", "1"))?;
/// fifo.add(pod("db", "2"))?;
/// fifo.update(pod("web", "3"))?;
/// fifo.delete(pod("gone", "4"), &NothingKnown)?; // neither queued nor known: ignored
///
/// let popped: Vec<_> = fifo.pop().expect("two keys are queued").deltas().collect();
/// assert_eq!(popped, [Delta::Added(pod("web", "1")), Delta::Updated(pod("web", "3"))]);
/// assert_eq!(fifo.keys().map(|key| key.as_str()).collect::<Vec<_>>(), ["default/db"]);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct DeltaFifo<T: Resource, S: Storage> {
    seed: Seed,
    emit: ReplaceAs,
    entries: Places<S, Entry>,
    nodes: Places<S, Node<T>>,
    table: Table<S::Cells<Bucket>>,
    queue: Ends,
    /// The rest of the chain that was popped last.
    popped: Chain,
    epoch: Epoch,
    replacing: bool,
    populated: bool,
    /// How many keys of the first full state have not been popped yet.
    initial: usize,
    closed: bool,
}

/// The kind of delta that [`DeltaFifo::replace`] creates for each object of a full state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "client-go has these two")]
pub enum ReplaceAs {
    /// [`Delta::Replaced`], as informers do.
    #[default]
    Replaced,
    /// [`Delta::Sync`], the default of client-go's queue.
    Sync,
}

/// A queued key.
struct Entry {
    hash: u32,
    chain: Ends,
    next: u32,
    /// The last full state that contained the key.
    seen: Epoch,
}

struct Node<T: Resource> {
    delta: Delta<T>,
    next: u32,
}

/// The rest of a popped chain, and the facts about its key.
#[derive(Clone, Copy)]
struct Chain {
    first: u32,
    initial: bool,
    seen: Epoch,
}

impl<T: Resource + Clone, S: Storage> DeltaFifo<T, S> {
    /// Creates an empty queue.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            emit: ReplaceAs::default(),
            entries: Slab::default(),
            nodes: Slab::default(),
            table: Table::default(),
            queue: Ends::EMPTY,
            popped: Chain {
                first: NONE,
                initial: false,
                seen: Epoch::NEVER,
            },
            epoch: Epoch::NEVER,
            replacing: false,
            populated: false,
            initial: 0,
            closed: false,
        }
    }

    /// Sets the kind of delta for the objects of a full state.
    #[must_use]
    pub const fn with_replace_as(mut self, emit: ReplaceAs) -> Self {
        self.emit = emit;
        self
    }

    /// Queues an object that a watch reported as added.
    ///
    /// # Errors
    /// [`Full`] if there is no room. The queue counts as populated even then.
    pub fn add(&mut self, object: T) -> Result<(), Full> {
        self.populate();
        self.push(Delta::Added(object), self.epoch)
    }

    /// Queues an object that a watch reported as modified.
    ///
    /// # Errors
    /// Like [`add`](Self::add).
    pub fn update(&mut self, object: T) -> Result<(), Full> {
        self.populate();
        self.push(Delta::Updated(object), self.epoch)
    }

    /// Queues an object that a watch reported as deleted. Ignores an object that is neither queued nor
    /// known.
    ///
    /// # Errors
    /// Like [`add`](Self::add).
    pub fn delete(&mut self, object: T, known: &impl Known<T>) -> Result<(), Full> {
        self.delete_as(Deletion::Observed(object), known)
    }

    /// Queues a deletion of any kind, for example a tombstone. Ignores an object that is neither queued
    /// nor known.
    ///
    /// # Errors
    /// Like [`add`](Self::add).
    pub fn delete_as(&mut self, deletion: Deletion<T>, known: &impl Known<T>) -> Result<(), Full> {
        self.populate();
        if !self.is_queued(deletion.key()) && known.get(deletion.key()).is_none() {
            return Ok(());
        }
        self.push(Delta::Deleted(deletion), Epoch::NEVER)
    }

    /// Marks the queue as populated. Every change outside of a full state does so, even one that could
    /// not be used. During a full state this does nothing: the end of that state populates the queue.
    pub const fn populate(&mut self) {
        if !self.replacing {
            self.populated = true;
        }
    }

    /// Whether the first full state is behind this queue, which must be empty.
    pub(super) const fn set_populated(&mut self, populated: bool) {
        self.populated = populated;
    }

    /// Queues a full state, and deletes everything that it lacks.
    ///
    /// This is [`begin_replace`](Self::begin_replace), [`replace_item`](Self::replace_item) for each
    /// object, and [`end_replace`](Self::end_replace).
    ///
    /// # Errors
    /// [`Full`] at the first object without room. The objects before it stay queued, and nothing is
    /// deleted.
    pub fn replace(
        &mut self,
        objects: impl IntoIterator<Item = T>,
        known: &impl Known<T>,
    ) -> Result<(), Full> {
        self.begin_replace(known);
        for object in objects {
            if let Err(error) = self.replace_item(object) {
                self.abandon_replace();
                return Err(error);
            }
        }
        self.end_replace(known)
    }

    /// Begins a full state whose objects follow one by one.
    pub fn begin_replace(&mut self, known: &impl Known<T>) {
        self.begin_round(known);
        self.replacing = true;
    }

    /// Starts a new epoch for the following changes, and returns it.
    pub(super) fn begin_round(&mut self, known: &impl Known<T>) -> Epoch {
        self.epoch = self.epoch.max(known.newest()).next();
        self.epoch
    }

    /// Queues an object of the full state.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn replace_item(&mut self, object: T) -> Result<(), Full> {
        let delta = match self.emit {
            ReplaceAs::Replaced => Delta::Replaced,
            ReplaceAs::Sync => Delta::Sync,
        };
        self.push(delta(object), self.epoch)
    }

    /// Records that the full state contains an unreadable object under `key`, so that what is queued
    /// under that key is not deleted at the end.
    ///
    /// To protect the object in the store as well, apply [`Step::Seen`] with the
    /// [`epoch`](Self::epoch). [`Queue`](super::Queue) does both.
    pub fn replace_unreadable(&mut self, key: &T::Key) {
        let epoch = self.epoch;
        if let Some(entry) = self.find(key).and_then(|at| self.entries.linked_mut(at)) {
            entry.seen = epoch;
        }
    }

    /// Completes the full state: deletes everything queued or known that it lacks. Visits every known
    /// object once.
    ///
    /// # Errors
    /// [`Full`] if there is no room for every deletion. Call again to continue.
    pub fn end_replace(&mut self, known: &impl Known<T>) -> Result<(), Full> {
        let mut at = self.queue.first;
        while at != NONE
            && let Some(entry) = self.entries.linked(at)
        {
            let next = entry.next;
            if entry.seen != self.epoch {
                self.push_vanished(at)?;
            }
            at = next;
        }
        for (object, seen) in (0..known.places()).filter_map(|place| known.at(place)) {
            if seen != self.epoch && !self.is_queued(object.key()) {
                let (key, last) = (object.key().clone(), Some(object.clone()));
                let deletion = Deletion::Inferred { key, last };
                self.push(Delta::Deleted(deletion), Epoch::NEVER)?;
            }
        }
        self.end_replace_unswept();
        Ok(())
    }

    /// Completes a full state that could not be read entirely: deletes nothing.
    pub fn end_replace_unswept(&mut self) {
        self.replacing = false;
        if !self.populated {
            self.populated = true;
            self.initial = self.entries.len();
        }
    }

    /// Ends a full state that will not be completed: deletes nothing.
    pub const fn abandon_replace(&mut self) {
        self.replacing = false;
    }

    /// Whether a full state has begun and not ended.
    #[must_use]
    pub const fn is_replacing(&self) -> bool {
        self.replacing
    }

    /// Queues a [`Delta::Sync`] for every known object without queued deltas. Visits every known object
    /// once.
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn resync(&mut self, known: &impl Known<T>) -> Result<(), Full> {
        for (object, seen) in (0..known.places()).filter_map(|place| known.at(place)) {
            if !self.is_queued(object.key()) {
                self.push(Delta::Sync(object.clone()), seen)?;
            }
        }
        Ok(())
    }

    /// Removes the first key with all its deltas. Dropping the iterator discards the deltas that are
    /// left.
    #[must_use = "popped deltas are gone from the queue"]
    pub fn pop(&mut self) -> Option<Popped<'_, T, S>> {
        while self.take_popped().is_some() {}
        self.pop_chain()?;
        Some(Popped { fifo: self })
    }

    /// Returns the next step of the chain popped last, or the first one of the next chain.
    pub(super) fn next_step(&mut self) -> Option<Step<T>> {
        if self.popped.first == NONE {
            self.pop_chain()?;
        }
        self.take_popped()
    }

    /// Marks the queue as closed, so that a driver stops waiting for changes. Adding and popping still
    /// work.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    /// Whether [`close`](Self::close) was called.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the first full state has been popped, or something else was queued before it. Once true, it
    /// stays true.
    #[must_use]
    pub const fn is_synced(&self) -> bool {
        let popping = self.popped.initial && self.popped.first != NONE;
        self.populated && self.initial == 0 && !popping
    }

    /// Returns the number of queued keys.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is nothing left to pop.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.popped.first == NONE
    }

    /// Returns the epoch of the last full state that began.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the queued keys in pop order.
    pub fn keys(&self) -> impl Iterator<Item = &T::Key> {
        let mut at = self.queue.first;
        core::iter::from_fn(move || {
            let entry = self.entries.get(at)?;
            at = entry.next;
            Some(self.nodes.linked(entry.chain.first)?.delta.key())
        })
    }

    /// Returns the deltas queued under `key`, oldest first.
    pub fn deltas(&self, key: &T::Key) -> impl Iterator<Item = &Delta<T>> {
        let entry = self.find(key).and_then(|at| self.entries.linked(at));
        let mut at = entry.map_or(NONE, |entry| entry.chain.first);
        core::iter::from_fn(move || {
            let node = self.nodes.get(at)?;
            at = node.next;
            Some(&node.delta)
        })
    }

    /// Whether there are deltas of `key`, in the queue or in the rest of a popped chain.
    fn is_queued(&self, key: &T::Key) -> bool {
        let popped = self.nodes.get(self.popped.first);
        popped.is_some_and(|node| node.delta.key() == key) || self.find(key).is_some()
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.find_hashed(self.seed.hash(key), key)
    }

    fn find_hashed(&self, hash: u32, key: &T::Key) -> Option<u32> {
        self.table.find(hash, |at| {
            let first = self.entries.linked(at).map(|entry| entry.chain.first);
            let node = first.and_then(|first| self.nodes.linked(first));
            node.is_some_and(|node| node.delta.key() == key)
        })
    }

    /// Appends a delta to the chain of its key. `seen` is the full state that contains the key, if any.
    fn push(&mut self, delta: Delta<T>, seen: Epoch) -> Result<(), Full> {
        let hash = self.seed.hash(delta.key());
        self.nodes.reserve()?;
        let at = match self.find_hashed(hash, delta.key()) {
            Some(at) => at,
            None => self.push_entry(hash)?,
        };
        self.append(at, delta)?;
        if seen != Epoch::NEVER
            && let Some(entry) = self.entries.linked_mut(at)
        {
            entry.seen = seen;
        }
        Ok(())
    }

    fn push_entry(&mut self, hash: u32) -> Result<u32, Full> {
        self.table.reserve()?;
        let at = self.entries.insert(Entry {
            hash,
            chain: Ends::EMPTY,
            next: NONE,
            seen: Epoch::NEVER,
        })?;
        self.table.insert_reserved(hash, at);
        self.queue
            .push(at, &mut self.entries, |entry| &mut entry.next);
        Ok(at)
    }

    fn append(&mut self, at: u32, delta: Delta<T>) -> Result<(), Full> {
        let Some(entry) = self.entries.linked_mut(at) else {
            return Ok(());
        };
        // Merge two deletions in a row. Keep the older one, unless it was only inferred.
        if let Delta::Deleted(_) = delta
            && let Some(last) = self.nodes.get_mut(entry.chain.last)
            && let Delta::Deleted(older) = &last.delta
        {
            if matches!(older, Deletion::Inferred { .. }) {
                last.delta = delta;
            }
            return Ok(());
        }
        let node = self.nodes.insert(Node { delta, next: NONE })?;
        entry
            .chain
            .push(node, &mut self.nodes, |node| &mut node.next);
        Ok(())
    }

    /// Appends a deletion to a queued key that a full state lacks, with its newest queued object.
    fn push_vanished(&mut self, at: u32) -> Result<(), Full> {
        let last = self.entries.linked(at).map(|entry| entry.chain.last);
        let Some(newest) = last.and_then(|last| self.nodes.linked(last)) else {
            return Ok(());
        };
        let deletion = Deletion::Inferred {
            key: newest.delta.key().clone(),
            last: newest.delta.object().cloned(),
        };
        self.append(at, Delta::Deleted(deletion))
    }

    fn pop_chain(&mut self) -> Option<()> {
        let initial = !self.is_synced();
        let first = self.queue.first()?;
        let entry = self.entries.remove_linked(first)?;
        self.table.remove_entered(entry.hash, first);
        self.queue.pop(entry.next);
        self.initial = self.initial.saturating_sub(1);
        self.popped = Chain {
            first: entry.chain.first,
            initial,
            seen: entry.seen,
        };
        Some(())
    }

    pub(super) fn take_popped(&mut self) -> Option<Step<T>> {
        if self.popped.first == NONE {
            return None;
        }
        let node = self.nodes.remove_linked(self.popped.first)?;
        self.popped.first = node.next;
        Some(Step::Delta {
            delta: node.delta,
            initial: self.popped.initial,
            seen: self.popped.seen,
        })
    }
}

debug_fields!([T: Resource, S: Storage] DeltaFifo[T, S], self: entries, populated, initial,
    closed);
