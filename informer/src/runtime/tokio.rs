//! Tasks on tokio.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::{Clock, Instant, Timer};
use tokio::runtime::Handle;
use tokio::time::{Instant as TokioInstant, Sleep, sleep_until};

use super::{Runtime, Task};

/// The tokio runtime, multi-threaded or not.
#[derive(Clone)]
pub struct Tokio {
    handle: Handle,
    clock: Arc<dyn Clock>,
}

impl Tokio {
    /// The runtime that this is called on.
    ///
    /// # Panics
    /// If it is called outside of a tokio runtime, as everything of tokio does.
    #[must_use]
    pub fn current() -> Self {
        Self {
            handle: Handle::current(),
            clock: Arc::new(TokioClock {
                origin: TokioInstant::now(),
                handle: Handle::current(),
            }),
        }
    }

    /// The same, by another clock: a virtual one, in tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}

impl Runtime for Tokio {
    fn spawn(&self, task: Task) {
        drop(self.handle.spawn(task));
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

/// tokio's clock, which tests can pause.
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

/// Farther away than any deadline; tokio refuses times that its clock cannot express.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

impl Timer for TokioTimer {
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let deadline = self.origin + deadline.since(Instant::default()).min(FAR);
        if self.sleep.deadline() != deadline {
            self.sleep.as_mut().reset(deadline);
        }
        self.sleep.as_mut().poll(cx)
    }
}
