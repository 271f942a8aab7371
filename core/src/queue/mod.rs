//! Queues between the reflector and the store.
//!
//! [`Queue`] is the queue of an informer: it takes a [`Change`] and returns the next [`Step`] for the
//! store. It contains a [`DeltaFifo`], which groups changes by key, or an [`InOrderQueue`], which keeps
//! them in order of arrival and treats a full state as one change. You can use both on their own.

// A user function at the entrance.
mod transform;

// Full states that are collected before they are delivered.
#[cfg(feature = "alloc")]
mod staging;

// Chains of deltas by key.
mod delta_fifo;

// The deltas of one popped key.
mod popped;

// Every change in order of arrival.
#[cfg(feature = "alloc")]
mod in_order;

// A walk through the store: a sweep or a resync.
mod cursor;

// What each kind of change means to the queue.
mod filing;

// Why a change was rejected.
mod error;

use crate::flow::{Cause, Change, Delta, Step};
#[cfg(feature = "alloc")]
use crate::invariant::cannot_happen;
use crate::limits::StoreLimits;
use crate::object::{Resource, is_another};
use crate::storage::{Places, Seed, Slab, Storage};

#[cfg(feature = "alloc")]
pub use crate::flow::FullState;
pub use crate::known::{Epoch, Known, NothingKnown};
use cursor::{Cursor, Work};
pub use delta_fifo::{DeltaFifo, ReplaceAs};
pub use error::PushError;
#[cfg(feature = "alloc")]
pub use in_order::{Batch, InOrderQueue, Queued};
pub use popped::Popped;
#[cfg(feature = "alloc")]
use staging::{Collected, Stage};
pub use transform::{Transform, TransformError};

/// The kind of queue that an informer uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum QueueKind {
    /// A [`DeltaFifo`]: changes grouped by key.
    DeltaFifo,
    /// An [`InOrderQueue`]: changes in order of arrival, and each full state in one step.
    #[cfg(feature = "alloc")]
    InOrder,
}

/// When the objects of a full state reach the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum Relist {
    /// Each object as soon as it is decoded. This needs no second copy of the state, and a list that
    /// breaks half-way deletes nothing. An in-order queue ignores this, and always collects first.
    Streamed,
    /// All objects at the end, as in client-go. The objects of an interrupted list are discarded.
    #[cfg(feature = "alloc")]
    Staged,
}

/// Takes changes and returns the steps that the store applies.
///
/// The queue holds no reference to the store. Methods that must know what is in the store take a view of
/// it.
///
/// At the end of a full state, a *sweep* finds the objects that vanished. A *resync* sends every object
/// again. Both are cursors that walk the store a few places per call of [`feed`](Self::feed), while
/// changes keep arriving. They skip objects that a watch adds or changes in the meantime. The queue is
/// not empty until the cursor has reached the end.
///
/// ```
/// use informer_core::flow::Change;
/// use informer_core::indexer::{Indexer, Rules, StoreLimits};
/// use informer_core::queue::{Queue, QueueKind, Relist};
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::{Object, ObjectKey};
///
/// let pod = |name: &str, version: &str| Object::builder(ObjectKey::new("default", name))
///     .version(version)
///     .body(());
/// let mut store: Indexer<_, Heap> = Indexer::new(Seed::new(1));
/// let mut queue: Queue<_, Heap> =
///     Queue::new(QueueKind::DeltaFifo, Relist::Streamed, StoreLimits::NONE, Seed::new(1));
/// store.put(pod("vanished", "1"))?;
/// for change in [
///     Change::ReplaceBegin { streamed: false },
///     Change::ReplaceItem(pod("web", "2")),
///     Change::ReplaceEnd,
/// ] {
///     queue.push(change, &*store).unwrap();
/// }
///
/// let mut notifications = Vec::new();
/// while let Some(step) = queue.next_from(&*store) {
///     let applied = store.apply(step, Rules::default());
///     notifications.extend(applied.notifications.map(|notification| notification.to_string()));
/// }
/// assert_eq!(notifications, ["added default/web (initial, relist)", "deleted default/vanished (inferred, relist)"]);
/// assert!(queue.is_synced() && queue.is_empty());
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Queue<T: Resource + Clone, S: Storage> {
    transform: Option<Transform<T>>,
    /// Collects full states, if they are delivered in one piece.
    #[cfg(feature = "alloc")]
    stage: Option<Stage<T>>,
    order: Order<T, S>,
    /// Facts about the current full state, for its end.
    state: Replacing,
    /// The keys of unreadable objects in a full state, until the store has marked them as seen. Their
    /// order does not matter, so this is a stack.
    unreadable: Places<S, (T::Key, Epoch)>,
    cursor: Option<Cursor>,
    /// The delta that the cursor has found.
    fed: Option<Delta<T>>,
}

/// The queue inside, which determines the order of steps.
enum Order<T: Resource + Clone, S: Storage> {
    ByKey(DeltaFifo<T, S>),
    #[cfg(feature = "alloc")]
    AsTheyCame(InOrderQueue<T>),
}

/// Facts about a full state, for its end.
#[derive(Clone, Copy, Default)]
struct Replacing {
    /// Nothing was stored or queued when it began, so nothing can have vanished.
    from_nothing: bool,
    /// It contains an object without a readable key, so nothing may be swept.
    unnamed: bool,
    /// It contains an object without room in the store, so the store is not complete.
    no_room: bool,
}

impl<T: Resource + Clone, S: Storage> Queue<T, S> {
    /// Creates an empty queue. `limits` bounds a full state that is collected before it is delivered.
    #[must_use]
    #[cfg_attr(
        not(feature = "alloc"),
        expect(unused_variables, reason = "one kind of queue")
    )]
    pub fn new(kind: QueueKind, relist: Relist, limits: StoreLimits, seed: Seed) -> Self {
        Self {
            transform: None,
            #[cfg(feature = "alloc")]
            stage: match (kind, relist) {
                (QueueKind::DeltaFifo, Relist::Streamed) => None,
                (QueueKind::InOrder, _) | (_, Relist::Staged) => {
                    Some(Stage::new(seed.clone(), limits))
                }
            },
            order: match kind {
                QueueKind::DeltaFifo => Order::ByKey(DeltaFifo::new(seed)),
                #[cfg(feature = "alloc")]
                QueueKind::InOrder => Order::AsTheyCame(InOrderQueue::new(seed)),
            },
            state: Replacing::default(),
            unreadable: Slab::default(),
            cursor: None,
            fed: None,
        }
    }

    /// Sets the transform that runs on every object before it is queued.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<T>) -> Self {
        self.set_transform(transform);
        self
    }

    pub(crate) fn set_transform(&mut self, transform: Transform<T>) {
        self.transform = Some(transform);
    }

    /// Queues a change. `known` is the store that applies the steps.
    ///
    /// # Errors
    /// [`PushError::Transform`] returns the change if the transform refuses its object.
    /// [`PushError::Full`] if there is no room.
    pub fn push(
        &mut self,
        mut change: Change<T>,
        known: &impl Known<T>,
    ) -> Result<(), PushError<T>> {
        if let Some(transform) = &self.transform
            && let Some(object) = change.object_mut()
        {
            // The transform may change the key, so keep the original for the error.
            let key = object.key().clone();
            if let Err(error) = transform.apply(object) {
                return Err(PushError::Transform { change, key, error });
            }
        }
        if matches!(change, Change::KindGone) {
            self.empty(Cause::KindGone);
            return Ok(());
        }
        #[cfg(feature = "alloc")]
        if let Some(stage) = &mut self.stage {
            change = match stage.collect(change)? {
                Collected::Kept => return Ok(()),
                Collected::Live(change) => change,
                Collected::Complete(state) => return Ok(self.deliver(state, known)?),
            };
        }
        Ok(self.file(change, known)?)
    }

    /// Whether a rejected object with this uid is a different object than the one known under its key. If
    /// so, that one is gone: push [`Change::Displaced`]. Call this only after all queued steps have been
    /// applied to the store.
    #[cfg_attr(
        not(feature = "alloc"),
        expect(
            clippy::needless_pass_by_ref_mut,
            reason = "only a stage is changed, and without an allocator there is none"
        )
    )]
    pub(crate) fn displaces(&mut self, key: &T::Key, uid: &str, known: &impl Known<T>) -> bool {
        #[cfg(feature = "alloc")]
        if let Some(stage) = &mut self.stage {
            return stage.displaces(key, uid, known);
        }
        known.get(key).is_some_and(|object| is_another(object, uid))
    }

    /// Starts a resync of the whole store. Returns false, and does nothing, while another cursor walks.
    pub fn resync(&mut self, known: &impl Known<T>) -> bool {
        if self.cursor.is_some() {
            return false;
        }
        match &mut self.order {
            Order::ByKey(fifo) => {
                let unless = Some(fifo.begin_round(known));
                self.cursor = Some(Cursor::new(Work::Resync { unless }));
            }
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => queue.resync(),
        }
        true
    }

    /// Returns the next step for the store. After `None`, [`feed`](Self::feed) may find more.
    pub fn next_step(&mut self) -> Option<Step<T>> {
        let newest = self.unreadable.len().checked_sub(1);
        if let Some((key, seen)) = newest.and_then(|at| self.unreadable.remove_linked(at as u32)) {
            return Some(Step::Seen { key, seen });
        }
        if let Some(delta) = self.fed.take() {
            return Some(Step::Delta {
                delta,
                initial: false,
                seen: Epoch::NEVER,
            });
        }
        let first = self.sweeps_first_state();
        match &mut self.order {
            Order::ByKey(fifo) => {
                let mut step = fifo.next_step();
                if let Some(Step::Delta { initial, .. }) = &mut step {
                    *initial |= first;
                }
                step
            }
            // Changes must not overtake a resync.
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(_) if self.cursor.is_some() => None,
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => match queue.pop()? {
                (Queued::Delta(delta), initial) => Some(Step::Delta {
                    delta,
                    initial,
                    seen: Epoch::NEVER,
                }),
                (Queued::ReplacedAll(state), initial) => Some(Step::FullState { state, initial }),
                (Queued::SyncAll, _) => {
                    self.cursor = Some(Cursor::new(Work::Resync { unless: None }));
                    None
                }
                (Queued::Bookmark(_), _) => {
                    cannot_happen("a bookmark in the queue, although none is filed", None)
                }
            },
        }
    }

    /// Moves the cursor, if there is one, until it finds a step or ends. It visits at most `places` places
    /// and counts them down. Returns whether [`next_step`](Self::next_step) may have a step now. Does
    /// nothing while other steps are queued.
    pub fn feed(&mut self, known: &impl Known<T>, places: &mut u32) -> bool {
        if !self.is_drained() && !self.waits_for_cursor() {
            return true;
        }
        while let Some(cursor) = &mut self.cursor {
            if cursor.is_over(known) {
                self.cursor = None;
                return !self.is_drained();
            }
            if *places == 0 {
                return false;
            }
            *places -= 1;
            self.fed = cursor.step(known);
            if self.fed.is_some() {
                return true;
            }
        }
        false
    }

    /// Returns the next step, and moves the cursor as far as it takes.
    pub fn next_from(&mut self, known: &impl Known<T>) -> Option<Step<T>> {
        loop {
            let next = self.next_step();
            if next.is_some() || !self.feed(known, &mut { u32::MAX }) {
                return next;
            }
        }
    }

    /// Whether a sweep or a resync is in progress.
    pub(crate) const fn has_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// Whether the cursor can move: no queued step must be applied first.
    pub(crate) fn walks(&self) -> bool {
        self.cursor.is_some() && (self.is_drained() || self.waits_for_cursor())
    }

    /// Whether a sweep is in progress. Until it ends, the store may contain objects that vanished.
    pub(crate) fn is_sweeping(&self) -> bool {
        let work = self.cursor.map(|cursor| cursor.work);
        matches!(work, Some(Work::Sweep { .. }))
    }

    /// Records that the store had no room for a step. Returns whether the step belongs to a full state. If
    /// so, read that state to its end: only then is it known which deletions make room.
    pub(crate) const fn note_overflow(&mut self) -> bool {
        let replacing = matches!(&self.order, Order::ByKey(fifo) if fifo.is_replacing());
        self.state.no_room |= replacing;
        replacing
    }

    /// Whether the store had no room for an object of the current full state.
    pub(crate) const fn has_overflowed(&self) -> bool {
        self.state.no_room
    }

    /// Whether the objects of a full state leave the queue before it is complete.
    pub(crate) const fn is_streamed(&self) -> bool {
        #[cfg(feature = "alloc")]
        return self.stage.is_none();
        #[cfg(not(feature = "alloc"))]
        true
    }

    /// Whether changes leave the queue in order of arrival. The store then reaches the version of each.
    pub(crate) const fn is_in_order(&self) -> bool {
        !matches!(self.order, Order::ByKey(_))
    }

    /// Whether the first full state has left the queue, or something else was queued before it. Once true,
    /// it stays true.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        let synced = match &self.order {
            Order::ByKey(fifo) => fifo.is_synced(),
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => queue.is_synced(),
        };
        synced && !self.sweeps_first_state()
    }

    /// Returns the number of queued keys or changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.unreadable.len()
            + usize::from(self.fed.is_some())
            + match &self.order {
                Order::ByKey(fifo) => fifo.len(),
                #[cfg(feature = "alloc")]
                Order::AsTheyCame(queue) => queue.len(),
            }
    }

    /// Whether no step is left and no cursor walks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_drained() && self.cursor.is_none()
    }

    /// Whether no step is left. A cursor may still find more.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.fed.is_none()
            && self.unreadable.is_empty()
            && match &self.order {
                Order::ByKey(fifo) => fifo.is_empty(),
                #[cfg(feature = "alloc")]
                Order::AsTheyCame(queue) => queue.is_empty(),
            }
    }

    /// Whether the queued changes must wait for the cursor to end.
    const fn waits_for_cursor(&self) -> bool {
        self.is_in_order() && self.cursor.is_some() && self.fed.is_none()
    }

    /// Whether a resync is in progress. It shows objects of all sources; other walks concern one source.
    pub(crate) fn is_resyncing(&self) -> bool {
        let work = self.cursor.map(|cursor| cursor.work);
        matches!(work, Some(Work::Resync { .. }))
    }

    /// Deletes all known objects. Listeners have not heard of what is queued, so that is discarded.
    pub(crate) fn empty(&mut self, cause: Cause) {
        self.reset();
        self.cursor = Some(Cursor::new(Work::Empty { cause }));
    }

    /// Discards everything that is queued.
    pub(crate) fn clear(&mut self) {
        while !self.is_empty() {
            self.cursor = None;
            while self.next_step().is_some() {}
        }
    }

    /// Discards everything that is queued, and the full state that is being read. If the first full state
    /// has not left the queue, the next one is the first.
    pub(crate) fn reset(&mut self) {
        let synced = self.is_synced();
        self.clear();
        #[cfg(feature = "alloc")]
        if let Some(stage) = &mut self.stage {
            stage.abandon();
        }
        match &mut self.order {
            Order::ByKey(fifo) => {
                fifo.abandon_replace();
                fifo.set_populated(synced);
            }
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => queue.set_populated(synced),
        }
    }

    fn sweeps_first_state(&self) -> bool {
        let work = self.cursor.map(|cursor| cursor.work);
        matches!(work, Some(Work::Sweep { first: true, .. }))
    }
}

debug_fields!([T: Resource + Clone, S: Storage] Queue[T, S], self: len = self.len(),
    synced = self.is_synced(), cursor);
