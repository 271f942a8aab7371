//! Tasks on plain threads.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Instant as StdInstant;

use informer_core::{Clock, Instant, Timer};

use super::{Runtime, RuntimeError, Task};
use crate::sync::{AtomicBool, thread};

/// One thread for each task, and no async runtime.
///
/// Its timers work on threads of [`block_on`], so whoever waits with a timeout for something of an informer
/// on such threads must do that with `block_on`, too: on another executor the timeout never comes.
#[derive(Clone)]
pub struct Threads {
    clock: Arc<dyn Clock>,
}

impl Threads {
    /// Threads by the clock of the operating system.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(StdClock {
                origin: StdInstant::now(),
            }),
        }
    }

    /// The same, by another clock: a virtual one, in tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl Default for Threads {
    fn default() -> Self {
        Self::new()
    }
}

impl Runtime for Threads {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        let thread = thread::Builder::new().name("informer".to_owned());
        match thread.spawn(move || block_on(task)) {
            Ok(_) => Ok(()),
            Err(error) => Err(RuntimeError::new(format_args!(
                "no thread could be started: {error}; raise the limit of threads of the process"
            ))),
        }
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}

impl core::fmt::Debug for Threads {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Threads").finish_non_exhaustive()
    }
}

thread_local! {
    /// The nearest deadline of the timers that the task of this thread has polled.
    static NEAREST: Cell<Option<StdInstant>> = const { Cell::new(None) };
}

/// Runs a future on this thread, to its end. That may happen inside of another one.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let _outer = Outer(NEAREST.get());
    let signal = Arc::new(Unpark {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(Arc::clone(&signal));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        NEAREST.set(None);
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        while !signal.woken.swap(false, Ordering::Acquire) {
            match NEAREST.get() {
                None => thread::park(),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(StdInstant::now());
                    if left.is_zero() {
                        break;
                    }
                    thread::park_timeout(left);
                }
            }
        }
    }
}

/// The deadline of a future that another one blocks inside of, to be put back.
struct Outer(Option<StdInstant>);

impl Drop for Outer {
    fn drop(&mut self) {
        NEAREST.set(self.0);
    }
}

/// Wakes the thread that a future runs on.
struct Unpark {
    thread: thread::Thread,
    /// Parking may end without a reason, so the reason is kept here.
    woken: AtomicBool,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

/// The clock of the operating system. Its timers work on a thread of [`block_on`], which parks no
/// longer than until the nearest of them.
struct StdClock {
    origin: StdInstant,
}

impl Clock for StdClock {
    fn now(&self) -> Instant {
        Instant::default().after(self.origin.elapsed())
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(StdTimer {
            origin: self.origin,
        })
    }
}

struct StdTimer {
    origin: StdInstant,
}

impl Timer for StdTimer {
    fn poll_until(&mut self, deadline: Instant, _: &mut Context<'_>) -> Poll<()> {
        let after = deadline.since(Instant::default());
        // A point in time that the clock cannot express never comes.
        let Some(deadline) = self.origin.checked_add(after) else {
            return Poll::Pending;
        };
        if deadline <= StdInstant::now() {
            return Poll::Ready(());
        }
        let nearest = NEAREST
            .get()
            .map_or(deadline, |nearest| nearest.min(deadline));
        NEAREST.set(Some(nearest));
        Poll::Pending
    }
}
