//! Tasks that run when they are told to.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::mem;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use informer_core::Clock;

use super::{Runtime, RuntimeError, Task};
use crate::sync::{AtomicBool, Mutex, MutexGuard};

/// A runtime for tests: its tasks run on the thread that tells them to, one after the other, in the
/// order in which they were woken. With a virtual clock, and everything random from a seed, the same
/// test does the same thing every time.
///
/// ```
/// use informer::runtime::{Manual, Runtime};
/// use std::sync::{Arc, Mutex};
/// # use informer::{Clock, Instant, Timer};
/// # struct Stopped;
/// # impl Clock for Stopped {
/// #     fn now(&self) -> Instant { Instant::default() }
/// #     fn timer(&self) -> Box<dyn Timer> { unimplemented!() }
/// # }
/// # let clock = Arc::new(Stopped);
/// let runtime = Manual::new(clock);
/// let said = Arc::new(Mutex::new(Vec::new()));
/// for name in ["a", "b"] {
///     let said = Arc::clone(&said);
///     runtime.spawn(Box::pin(async move { said.lock().unwrap().push(name) }))?;
/// }
/// assert!(said.lock().unwrap().is_empty());
/// runtime.run_until_idle();
/// assert_eq!(*said.lock().unwrap(), ["a", "b"]);
/// assert_eq!(runtime.tasks(), 0);
/// # Ok::<(), informer::runtime::RuntimeError>(())
/// ```
#[derive(Clone)]
pub struct Manual {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    spawned: u64,
    tasks: BTreeMap<u64, Spawned>,
    woken: VecDeque<u64>,
}

/// A task that has not ended.
struct Spawned {
    /// Not here while it is being polled.
    task: Option<Task>,
    awake: Arc<Awake>,
    /// Its turn came while it was being polled.
    again: bool,
}

/// Puts a task in the queue of those that were woken, once.
struct Awake {
    id: u64,
    queued: AtomicBool,
    state: Arc<Mutex<State>>,
}

impl Wake for Awake {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            lock(&self.state).woken.push_back(self.id);
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Manual {
    /// A runtime without tasks.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Arc::default(),
        }
    }

    /// Runs every task that can run, until all of them wait.
    pub fn run_until_idle(&self) {
        while self.step() {}
    }

    /// Runs tasks until `future` is ready; gives it back if all tasks wait before that. Then only time,
    /// or somebody outside, can help.
    ///
    /// # Errors
    /// Everybody waits.
    pub fn run<F: Future + Unpin>(&self, mut future: F) -> Result<F::Output, F> {
        let mut cx = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = pin!(&mut future).poll(&mut cx) {
                return Ok(output);
            }
            if !self.step() {
                return Err(future);
            }
        }
    }

    /// How many tasks have not ended.
    #[must_use]
    pub fn tasks(&self) -> usize {
        lock(&self.state).tasks.len()
    }

    /// Runs the task that was woken first. Says whether there was one.
    fn step(&self) -> bool {
        let mut state = lock(&self.state);
        let Some(id) = state.woken.pop_front() else {
            return false;
        };
        let Some(spawned) = state.tasks.get_mut(&id) else {
            return true;
        };
        let Some(mut task) = spawned.task.take() else {
            spawned.again = true;
            return true;
        };
        let awake = Arc::clone(&spawned.awake);
        drop(state);
        awake.queued.swap(false, Ordering::AcqRel);
        let waker = Waker::from(awake);
        let polled = task.as_mut().poll(&mut Context::from_waker(&waker));
        if polled.is_ready() {
            // It is dropped while nothing is locked: that may wake others.
            drop(task);
            lock(&self.state).tasks.remove(&id);
            return true;
        }
        let mut state = lock(&self.state);
        if let Some(spawned) = state.tasks.get_mut(&id) {
            spawned.task = Some(task);
            if mem::take(&mut spawned.again) {
                state.woken.push_back(id);
            }
        }
        true
    }
}

impl Runtime for Manual {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        let mut state = lock(&self.state);
        state.spawned += 1;
        let id = state.spawned;
        let awake = Arc::new(Awake {
            id,
            queued: AtomicBool::new(true),
            state: Arc::clone(&self.state),
        });
        let spawned = Spawned {
            task: Some(task),
            awake,
            again: false,
        };
        state.tasks.insert(id, spawned);
        state.woken.push_back(id);
        Ok(())
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}

impl fmt::Debug for Manual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manual")
            .field("tasks", &self.tasks())
            .finish_non_exhaustive()
    }
}
