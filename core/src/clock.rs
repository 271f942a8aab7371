//! The interface to a clock.

use alloc::boxed::Box;
use core::task::{Context, Poll};

use crate::time::Instant;

/// A clock that tells the time and wakes tasks: a runtime, the operating system, or a test with
/// virtual time. Everything that waits uses one of these, so virtual time reaches everything.
pub trait Clock: Send + Sync {
    /// The current time. It never goes back.
    fn now(&self) -> Instant;

    /// Creates a timer for one task.
    fn timer(&self) -> Box<dyn Timer>;
}

/// Wakes one task at a deadline.
pub trait Timer: Send {
    /// Ready once `deadline` has passed; until then, arranges a wake-up. A new deadline replaces
    /// the previous one.
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()>;
}
