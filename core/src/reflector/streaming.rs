//! Facts during a streamed state.

use super::phase::{Next, State, Streaming, Watching};
use super::{Outcome, Reflector, SHORT_WATCH, UNKNOWN_GONE};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;
use crate::time::Instant;

const NOWHERE: &str = "the end of the streamed state has no version, or one that is too long";

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_streaming<T: Resource>(
        &mut self,
        mut streaming: Streaming<S::Text>,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                self.unanswered = false;
                let first = !streaming.exchange.opened;
                streaming.exchange.opened = true;
                streaming.exchange.heard = now;
                streaming.last_event = now;
                if first {
                    streaming.since = Some(now);
                }
                let begin = first.then_some(Change::ReplaceBegin { streamed: true });
                return (State::Streaming(streaming), begin);
            }
            Fact::Added(object) | Fact::Modified(object) => Some(Change::ReplaceItem(object)),
            Fact::Deleted(object) => Some(Change::ReplaceRemove(object)),
            Fact::Rejected(Rejected { key, place, .. }) => match (place, key) {
                (Place::Upsert | Place::Item, key) => Some(Change::ReplaceUnreadable(key)),
                (Place::Delete, Some(key)) => Some(Change::DeletedUnreadable(key)),
                (Place::Delete, None) => {
                    self.abort = Some(streaming.exchange.id);
                    return self.fail_streaming(streaming, Failure::Undecodable, UNKNOWN_GONE, now);
                }
                (Place::Unknown, _) => None,
            },
            Fact::InitialEnd { version } => {
                // Nobody would know where to go on from, and what we knew before is too old.
                if !self.adopt(version) {
                    self.abort = Some(streaming.exchange.id);
                    return self.fail_streaming(streaming, Failure::Undecodable, NOWHERE, now);
                }
                self.finish_full_state();
                self.following = true;
                let watching = Watching {
                    exchange: streaming.exchange,
                    since: Some(now),
                    events: 0,
                    adopts_added: true,
                };
                return (State::Watching(watching), Some(Change::ReplaceEnd));
            }
            Fact::Closed => return self.close_streaming(streaming, now),
            Fact::Failed { failure, message } => {
                return self.fail_streaming(streaming, failure, message, now);
            }
            // Other bookmarks come and go; items and pages no decoder makes of a watch.
            Fact::Bookmark { .. } | Fact::Item(_) | Fact::PageEnd { .. } => None,
        };
        if change.is_some() {
            streaming.events += 1;
            streaming.last_event = now;
        }
        (State::Streaming(streaming), change)
    }

    fn fail_streaming<T: Resource>(
        &mut self,
        streaming: Streaming<S::Text>,
        failure: Failure,
        message: &str,
        now: Instant,
    ) -> Outcome<S, T> {
        let opened = streaming.exchange.opened;
        let abandoned = opened.then_some(Change::ReplaceAbandon);
        self.note_failure(failure, message, now);
        let at_newest = self.version_unavailable;
        self.interrupt_full_state(streaming.events);
        let state = match failure {
            Failure::Unreachable | Failure::Credentials | Failure::Throttled { .. } => {
                self.wait(Next::Stream, failure, now)
            }
            // The newest state needs no version; a server that refuses even that is given time.
            Failure::Expired | Failure::VersionTooLarge if at_newest => {
                self.wait(Next::Stream, failure, now)
            }
            Failure::Expired | Failure::VersionTooLarge => {
                self.version_unavailable = true;
                self.stream()
            }
            Failure::Broken | Failure::TimedOut if opened => self.stream_again(&streaming, now),
            Failure::NoEndBookmark => {
                self.never_stream = true;
                self.list()
            }
            // Whatever else it is, a list may work.
            _ => self.list(),
        };
        (state, abandoned)
    }

    /// The server ended the stream, in good order but without announcing the end of the state.
    fn close_streaming<T: Resource>(
        &mut self,
        streaming: Streaming<S::Text>,
        now: Instant,
    ) -> Outcome<S, T> {
        // All the time that an announcement may take, and again, and never one. Once may be chance: a
        // large state, and a server that is being shut down.
        let had_time = |patience| !streaming.is_younger_than(patience, now);
        let unannounced = self.config.end_bookmark.is_some_and(had_time);
        let failure = if unannounced && core::mem::replace(&mut self.unannounced, true) {
            Failure::NoEndBookmark
        } else {
            Failure::Broken
        };
        let message = "the stream ended before the state was complete";
        self.fail_streaming(streaming, failure, message, now)
    }

    /// The stream broke. The first time it is opened again at once, then after a wait: every time the
    /// server begins with the whole state.
    fn stream_again(&mut self, streaming: &Streaming<S::Text>, now: Instant) -> State<S::Text> {
        if streaming.is_younger_than(SHORT_WATCH, now) && streaming.events == 0 {
            return self.list();
        }
        if core::mem::replace(&mut self.stream_broke, true) {
            return self.wait(Next::Stream, Failure::Broken, now);
        }
        self.stream()
    }
}
