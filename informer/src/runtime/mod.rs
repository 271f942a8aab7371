//! Where tasks run and by which clock.

// Tasks on tokio.
#[cfg(feature = "tokio")]
mod tokio;

// Tasks that run when they are told to.
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

/// A task that runs until it is done.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Something that runs tasks and knows the time. Everything that an informer does runs as one task for
/// the informer and one for each handler; a runtime of your own needs these two functions.
///
/// A runtime that ends drops its tasks. The informer notices, and says so in its status and to everybody
/// who waits.
pub trait Runtime: Send + Sync {
    /// Runs a task to its end, beside whoever calls.
    ///
    /// # Errors
    /// The task cannot be run. It is dropped.
    fn spawn(&self, task: Task) -> Result<(), RuntimeError>;

    /// The clock by which tasks wait.
    fn clock(&self) -> Arc<dyn Clock>;
}

/// Why a runtime cannot run a task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeError {
    reason: String,
}

impl RuntimeError {
    /// An error with this text.
    pub fn new(reason: impl fmt::Display) -> Self {
        Self {
            reason: reason.to_string(),
        }
    }

    /// Tasks were dropped before they were done.
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
