//! Where tasks run and by which clock.

// Tasks on tokio.
#[cfg(feature = "tokio")]
mod tokio;

// Tasks that run when they are told to.
mod manual;

// Tasks on plain threads.
#[cfg(feature = "threads")]
mod threads;

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
pub trait Runtime: Send + Sync {
    /// Runs a task to its end, beside whoever calls.
    fn spawn(&self, task: Task);

    /// The clock by which tasks wait.
    fn clock(&self) -> Arc<dyn Clock>;
}
