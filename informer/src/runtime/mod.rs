//! Executors and clocks.
//!
//! An informer needs something that runs its tasks and tells the time. Choose `Tokio` in async programs,
//! `Threads` in programs without an async runtime, and [`Manual`] in tests.

// Tasks on tokio.
#[cfg(feature = "tokio")]
mod tokio;

// Tasks that run when the caller says so.
mod manual;

// Tasks on plain threads.
#[cfg(feature = "threads")]
mod threads;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use informer_core::Clock;

pub use manual::Manual;
#[cfg(feature = "threads")]
pub use threads::{Threads, block_on};
#[cfg(feature = "tokio")]
pub use tokio::Tokio;

/// A task of an informer.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks and tells the time.
///
/// An informer uses one task for itself and one for each handler. To use your own runtime, implement
/// these two methods:
///
/// ```
/// use informer::runtime::{Runtime, RuntimeError, Task, Tokio};
/// use informer::{Clock, InformerBuilder, Target};
/// use std::sync::Arc;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
///
/// /// Runs tasks on the current tokio runtime.
/// struct MyRuntime(Tokio);
///
/// impl Runtime for MyRuntime {
///     fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
///         tokio::spawn(task);
///         Ok(())
///     }
///
///     fn clock(&self) -> Arc<dyn Clock> {
///         self.0.clock()
///     }
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `server` is a mock API server.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .build(&server.connect(), MyRuntime(Tokio::current()?))?;
/// pods.start()?;
/// pods.synced(std::time::Duration::from_secs(30)).await?;
/// assert!(pods.is_synced());
/// # Ok(())
/// # }
/// ```
///
/// A runtime that ends drops its tasks. The informer notices this and reports it in its status, and calls
/// that wait for the informer fail.
pub trait Runtime: Send + Sync {
    /// Runs a task to its end, concurrently with the caller.
    ///
    /// # Errors
    /// The runtime cannot run the task. It drops the task.
    fn spawn(&self, task: Task) -> Result<(), RuntimeError>;

    /// Returns the clock that tasks use to wait.
    fn clock(&self) -> Arc<dyn Clock>;
}

/// A runtime cannot run a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeError {
    reason: String,
}

impl RuntimeError {
    /// Creates an error with this message.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }

    /// The runtime dropped a task before it finished.
    pub(crate) fn ended() -> Self {
        Self::new("its runtime has ended")
    }
}

impl fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for RuntimeError {}
