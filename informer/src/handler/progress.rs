//! How far a handler is with what it has taken.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use informer_core::Instant;

/// How far a handler is with what it has taken, for whoever asks meanwhile. It is written before and after
/// every call, so it is not behind the lock; and it decides nothing, so nobody has to wait for it.
#[derive(Default, Debug)]
pub(crate) struct Progress {
    /// What it has taken and has not dealt with.
    taken: AtomicUsize,
    /// When the present call began, in microseconds and one more; zero if there is none.
    began: AtomicU64,
}

impl Progress {
    /// It takes so many.
    pub(crate) fn take(&self, count: usize) {
        self.taken.fetch_add(count, Ordering::Relaxed);
    }

    /// A call begins.
    pub(super) fn begin(&self, now: Instant) {
        let began = now.as_micros().saturating_add(1);
        self.began.store(began, Ordering::Relaxed);
    }

    /// It has dealt with one.
    pub(super) fn end(&self) {
        self.began.store(0, Ordering::Relaxed);
        self.taken.fetch_sub(1, Ordering::Relaxed);
    }

    /// What it has taken and has not dealt with.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// How long the present call has taken so far.
    pub(crate) fn in_call(&self, now: Instant) -> Option<Duration> {
        let began = self.began.load(Ordering::Relaxed).checked_sub(1)?;
        Some(now.since(Instant::from_micros(began)))
    }
}
