//! Tasks that run when the caller says so.

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

/// A deterministic runtime for tests.
///
/// Tasks run on the calling thread, one at a time, in the order in which they were woken. With a virtual
/// clock and a [seed](crate::InformerBuilder::seed), a test does the same every time.
///
/// ```
/// use informer::runtime::Manual;
/// use informer::{InformerBuilder, Target};
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// use std::sync::Arc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let clock = VirtualClock::new();
/// let server = MockServer::new(ServerConfig::new(1), clock.clone());
/// let runtime = Manual::new(Arc::new(clock));
///
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .seed(1)
///     .build(&server.connect(), runtime.clone())?;
/// pods.start()?;
/// assert!(!pods.is_synced());
/// runtime.run_until_idle();
/// assert!(pods.is_synced());
/// # Ok(())
/// # }
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

/// A task that has not finished.
struct Spawned {
    /// `None` while it is being polled.
    task: Option<Task>,
    awake: Arc<Awake>,
    /// Whether its turn came while it was being polled.
    again: bool,
}

/// The waker of a task. Puts the task into the queue at most once.
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
    /// Creates a runtime without tasks.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            state: Arc::default(),
        }
    }

    /// Runs tasks until all of them wait.
    pub fn run_until_idle(&self) {
        while self.step() {}
    }

    /// Runs tasks until `future` is ready.
    ///
    /// # Errors
    /// All tasks wait, and the future is not ready. Returns the future, so that you can advance the clock
    /// and try again.
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

    /// The number of tasks that have not finished.
    #[must_use]
    pub fn tasks(&self) -> usize {
        lock(&self.state).tasks.len()
    }

    /// Polls the task that was woken first. Returns whether there was one.
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
            // Drop the task without the lock, because that may wake other tasks.
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
