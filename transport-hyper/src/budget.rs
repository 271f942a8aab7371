//! A limit on full states read at the same time.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use memchr::memmem;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

/// The annotation of the bookmark that ends a streamed state.
const MARK: &[u8] = b"k8s.io/initial-events-end";

/// How long a state may wait for its reader in one go and still keep its slot.
const MOMENT: Duration = Duration::from_secs(1);

/// The limit for all these waits together: a reader that is a little slow with every piece is slow.
const TURN: Duration = Duration::from_secs(10);

/// The slots for reading full states. A full state is the most expensive request for a server: after
/// a restart every informer wants one, and a hundred at once could bring the server down again.
#[derive(Clone)]
pub(crate) struct Budget(Arc<Semaphore>);

impl Budget {
    pub(crate) fn new(states: usize) -> Self {
        Self(Arc::new(Semaphore::new(states.min(Semaphore::MAX_PERMITS))))
    }

    /// Waits for a slot for a list, which keeps it until the permit is dropped.
    pub(crate) async fn for_list(&self) -> Permit {
        Permit {
            // The semaphore is never closed.
            permit: Arc::clone(&self.0).acquire_owned().await.ok(),
            ..Permit::none()
        }
    }

    /// Waits for a slot for a streamed state, which keeps it until the end of the state is seen.
    pub(crate) async fn for_stream(&self) -> Permit {
        Permit {
            until_mark: true,
            ..self.for_list().await
        }
    }
}

/// Permission to read a full state.
pub(crate) struct Permit {
    permit: Option<OwnedSemaphorePermit>,
    until_mark: bool,
    /// The last bytes seen: the mark may have started in them.
    tail: Vec<u8>,
    /// How long the state may still wait for its reader.
    patience: Duration,
}

impl Permit {
    /// A permit that holds no slot.
    pub(crate) const fn none() -> Self {
        Self {
            permit: None,
            until_mark: false,
            tail: Vec::new(),
            patience: TURN,
        }
    }

    pub(crate) const fn takes_room(&self) -> bool {
        self.permit.is_some()
    }

    /// Frees the slot.
    pub(crate) fn give_back(&mut self) {
        self.permit = None;
    }

    /// Waits until the reader has `taken` a piece. A slow reader (usually a slow handler) must not block
    /// other lists, so its slot is freed and the state goes on without one.
    pub(crate) async fn wait_for<T>(&mut self, taken: impl Future<Output = T>) -> T {
        let mut taken = pin!(taken);
        if self.takes_room() {
            let since = Instant::now();
            match timeout(MOMENT.min(self.patience), taken.as_mut()).await {
                Ok(done) => {
                    self.patience = self.patience.saturating_sub(since.elapsed());
                    return done;
                }
                Err(_) => self.give_back(),
            }
        }
        taken.await
    }

    /// Looks for the end of a streamed state in the bytes that pass by, and frees the slot there. An
    /// object that contains the mark frees it too early, which does no harm.
    pub(crate) fn see(&mut self, bytes: &[u8]) {
        if !self.until_mark || !self.takes_room() {
            return;
        }
        let beginning = bytes.get(..MARK.len()).unwrap_or(bytes);
        let seam = [&self.tail, beginning].concat();
        if memmem::find(bytes, MARK).is_some() || memmem::find(&seam, MARK).is_some() {
            self.give_back();
            return;
        }
        let end = if bytes.len() >= MARK.len() {
            bytes
        } else {
            &seam
        };
        let from = end.len().saturating_sub(MARK.len() - 1);
        self.tail = end.get(from..).unwrap_or_default().to_vec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::sleep;

    #[tokio::test]
    async fn a_stream_frees_its_slot_at_the_mark() {
        let line = br#"{"type":"BOOKMARK","object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        for size in 1..line.len() {
            let budget = Budget::new(1);
            let mut permit = budget.for_stream().await;
            permit
                .see(br#"{"type":"ADDED","object":{"metadata":{"name":"k8s.io/initial-events"}}}"#);
            assert_eq!(budget.0.available_permits(), 0);
            for piece in line.chunks(size) {
                permit.see(piece);
            }
            assert_eq!(budget.0.available_permits(), 1, "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn a_list_frees_its_slot_at_its_end() {
        let budget = Budget::new(1);
        let mut permit = budget.for_list().await;
        permit.see(MARK);
        assert_eq!(budget.0.available_permits(), 0);
        drop(permit);
        assert_eq!(budget.0.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_waits_for_its_reader_frees_its_slot() {
        let budget = Budget::new(1);
        let mut permit = budget.for_list().await;
        permit.wait_for(sleep(MOMENT / 2)).await;
        assert_eq!(budget.0.available_permits(), 0, "a short wait is free");
        permit.wait_for(sleep(MOMENT * 2)).await;
        assert_eq!(budget.0.available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn many_short_waits_free_the_slot() {
        let budget = Budget::new(1);
        let mut permit = budget.for_stream().await;
        let mut waited = Duration::ZERO;
        while permit.takes_room() && waited < TURN * 2 {
            permit.wait_for(sleep(MOMENT / 2)).await;
            waited += MOMENT / 2;
        }
        assert_eq!(budget.0.available_permits(), 1);
        assert!((TURN..=TURN + MOMENT).contains(&waited), "{waited:?}");
    }
}
