//! One open page: a bounded queue of what to send.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::task::{Poll, Waker};

use hyper::body::Bytes;

use super::{Hub, frame};
use crate::sync::Mutex;

/// How many bytes may wait for a page. A single event may be larger.
const BYTES: usize = 1024 * 1024;

/// How many events may wait for a page: about twenty seconds.
const EVENTS: usize = 256;

/// What waits for a page.
#[derive(Default)]
pub(super) struct Queue(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    events: VecDeque<Bytes>,
    bytes: usize,
    /// Whether the page was dropped: nothing follows.
    over: bool,
    reader: Option<Waker>,
}

impl Queue {
    /// Adds an event. If there is no room, the page is dropped, and told so: returns false.
    pub(super) fn push(&self, event: Bytes) -> bool {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let full = waiting.events.len() >= EVENTS
            || waiting.bytes + event.len() > BYTES.max(2 * event.len());
        let keeps_up = !full || waiting.events.is_empty();
        if keeps_up {
            waiting.bytes += event.len();
            waiting.events.push_back(event);
        } else {
            let reason = r#"{"reason":"The page did not keep up with the feed."}"#;
            waiting.events.clear();
            waiting.events.push_back(frame("dropped", reason));
            waiting.over = true;
        }
        let reader = waiting.reader.take();
        drop(waiting);
        if let Some(reader) = reader {
            reader.wake();
        }
        keeps_up
    }

    fn poll_next(&self, waker: &Waker) -> Poll<Option<Bytes>> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.events.pop_front() {
            Some(event) => {
                waiting.bytes = waiting.bytes.saturating_sub(event.len());
                Poll::Ready(Some(event))
            }
            None if waiting.over => Poll::Ready(None),
            None => {
                waiting.reader = Some(waker.clone());
                Poll::Pending
            }
        }
    }
}

/// The reading end of a queue. Dropping it closes the page.
pub(in crate::ops) struct Page {
    queue: Arc<Queue>,
    hub: Arc<Hub>,
}

impl Page {
    pub(super) const fn new(queue: Arc<Queue>, hub: Arc<Hub>) -> Self {
        Self { queue, hub }
    }

    pub(in crate::ops) fn poll_next(&self, waker: &Waker) -> Poll<Option<Bytes>> {
        self.queue.poll_next(waker)
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.hub.close(&self.queue);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn next(page: &Page) -> Option<String> {
        match page.poll_next(Waker::noop()) {
            Poll::Ready(event) => event.map(|event| String::from_utf8(event.to_vec()).unwrap()),
            Poll::Pending => Some("nothing yet".to_owned()),
        }
    }

    #[test]
    fn a_page_that_does_not_read_is_dropped_and_told_so() {
        let hub = Arc::new(Hub::new(0));
        let (slow, quick) = (hub.open().unwrap(), hub.open().unwrap());
        for number in 0..=EVENTS {
            hub.send("changes", &number);
            assert_eq!(
                next(&quick).unwrap(),
                format!("event: changes\ndata: {number}\n\n")
            );
        }
        assert!(next(&slow).unwrap().starts_with("event: dropped\n"));
        assert_eq!(next(&slow), None);
        assert_eq!(next(&quick).unwrap(), "nothing yet");
        assert!(hub.is_wanted());
        drop(quick);
        assert!(!hub.is_wanted());
    }

    #[test]
    fn an_event_of_any_size_fits_an_empty_queue_but_no_second_one() {
        let hub = Arc::new(Hub::new(0));
        let page = hub.open().unwrap();
        let large = "x".repeat(2 * BYTES);
        hub.send("status", &large);
        assert!(next(&page).unwrap().len() > BYTES);
        hub.send("status", &large);
        hub.send("status", "small");
        assert!(next(&page).unwrap().starts_with("event: dropped\n"));
    }

    #[test]
    fn there_are_at_most_sixteen_pages() {
        let hub = Arc::new(Hub::new(0));
        let mut pages: Vec<_> = (0..16).map(|_| hub.open().unwrap()).collect();
        assert!(hub.open().is_none());
        pages.pop();
        assert!(hub.open().is_some());
    }
}
