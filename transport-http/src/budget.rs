//! A limit on full states read at the same time.

use std::num::NonZeroUsize;
use std::sync::Arc;

use memchr::memmem;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The slots for reading full states. A full state is the most expensive request for a server: after
/// a restart every informer wants one, and a hundred at once could bring the server down again.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Semaphore>);

impl Budget {
    /// A limit of this many states.
    #[must_use]
    pub fn new(states: NonZeroUsize) -> Self {
        let states = states.get().min(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(states)))
    }

    /// Waits for a slot. The semaphore is never closed, so there is one.
    pub(crate) async fn slot(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.0).acquire_owned().await.ok()
    }

    #[cfg(test)]
    pub(crate) fn free(&self) -> usize {
        self.0.available_permits()
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
