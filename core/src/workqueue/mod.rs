//! Items that need work: each at most once in the queue, none in two hands, failures again later.
//!
//! A [`Workqueue`] stands between those who learn that something changed and those who do something
//! about it. Whoever learns [adds](Workqueue::add) an item, mostly a key; a worker
//! [takes](Workqueue::take) one, works and says [done](Workqueue::done). What is added again meanwhile
//! comes again, once, and not before the worker has finished. What failed is [tried
//! again](Workqueue::retry) after a delay that a [`RateLimiter`] chooses.
//!
//! Like all machines of this crate it is told the time: every call first does what is due, and a
//! driver sleeps until [`next_deadline`](Workqueue::next_deadline). One who has workers asleep wakes
//! one of them whenever [`len`](Workqueue::len) is not zero.

// The items and their three states: queued, taken, waiting for their time.
mod queue;

// When the waiting items are due.
mod delay;

// How long to wait before something is tried again.
mod limiter;

// The limiter that counts everything, whatever the item.
mod bucket;

// How often each item was tried again.
mod failures;

use core::fmt;
use core::hash::Hash;
use core::time::Duration;

pub use crate::bucket::TokenBucket;
pub use limiter::{
    DefaultController, Exponential, FastSlow, MaxOf, MaxWait, RateLimiter, default_controller,
    default_item_based,
};

use crate::storage::{Full, Seed, Storage};
use crate::time::Instant;
use queue::Items;

/// A queue of items to be worked on.
///
/// `K` is the item, mostly a key. `L` is the [`RateLimiter`]; with `()` there is none, and nothing that
/// needs one. `S` says where memory lives.
///
/// Calls that may need room for an item return [`Full`] if there is none, and nothing has changed then.
/// An item that is known, because it is queued, taken or waiting, has all the room that it needs to be
/// queued again, so [`advance`](Self::advance) and [`done`](Self::done) cannot fail.
///
/// ```
/// use core::time::Duration;
/// use informer_core::Instant;
/// use informer_core::storage::{Heap, Seed};
/// use informer_core::workqueue::Workqueue;
///
/// let mut queue: Workqueue<_, _, Heap> = Workqueue::for_controller(Seed::new(1));
/// let now = Instant::from_micros(0);
/// queue.add("web", now)?;
/// queue.add("db", now)?;
/// queue.add("web", now)?; // is queued already
/// assert_eq!(queue.len(), 2);
///
/// // What is added while it is worked on comes again when that has ended.
/// assert_eq!(queue.take(now), Some("web"));
/// queue.add("web", now)?;
/// assert_eq!(queue.take(now), Some("db"));
/// assert_eq!(queue.take(now), None);
/// queue.done(&"web", now);
/// assert_eq!(queue.take(now), Some("web"));
///
/// // It failed: again in five milliseconds, unless it fails once more.
/// queue.retry("web", now)?;
/// queue.done(&"web", now);
/// let due = now.after(Duration::from_millis(5));
/// assert_eq!((queue.take(now), queue.next_deadline()), (None, Some(due)));
/// assert_eq!(queue.take(due), Some("web"));
/// assert_eq!(queue.attempts(&"web"), 1);
/// queue.forget(&"web"); // success: the next failure is the first one
/// queue.done(&"web", due);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Workqueue<K, L, S: Storage> {
    items: Items<K, S>,
    limiter: L,
    /// The latest time heard of.
    now: Instant,
    shut_down: Option<ShutDown>,
    /// What the shutdown waits for has come. It is remembered because a worker may take one more item
    /// after somebody was told that all of them had finished.
    drained: bool,
}

/// What [`is_drained`](Workqueue::is_drained) waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "nothing, what is taken, or everything: there is no more"
)]
pub enum ShutDown {
    /// Nothing: drained at once.
    #[doc(alias = "ShutDown")]
    Now,
    /// That nothing is taken. What is queued does not count, so there may be work left.
    #[doc(alias = "ShutDownWithDrain")]
    DrainTaken,
    /// That nothing is taken and nothing is queued: workers go on until nothing is left.
    DrainAll,
}

/// What [`done`](Workqueue::done) does if the item is queued and not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "the item comes again, or not")]
pub enum StrayDone {
    /// Nothing.
    #[default]
    Ignore,
    /// The item is queued a second time, as in client-go; then two workers may have it at once.
    Requeue,
}

impl<K, S: Storage> Workqueue<K, (), S> {
    /// An empty queue without a limiter.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            items: Items::new(seed),
            limiter: (),
            now: Instant::default(),
            shut_down: None,
            drained: false,
        }
    }
}

impl<K, S: Storage> Workqueue<K, DefaultController<K, S>, S> {
    /// An empty queue with the limiter that client-go gives to controllers, [`default_controller`].
    #[must_use]
    pub fn for_controller(seed: Seed) -> Self {
        Workqueue::new(seed.clone()).with_limiter(default_controller(seed))
    }
}

impl<K, L, S: Storage> Workqueue<K, L, S> {
    /// The same queue with another limiter.
    #[must_use]
    pub fn with_limiter<M>(self, limiter: M) -> Workqueue<K, M, S> {
        Workqueue {
            items: self.items,
            limiter,
            now: self.now,
            shut_down: self.shut_down,
            drained: self.drained,
        }
    }

    /// The same queue with another answer to a [`done`](Self::done) for an item that is not taken.
    #[must_use]
    pub const fn with_stray_done(mut self, stray: StrayDone) -> Self {
        self.items.set_stray_done(stray);
        self
    }

    /// How many items can be taken.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.queued()
    }

    /// Whether no item can be taken.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items are taken and not done.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.items.taken()
    }

    /// How many items wait for their time.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.items.waiting()
    }

    /// When the next waiting item is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.items.next_due()
    }

    /// Whether [`shut_down`](Self::shut_down) was called. A worker that is given nothing to take then
    /// has reached its end, unless it has an item that is to be called done.
    #[doc(alias = "ShuttingDown")]
    #[must_use]
    pub const fn is_shutting_down(&self) -> bool {
        self.shut_down.is_some()
    }

    /// Whether what the last [`shut_down`](Self::shut_down) waits for has come; it may have been so for
    /// a moment only.
    #[must_use]
    pub const fn is_drained(&self) -> bool {
        self.drained
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug, L, S: Storage> Workqueue<K, L, S> {
    /// The item needs work. One that is queued stays where it is; one that is taken is queued as soon
    /// as it is [done](Self::done). Ignored after [`shut_down`](Self::shut_down).
    ///
    /// An item that waits for its time goes on waiting, and so may come twice; see
    /// [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// There is no room.
    pub fn add(&mut self, item: K, now: Instant) -> Result<(), Full> {
        self.advance(now);
        if self.is_shutting_down() {
            return Ok(());
        }
        self.items.add(item)
    }

    /// The item needs work after `delay`. Of several delays of one item the one that ends first counts,
    /// and the item comes once. Ignored after [`shut_down`](Self::shut_down).
    ///
    /// # Errors
    /// There is no room.
    pub fn add_after(&mut self, item: K, delay: Duration, now: Instant) -> Result<(), Full> {
        if delay.is_zero() {
            return self.add(item, now);
        }
        self.advance(now);
        if self.is_shutting_down() {
            return Ok(());
        }
        // Our clock counts microseconds. A part of one counts as a whole one: never too early.
        let due = self
            .now
            .after(delay.saturating_add(Duration::from_nanos(999)));
        self.items.add_at(item, due)
    }

    /// Takes back what [`add_after`](Self::add_after) or [`retry`](Self::retry) asked for, if the item
    /// still waits for its time. Says whether it did.
    pub fn cancel(&mut self, item: &K, now: Instant) -> bool {
        self.advance(now);
        self.items.cancel(item)
    }

    /// The first item of the queue, to be worked on until it is [done](Self::done).
    #[doc(alias = "Get")]
    pub fn take(&mut self, now: Instant) -> Option<K> {
        self.advance(now);
        self.items.take()
    }

    /// The work on the item has ended, well or not. If it was added meanwhile, it is queued again.
    pub fn done(&mut self, item: &K, now: Instant) {
        self.advance(now);
        self.items.done(item);
        self.notice_drained();
    }

    /// Queues the items whose time has come, in the order of their times.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.items.queue_due(self.now);
    }

    /// Ends the queue: nothing is added any more, and what waits for its time is dropped. What is
    /// queued can still be taken, and so can a taken item that was added again before.
    ///
    /// Another call replaces what is waited for.
    ///
    /// ```
    /// use informer_core::Instant;
    /// use informer_core::storage::{Heap, Seed};
    /// use informer_core::workqueue::{ShutDown, Workqueue};
    ///
    /// let now = Instant::from_micros(0);
    /// let mut queue: Workqueue<_, _, Heap> = Workqueue::new(Seed::new(1));
    /// queue.add("web", now)?;
    /// queue.shut_down(ShutDown::DrainAll, now);
    /// queue.add("db", now)?; // too late
    /// assert_eq!((queue.len(), queue.is_drained()), (1, false));
    ///
    /// while let Some(item) = queue.take(now) {
    ///     assert!(!queue.is_drained());
    ///     queue.done(&item, now);
    /// }
    /// assert!(queue.is_drained());
    /// # Ok::<(), informer_core::storage::Full>(())
    /// ```
    pub fn shut_down(&mut self, mode: ShutDown, now: Instant) {
        self.advance(now);
        self.items.cancel_all();
        self.shut_down = Some(mode);
        self.drained = false;
        self.notice_drained();
    }

    const fn notice_drained(&mut self) {
        self.drained |= match self.shut_down {
            None => false,
            Some(ShutDown::Now) => true,
            Some(ShutDown::DrainTaken) => self.taken() == 0,
            Some(ShutDown::DrainAll) => self.taken() == 0 && self.is_empty(),
        };
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug, L: RateLimiter<K>, S: Storage> Workqueue<K, L, S> {
    /// The work on the item failed: it needs work again, after the delay that the limiter chooses.
    /// [`done`](Self::done) is still to be called.
    ///
    /// # Errors
    /// There is no room, here or in the limiter.
    #[doc(alias = "add_rate_limited")]
    #[doc(alias = "AddRateLimited")]
    pub fn retry(&mut self, item: K, now: Instant) -> Result<(), Full> {
        self.advance(now);
        // First the room, then the limiter: it must not count what does not come to pass.
        if !self.is_shutting_down() {
            self.items.reserve(&item)?;
        }
        let delay = self.limiter.when(&item, self.now)?;
        self.add_after(item, delay, now)
    }

    /// The work on the item succeeded, or is given up: its failures count no more. An item that waits
    /// goes on waiting, and [`done`](Self::done) is still to be called.
    pub fn forget(&mut self, item: &K) {
        self.limiter.forget(item);
    }

    /// How often the item was tried again since it was [forgotten](Self::forget).
    #[doc(alias = "NumRequeues")]
    #[must_use]
    pub fn attempts(&self, item: &K) -> u32 {
        self.limiter.attempts(item)
    }
}

impl<K, L: fmt::Debug, S: Storage> fmt::Debug for Workqueue<K, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workqueue")
            .field("len", &self.len())
            .field("taken", &self.taken())
            .field("waiting", &self.waiting())
            .field("limiter", &self.limiter)
            .field("shut_down", &self.shut_down)
            .finish_non_exhaustive()
    }
}
