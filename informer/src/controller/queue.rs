//! Keys that wait for a worker: the work queue of the core, shared by many tasks.

use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher, RandomState};
#[cfg(feature = "metrics")]
use std::sync::Weak;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use informer_core::storage::{Full, Heap, Seed};
use informer_core::workqueue::{RateLimiter, ShutDown, Workqueue, controller_limiter};
use informer_core::{Clock, Instant, Wakers};

use super::Key;
use super::behind::Behind;
use super::status::ControllerStatus;
use super::work::{Outcome, Work};
#[cfg(feature = "metrics")]
use crate::meters::QueueMeters;
use crate::runtime::RuntimeError;
use crate::sync::{Mutex, MutexGuard};

/// A work queue of keys. Clones are cheap and refer to the same queue.
///
/// A key that is already queued is not queued again. A key that a worker has is queued again when the
/// worker has finished. Retries have the delays of client-go, unless you choose another
/// [limiter](super::Controller::limiter): 5 ms at first, doubled each time, up to 1,000 s, and after the
/// first 100 at most 10 per second overall.
///
/// ```
/// use informer::controller::Controller;
/// use informer::runtime::Tokio;
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let controller = Controller::new(Tokio::current()?);
/// let queue = controller.queue();
/// queue.add("shop");
/// queue.add("shop");
/// assert_eq!(queue.len(), 1);
///
/// queue.add_after("cart", Duration::from_secs(60));
/// assert_eq!(queue.len(), 1);
/// assert!(queue.cancel(&"cart"));
/// assert_eq!(queue.attempts(&"shop"), 0);
/// # Ok(())
/// # }
/// ```
pub struct Queue<Q: Key> {
    shared: Arc<Shared<Q>>,
}

struct Shared<Q: Key> {
    clock: Arc<dyn Clock>,
    state: Mutex<State<Q>>,
}

type Limiter<Q> = Box<dyn RateLimiter<Q> + Send>;
type Core<Q> = Workqueue<Q, Limiter<Q>, Heap>;

struct State<Q: Key> {
    name: String,
    core: Core<Q>,
    behind: Behind<Q>,
    /// How long a key waits for further changes.
    debounce: Duration,
    work: Work<Q>,
    end: End,
    /// Tasks that wait for a key, or for the last worker.
    waiting: Wakers,
    /// Tasks that wait for an `end`. A busy worker is one of them, and must not be woken by each key.
    awaiting_end: Wakers,
    workers: usize,
    /// The keys that workers had to drop at the end.
    dropped: Vec<Q>,
}

/// How far a controller has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    NotYet,
    /// Workers go on until no key is queued.
    Drain,
    /// Workers finish the keys that they have.
    Finish,
    /// Workers drop the keys that they have.
    Abandon,
}

impl<Q: Key> Queue<Q> {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let seed = Seed::new(RandomState::new().build_hasher().finish());
        let limiter: Limiter<Q> = Box::new(controller_limiter::<Q, Heap>(seed.clone()));
        let state = State {
            name: "controller".to_owned(),
            core: Workqueue::new(seed).with_limiter(limiter),
            behind: Behind::new(),
            debounce: Duration::ZERO,
            work: Work::new(),
            end: End::NotYet,
            waiting: Wakers::default(),
            awaiting_end: Wakers::default(),
            workers: 0,
            dropped: Vec::new(),
        };
        Self {
            shared: Arc::new(Shared {
                clock,
                state: Mutex::new(state),
            }),
        }
    }

    pub(super) fn set_name(&self, name: String) {
        self.shared.lock().name = name;
    }

    pub(crate) fn name(&self) -> String {
        self.shared.lock().name.clone()
    }

    /// The same for all handles of a queue, and for no other.
    #[cfg(feature = "metrics")]
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.shared).addr()
    }

    #[cfg(feature = "metrics")]
    pub(crate) fn downgrade(&self) -> WeakQueue<Q> {
        WeakQueue(Arc::downgrade(&self.shared))
    }

    pub(super) fn set_limiter(&self, limiter: Limiter<Q>) {
        self.shared.lock().core.set_limiter(limiter);
    }

    pub(super) fn set_debounce(&self, debounce: Duration) {
        self.shared.lock().debounce = debounce;
    }

    /// Adds a key. Does nothing after the controller was stopped.
    pub fn add(&self, key: Q) {
        self.change(|state, now| {
            state.behind.remove(&key);
            state.core.add_after(key, state.debounce, now)
        });
    }

    /// Adds a key that waits behind all others until nothing else is queued. So that it comes however many
    /// changes there are, one of these joins the others after every eighth key. The keys of an initial state
    /// are added in this way.
    pub fn add_behind(&self, key: Q) {
        self.change(|state, _| {
            if state.end == End::NotYet {
                state.behind.add(key);
            }
            Ok(())
        });
    }

    /// Adds a key after a delay. If a key has several delays, the shortest counts.
    pub fn add_after(&self, key: Q, delay: Duration) {
        self.change(|state, now| {
            state.work.retries += 1;
            state.core.add_after(key, delay, now)
        });
    }

    /// Cancels the delay of a key, so that it is not added. Returns whether the key was delayed.
    pub fn cancel(&self, key: &Q) -> bool {
        let cancelled = self.change(|state, now| Ok(state.core.cancel(key, now)));
        cancelled.unwrap_or(false)
    }

    /// The number of keys that are ready for a worker.
    #[must_use]
    pub fn len(&self) -> usize {
        let state = self.shared.lock();
        state.core.len() + state.behind.len()
    }

    /// Whether no key is ready for a worker.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many times in a row a key has failed.
    #[must_use]
    pub fn attempts(&self, key: &Q) -> u32 {
        self.shared.lock().core.attempts(key)
    }

    /// Waits for the next key. Returns `None` when there will be no more.
    pub(super) async fn next(&self) -> Option<Q> {
        let mut timer = self.shared.clock.timer();
        let waiting = Waiting::new(&self.shared, waiting_of);
        poll_fn(|cx| {
            loop {
                let due = match self.poll_take(waiting.ticket, cx.waker()) {
                    Ok(taken) => return Poll::Ready(taken),
                    Err(due) => due,
                };
                match due.map(|due| timer.poll_until(due, cx)) {
                    Some(Poll::Ready(())) => {}
                    Some(Poll::Pending) | None => return Poll::Pending,
                }
            }
        })
        .await
    }

    /// Takes a key, or returns when the next one is due.
    fn poll_take(&self, ticket: u64, waker: &Waker) -> Result<Option<Q>, Option<Instant>> {
        let now = self.shared.clock.now();
        let mut state = self.shared.lock();
        if state.end >= End::Finish {
            return Ok(None);
        }
        if let Some(key) = state.take(now) {
            return Ok(Some(key));
        }
        // Keys that other workers have may be queued again, so wait for these, too.
        if state.core.is_drained() {
            return Ok(None);
        }
        state.waiting.wait(ticket, waker);
        Err(state.core.next_deadline())
    }

    /// Finishes a key.
    pub(super) fn settle(&self, key: &Q, outcome: Outcome) {
        self.change(|state, now| {
            state.work.end(key, &outcome, now);
            if matches!(outcome, Outcome::PutBack) && state.end == End::Abandon {
                state.dropped.push(key.clone());
            }
            let core = &mut state.core;
            let queued = match outcome {
                Outcome::Retry => core.retry(key.clone(), now),
                Outcome::PutBack => core.add(key.clone(), now),
                Outcome::Done | Outcome::GiveUp => {
                    core.forget(key);
                    Ok(())
                }
                Outcome::After(delay) => {
                    core.forget(key);
                    core.add_after(key.clone(), delay, now)
                }
            };
            core.done(key, now);
            queued
        });
    }

    pub(super) fn shut_down(&self, end: End) {
        self.change(|state, now| {
            if state.end == End::NotYet {
                while let Some(key) = state.behind.pop() {
                    state.core.add(key, now)?;
                }
                state.core.shut_down(ShutDown::DrainAll, now);
            }
            state.end = state.end.max(end);
            Ok(())
        });
        let woken = self.shared.lock().awaiting_end.take();
        woken.into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_shut_down(&self) -> bool {
        self.shared.lock().end != End::NotYet
    }

    /// The keys that workers had to drop at the end.
    pub(super) fn dropped(&self) -> Vec<Q> {
        self.shared.lock().dropped.clone()
    }

    /// Whether it was not shut down, and keys are queued, delayed or taken, or somebody can still add some.
    pub(super) fn is_in_use(&self) -> bool {
        let state = self.shared.lock();
        let keys = state.core.len() + state.core.waiting() + state.core.taken();
        let others = Arc::strong_count(&self.shared) > state.workers + 1;
        state.end == End::NotYet && (others || keys + state.behind.len() > 0)
    }

    /// Waits until it is shut down.
    pub(super) async fn ending(&self) {
        let is_ending = |state: &State<Q>| state.end != End::NotYet;
        self.until(awaiting_end_of, is_ending).await;
    }

    /// Waits until the keys that workers have are to be dropped.
    pub(super) async fn abandoned(&self) {
        let is_abandoned = |state: &State<Q>| state.end == End::Abandon;
        self.until(awaiting_end_of, is_abandoned).await;
    }

    /// Registers a worker until it is dropped.
    pub(super) fn join(&self) -> Place<Q> {
        self.shared.lock().workers += 1;
        Place {
            queue: self.clone(),
        }
    }

    pub(crate) fn status(&self) -> ControllerStatus<Q> {
        let now = self.shared.clock.now();
        let state = self.shared.lock();
        ControllerStatus {
            name: state.name.clone(),
            queued: state.core.len() + state.behind.len(),
            delayed: state.core.waiting(),
            adds: state.core.adds(),
            workers: state.workers,
            stopped: state.end != End::NotYet,
            ..state.work.status(now)
        }
    }

    pub(super) fn count_panic(&self) {
        self.shared.lock().work.panics += 1;
    }

    /// Measures from now on.
    #[cfg(feature = "metrics")]
    pub(crate) fn measure(&self) -> QueueMeters {
        self.shared.lock().work.measure().clone()
    }

    /// Waits until all workers have finished.
    pub(super) async fn ended(&self) {
        self.until(waiting_of, |state| state.workers == 0).await;
    }

    async fn until(&self, among: Among<Q>, is_so: impl Fn(&State<Q>) -> bool) {
        let waiting = Waiting::new(&self.shared, among);
        poll_fn(|cx| {
            let mut state = self.shared.lock();
            if is_so(&state) {
                return Poll::Ready(());
            }
            among(&mut state).wait(waiting.ticket, cx.waker());
            Poll::Pending
        })
        .await;
    }

    /// Changes the queue and wakes waiting tasks.
    fn change<R>(
        &self,
        change: impl FnOnce(&mut State<Q>, Instant) -> Result<R, Full>,
    ) -> Option<R> {
        let now = self.shared.clock.now();
        let mut state = self.shared.lock();
        let outcome = change(&mut state, now);
        let woken = state.waiting.take();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if let Err(full) = &outcome {
            tracing::error!(%full, "a key was not queued");
        }
        outcome.ok()
    }
}

impl<Q: Key> State<Q> {
    fn take(&mut self, now: Instant) -> Option<Q> {
        self.core.advance(now);
        if let Some(key) = self.behind.next(self.core.is_empty()) {
            // A heap has room.
            let _ = self.core.add(key, now);
        }
        loop {
            if let Some((key, queued)) = self.core.take_waited(now) {
                self.work.begin(key.clone(), queued, now);
                return Some(key);
            }
            // Another worker may have the key that has just joined, so go on to the next.
            let next = self.behind.pop()?;
            let _ = self.core.add(next, now);
        }
    }
}

impl<Q: Key> Shared<Q> {
    /// Ignores poisoning: only `eq` or `hash` of a key can panic under the lock.
    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Those who wait for the same.
type Among<Q> = fn(&mut State<Q>) -> &mut Wakers;

const fn waiting_of<Q: Key>(state: &mut State<Q>) -> &mut Wakers {
    &mut state.waiting
}

const fn awaiting_end_of<Q: Key>(state: &mut State<Q>) -> &mut Wakers {
    &mut state.awaiting_end
}

/// A place among the waiting tasks, given up when dropped.
struct Waiting<'a, Q: Key> {
    shared: &'a Shared<Q>,
    among: Among<Q>,
    ticket: u64,
}

impl<'a, Q: Key> Waiting<'a, Q> {
    fn new(shared: &'a Shared<Q>, among: Among<Q>) -> Self {
        let ticket = among(&mut shared.lock()).ticket();
        Self {
            shared,
            among,
            ticket,
        }
    }
}

impl<Q: Key> Drop for Waiting<'_, Q> {
    fn drop(&mut self) {
        (self.among)(&mut self.shared.lock()).forget(self.ticket);
    }
}

/// The place of a worker, until it is dropped.
pub(super) struct Place<Q: Key> {
    pub(super) queue: Queue<Q>,
}

impl<Q: Key> Drop for Place<Q> {
    fn drop(&mut self) {
        let mut state = self.queue.shared.lock();
        state.workers -= 1;
        let lost = !state.core.is_shutting_down();
        let woken = state.waiting.take();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if lost {
            tracing::error!(reason = %RuntimeError::ended(), "a worker was lost");
        }
    }
}

/// Refers to a queue without keeping it in use.
#[cfg(feature = "metrics")]
pub(crate) struct WeakQueue<Q: Key>(Weak<Shared<Q>>);

#[cfg(feature = "metrics")]
impl<Q: Key> WeakQueue<Q> {
    pub(crate) fn upgrade(&self) -> Option<Queue<Q>> {
        self.0.upgrade().map(|shared| Queue { shared })
    }
}

impl<Q: Key> Clone for Queue<Q> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<Q: Key> fmt::Debug for Queue<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("Queue")
            .field("queued", &(state.core.len() + state.behind.len()))
            .field("taken", &state.core.taken())
            .field("waiting", &state.core.waiting())
            .field("workers", &state.workers)
            .finish()
    }
}
