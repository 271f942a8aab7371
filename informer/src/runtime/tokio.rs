//! Tasks on tokio.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer_core::{Clock, Instant, Timer};
use tokio::runtime::Handle;
use tokio::time::{Instant as TokioInstant, Sleep, sleep_until};

use super::{Runtime, RuntimeError, Task};

/// A tokio runtime, current-thread or multi-thread.
///
/// ```
/// use informer::runtime::Tokio;
/// use informer::{InformerBuilder, Target};
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `server` is a mock API server. `InformerBuilder::start` does the same as this.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .build(&server.connect(), Tokio::current()?)?;
/// pods.start()?;
/// assert!(pods.is_started());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tokio {
    handle: Handle,
    clock: Arc<dyn Clock>,
}

impl Tokio {
    /// Returns the current runtime.
    ///
    /// # Errors
    /// The caller is not on a tokio runtime, or the runtime has no timers.
    pub fn current() -> Result<Self, RuntimeError> {
        let handle = Handle::try_current().map_err(|_| {
            RuntimeError::new(
                "the caller is not on a tokio runtime; call this in `async` code that tokio runs, or \
                 enter a runtime with `Handle::enter`",
            )
        })?;
        let origin = TokioInstant::now();
        // The only way to find out whether a runtime has timers is to create one, which panics if not.
        catch_unwind(|| drop(sleep_until(origin))).map_err(|_| {
            RuntimeError::new(
                "the tokio runtime has no timers; build it with `enable_time` or `enable_all`",
            )
        })?;
        let clock = TokioClock {
            origin,
            handle: handle.clone(),
        };
        Ok(Self {
            handle,
            clock: Arc::new(clock),
        })
    }

    /// Replaces the clock, for example by a virtual one in tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}

impl Runtime for Tokio {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        let mut spawned = self.handle.spawn(task);
        // A runtime that has ended drops the task immediately.
        match Pin::new(&mut spawned).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Err(error)) if error.is_cancelled() => Err(RuntimeError::ended()),
            Poll::Ready(_) | Poll::Pending => Ok(()),
        }
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }
}

impl core::fmt::Debug for Tokio {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Tokio").finish_non_exhaustive()
    }
}

/// The clock of tokio, which tests can pause.
struct TokioClock {
    origin: TokioInstant,
    handle: Handle,
}

impl Clock for TokioClock {
    fn now(&self) -> Instant {
        Instant::default().after(TokioInstant::now().duration_since(self.origin))
    }

    fn timer(&self) -> Box<dyn Timer> {
        let _entered = self.handle.enter();
        Box::new(TokioTimer {
            origin: self.origin,
            sleep: Box::pin(sleep_until(self.origin)),
        })
    }
}

struct TokioTimer {
    origin: TokioInstant,
    sleep: Pin<Box<Sleep>>,
}

/// Later than any real deadline. tokio panics for instants that its clock cannot represent.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

impl Timer for TokioTimer {
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.origin + deadline.since(Instant::default()).min(FAR);
        let poll = || {
            if self.sleep.deadline() != deadline {
                self.sleep.as_mut().reset(deadline);
            }
            self.sleep.as_mut().poll(cx)
        };
        // Timers panic when their runtime has ended. The waiting task may run on another runtime and
        // would never be woken, so treat the deadline as passed.
        catch_unwind(AssertUnwindSafe(poll)).unwrap_or(Poll::Ready(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test(start_paused = true)]
    async fn the_last_deadline_counts() {
        let clock = Tokio::current().unwrap().clock();
        for deadlines in [[5, 60, 30], [60, 5, 30], [30, 30, 30], [5, 6, 5]] {
            let begin = clock.now();
            let after = |seconds| begin.after(Duration::from_secs(seconds));
            let mut timer = clock.timer();
            let mut cx = Context::from_waker(Waker::noop());
            for seconds in deadlines {
                assert!(timer.poll_until(after(seconds), &mut cx).is_pending());
            }
            let last = after(deadlines[2]);
            poll_fn(|cx| timer.poll_until(last, cx)).await;
            assert_eq!(clock.now(), last, "{deadlines:?}");
            assert!(timer.poll_until(begin, &mut cx).is_ready());
            assert!(timer.poll_until(after(90), &mut cx).is_pending());
        }
    }
}
