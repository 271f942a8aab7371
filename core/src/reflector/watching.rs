//! How a reflector handles facts during a watch.

use super::phase::{AfterWait, State, Watching};
use super::{Outcome, Reflector, SHORT_WATCH, UNKNOWN_GONE};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;
use crate::transport::OwnedRequest;

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_watching<T: Resource>(
        &mut self,
        mut watching: Watching<S::Text>,
        fact: Fact<'_, T>,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                self.server.unanswered = false;
                self.attempt.following = true;
                watching.exchange.open(self.now);
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
                self.note_failure(Failure::Undecodable, UNKNOWN_GONE);
                return (self.leave(Failure::Undecodable), None);
            }
            Fact::Rejected(rejected) => {
                // The rejection has been reported. Receiving the object again would not make it readable.
                if watching.adopts_added {
                    self.adopt(rejected.version);
                }
                match rejected.place {
                    Place::Delete => rejected.key.map(Change::DeletedUnreadable),
                    Place::Item | Place::Upsert | Place::Unknown => None,
                }
            }
            Fact::Closed => return (self.end_watch(&watching, None), None),
            Fact::Failed { failure, message } => {
                return (self.fail_watching(&watching, failure, message), None);
            }
            // The decoder does not produce these from a watch.
            Fact::Item(_) | Fact::PageEnd { .. } => return (State::Watching(watching), None),
        };
        watching.events += 1;
        (State::Watching(watching), change)
    }

    /// Adopts the version of any event but ADDED. From here on, the events are in order of versions.
    fn adopt_ordered(&mut self, watching: &mut Watching<S::Text>, version: &str) {
        watching.adopts_added = true;
        self.adopt(version);
    }

    /// Handles the end of a watch. Watches end all the time, and the next one continues at the last
    /// version. A watch that ends at once without an event is a failure: `noted` if that is known, or
    /// else `ShortWatch`.
    fn end_watch(
        &mut self,
        watching: &Watching<S::Text>,
        noted: Option<Failure>,
    ) -> State<S::Text> {
        if watching.events > 0 || !watching.exchange.is_younger_than(SHORT_WATCH, self.now) {
            return self.watch();
        }
        let cause = noted.unwrap_or_else(|| {
            self.note_failure(Failure::ShortWatch, Failure::ShortWatch.describe());
            Failure::ShortWatch
        });
        self.leave(cause)
    }

    fn fail_watching(
        &mut self,
        watching: &Watching<S::Text>,
        failure: Failure,
        message: &str,
    ) -> State<S::Text> {
        self.note_failure(failure, message);
        let opened = watching.exchange.opened;
        match failure {
            // The server is overloaded or restarts. The known version is still good.
            Failure::Throttled { .. } => self.wait(AfterWait::Watch, failure),
            Failure::Unreachable | Failure::Credentials if !opened => {
                self.wait(AfterWait::Watch, failure)
            }
            // The server did not reject the known version. Retry only once: if lists work and watches do
            // not, the store must not become stale.
            Failure::Broken
                if !opened
                    && self.config.retry_unanswered
                    && !core::mem::replace(&mut self.server.unanswered, true) =>
            {
                self.wait(AfterWait::Watch, failure)
            }
            Failure::Broken | Failure::TimedOut if opened => {
                self.end_watch(watching, Some(failure))
            }
            Failure::Idle => self.watch(),
            Failure::Internal | Failure::Undecodable if opened && self.retries_internal() => {
                self.watch()
            }
            Failure::Invalid => {
                let (OwnedRequest::Watch { version, .. } | OwnedRequest::List { version, .. }) =
                    &watching.exchange.request;
                if self.config.forget_refused {
                    self.distrust(version);
                }
                self.leave(failure)
            }
            // The known version is too old, or may be.
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
            | Failure::Other => self.leave(failure),
        }
    }

    /// Whether an internal error leads to a new watch instead of a relist.
    fn retries_internal(&mut self) -> bool {
        let window = self.internal_retry.as_mut();
        window.is_some_and(|window| window.admits(self.now))
    }
}
