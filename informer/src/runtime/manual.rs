//! Tasks that run when they are told to.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use informer_core::Clock;

use super::{Runtime, Task};
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
///     runtime.spawn(Box::pin(async move { said.lock().unwrap().push(name) }));
/// }
/// assert!(said.lock().unwrap().is_empty());
/// runtime.run_until_idle();
/// assert_eq!(*said.lock().unwrap(), ["a", "b"]);
/// assert_eq!(runtime.tasks(), 0);
/// ```
#[derive(Clone)]
pub struct Manual {
    clock: Arc<dyn Clock>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    spawned: u64,
    /// A task that is being polled is not in here.
    idle: BTreeMap<u64, (Task, Arc<Awake>)>,
    running: usize,
    woken: VecDeque<u64>,
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
        let state = lock(&self.state);
        state.idle.len() + state.running
    }

    /// Runs the task that was woken first. Says whether there was one.
    fn step(&self) -> bool {
        let mut state = lock(&self.state);
        let Some(id) = state.woken.pop_front() else {
            return false;
        };
        let Some((mut task, awake)) = state.idle.remove(&id) else {
            return true;
        };
        state.running += 1;
        drop(state);
        awake.queued.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&awake));
        let polled = task.as_mut().poll(&mut Context::from_waker(&waker));
        // An ended task is dropped while nothing is locked: that may wake others.
        let ended = match polled {
            Poll::Ready(()) => Some(task),
            Poll::Pending => {
                lock(&self.state).idle.insert(id, (task, awake));
                None
            }
        };
        drop(ended);
        lock(&self.state).running -= 1;
        true
    }
}

impl Runtime for Manual {
    fn spawn(&self, task: Task) {
        let mut state = lock(&self.state);
        state.spawned += 1;
        let id = state.spawned;
        let awake = Arc::new(Awake {
            id,
            queued: AtomicBool::new(true),
            state: Arc::clone(&self.state),
        });
        state.idle.insert(id, (task, awake));
        state.woken.push_back(id);
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
