//! The contract with whoever tells the time.

use alloc::boxed::Box;
use core::task::{Context, Poll};

use crate::time::Instant;

/// Somebody who tells the time and wakes tasks at a point of it: a runtime, the operating system, or a
/// test that lets the time pass by hand. Everything that waits, waits by one of these, so virtual time
/// reaches everything.
pub trait Clock: Send + Sync {
    /// The time. It never goes back.
    fn now(&self) -> Instant;

    /// A timer for one task.
    fn timer(&self) -> Box<dyn Timer>;
}

/// Wakes one task at one point in time.
pub trait Timer: Send {
    /// Whether `deadline` has come; if not, arranges for a wake-up then. What was arranged before is
    /// forgotten.
    fn poll_until(&mut self, deadline: Instant, cx: &mut Context<'_>) -> Poll<()>;
}
