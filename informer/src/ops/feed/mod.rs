//! The live feed: one hub for all open pages.
//!
//! While a page is open, or a history is kept, the hub follows every informer with one listener. It makes each
//! text once for all pages. All that it keeps is bounded: the changes of a tenth of a second, the history, and
//! a queue for each page. A page that does not keep up is dropped.

// A change of an object.
mod change;

// One open page.
mod page;

// Which informers are followed.
mod followed;

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use hyper::body::Bytes;
use serde::Serialize;
use tokio::sync::Notify;
use tokio::time::Instant;

pub(crate) use change::Change;
pub(super) use followed::Followed;
pub(super) use page::Page;
use page::Queue;

use crate::sync::{Mutex, MutexGuard};

/// How often changes are sent.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// How many ticks there are between two statuses.
pub(super) const BEAT: u32 = 10;

/// How many ticks there are between two signs of life, for proxies in between.
const ALIVE: u32 = 150;

/// How many changes are sent in one tick. More than that nobody can read.
const CHANGES: usize = 1_000;

/// How many changes the history holds, of all informers together.
const HISTORY: usize = 10_000;

/// How many pages can be open.
const PAGES: usize = 16;

/// What all pages share.
#[derive(Default)]
pub(super) struct Hub {
    /// How many changes of an object to remember; 0 for none.
    history: usize,
    state: Mutex<State>,
    /// A page was opened or closed.
    changed: Notify,
}

#[derive(Default)]
struct State {
    pages: Vec<Arc<Queue>>,
    /// Changes since the last tick.
    changes: Vec<Noted>,
    /// How many changes since the last tick did not fit.
    skipped: u64,
    /// The last changes, oldest first.
    past: VecDeque<Noted>,
    /// The identities of the followed informers, and their serial numbers in `past`.
    serials: Vec<(usize, u64)>,
}

/// A change of an informer.
#[derive(Clone)]
struct Noted {
    /// The serial number of the following.
    serial: u64,
    when: Instant,
    change: Change,
}

/// A change in the history of an object.
#[derive(Serialize)]
pub(super) struct Past {
    pub(super) seconds_ago: f64,
    what: &'static str,
    version: Option<String>,
    pub(super) cause: String,
}

/// A change in the feed.
#[derive(Serialize)]
struct Told<'a> {
    informer: &'a str,
    #[serde(flatten)]
    change: &'a Change,
}

impl Hub {
    pub(super) fn new(history: usize) -> Self {
        Self {
            history,
            ..Self::default()
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) const fn keeps_history(&self) -> bool {
        self.history > 0
    }

    /// Whether informers must be followed.
    pub(super) fn is_wanted(&self) -> bool {
        self.keeps_history() || !self.lock().pages.is_empty()
    }

    /// Waits until a page was opened or closed.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Opens a page; `None` if there are too many.
    pub(super) fn open(self: &Arc<Self>) -> Option<Page> {
        let queue = Arc::new(Queue::default());
        {
            let mut state = self.lock();
            if state.pages.len() >= PAGES {
                return None;
            }
            state.pages.push(Arc::clone(&queue));
        }
        self.changed.notify_one();
        Some(Page::new(queue, Arc::clone(self)))
    }

    fn close(&self, queue: &Arc<Queue>) {
        self.lock().pages.retain(|page| !Arc::ptr_eq(page, queue));
        self.changed.notify_one();
    }

    /// Notes a change. Never waits.
    pub(super) fn note(&self, serial: u64, change: Change) {
        let noted = Noted {
            serial,
            when: Instant::now(),
            change,
        };
        let mut state = self.lock();
        if self.history > 0 {
            if state.past.len() == HISTORY {
                state.past.pop_front();
            }
            state.past.push_back(noted.clone());
        }
        if state.pages.is_empty() {
            return;
        }
        if state.changes.len() < CHANGES {
            state.changes.push(noted);
        } else {
            state.skipped += 1;
        }
    }

    fn set_serials(&self, serials: Vec<(usize, u64)>) {
        self.lock().serials = serials;
    }

    /// Sends what has changed since the last tick. `tick` counts them.
    pub(super) fn flush(&self, followed: &Followed, tick: u32) {
        let (changes, skipped) = {
            let mut state = self.lock();
            let changes = std::mem::take(&mut state.changes);
            (changes, std::mem::take(&mut state.skipped))
        };
        let told = changes.iter().filter_map(|noted| {
            Some(Told {
                informer: followed.name(noted.serial)?,
                change: &noted.change,
            })
        });
        let told: Vec<_> = told.collect();
        if !told.is_empty() {
            self.send("changes", &told);
        }
        if skipped > 0 {
            self.send("skipped", &serde_json::json!({"changes": skipped}));
        }
        if tick.is_multiple_of(ALIVE) {
            self.push(&Bytes::from_static(b": alive\n\n"));
        }
    }

    /// Sends an event to all pages.
    pub(super) fn send(&self, event: &str, data: &(impl Serialize + ?Sized)) {
        if let Ok(data) = serde_json::to_string(data) {
            self.push(&frame(event, &data));
        }
    }

    fn push(&self, frame: &Bytes) {
        let pages = self.lock().pages.clone();
        for page in &pages {
            if !page.push(frame.clone()) {
                self.lock().pages.retain(|it| !Arc::ptr_eq(it, page));
            }
        }
    }

    /// The last changes of an object, oldest first; `None` if there is no history.
    pub(super) fn history(&self, identity: usize, key: &str) -> Option<Vec<Past>> {
        if self.history == 0 {
            return None;
        }
        let state = self.lock();
        let of_it =
            state.past.iter().rev().filter(|it| {
                state.serials.contains(&(identity, it.serial)) && it.change.key == key
            });
        let mut past: Vec<_> = of_it.take(self.history).cloned().collect();
        drop(state);
        past.reverse();
        let past = past.into_iter().map(|Noted { when, change, .. }| Past {
            seconds_ago: when.elapsed().as_secs_f64(),
            what: change.what,
            version: change.version,
            cause: change.cause,
        });
        Some(past.collect())
    }
}

/// An event as the stream has it. JSON has no line breaks.
fn frame(event: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {event}\ndata: {data}\n\n"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use informer_core::{Cause, Notification, Object, ObjectKey};

    use super::*;

    fn change(name: &str, version: usize) -> Change {
        let object = Object::builder(ObjectKey::new("web", name)).version(version.to_string());
        Change::of(&Notification::Added {
            object: object.body(()),
            initial: false,
            cause: Cause::Watch,
        })
    }

    #[test]
    fn without_a_page_or_a_history_nothing_is_kept() {
        let hub = Arc::new(Hub::new(0));
        hub.note(1, change("a", 1));
        assert!(hub.lock().changes.is_empty() && hub.lock().past.is_empty());
        assert!(hub.history(1, "web/a").is_none());
    }

    #[test]
    fn a_flood_is_cut_and_the_rest_is_counted() {
        let hub = Arc::new(Hub::new(0));
        let _page = hub.open().unwrap();
        (0..CHANGES + 500).for_each(|version| hub.note(1, change("a", version)));
        let state = hub.lock();
        assert_eq!((state.changes.len(), state.skipped), (CHANGES, 500));
        drop(state);
        hub.flush(&Followed::default(), 1);
        let state = hub.lock();
        assert_eq!((state.changes.len(), state.skipped), (0, 0));
    }

    #[test]
    fn the_history_is_bounded_and_belongs_to_one_informer() {
        let hub = Arc::new(Hub::new(3));
        hub.set_serials(vec![(7, 1), (8, 2)]);
        hub.note(2, change("a", 0));
        (0..HISTORY).for_each(|version| hub.note(1, change("a", version)));
        let of = |identity| -> Vec<_> {
            let past = hub.history(identity, "web/a").unwrap();
            past.into_iter().map(|it| it.version.unwrap()).collect()
        };
        assert_eq!(of(7), ["9997", "9998", "9999"]);
        assert_eq!(of(8), Vec::<String>::new(), "pushed out");
        assert_eq!(hub.lock().past.len(), HISTORY);
        // An informer that is no longer followed has no history.
        hub.set_serials(vec![(7, 3)]);
        assert_eq!(of(7), Vec::<String>::new());
    }
}
