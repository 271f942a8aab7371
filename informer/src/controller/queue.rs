//! Keys that wait for a worker: the work queue of the core, shared by many tasks.

use std::fmt;
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use informer_core::storage::{Full, Heap, Seed};
use informer_core::workqueue::{ControllerLimiter, ShutDown, Workqueue};
use informer_core::{Clock, Instant, Wakers};

use super::{Key, Next};
use crate::runtime::RuntimeError;
use crate::sync::{Mutex, MutexGuard};

/// A work queue of keys. Clones are cheap and refer to the same queue.
///
/// A key that is already queued is not queued again. A key that a worker has is queued again when the
/// worker has finished. Retries have the delays of client-go: 5 ms at first, doubled each time, up to
/// 1,000 s, and after the first 100 at most 10 per second overall.
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

type Core<Q> = Workqueue<Q, ControllerLimiter<Q, Heap>, Heap>;

struct State<Q: Key> {
    core: Core<Q>,
    waiting: Wakers,
    workers: usize,
}

impl<Q: Key> Queue<Q> {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        let seed = Seed::new(RandomState::new().build_hasher().finish());
        let state = State {
            core: Workqueue::for_controller(seed),
            waiting: Wakers::default(),
            workers: 0,
        };
        Self {
            shared: Arc::new(Shared {
                clock,
                state: Mutex::new(state),
            }),
        }
    }

    /// Adds a key. Does nothing after the controller was stopped.
    pub fn add(&self, key: Q) {
        self.change(|core, now| core.add(key, now));
    }

    /// Adds a key after a delay. If a key has several delays, the shortest counts.
    pub fn add_after(&self, key: Q, delay: Duration) {
        self.change(|core, now| core.add_after(key, delay, now));
    }

    /// Cancels the delay of a key, so that it is not added. Returns whether the key was delayed.
    pub fn cancel(&self, key: &Q) -> bool {
        let cancelled = self.change(|core, now| Ok(core.cancel(key, now)));
        cancelled.unwrap_or(false)
    }

    /// The number of keys that are ready for a worker.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().core.len()
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
        let waiting = Waiting::new(&self.shared);
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
        if let Some(key) = state.core.take(now) {
            return Ok(Some(key));
        }
        // Keys that other workers have may be queued again, so wait for these, too.
        if state.core.is_drained() {
            return Ok(None);
        }
        state.waiting.wait(ticket, waker);
        Err(state.core.next_deadline())
    }

    /// Finishes a key, with `None` for a failure.
    pub(super) fn settle(&self, key: &Q, outcome: Option<Next>) {
        self.change(|core, now| {
            let queued = match outcome {
                None => core.retry(key.clone(), now),
                Some(next) => {
                    core.forget(key);
                    match next {
                        Next::Done => Ok(()),
                        Next::After(delay) => core.add_after(key.clone(), delay, now),
                    }
                }
            };
            core.done(key, now);
            queued
        });
    }

    pub(super) fn shut_down(&self) {
        self.change(|core, now| {
            if !core.is_shutting_down() {
                core.shut_down(ShutDown::DrainAll, now);
            }
            Ok(())
        });
    }

    /// Registers a worker until it is dropped.
    pub(super) fn join(&self) -> Worker<Q> {
        self.shared.lock().workers += 1;
        Worker {
            queue: self.clone(),
        }
    }

    /// Waits until all workers have finished.
    pub(super) async fn ended(&self) {
        let waiting = Waiting::new(&self.shared);
        poll_fn(|cx| {
            let mut state = self.shared.lock();
            if state.workers == 0 {
                return Poll::Ready(());
            }
            state.waiting.wait(waiting.ticket, cx.waker());
            Poll::Pending
        })
        .await;
    }

    /// Changes the queue and wakes waiting tasks.
    fn change<R>(
        &self,
        change: impl FnOnce(&mut Core<Q>, Instant) -> Result<R, Full>,
    ) -> Option<R> {
        let now = self.shared.clock.now();
        let mut state = self.shared.lock();
        let outcome = change(&mut state.core, now);
        let woken = state.waiting.take();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        if let Err(full) = &outcome {
            tracing::error!(%full, "a key was not queued");
        }
        outcome.ok()
    }
}

impl<Q: Key> Shared<Q> {
    /// Ignores poisoning: only `eq` or `hash` of a key can panic under the lock.
    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the waiting tasks, given up when dropped.
struct Waiting<'a, Q: Key> {
    shared: &'a Shared<Q>,
    ticket: u64,
}

impl<'a, Q: Key> Waiting<'a, Q> {
    fn new(shared: &'a Shared<Q>) -> Self {
        let ticket = shared.lock().waiting.ticket();
        Self { shared, ticket }
    }
}

impl<Q: Key> Drop for Waiting<'_, Q> {
    fn drop(&mut self) {
        self.shared.lock().waiting.forget(self.ticket);
    }
}

/// Counts a worker until it is dropped.
pub(super) struct Worker<Q: Key> {
    pub(super) queue: Queue<Q>,
}

impl<Q: Key> Drop for Worker<Q> {
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
            .field("queued", &state.core.len())
            .field("taken", &state.core.taken())
            .field("waiting", &state.core.waiting())
            .field("workers", &state.workers)
            .finish()
    }
}
