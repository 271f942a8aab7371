//! Facts during a watch.

use super::phase::{AfterWait, State, Watching};
use super::{Outcome, Reflector, SHORT_WATCH, UNKNOWN_GONE};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::OwnedRequest as Request;

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_watching<T: Resource>(
        &mut self,
        mut watching: Watching<S::Text>,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                self.server.answered();
                self.attempt.watch_began();
                watching.exchange.open(now);
                return (State::Watching(watching), None);
            }
            Fact::Added(object) => {
                if watching.adopts_added {
                    self.adopt(object.version());
                }
                Some(Change::Added(object))
            }
            Fact::Modified(object) => {
                self.adopt_ordered(&mut watching, object.version());
                Some(Change::Updated(object))
            }
            Fact::Deleted(object) => {
                self.adopt_ordered(&mut watching, object.version());
                Some(Change::Deleted(object))
            }
            Fact::Bookmark { version } | Fact::InitialEnd { version } => {
                self.adopt_ordered(&mut watching, version);
                Some(Change::Bookmark)
            }
            Fact::Rejected(Rejected {
                place: Place::Delete,
                key: None,
                ..
            }) => {
                self.abort = Some(watching.exchange.id);
                self.note_failure(Failure::Undecodable, UNKNOWN_GONE, now);
                return (self.leave(Failure::Undecodable, now), None);
            }
            Fact::Rejected(rejected) => {
                // It has been reported and would not become readable by being sent again.
                if watching.adopts_added {
                    self.adopt(rejected.version);
                }
                match rejected.place {
                    Place::Delete => rejected.key.map(Change::DeletedUnreadable),
                    Place::Item | Place::Upsert | Place::Unknown => None,
                }
            }
            Fact::Closed => {
                let state = self.end_watch(&watching, None, now);
                return (state, None);
            }
            Fact::Failed { failure, message } => {
                let state = self.fail_watching(&watching, failure, message, now);
                return (state, None);
            }
            // No decoder makes these of a watch.
            Fact::Item(_) | Fact::PageEnd { .. } => return (State::Watching(watching), None),
        };
        watching.events += 1;
        (State::Watching(watching), change)
    }

    /// Adopts the version of anything but an ADDED event: from here on the events are in order.
    fn adopt_ordered(&mut self, watching: &mut Watching<S::Text>, version: &str) {
        watching.adopts_added = true;
        self.adopt(version);
    }

    /// A watch ends all the time, and goes on from where it was. Only if it ends at once and brings
    /// nothing, something is wrong: what ended it, if that has been noted, or else that it was short.
    fn end_watch(
        &mut self,
        watching: &Watching<S::Text>,
        noted: Option<Failure>,
        now: Instant,
    ) -> State<S::Text> {
        if watching.events > 0 || !watching.exchange.is_younger_than(SHORT_WATCH, now) {
            return self.watch();
        }
        let cause = noted.unwrap_or_else(|| {
            self.note_failure(Failure::ShortWatch, Failure::ShortWatch.describe(), now);
            Failure::ShortWatch
        });
        self.leave(cause, now)
    }

    fn fail_watching(
        &mut self,
        watching: &Watching<S::Text>,
        failure: Failure,
        message: &str,
        now: Instant,
    ) -> State<S::Text> {
        self.note_failure(failure, message, now);
        let opened = watching.exchange.opened;
        match failure {
            // The server is overloaded or restarts: what we know is still good.
            Failure::Throttled { .. } => self.wait(AfterWait::Watch, failure, now),
            Failure::Unreachable | Failure::Credentials if !opened => {
                self.wait(AfterWait::Watch, failure, now)
            }
            // Nothing was said against what we know. Only once: where lists pass and watches do not,
            // the store must not grow old.
            Failure::Broken
                if !opened && self.config.retry_unanswered && self.server.left_unanswered() =>
            {
                self.wait(AfterWait::Watch, failure, now)
            }
            Failure::Broken | Failure::TimedOut if opened => {
                self.end_watch(watching, Some(failure), now)
            }
            Failure::Idle => self.watch(),
            Failure::Internal | Failure::Undecodable if opened && self.retries_internal(now) => {
                self.watch()
            }
            Failure::Invalid => {
                let (Request::Watch { version, .. } | Request::List { version, .. }) =
                    &watching.exchange.request;
                if self.config.forget_refused {
                    self.distrust(version);
                }
                self.leave(failure, now)
            }
            // What we know is too old, or nobody can tell whether it is still good.
            Failure::Expired
            | Failure::VersionTooLarge
            | Failure::Unreachable
            | Failure::Credentials
            | Failure::Unauthorized
            | Failure::Forbidden
            | Failure::NotFound
            | Failure::Internal
            | Failure::Unavailable
            | Failure::TimedOut
            | Failure::Broken
            | Failure::Undecodable
            | Failure::ShortWatch
            | Failure::NoEndBookmark
            | Failure::TransformFailed
            | Failure::Full
            | Failure::TooFast
            | Failure::Other => self.leave(failure, now),
        }
    }

    /// Whether the watch is opened again after an internal error.
    fn retries_internal(&mut self, now: Instant) -> bool {
        let window = self.internal_retry.as_mut();
        window.is_some_and(|window| window.admits(now))
    }
}
