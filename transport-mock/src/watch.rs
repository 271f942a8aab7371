//! Watches: cursors over the history of a kind.

use std::sync::Arc;
use std::time::Duration;
use std::vec;

use informer_core::Instant;

use crate::api::{ApiKind, KindId};
use crate::encode::Encoded;
use crate::form::Row;
pub use crate::frame::{WatchEventType, WatchFrame};
use crate::representation::{Representation, Shown};
use crate::selection::Selection;
use crate::server::Server;
use crate::status::ApiError;
use crate::store::history::Change;
use crate::store::object::StoredObject;

/// The interval between bookmarks.
const BOOKMARK_EVERY: Duration = Duration::from_secs(60);

/// How long before the end the last bookmark comes.
const LAST_BOOKMARK: Duration = Duration::from_secs(2);

/// How long the server waits for a version that it has not reached yet.
pub(crate) const PATIENCE: Duration = Duration::from_secs(3);

/// An open watch: a cursor in the history of a kind, and a deadline.
///
/// It copies no events. [`poll`](Self::poll) reads from the server what happened since the last
/// call.
///
/// ```
/// use informer_core::Instant;
/// use informer_transport_mock::answer::AnswerBody;
/// use informer_transport_mock::request::{ApiRequest, Headers};
/// use informer_transport_mock::watch::{Polled, WatchEventType};
/// use informer_transport_mock::{Server, ServerConfig};
/// use serde_json::json;
///
/// let now = Instant::default();
/// let mut server = Server::new(ServerConfig::new(42));
/// let query = "watch=true&resourceVersion=1";
/// let request = ApiRequest::parse("GET", "/api/v1/pods", query, Headers::default())?;
/// let AnswerBody::Watch(mut watch) = server.handle(&request, b"", now).body else { panic!() };
/// assert!(matches!(watch.poll(&server, now), Polled::Idle(_)));
///
/// server.create("pods", json!({"metadata": {"name": "web"}}))?;
/// let Polled::Frame(frame) = watch.poll(&server, now) else { panic!() };
/// assert_eq!(frame.event(), WatchEventType::Added);
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Debug)]
pub struct Watch {
    id: KindId,
    kind: Arc<ApiKind>,
    selection: Selection,
    representation: Representation,
    state: State,
    /// Everything up to this version has been sent.
    cursor: u64,
    /// The version at which the watch began. It sends no bookmark for this version.
    begun_at: u64,
    deadline: Instant,
    /// `None` without bookmarks, and after the last one.
    next_bookmark: Option<Instant>,
    has_bookmarks: bool,
    /// Whether the table columns have been sent.
    has_columns: bool,
    incarnation: u64,
}

#[derive(Debug)]
enum State {
    /// Waits until the server reaches a version.
    Waiting {
        version: u64,
        until: Instant,
    },
    /// Sends the state at the time of opening.
    Initial(vec::IntoIter<Arc<StoredObject>>),
    Live,
    /// Sends one ERROR event, then ends.
    Failing(ApiError),
    Over(WatchEnd),
}

/// The result of [`Watch::poll`].
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Polled {
    /// Send this frame, then poll again.
    Frame(WatchFrame),
    /// Nothing to send. Poll again after the next write, or at this time.
    Idle(Instant),
    /// The watch has ended.
    Ended(WatchEnd),
}

/// Why a watch has ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum WatchEnd {
    /// Its timeout has passed. The body ends cleanly.
    Timeout,
    /// It has sent an ERROR event. The body ends cleanly.
    Failed,
    /// The kind is no longer served. The body ends cleanly.
    KindRemoved,
    /// The server was restarted. The connection breaks in the middle of the body.
    Cut,
}

/// The parameters of a new watch.
pub(crate) struct Opening {
    pub(crate) id: KindId,
    pub(crate) kind: Arc<ApiKind>,
    pub(crate) selection: Selection,
    pub(crate) representation: Representation,
    /// 0 for any version.
    pub(crate) version: u64,
    pub(crate) initial_events: bool,
    pub(crate) has_bookmarks: bool,
    pub(crate) timeout: Duration,
}

impl Watch {
    pub(crate) fn open(opening: Opening, server: &Server, now: Instant) -> Self {
        let deadline = now.after(opening.timeout);
        let mut watch = Self {
            id: opening.id,
            kind: opening.kind,
            selection: opening.selection,
            representation: opening.representation,
            state: State::Live,
            cursor: opening.version,
            begun_at: opening.version,
            deadline,
            next_bookmark: None,
            has_bookmarks: opening.has_bookmarks,
            has_columns: false,
            incarnation: server.incarnation(),
        };
        watch.plan_bookmark(now);
        if opening.initial_events {
            if server.version() >= opening.version {
                watch.begin_with_state(server);
            } else {
                watch.state = State::Waiting {
                    version: opening.version,
                    until: now.after(PATIENCE),
                };
            }
            return watch;
        }
        if opening.version == 0 {
            watch.begin_at(server.version());
        }
        if let Some(refused) = watch.too_old(server) {
            watch.state = State::Failing(refused);
        }
        watch
    }

    /// The refusal if the version is outside the watch window.
    fn too_old(&self, server: &Server) -> Option<ApiError> {
        let oldest = server.store().table(self.id)?.history.oldest_watchable();
        (self.cursor < oldest).then(|| {
            ApiError::expired(format!(
                "too old resource version: {} ({oldest})",
                self.cursor
            ))
        })
    }

    /// The refusal that the watch sends as its only event, if it was refused.
    pub(crate) const fn refusal(&self) -> Option<&ApiError> {
        match &self.state {
            State::Failing(refused) => Some(refused),
            _ => None,
        }
    }

    fn begin_at(&mut self, version: u64) {
        self.cursor = version;
        self.begun_at = version;
    }

    /// Begins with the current state.
    fn begin_with_state(&mut self, server: &Server) {
        self.begin_at(server.version());
        let objects: Vec<_> = server
            .store()
            .table(self.id)
            .into_iter()
            .flat_map(|table| table.present(&self.selection.prefix, ""))
            .filter(|object| self.selection.matches(object))
            .cloned()
            .collect();
        self.state = State::Initial(objects.into_iter());
    }

    /// Returns what to send at `now`. Poll again after a [`Frame`](Polled::Frame).
    pub fn poll(&mut self, server: &Server, now: Instant) -> Polled {
        if let State::Over(end) = self.state {
            return Polled::Ended(end);
        }
        if self.incarnation != server.incarnation() {
            return self.end(WatchEnd::Cut);
        }
        if let State::Waiting { version, until } = self.state
            && let Some(polled) = self.wait(version, until, server, now)
        {
            return polled;
        }
        if let State::Initial(objects) = &mut self.state {
            if let Some(object) = objects.next() {
                return self.object(WatchEventType::Added, &object, server);
            }
            self.state = State::Live;
            if self.has_bookmarks {
                return self.bookmark(self.cursor, true, server);
            }
        }
        if let State::Live = self.state
            && let Some(polled) = self.follow(server, now)
        {
            return polled;
        }
        match std::mem::replace(&mut self.state, State::Over(WatchEnd::Failed)) {
            State::Failing(refused) => {
                let encoding = self.representation.encoding;
                Polled::Frame(WatchFrame::error(&refused, encoding))
            }
            _ => Polled::Ended(WatchEnd::Failed),
        }
    }

    /// Waits for a version, up to a limit. `None` if the watch can go on at once.
    fn wait(
        &mut self,
        version: u64,
        until: Instant,
        server: &Server,
        now: Instant,
    ) -> Option<Polled> {
        if server.version() >= version {
            self.begin_with_state(server);
            return None;
        }
        if now >= self.deadline {
            return Some(self.end(WatchEnd::Timeout));
        }
        if now < until {
            return Some(Polled::Idle(until.min(self.deadline)));
        }
        self.state = State::Failing(ApiError::too_large_version(version, server.version()));
        None
    }

    /// Returns the next change or bookmark. `None` if the watch fails.
    fn follow(&mut self, server: &Server, now: Instant) -> Option<Polled> {
        let Some(table) = server.store().table(self.id) else {
            return Some(self.end(WatchEnd::KindRemoved));
        };
        if !table.history.can_resume(self.cursor) {
            self.state = State::Failing(ApiError::expired(
                "The resourceVersion for the provided watch is too old.",
            ));
            return None;
        }
        while let Some(change) = table.history.next_after(self.cursor) {
            self.cursor = change.version;
            if let Some(polled) = self.change(change, server) {
                return Some(polled);
            }
        }
        if table.is_removed {
            return Some(self.end(WatchEnd::KindRemoved));
        }
        if self.next_bookmark.is_some_and(|due| now >= due) {
            self.plan_bookmark(now);
            if server.version() > self.begun_at {
                return Some(self.bookmark(server.version(), false, server));
            }
        }
        if now >= self.deadline {
            return Some(self.end(WatchEnd::Timeout));
        }
        let due = self.next_bookmark.unwrap_or(self.deadline);
        Some(Polled::Idle(due.min(self.deadline)))
    }

    /// The event that this watch sends for a change. An object that begins to match is ADDED. One
    /// that stops matching is DELETED, with its last matching state and the version of the change.
    fn change(&mut self, change: &Change, server: &Server) -> Option<Polled> {
        let selected = |object: &&Arc<StoredObject>| self.selection.covers(object);
        let before = change.before.as_ref().filter(selected);
        let after = change.after.as_ref().filter(selected);
        Some(match (before, after) {
            (None, None) => return None,
            (None, Some(object)) => self.object(WatchEventType::Added, object, server),
            (Some(_), Some(object)) => self.object(WatchEventType::Modified, object, server),
            (Some(last), None) => {
                self.object_at(WatchEventType::Deleted, last, change.version, server)
            }
        })
    }

    fn object(&mut self, event: WatchEventType, object: &StoredObject, server: &Server) -> Polled {
        self.object_at(event, object, object.version(), server)
    }

    fn object_at(
        &mut self,
        event: WatchEventType,
        object: &StoredObject,
        version: u64,
        server: &Server,
    ) -> Polled {
        let shown = Shown {
            object,
            version,
            has_columns: self.is_first(),
        };
        let now = server.wall_clock();
        self.frame(event, self.representation.object(&self.kind, shown, now))
    }

    /// Whether this is the first object that is sent.
    const fn is_first(&mut self) -> bool {
        !std::mem::replace(&mut self.has_columns, true)
    }

    /// Sends an object. One that cannot be encoded ends the watch.
    fn frame(&mut self, event: WatchEventType, object: Result<Arc<[u8]>, ApiError>) -> Polled {
        let encoding = self.representation.encoding;
        Polled::Frame(match object {
            Ok(object) => WatchFrame::new(event, encoding, object),
            Err(refused) => {
                self.state = State::Over(WatchEnd::Failed);
                WatchFrame::error(&refused, encoding)
            }
        })
    }

    fn bookmark(&mut self, version: u64, is_end_of_state: bool, server: &Server) -> Polled {
        let encoded = Encoded::bookmark(&self.kind, version, is_end_of_state);
        let row = Row {
            name: "",
            version,
            created: None,
            now: server.wall_clock(),
        };
        let is_first = self.is_first();
        let bookmark = self
            .representation
            .bookmark(&self.kind, &encoded, row, is_first);
        self.frame(WatchEventType::Bookmark, bookmark)
    }

    /// Every minute, and once shortly before the end.
    fn plan_bookmark(&mut self, now: Instant) {
        let last =
            Instant::default().after(self.deadline.since(Instant::default().after(LAST_BOOKMARK)));
        let due = now.after(BOOKMARK_EVERY).min(last);
        self.next_bookmark = (self.has_bookmarks && due > now).then_some(due);
    }

    fn end(&mut self, end: WatchEnd) -> Polled {
        self.state = State::Over(end);
        Polled::Ended(end)
    }
}
