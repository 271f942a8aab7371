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

/// One thread for each task, without an async runtime.
///
/// ```
/// use informer::runtime::{Threads, block_on};
/// use informer::{InformerBuilder, Target};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `server` is a mock API server.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .build(&server.connect(), Threads::new())?;
/// pods.start()?;
/// block_on(pods.synced(Duration::from_secs(30)))?;
/// assert!(pods.is_synced());
/// # Ok(())
/// # }
/// ```
///
/// A `Client` works with it, too: created outside of tokio, it has one thread for its connections. This is a
/// whole program:
///
#[cfg_attr(feature = "hyper", doc = "```no_run")]
#[cfg_attr(not(feature = "hyper"), doc = "```ignore")]
/// use informer::{Client, Config, InformerBuilder, Target};
/// use std::time::Duration;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let client = Client::new(Config::infer()?)?;
///     let pods = InformerBuilder::packed_at(Target::new("", "v1", "pods")).start_blocking(&client)?;
///     pods.wait_synced(Duration::from_secs(30))?;
///     println!("{} pods", pods.lister().len());
///     Ok(())
/// }
/// ```
///
/// The timers only work inside [`block_on`]. If you wait for such an informer with a timeout, use
/// `block_on` for that, too; on another executor the timeout never fires.
#[derive(Clone)]
pub struct Threads {
    clock: Arc<dyn Clock>,
}

impl Threads {
    /// Creates a runtime with the clock of the operating system.
    #[must_use]
    pub fn new() -> Self {
        Self {
            clock: Arc::new(StdClock {
                origin: StdInstant::now(),
            }),
        }
    }

    /// Replaces the clock, for example by a virtual one in tests.
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
                "the operating system refused a thread: {error}; raise the thread limit of the process"
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
    /// The nearest deadline of the timers that this thread has polled.
    static NEAREST: Cell<Option<StdInstant>> = const { Cell::new(None) };
}

/// Runs a future on this thread and returns its output. Calls may be nested.
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

/// Restores the deadline of the outer `block_on` after a nested one.
struct Outer(Option<StdInstant>);

impl Drop for Outer {
    fn drop(&mut self) {
        NEAREST.set(self.0);
    }
}

/// A waker that unparks the thread of the future.
struct Unpark {
    thread: thread::Thread,
    /// Tells a wake-up from a spurious unpark.
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

/// The clock of the operating system. Its timers only set the deadline until which [`block_on`] parks its
/// thread.
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
        // A deadline that the clock cannot represent never comes.
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
