//! `DeltaFifo`: one chain of deltas per key, keys in the order in which they came.

use core::fmt;

use super::popped::Popped;
use crate::flow::{Deletion, Delta, Step};
use crate::invariant::cannot_happen;
use crate::known::{Epoch, Known};
use crate::object::Resource;
use crate::storage::{Bucket, Ends, Full, NONE, Places, Seed, Slab, Storage, Table};

/// A queue that groups changes by key.
///
/// Each key has a chain of deltas, oldest first, and one place in the queue; a pop hands out the
/// whole chain of the first key. A change of a key that is queued does not move the key.
///
/// The queue holds no reference to the store. Where it must know what the store knows, it is given a
/// view of it: `&indexer`, or [`NothingKnown`](super::NothingKnown).
///
/// ```
/// use informer_core::flow::Delta;
/// use informer_core::queue::{DeltaFifo, NothingKnown};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Labels, Object, ObjectKey};
///
/// let pod = |name: &str, version: &str| Object {
///     key: ObjectKey::new("default", name),
///     uid: "".into(),
///     version: version.into(),
///     labels: Labels::default(),
///     size: 0,
///     body: (),
/// };
/// let mut fifo: DeltaFifo<_, Heap> = DeltaFifo::new(Seed::new(1));
/// fifo.add(pod("web", "1"))?;
/// fifo.add(pod("db", "2"))?;
/// fifo.update(pod("web", "3"))?;
/// fifo.delete(pod("gone", "4"), &NothingKnown)?; // never seen: ignored
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
    /// What is left of the chain that was popped last.
    popped: Chain,
    epoch: Epoch,
    replacing: bool,
    populated: bool,
    /// How many of the keys of the first full state have not been popped yet.
    initial: usize,
    closed: bool,
}

/// What [`DeltaFifo::replace`] files the objects of a full state as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "client-go knows these two")]
pub enum ReplaceAs {
    /// [`Delta::Replaced`], as informers do.
    #[default]
    Replaced,
    /// [`Delta::Sync`], as client-go's queue does on its own.
    Sync,
}

/// One queued key.
struct Entry {
    hash: u32,
    chain: Ends,
    next: u32,
    /// The full state that contained the key last.
    seen: Epoch,
}

struct Node<T: Resource> {
    delta: Delta<T>,
    next: u32,
}

/// What is left of a popped chain, and what is to be known about the pop.
#[derive(Clone, Copy)]
struct Chain {
    first: u32,
    initial: bool,
    seen: Epoch,
}

impl<T: Resource + Clone, S: Storage> DeltaFifo<T, S> {
    /// An empty queue.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            emit: ReplaceAs::default(),
            entries: Slab::default(),
            nodes: Slab::default(),
            table: Table::default(),
            queue: Ends::default(),
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

    /// The same queue with another way to file the objects of a full state.
    #[must_use]
    pub const fn with_replace_as(mut self, emit: ReplaceAs) -> Self {
        self.emit = emit;
        self
    }

    /// A watch reported `object` as new.
    ///
    /// # Errors
    /// There is no room. The queue counts as populated all the same.
    pub fn add(&mut self, object: T) -> Result<(), Full> {
        self.populate();
        self.push(Delta::Added(object), self.epoch)
    }

    /// A watch reported `object` as changed.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn update(&mut self, object: T) -> Result<(), Full> {
        self.populate();
        self.push(Delta::Updated(object), self.epoch)
    }

    /// A watch reported `object` as deleted. What is neither queued nor known is ignored.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn delete(&mut self, object: T, known: &impl Known<T>) -> Result<(), Full> {
        self.delete_as(Deletion::Observed(object), known)
    }

    /// The object is gone, however that became known; a tombstone, for example. What is neither queued
    /// nor known is ignored.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn delete_as(&mut self, deletion: Deletion<T>, known: &impl Known<T>) -> Result<(), Full> {
        self.populate();
        if !self.is_queued(deletion.key()) && known.get(deletion.key()).is_none() {
            return Ok(());
        }
        self.push(Delta::Deleted(deletion), Epoch::NEVER)
    }

    /// Anything but a full state makes the queue populated, even if it could not be used. What comes
    /// while a full state is under way belongs to that state, and its end counts.
    pub const fn populate(&mut self) {
        if !self.replacing {
            self.populated = true;
        }
    }

    /// A full state: what it lacks is deleted. The same as [`begin_replace`](Self::begin_replace),
    /// [`replace_item`](Self::replace_item) for each object and [`end_replace`](Self::end_replace).
    ///
    /// # Errors
    /// At the first object that the queue does not take. The objects before it stay queued, and
    /// nothing is deleted.
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

    /// A full state begins, whose objects come one by one.
    pub fn begin_replace(&mut self, known: &impl Known<T>) {
        self.begin_round(known);
        self.replacing = true;
    }

    /// What comes from now on carries a new epoch, which it gives.
    pub(super) fn begin_round(&mut self, known: &impl Known<T>) -> Epoch {
        self.epoch = self.epoch.max(known.newest()).next();
        self.epoch
    }

    /// The full state contains `object`.
    ///
    /// # Errors
    /// There is no room.
    pub fn replace_item(&mut self, object: T) -> Result<(), Full> {
        let delta = match self.emit {
            ReplaceAs::Replaced => Delta::Replaced,
            ReplaceAs::Sync => Delta::Sync,
        };
        self.push(delta(object), self.epoch)
    }

    /// The full state contains something under `key` which could not be read: what is queued under
    /// that key is not deleted at the end. To protect what the store has under it, apply
    /// [`Step::Seen`] with the [`epoch`](Self::epoch). [`Queue`](super::Queue) does both.
    pub fn replace_unreadable(&mut self, key: &T::Key) {
        let epoch = self.epoch;
        if let Some(entry) = self.find(key).and_then(|at| self.entries.get_mut(at)) {
            entry.seen = epoch;
        }
    }

    /// The full state is complete: what is queued or known and was not in it is deleted. It looks at
    /// every known object once.
    ///
    /// # Errors
    /// There is no room. What could be filed is filed; calling again goes on.
    pub fn end_replace(&mut self, known: &impl Known<T>) -> Result<(), Full> {
        let mut at = self.queue.first;
        while let Some(entry) = self.entries.get(at) {
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

    /// The full state is complete, but not all of it could be read, so nothing is deleted.
    pub fn end_replace_unswept(&mut self) {
        self.replacing = false;
        if !self.populated {
            self.populated = true;
            self.initial = self.entries.len();
        }
    }

    /// The full state will not be completed: nothing is deleted.
    pub const fn abandon_replace(&mut self) {
        self.replacing = false;
    }

    /// Whether a full state is under way.
    #[must_use]
    pub const fn is_replacing(&self) -> bool {
        self.replacing
    }

    /// Shows everything known again, except what has news queued. It looks at every known object once.
    ///
    /// # Errors
    /// There is no room.
    pub fn resync(&mut self, known: &impl Known<T>) -> Result<(), Full> {
        for (object, seen) in (0..known.places()).filter_map(|place| known.at(place)) {
            if !self.is_queued(object.key()) {
                self.push(Delta::Sync(object.clone()), seen)?;
            }
        }
        Ok(())
    }

    /// Takes the first key with all its deltas. What the iterator has not handed out when it is
    /// dropped is gone.
    #[must_use = "what is popped is gone from the queue"]
    pub fn pop(&mut self) -> Option<Popped<'_, T, S>> {
        while self.take_popped().is_some() {}
        self.pop_chain()?;
        Some(Popped::new(self))
    }

    /// The next step of the chain popped last, or the first one of the next chain.
    pub(super) fn next_step(&mut self) -> Option<Step<T>> {
        if self.popped.first == NONE {
            self.pop_chain()?;
        }
        self.take_popped()
    }

    /// Ends the queue: a driver need not wait for more. What is queued can still be popped, and what
    /// is added is queued.
    pub const fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the queue was closed.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether the first full state has been popped, or something else came first. It never turns
    /// back.
    #[must_use]
    pub const fn is_synced(&self) -> bool {
        let popping = self.popped.initial && self.popped.first != NONE;
        self.populated && self.initial == 0 && !popping
    }

    /// How many keys are queued.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is left to hand out.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.popped.first == NONE
    }

    /// The number of the full state that began last.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// The queued keys in the order in which they will be popped.
    pub fn keys(&self) -> impl Iterator<Item = &T::Key> {
        let mut at = self.queue.first;
        core::iter::from_fn(move || {
            let entry = self.entries.get(at)?;
            at = entry.next;
            Some(self.nodes.get(entry.chain.first)?.delta.key())
        })
    }

    /// What is queued under `key`, oldest first.
    pub fn deltas(&self, key: &T::Key) -> impl Iterator<Item = &Delta<T>> {
        let mut at = self
            .find(key)
            .and_then(|at| self.entries.get(at))
            .map_or(NONE, |entry| entry.chain.first);
        core::iter::from_fn(move || {
            let node = self.nodes.get(at)?;
            at = node.next;
            Some(&node.delta)
        })
    }

    /// Whether there is news of `key` on the way, the rest of a popped chain included.
    fn is_queued(&self, key: &T::Key) -> bool {
        let popped = self.nodes.get(self.popped.first);
        popped.is_some_and(|node| node.delta.key() == key) || self.find(key).is_some()
    }

    fn find(&self, key: &T::Key) -> Option<u32> {
        self.find_hashed(self.seed.hash(key), key)
    }

    fn find_hashed(&self, hash: u32, key: &T::Key) -> Option<u32> {
        self.table.find(hash, |at| {
            let first = self.entries.get(at).map(|entry| entry.chain.first);
            let node = first.and_then(|first| self.nodes.get(first));
            node.is_some_and(|node| node.delta.key() == key)
        })
    }

    /// Appends a delta to the chain of its key, which `seen` is known to contain.
    fn push(&mut self, delta: Delta<T>, seen: Epoch) -> Result<(), Full> {
        let hash = self.seed.hash(delta.key());
        self.nodes.reserve()?;
        let at = match self.find_hashed(hash, delta.key()) {
            Some(at) => at,
            None => self.push_entry(hash)?,
        };
        self.append(at, delta)?;
        if seen != Epoch::NEVER
            && let Some(entry) = self.entries.get_mut(at)
        {
            entry.seen = seen;
        }
        Ok(())
    }

    fn push_entry(&mut self, hash: u32) -> Result<u32, Full> {
        self.table.reserve()?;
        let at = self.entries.insert(Entry {
            hash,
            chain: Ends::default(),
            next: NONE,
            seen: Epoch::NEVER,
        })?;
        self.table.insert(hash, at)?;
        if let Some(before) = self.queue.push(at)
            && let Some(before) = self.entries.get_mut(before)
        {
            before.next = at;
        }
        Ok(at)
    }

    fn append(&mut self, at: u32, delta: Delta<T>) -> Result<(), Full> {
        let Some(entry) = self.entries.get_mut(at) else {
            return cannot_happen("a delta for a key that has no place", Ok(()));
        };
        // Two deletions in a row are one: the older, unless it is only an inference.
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
        if let Some(before) = entry.chain.push(node)
            && let Some(before) = self.nodes.get_mut(before)
        {
            before.next = node;
        }
        Ok(())
    }

    /// Appends the deletion of a queued key that a full state lacks, with its newest queued object.
    fn push_vanished(&mut self, at: u32) -> Result<(), Full> {
        let last = self.entries.get(at).map(|entry| entry.chain.last);
        let Some(newest) = last.and_then(|last| self.nodes.get(last)) else {
            return cannot_happen("a queued key without deltas", Ok(()));
        };
        let deletion = Deletion::Inferred {
            key: newest.delta.key().clone(),
            last: newest.delta.object().cloned(),
        };
        self.append(at, Delta::Deleted(deletion))
    }

    fn pop_chain(&mut self) -> Option<()> {
        let initial = !self.is_synced();
        let entry = self.entries.remove(self.queue.first)?;
        self.table.remove(entry.hash, self.queue.first);
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
        let node = self.nodes.remove(self.popped.first)?;
        self.popped.first = node.next;
        Some(Step::Delta {
            delta: node.delta,
            initial: self.popped.initial,
            seen: self.popped.seen,
        })
    }
}

impl<T: Resource, S: Storage> fmt::Debug for DeltaFifo<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeltaFifo")
            .field("entries", &self.entries)
            .field("populated", &self.populated)
            .field("initial", &self.initial)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
