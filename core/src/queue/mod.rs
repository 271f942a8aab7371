//! The queues between the reflector and the store.
//!
//! [`Queue`] is the one of an informer: it takes a [`Change`] and hands out the [`Step`] that the store
//! is to apply next. Inside it is a [`DeltaFifo`], which groups changes by key, or an [`InOrderQueue`],
//! which keeps them as they came and takes a full state as one of them. Both can be used alone.

// A function at the entrance.
mod transform;

// Full states that are collected before they are delivered.
#[cfg(feature = "alloc")]
mod staging;

// Chains of deltas by key.
mod delta_fifo;

// One chain on its way out.
mod popped;

// Everything in the order in which it came.
#[cfg(feature = "alloc")]
mod in_order;

// A walk through the store: a sweep, or a resync.
mod cursor;

// Keys that the store must note as seen.
mod unreadable;

// How a change is filed.
mod filing;

use core::fmt;

use crate::flow::{Change, Delta, Step};
#[cfg(feature = "alloc")]
use crate::invariant::cannot_happen;
use crate::limits::StoreLimits;
use crate::object::{Resource, is_another};
use crate::storage::{Full, Seed, Storage};

#[cfg(feature = "alloc")]
pub use crate::flow::FullState;
pub use crate::known::{Epoch, Known, NothingKnown};
use cursor::{Cursor, Work};
pub use delta_fifo::{DeltaFifo, ReplaceAs};
#[cfg(feature = "alloc")]
pub use in_order::{Batch, InOrderQueue, Queued};
pub use popped::Popped;
#[cfg(feature = "alloc")]
use staging::{Collected, Stage};
pub use transform::{Transform, TransformError};
use unreadable::Unreadable;

/// Which queue an informer uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum QueueKind {
    /// [`DeltaFifo`]: changes grouped by key.
    DeltaFifo,
    /// [`InOrderQueue`]: changes as they came, a full state in one step.
    #[cfg(feature = "alloc")]
    InOrder,
}

/// When the objects of a full state reach the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these two")]
pub enum Relist {
    /// Each as it is decoded: no second copy of the state is held, and a list that breaks half-way
    /// has deleted nothing. An in-order queue delivers a full state in one step whatever this says.
    Streamed,
    /// All at the end, as client-go does. What an interrupted list brought is discarded.
    #[cfg(feature = "alloc")]
    Staged,
}

/// Takes changes and hands out what the store is to apply next.
///
/// The queue holds no reference to the store. It is shown the store where it must know what the store
/// knows. At the end of a full state it must find what has vanished, and for a resync it must show
/// everything again; both are cursors that walk through the store a few places at a time, whenever
/// [`feed`](Self::feed) is called, while changes keep coming in. What a watch adds or changes
/// meanwhile is neither swept nor shown again. As long as a cursor walks, the queue is not empty.
///
/// ```
/// use informer_core::flow::Change;
/// use informer_core::indexer::{Indexer, Rules, StoreLimits};
/// use informer_core::queue::{Queue, QueueKind, Relist};
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
/// let mut told = Vec::new();
/// while let Some(step) = queue.next_from(&*store) {
///     let applied = store.apply(step, Rules::default());
///     told.extend(applied.notifications.map(|notification| notification.to_string()));
/// }
/// assert_eq!(told, ["added default/web (initial, relist)", "deleted default/vanished (inferred, relist)"]);
/// assert!(queue.is_synced() && queue.is_empty());
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Queue<T: Resource + Clone, S: Storage> {
    transform: Option<Transform<T>>,
    /// Collects full states first, if they are to be delivered in one piece.
    #[cfg(feature = "alloc")]
    stage: Option<Stage<T>>,
    order: Order<T, S>,
    /// What is to be known of the full state under way when it ends.
    state: UnderWay,
    unreadable: Unreadable<T, S>,
    cursor: Option<Cursor>,
    /// What the cursor has found.
    fed: Option<Delta<T>>,
}

/// In which order changes are handed out.
enum Order<T: Resource + Clone, S: Storage> {
    ByKey(DeltaFifo<T, S>),
    #[cfg(feature = "alloc")]
    AsTheyCame(InOrderQueue<T>),
}

/// What is to be known of a full state when it ends.
#[derive(Clone, Copy, Default)]
struct UnderWay {
    /// Nothing was stored or queued when it began, so nothing can have vanished.
    from_nothing: bool,
    /// It contains something that could not even be named, so nothing may be swept.
    unnamed: bool,
    /// It contains something for which the store has no room, so the store does not show all of it.
    no_room: bool,
}

impl<T: Resource + Clone, S: Storage> Queue<T, S> {
    /// An empty queue. `limits` bound what is collected of a full state before it is delivered.
    #[must_use]
    #[cfg_attr(
        not(feature = "alloc"),
        expect(
            unused_variables,
            reason = "there is one kind of queue without an allocator"
        )
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
            state: UnderWay::default(),
            unreadable: Unreadable::new(),
            cursor: None,
            fed: None,
        }
    }

    /// The same queue with a transform at its entrance.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<T>) -> Self {
        self.transform = Some(transform);
        self
    }

    /// Takes a change. `known` is the store that the steps are applied to.
    ///
    /// # Errors
    /// The transform did not let the object pass, and the change comes back; or there is no room.
    pub fn push(
        &mut self,
        mut change: Change<T>,
        known: &impl Known<T>,
    ) -> Result<(), PushError<T>> {
        if let Some(transform) = &self.transform
            && let Some(object) = change.object_mut()
        {
            // Whatever the transform does to the object, this is who it was.
            let key = object.key().clone();
            if let Err(error) = transform.apply(object) {
                return Err(PushError::Transform { change, key, error });
            }
        }
        #[cfg(feature = "alloc")]
        if let Some(stage) = &mut self.stage {
            match stage.collect(change)? {
                Collected::Kept => {}
                Collected::Live(change) => self.file(change, known)?,
                Collected::Complete(state) => self.deliver(state, known)?,
            }
            return Ok(());
        }
        self.file(change, known)?;
        Ok(())
    }

    /// Whether an object with this uid, which could not be used, is another one than the object known
    /// under its key. That one is gone then: push [`Change::Displaced`]. Ask when everything that was
    /// queued is in the store.
    pub fn displaces(&mut self, key: &T::Key, uid: &str, known: &impl Known<T>) -> bool {
        #[cfg(feature = "alloc")]
        if let Some(stage) = &mut self.stage {
            return stage.displaces(key, uid, known);
        }
        known.get(key).is_some_and(|object| is_another(object, uid))
    }

    /// Begins to show everything in the store again; says whether it does. It does not while a cursor
    /// walks.
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

    /// What the store is to apply next. After `None`, [`feed`](Self::feed) may find more.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator that ends may not go on"
    )]
    pub fn next(&mut self) -> Option<Step<T>> {
        if let Some((key, seen)) = self.unreadable.pop() {
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
            // Nothing overtakes a resync.
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
                (Queued::Bookmark(_), _) => cannot_happen("a bookmark that was not filed", None),
            },
        }
    }

    /// Moves the cursor on, if there is one: until it has found something to apply, until it ends, or
    /// until it has looked at `places`, which are counted down. Says whether [`next`](Self::next) may
    /// have something now. Does nothing while there is.
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

    /// The next step, however far the cursor must walk for it.
    pub fn next_from(&mut self, known: &impl Known<T>) -> Option<Step<T>> {
        loop {
            let next = self.next();
            if next.is_some() || !self.feed(known, &mut { u32::MAX }) {
                return next;
            }
        }
    }

    /// Whether a sweep or a resync is under way.
    #[must_use]
    pub const fn has_cursor(&self) -> bool {
        self.cursor.is_some()
    }

    /// Whether a sweep or a resync can look at more of the store: nothing that must be applied first is
    /// in its way.
    #[must_use]
    pub fn walks(&self) -> bool {
        self.cursor.is_some() && (self.is_drained() || self.waits_for_cursor())
    }

    /// Whether a sweep is under way: the store may still show what has vanished.
    #[must_use]
    pub fn is_sweeping(&self) -> bool {
        let work = self.cursor.as_ref().map(Cursor::work);
        matches!(work, Some(Work::Sweep { .. }))
    }

    /// The store had no room for a step. Says whether that concerns the full state under way, which
    /// must then be read to its end all the same: only then is it known what makes room.
    pub const fn note_overflow(&mut self) -> bool {
        let replacing = self.is_replacing();
        self.state.no_room |= replacing;
        replacing
    }

    /// Whether the full state under way contains something for which the store had no room.
    #[must_use]
    pub const fn has_overflowed(&self) -> bool {
        self.state.no_room
    }

    /// Whether the objects of a full state are handed out before it is complete.
    #[must_use]
    pub const fn is_streamed(&self) -> bool {
        #[cfg(feature = "alloc")]
        return self.stage.is_none();
        #[cfg(not(feature = "alloc"))]
        true
    }

    /// Whether changes are handed out in the order in which they came, so that the store has reached the
    /// version of each.
    #[must_use]
    pub const fn is_in_order(&self) -> bool {
        match &self.order {
            Order::ByKey(_) => false,
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(_) => true,
        }
    }

    /// Whether the first full state has been handed out, or something else came first. It never turns
    /// back.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        let handed_out = match &self.order {
            Order::ByKey(fifo) => fifo.is_synced(),
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(queue) => queue.is_synced(),
        };
        handed_out && !self.sweeps_first_state()
    }

    /// How many keys or changes are queued.
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

    /// Whether nothing is left to hand out, and no cursor walks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.is_drained() && self.cursor.is_none()
    }

    /// Whether everything that was pushed has been handed out; a cursor may still find more.
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

    /// Whether all that is queued must wait until the cursor ends.
    const fn waits_for_cursor(&self) -> bool {
        self.is_in_order() && self.cursor.is_some() && self.fed.is_none()
    }

    /// Forgets everything that is queued.
    pub fn clear(&mut self) {
        while !self.is_empty() {
            self.cursor = None;
            while self.next().is_some() {}
        }
    }

    fn sweeps_first_state(&self) -> bool {
        let work = self.cursor.as_ref().map(Cursor::work);
        matches!(work, Some(Work::Sweep { first: true, .. }))
    }

    const fn is_replacing(&self) -> bool {
        match &self.order {
            Order::ByKey(fifo) => fifo.is_replacing(),
            #[cfg(feature = "alloc")]
            Order::AsTheyCame(_) => false,
        }
    }
}

impl<T: Resource + Clone, S: Storage> fmt::Debug for Queue<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("len", &self.len())
            .field("synced", &self.is_synced())
            .field("cursor", &self.cursor)
            .finish_non_exhaustive()
    }
}

/// Why a queue did not take a change.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever matches must see a new case"
)]
pub enum PushError<T: Resource> {
    /// The transform did not let the object pass.
    Transform {
        /// The change, with the object as the transform left it.
        change: Change<T>,
        /// The key of the object before the transform saw it.
        key: T::Key,
        /// What the transform says.
        error: TransformError,
    },
    /// The storage of the queue is full, or a full state is larger than its limits.
    Full,
}

impl<T: Resource> From<Full> for PushError<T> {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl<T: Resource> fmt::Display for PushError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transform { key, error, .. } => write!(f, "{key:?}: {error}"),
            Self::Full => f.write_str("the queue is full"),
        }
    }
}

impl<T: Resource + fmt::Debug> core::error::Error for PushError<T> {}
