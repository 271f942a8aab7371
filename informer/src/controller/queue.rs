//! Keys to be worked on: the core's work queue, for many tasks.

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

/// A queue of keys. Cheap to clone; all clones are the same queue.
///
/// A key that is queued already is not queued again. One that is worked on is queued again when that
/// has ended. Retries are delayed as client-go's are: from 5 ms on, doubled each time, up to 1,000 s, and
/// no more than 10 per second over all after the first 100.
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

    /// Queues a key. After the controller was stopped, nothing happens.
    pub fn add(&self, key: Q) {
        self.change(|core, now| core.add(key, now));
    }

    /// Queues a key when so much time has passed. Of several delays of one key the shortest counts.
    pub fn add_after(&self, key: Q, delay: Duration) {
        self.change(|core, now| core.add_after(key, delay, now));
    }

    /// Takes a delayed key back. Says whether there was one.
    pub fn cancel(&self, key: &Q) -> bool {
        let cancelled = self.change(|core, now| Ok(core.cancel(key, now)));
        cancelled.unwrap_or(false)
    }

    /// How many keys wait to be taken.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().core.len()
    }

    /// Whether no key waits to be taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many times in a row a key has failed.
    #[must_use]
    pub fn attempts(&self, key: &Q) -> u32 {
        self.shared.lock().core.attempts(key)
    }

    /// The next key; `None` when there will be none any more.
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

    /// Takes a key, or says when the next one is due.
    fn poll_take(&self, ticket: u64, waker: &Waker) -> Result<Option<Q>, Option<Instant>> {
        let now = self.shared.clock.now();
        let mut state = self.shared.lock();
        if let Some(key) = state.core.take(now) {
            return Ok(Some(key));
        }
        // What is in other hands may still come again.
        if state.core.is_drained() {
            return Ok(None);
        }
        state.waiting.wait(ticket, waker);
        Err(state.core.next_deadline())
    }

    /// A key was dealt with: successfully or not.
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

    /// One more worker, until it is dropped.
    pub(super) fn join(&self) -> Worker<Q> {
        self.shared.lock().workers += 1;
        Worker {
            queue: self.clone(),
        }
    }

    /// Waits until there are no workers any more.
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

    /// Changes the queue, and wakes who waits for that.
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
    /// A panic in here would be one of a key's own `eq` or `hash`.
    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits, and leaves nothing behind.
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

/// A worker that is counted as long as it lives.
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
