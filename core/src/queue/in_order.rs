//! `InOrderQueue`: every change in the order in which it came, a full state as one of them.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::flow::{Deletion, Delta, FullState};
use crate::object::Resource;
use crate::storage::{Bucket, Full, Seed, Table};

/// The most deltas that [`InOrderQueue::pop_batch`] hands out at once.
const BATCH: usize = 1_000;

/// A plain queue of changes: nothing is merged and nothing overtakes. A full state, a resync and a
/// bookmark are one entry each, whose meaning is decided against the store when it is popped. This is
/// client-go's `RealFIFO` in its atomic mode.
pub struct InOrderQueue<T: Resource> {
    seed: Seed,
    bookmarks: bool,
    items: VecDeque<Queued<T>>,
    populated: bool,
    /// How many entries must be popped before the first full state has been handed out.
    initial: usize,
    closed: bool,
}

/// One entry of an [`InOrderQueue`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum Queued<T: Resource> {
    /// One object changed.
    Delta(Delta<T>),
    /// A full state.
    ReplacedAll(Box<FullState<T>>),
    /// Show everything in the store again.
    SyncAll,
    /// Nothing changed up to this version.
    Bookmark(String),
}

/// Some entries, popped together.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Batch<T: Resource> {
    /// The entries in order; more than one only if all are deltas of different keys.
    pub entries: Vec<Queued<T>>,
    /// Whether they belong to what comes before the end of the first full state.
    pub initial: bool,
}

impl<T: Resource + Clone> InOrderQueue<T> {
    /// An empty queue.
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

    /// The same queue with bookmarks queued (the default) or ignored.
    #[must_use]
    pub const fn with_bookmarks(mut self, bookmarks: bool) -> Self {
        self.bookmarks = bookmarks;
        self
    }

    /// A watch reported `object` as new.
    pub fn add(&mut self, object: T) {
        self.push(Delta::Added(object));
    }

    /// A watch reported `object` as changed.
    pub fn update(&mut self, object: T) {
        self.push(Delta::Updated(object));
    }

    /// A watch reported `object` as deleted.
    pub fn delete(&mut self, object: T) {
        self.delete_as(Deletion::Observed(object));
    }

    /// The object is gone, however that became known; a tombstone, for example.
    pub fn delete_as(&mut self, deletion: Deletion<T>) {
        self.push(Delta::Deleted(deletion));
    }

    /// Anything but a full state makes the queue populated, even if it could not be used.
    pub const fn populate(&mut self) {
        self.populated = true;
    }

    /// A full state.
    pub fn replace(&mut self, state: FullState<T>) {
        self.items.push_back(Queued::ReplacedAll(Box::new(state)));
        if !self.populated {
            self.populated = true;
            self.initial = self.items.len();
        }
    }

    /// Shows everything in the store again, when its turn comes.
    pub fn resync(&mut self) {
        self.items.push_back(Queued::SyncAll);
    }

    /// Nothing changed up to `version`.
    pub fn bookmark(&mut self, version: &str) {
        if self.bookmarks {
            self.items.push_back(Queued::Bookmark(version.into()));
        }
    }

    /// Takes the first entry, and says whether it belongs to what comes before the end of the first
    /// full state.
    #[must_use = "what is popped is gone from the queue"]
    pub fn pop(&mut self) -> Option<(Queued<T>, bool)> {
        let initial = !self.is_synced();
        let item = self.items.pop_front()?;
        self.initial = self.initial.saturating_sub(1);
        Some((item, initial))
    }

    /// Takes as many entries as may be applied to the store in one step: deltas of different keys, at
    /// most a thousand, and not beyond the end of the first full state; or one entry of another kind.
    #[must_use = "what is popped is gone from the queue"]
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

    /// How many of the first entries, at most `most`, are deltas of different keys.
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
            (repeated.is_none() && taken.insert(hash, at) != Err(Full)).then_some(())
        };
        (0..).take(most).map_while(fits).count()
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
        self.populated && self.initial == 0
    }

    /// How many entries are queued.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing is queued.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The queued entries in the order in which they will be popped.
    pub fn iter(&self) -> impl Iterator<Item = &Queued<T>> {
        self.items.iter()
    }

    fn push(&mut self, delta: Delta<T>) {
        self.populate();
        self.items.push_back(Queued::Delta(delta));
    }
}

impl<T: Resource> fmt::Debug for InOrderQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InOrderQueue")
            .field("len", &self.items.len())
            .field("populated", &self.populated)
            .field("initial", &self.initial)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}
