//! How many connections there are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Counts the connections of a client.
#[derive(Default, Debug)]
pub(crate) struct Census {
    http1: Arc<AtomicUsize>,
    http2: Arc<AtomicUsize>,
    connects: AtomicU64,
    failed: AtomicU64,
}

/// A connection that is open, until this is dropped.
pub(super) struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Census {
    pub(super) fn open_http1(&self) -> Open {
        open(&self.http1)
    }

    pub(super) fn open_http2(&self) -> Open {
        open(&self.http2)
    }

    /// An attempt to connect has ended.
    pub(super) fn attempted(&self, success: bool) {
        let count = if success {
            &self.connects
        } else {
            &self.failed
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn http1(&self) -> usize {
        self.http1.load(Ordering::Acquire)
    }

    pub(crate) fn http2(&self) -> usize {
        self.http2.load(Ordering::Acquire)
    }

    pub(crate) fn connects(&self) -> u64 {
        self.connects.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }
}

fn open(count: &Arc<AtomicUsize>) -> Open {
    count.fetch_add(1, Ordering::AcqRel);
    Open(Arc::clone(count))
}
