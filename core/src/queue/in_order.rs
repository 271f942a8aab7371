//! `InOrderQueue`: every change in order of arrival, with a full state as one change.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::flow::{Deletion, Delta, FullState};
use crate::object::Resource;
use crate::storage::{Bucket, Seed, Table};

/// The most deltas in one batch.
const BATCH: usize = 1_000;

/// A plain queue of changes, without merging or reordering.
///
/// A full state, a resync and a bookmark are one entry each. You resolve them against the store when you
/// pop them. This is client-go's `RealFIFO` in its atomic mode.
///
/// ```
/// use informer_core::flow::Delta;
/// use informer_core::queue::{InOrderQueue, Queued};
/// use informer_core::storage::Seed;
/// use informer_core::{Object, ObjectKey};
///
/// let pod = |name: &str, version: &str| Object::builder(ObjectKey::new("default", name))
///     .version(version)
///     .body(());
/// let mut queue = InOrderQueue::new(Seed::new(1));
/// queue.add(pod("web", "1"));
/// queue.add(pod("db", "2"));
/// queue.update(pod("web", "3"));
/// queue.resync();
///
/// // A batch has at most one delta per key.
/// let batch = queue.pop_batch().expect("four entries are queued");
/// assert_eq!(batch.entries.len(), 2);
/// let update = Queued::Delta(Delta::Updated(pod("web", "3")));
/// assert_eq!(queue.pop(), Some((update, false)));
/// assert_eq!(queue.pop(), Some((Queued::SyncAll, false)));
/// assert!(queue.is_empty());
/// ```
pub struct InOrderQueue<T: Resource> {
    seed: Seed,
    bookmarks: bool,
    items: VecDeque<Queued<T>>,
    populated: bool,
    /// How many entries to pop until the first full state has been popped.
    initial: usize,
    closed: bool,
}

/// An entry of an [`InOrderQueue`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Queued<T: Resource> {
    /// A change of one object.
    Delta(Delta<T>),
    /// A complete full state.
    ReplacedAll(Box<FullState<T>>),
    /// A resync of every object in the store.
    SyncAll,
    /// A bookmark: there are no other changes up to this version.
    Bookmark(String),
}

/// Entries that were popped together.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Batch<T: Resource> {
    /// The entries, in order. More than one entry only if all are deltas of different keys.
    pub entries: Vec<Queued<T>>,
    /// Whether the entries were queued no later than the first full state.
    pub initial: bool,
}

impl<T: Resource + Clone> InOrderQueue<T> {
    /// Creates an empty queue.
    #[must_use]
    pub const fn new(seed: Seed) -> Self {
        Self {
            seed,
            bookmarks: true,
            items: VecDeque::new(),
            populated: false,
            initial: 0,
            closed: false,
        }
    }

    /// Sets whether bookmarks are queued, which is the default, or ignored.
    #[must_use]
    pub const fn with_bookmarks(mut self, bookmarks: bool) -> Self {
        self.bookmarks = bookmarks;
        self
    }

    /// Queues an object that a watch reported as added.
    pub fn add(&mut self, object: T) {
        self.push(Delta::Added(object));
    }

    /// Queues an object that a watch reported as modified.
    pub fn update(&mut self, object: T) {
        self.push(Delta::Updated(object));
    }

    /// Queues an object that a watch reported as deleted.
    pub fn delete(&mut self, object: T) {
        self.delete_as(Deletion::Observed(object));
    }

    /// Queues a deletion of any kind, for example a tombstone.
    pub fn delete_as(&mut self, deletion: Deletion<T>) {
        self.push(Delta::Deleted(deletion));
    }

    /// Marks the queue as populated. Every change outside of a full state does so, even one that could
    /// not be used.
    pub const fn populate(&mut self) {
        self.populated = true;
    }

    /// Whether the first full state is behind this queue, which must be empty.
    pub(super) const fn set_populated(&mut self, populated: bool) {
        self.populated = populated;
    }

    /// Queues a full state as one entry.
    pub fn replace(&mut self, state: FullState<T>) {
        self.items.push_back(Queued::ReplacedAll(Box::new(state)));
        if !self.populated {
            self.populated = true;
            self.initial = self.items.len();
        }
    }

    /// Queues a resync of the whole store.
    pub fn resync(&mut self) {
        self.items.push_back(Queued::SyncAll);
    }

    /// Queues a bookmark, unless bookmarks are ignored.
    pub fn bookmark(&mut self, version: &str) {
        if self.bookmarks {
            self.items.push_back(Queued::Bookmark(version.into()));
        }
    }

    /// Removes the first entry. The flag says whether it was queued no later than the first full state.
    #[must_use = "popped entries are gone from the queue"]
    pub fn pop(&mut self) -> Option<(Queued<T>, bool)> {
        let initial = !self.is_synced();
        let item = self.items.pop_front()?;
        self.initial = self.initial.saturating_sub(1);
        Some((item, initial))
    }

    /// Removes the entries that you may apply to the store in one step: either up to a thousand deltas
    /// of different keys, not past the first full state, or one entry of another kind.
    #[must_use = "popped entries are gone from the queue"]
    pub fn pop_batch(&mut self) -> Option<Batch<T>> {
        let initial = !self.is_synced();
        let most = if self.initial > 0 {
            self.initial.min(BATCH)
        } else {
            BATCH
        };
        let count = self.batchable(most).max(1).min(self.items.len());
        let entries: Vec<_> = self.items.drain(..count).collect();
        self.initial = self.initial.saturating_sub(count);
        (count > 0).then_some(Batch { entries, initial })
    }

    /// Counts the leading entries, at most `most`, that are deltas of different keys.
    fn batchable(&self, most: usize) -> usize {
        let mut taken = Table::<Vec<Bucket>>::default();
        let key = |at: u32| match self.items.get(at as usize) {
            Some(Queued::Delta(delta)) => Some(delta.key()),
            _ => None,
        };
        let fits = |at: u32| {
            let key_here = key(at)?;
            let hash = self.seed.hash(key_here);
            let repeated = taken.find(hash, |before| key(before) == Some(key_here));
            repeated.is_none().then(|| taken.insert_reserved(hash, at))
        };
        (0..).take(most).map_while(fits).count()
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
        self.populated && self.initial == 0
    }

    /// Returns the number of queued entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the queued entries in pop order.
    pub fn iter(&self) -> impl Iterator<Item = &Queued<T>> {
        self.items.iter()
    }

    fn push(&mut self, delta: Delta<T>) {
        self.populate();
        self.items.push_back(Queued::Delta(delta));
    }
}

debug_fields!([T: Resource] InOrderQueue[T], self: len = self.items.len(), populated, initial,
    closed);
