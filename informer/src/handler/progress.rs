//! Lag of a handler.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use informer_core::Instant;

/// Notifications that a handler has taken but not finished. It changes before and after every call, so it
/// uses atomics instead of the lock. Only the one that takes the notifications writes it, so a load and a store
/// will do for a change. Only the status reads it.
#[derive(Default, Debug)]
pub(crate) struct Progress {
    /// Notifications taken but not finished.
    taken: AtomicUsize,
    /// When the current call began, in microseconds plus one; zero between calls.
    began: AtomicU64,
}

impl Progress {
    /// Counts notifications that the handler takes.
    pub(crate) fn take(&self, count: usize) {
        self.taken.store(self.taken() + count, Ordering::Relaxed);
    }

    /// Marks the begin of a call.
    pub(super) fn begin(&self, now: Instant) {
        let began = now.as_micros().saturating_add(1);
        self.began.store(began, Ordering::Relaxed);
    }

    /// Marks the end of a call.
    pub(super) fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
        self.taken.store(self.taken() - 1, Ordering::Relaxed);
    }

    /// Notifications taken but not finished.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// How long the current call has been running.
    pub(crate) fn in_call(&self, now: Instant) -> Option<Duration> {
        let began = self.began.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.since(Instant::from_micros(began)))
    }
}
