//! A limit on full states read at the same time.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use memchr::memmem;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// The slots for reading full states. A full state is the most expensive request for a server: after
/// a restart every informer wants one, and a hundred at once could bring the server down again.
#[derive(Clone, Debug)]
pub struct Budget {
    free: Arc<Semaphore>,
    slots: usize,
    waits: Arc<Waits>,
}

/// How many states had to wait, and for how many microseconds in total.
#[derive(Default, Debug)]
struct Waits {
    count: AtomicU64,
    micros: AtomicU64,
}

/// What a [`Budget`] has given out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct BudgetStatus {
    /// How many states may be read at the same time.
    pub slots: usize,
    /// How many are being read.
    pub in_use: usize,
    /// How many had to wait for others.
    pub waits: u64,
    /// How long those waited in total that no longer do.
    pub waited: Duration,
}

impl Budget {
    /// A limit of this many states.
    #[must_use]
    pub fn new(states: NonZeroUsize) -> Self {
        let states = states.get().min(Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(states)),
            slots: states,
            waits: Arc::default(),
        }
    }

    /// Waits for a slot. The semaphore is never closed, so there is one.
    pub(crate) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        if let Ok(slot) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(slot);
        }
        let _waiting = Waiting::begin(&self.waits);
        Arc::clone(&self.free).acquire_owned().await.ok()
    }

    /// What it has given out.
    #[must_use]
    pub fn status(&self) -> BudgetStatus {
        let Waits { count, micros } = &*self.waits;
        BudgetStatus {
            slots: self.slots,
            in_use: self.slots.saturating_sub(self.free.available_permits()),
            waits: count.load(Ordering::Relaxed),
            waited: Duration::from_micros(micros.load(Ordering::Relaxed)),
        }
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.free.available_permits()
    }
}

/// A wait for a slot, until this is dropped: also if the request is given up before.
struct Waiting<'a> {
    waits: &'a Waits,
    since: Instant,
}

impl<'a> Waiting<'a> {
    fn begin(waits: &'a Waits) -> Self {
        waits.count.fetch_add(1, Ordering::Relaxed);
        Self {
            waits,
            since: Instant::now(),
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.waits.micros.fetch_add(micros, Ordering::Relaxed);
    }
}

/// The annotation of the bookmark that ends a streamed state.
const MARK: &[u8] = b"k8s.io/initial-events-end";

/// Looks for the end of a streamed state in the bytes that pass by. An object that contains the mark looks
/// like the end, too. Its slot is freed too early then, which does no harm.
#[derive(Default)]
pub(crate) struct Mark {
    /// The last bytes seen: the mark may have started in them.
    tail: Vec<u8>,
}

impl Mark {
    /// Whether the mark ends in these bytes, which follow those before.
    pub(crate) fn is_in(&mut self, bytes: &[u8]) -> bool {
        let beginning = bytes.get(..MARK.len()).unwrap_or(bytes);
        let seam = [&self.tail, beginning].concat();
        if memmem::find(bytes, MARK).is_some() || memmem::find(&seam, MARK).is_some() {
            return true;
        }
        let end = if bytes.len() >= MARK.len() {
            bytes
        } else {
            &seam
        };
        let from = end.len().saturating_sub(MARK.len() - 1);
        self.tail = end.get(from..).unwrap_or_default().to_vec();
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn waits_are_counted_and_timed() {
        let budget = Budget::new(NonZeroUsize::MIN);
        let slot = budget.slot().await;
        assert_eq!((budget.status().in_use, budget.status().waits), (1, 0));
        // One gives up after two seconds, the other gets the slot after three.
        let (brief, long) = (Duration::from_secs(2), Duration::from_secs(3));
        let given_up = tokio::time::timeout(brief, budget.slot());
        let freed = async {
            tokio::time::sleep(long).await;
            drop(slot);
        };
        let (given_up, second, ()) = tokio::join!(given_up, budget.slot(), freed);
        assert!(given_up.is_err() && second.is_some());
        let BudgetStatus { waits, waited, .. } = budget.status();
        assert_eq!((waits, waited), (2, brief + long));
        drop(second);
        assert_eq!(budget.status().in_use, 0);
    }

    #[test]
    fn the_mark_is_found_across_pieces() {
        let line = br#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        for size in 1..line.len() {
            let mut mark = Mark::default();
            let other =
                br#"{"type":"ADDED","object":{"metadata":{"name":"k8s.io/initial-events"}}}"#;
            assert!(!mark.is_in(other));
            let found = line.chunks(size).any(|piece| mark.is_in(piece));
            assert!(found, "in pieces of {size}");
        }
    }
}
