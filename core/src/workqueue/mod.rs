//! A work queue: each item at most once in the queue, never with two workers, and retried with a delay.
//!
//! A [`Workqueue`] connects the code that notices changes with the workers that act on them. When
//! something changes, [`add`](Workqueue::add) an item, usually a key. A worker
//! [takes](Workqueue::take) an item, works on it and calls [`done`](Workqueue::done). An item that is
//! added while a worker has it comes again, once, after the worker has finished. After a failure,
//! [`retry`](Workqueue::retry) adds the item again with a delay that a [`RateLimiter`] chooses.
//!
//! Like every machine of this crate, the queue has no clock: you pass it the time. Each call first
//! handles what is due. A driver sleeps until [`next_deadline`](Workqueue::next_deadline), and wakes a
//! worker whenever [`len`](Workqueue::len) is not zero.

// The items and their three states: queued, taken, waiting.
mod queue;

// The schedule of waiting items.
mod delay;

// Delays before retries.
mod limiter;

// The limiter for all items together.
mod bucket;

// The number of failures per item.
mod failures;

use core::fmt;
use core::hash::Hash;
use core::time::Duration;

pub use crate::bucket::TokenBucket;
pub use limiter::{
    ControllerLimiter, Exponential, FastSlow, MaxOf, MaxWait, RateLimiter, controller_limiter,
    item_limiter,
};

use crate::storage::{Full, Seed, Storage};
use crate::time::Instant;
use queue::Items;

/// A queue of items that need work.
///
/// `K` is the item, usually a key. `L` is the [`RateLimiter`]; with `()` there is none, and
/// [`retry`](Self::retry) does not exist. `S` is the storage.
///
/// Calls that need room for an item return [`Full`] if there is none, and change nothing then. An item
/// that is queued, taken or waiting already has its room, so [`advance`](Self::advance) and
/// [`done`](Self::done) cannot fail.
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
/// queue.add("web", now)?; // queued already
/// assert_eq!(queue.len(), 2);
///
/// // An item that is added while a worker has it comes again after `done`.
/// assert_eq!(queue.take(now), Some("web"));
/// queue.add("web", now)?;
/// assert_eq!(queue.take(now), Some("db"));
/// assert_eq!(queue.take(now), None);
/// queue.done(&"web", now);
/// assert_eq!(queue.take(now), Some("web"));
///
/// // After a failure, the item comes again in five milliseconds.
/// queue.retry("web", now)?;
/// queue.done(&"web", now);
/// let due = now.after(Duration::from_millis(5));
/// assert_eq!((queue.take(now), queue.next_deadline()), (None, Some(due)));
/// assert_eq!(queue.take(due), Some("web"));
/// assert_eq!(queue.attempts(&"web"), 1);
/// queue.forget(&"web"); // success: the next failure counts as the first
/// queue.done(&"web", due);
/// # Ok::<(), informer_core::storage::Full>(())
/// ```
pub struct Workqueue<K, L, S: Storage> {
    items: Items<K, S>,
    limiter: L,
    /// The latest time passed in.
    now: Instant,
    shut_down: Option<ShutDown>,
    /// The shutdown has drained. This is remembered, because a worker may take another item after a caller
    /// saw that the queue had drained.
    drained: bool,
}

/// When a queue that is shut down counts as [drained](Workqueue::is_drained).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there are these three")]
pub enum ShutDown {
    /// At once.
    #[doc(alias = "ShutDown")]
    Now,
    /// When no item is taken. Items may still be queued.
    #[doc(alias = "ShutDownWithDrain")]
    DrainTaken,
    /// When no item is taken and none is queued: workers finish all items.
    DrainAll,
}

/// The effect of [`done`](Workqueue::done) on an item that is queued but not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "the item is queued again or not")]
pub enum StrayDone {
    /// No effect.
    #[default]
    Ignore,
    /// Queue the item a second time, as client-go does. Two workers may then have it at once.
    Requeue,
}

impl<K, S: Storage> Workqueue<K, (), S> {
    /// Creates an empty queue without a limiter.
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

impl<K, S: Storage> Workqueue<K, ControllerLimiter<K, S>, S> {
    /// Creates an empty queue with [`controller_limiter`], the default of client-go's controllers.
    #[must_use]
    pub fn for_controller(seed: Seed) -> Self {
        Workqueue::new(seed.clone()).with_limiter(controller_limiter(seed))
    }
}

impl<K, L, S: Storage> Workqueue<K, L, S> {
    /// Replaces the limiter.
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

    /// Replaces the limiter of a queue in use, by one of the same type.
    pub fn set_limiter(&mut self, limiter: L) {
        self.limiter = limiter;
    }

    /// Sets the effect of [`done`](Self::done) on an item that is not taken.
    #[must_use]
    pub const fn with_stray_done(mut self, stray: StrayDone) -> Self {
        self.items.stray = stray;
        self
    }

    /// Returns the number of items that can be taken.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.items.queued
    }

    /// Whether no item can be taken.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items that are taken and not done.
    #[must_use]
    pub const fn taken(&self) -> usize {
        self.items.taken
    }

    /// Returns the number of items that wait for a delay.
    #[must_use]
    pub const fn waiting(&self) -> usize {
        self.items.schedule.len
    }

    /// Returns how many times an item was added, now or after its delay. An item that needed work already does
    /// not count.
    #[must_use]
    pub const fn adds(&self) -> u64 {
        self.items.adds
    }

    /// Returns when the next waiting item is due.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        self.items.next_due()
    }

    /// Whether [`shut_down`](Self::shut_down) was called. A worker that gets no item then can exit, after
    /// it has called [`done`](Self::done) for its last one.
    #[doc(alias = "ShuttingDown")]
    #[must_use]
    pub const fn is_shutting_down(&self) -> bool {
        self.shut_down.is_some()
    }

    /// Whether the queue has drained since the last [`shut_down`](Self::shut_down), even if only for a
    /// moment.
    #[must_use]
    pub const fn is_drained(&self) -> bool {
        self.drained
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug, L, S: Storage> Workqueue<K, L, S> {
    /// Queues an item. A queued item keeps its place. A taken item is queued when it is
    /// [done](Self::done). Does nothing after [`shut_down`](Self::shut_down).
    ///
    /// An item that waits for a delay keeps waiting, so it may come twice; see [`cancel`](Self::cancel).
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn add(&mut self, item: K, now: Instant) -> Result<(), Full> {
        self.advance(now);
        if self.is_shutting_down() {
            return Ok(());
        }
        self.items.add(item, self.now)
    }

    /// Queues an item after `delay`. If the item waits already, the delay that ends first counts, and the
    /// item comes once. Does nothing after [`shut_down`](Self::shut_down).
    ///
    /// # Errors
    /// [`Full`] if there is no room.
    pub fn add_after(&mut self, item: K, delay: Duration, now: Instant) -> Result<(), Full> {
        if delay.is_zero() {
            return self.add(item, now);
        }
        self.advance(now);
        if self.is_shutting_down() {
            return Ok(());
        }
        // The clock counts microseconds. Round up, so that the item never comes too early.
        let due = self
            .now
            .after(delay.saturating_add(Duration::from_nanos(999)));
        self.items.add_at(item, due)
    }

    /// Cancels the delay of [`add_after`](Self::add_after) or [`retry`](Self::retry). Returns whether the
    /// item was waiting.
    pub fn cancel(&mut self, item: &K, now: Instant) -> bool {
        self.advance(now);
        self.items.cancel(item)
    }

    /// Takes the first item of the queue. Call [`done`](Self::done) when you have finished.
    #[doc(alias = "Get")]
    pub fn take(&mut self, now: Instant) -> Option<K> {
        self.take_waited(now).map(|(item, _)| item)
    }

    /// The same as [`take`](Self::take), with the time that the item was queued. Delays do not count; the time
    /// during which a worker had the item does.
    ///
    /// ```
    /// use informer_core::Instant;
    /// use informer_core::storage::{Heap, Seed};
    /// use informer_core::workqueue::Workqueue;
    /// use core::time::Duration;
    ///
    /// let mut queue: Workqueue<_, _, Heap> = Workqueue::new(Seed::new(1));
    /// queue.add("web", Instant::from_micros(0))?;
    /// let taken = queue.take_waited(Instant::from_micros(7));
    /// assert_eq!(taken, Some(("web", Duration::from_micros(7))));
    /// assert_eq!(queue.adds(), 1);
    /// # Ok::<(), informer_core::storage::Full>(())
    /// ```
    pub fn take_waited(&mut self, now: Instant) -> Option<(K, Duration)> {
        self.advance(now);
        let (item, since) = self.items.take()?;
        Some((item, self.now.since(since)))
    }

    /// Ends the work on an item, whether or not it succeeded. Queues the item again if it was added in
    /// the meantime.
    pub fn done(&mut self, item: &K, now: Instant) {
        self.advance(now);
        self.items.done(item);
        self.notice_drained();
    }

    /// Queues the waiting items that are due, in order of time.
    pub fn advance(&mut self, now: Instant) {
        self.now = self.now.max(now);
        self.items.queue_due(self.now);
    }

    /// Shuts the queue down. From now on, adding does nothing. Waiting items are dropped. Queued items can
    /// still be taken, and so can taken items that were added again before.
    ///
    /// Another call replaces the mode.
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
    /// Queues a failed item again, after a delay that the limiter chooses. You must still call
    /// [`done`](Self::done).
    ///
    /// # Errors
    /// [`Full`] if there is no room, here or in the limiter.
    #[doc(alias = "add_rate_limited")]
    #[doc(alias = "AddRateLimited")]
    pub fn retry(&mut self, item: K, now: Instant) -> Result<(), Full> {
        self.advance(now);
        // Reserve first: the limiter must not count an attempt that does not happen.
        if !self.is_shutting_down() {
            self.items.reserve(&item)?;
        }
        let delay = self.limiter.when(&item, self.now)?;
        self.add_after(item, delay, now)
    }

    /// Resets the failures of an item, after success or when you give up. A waiting item keeps waiting. You
    /// must still call [`done`](Self::done).
    pub fn forget(&mut self, item: &K) {
        self.limiter.forget(item);
    }

    /// Returns the number of retries of the item since it was last [forgotten](Self::forget).
    #[doc(alias = "NumRequeues")]
    #[must_use]
    pub fn attempts(&self, item: &K) -> u32 {
        self.limiter.attempts(item)
    }
}

debug_fields!([K, L: fmt::Debug, S: Storage] Workqueue[K, L, S], self: len = self.len(),
    taken = self.taken(), waiting = self.waiting(), limiter, shut_down);
