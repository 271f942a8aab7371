//! How a reflector handles facts during a streamed state.

use super::phase::{AfterWait, State, Streaming, Watching};
use super::{Outcome, Reflector, SHORT_WATCH, UNKNOWN_GONE};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Place, Rejected};
use crate::object::Resource;
use crate::storage::Storage;

const NOWHERE: &str =
    "the end bookmark of the streamed state has no version, or one that is too long";

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_streaming<T: Resource>(
        &mut self,
        mut streaming: Streaming<S::Text>,
        fact: Fact<'_, T>,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                self.server.unanswered = false;
                streaming.last_event = self.now;
                let begin = streaming.exchange.open(self.now).then(|| {
                    streaming.exchange.began = Some(self.now);
                    Change::ReplaceBegin { streamed: true }
                });
                return (State::Streaming(streaming), begin);
            }
            Fact::Added(object) | Fact::Modified(object) => Some(Change::ReplaceItem(object)),
            Fact::Deleted(object) => Some(Change::ReplaceRemove(object)),
            Fact::Rejected(Rejected { key, place, .. }) => match (place, key) {
                (Place::Upsert | Place::Item, key) => Some(Change::ReplaceUnreadable(key)),
                (Place::Delete, Some(key)) => Some(Change::DeletedUnreadable(key)),
                (Place::Delete, None) => {
                    self.abort = Some(streaming.exchange.id);
                    return self.fail_streaming(streaming, Failure::Undecodable, UNKNOWN_GONE);
                }
                (Place::Unknown, _) => None,
            },
            Fact::InitialEnd { version } => {
                // Without a version there is nothing to watch from, and the known one is too old.
                if !self.adopt(version) {
                    self.abort = Some(streaming.exchange.id);
                    return self.fail_streaming(streaming, Failure::Undecodable, NOWHERE);
                }
                self.finish_full_state(streaming.events);
                self.attempt.following = true;
                let mut exchange = streaming.exchange;
                exchange.began = Some(self.now);
                let watching = Watching {
                    exchange,
                    events: 0,
                    adopts_added: true,
                };
                return (State::Watching(watching), Some(Change::ReplaceEnd));
            }
            Fact::Closed => return self.close_streaming(streaming),
            Fact::Failed { failure, message } => {
                return self.fail_streaming(streaming, failure, message);
            }
            // Other bookmarks mean nothing here. The decoder does not produce the rest from a watch.
            Fact::Bookmark { .. } | Fact::Item(_) | Fact::PageEnd { .. } => None,
        };
        if change.is_some() {
            streaming.events += 1;
            streaming.last_event = self.now;
        }
        (State::Streaming(streaming), change)
    }

    fn fail_streaming<T: Resource>(
        &mut self,
        streaming: Streaming<S::Text>,
        failure: Failure,
        message: &str,
    ) -> Outcome<S, T> {
        let opened = streaming.exchange.opened;
        let abandoned = opened.then_some(Change::ReplaceAbandon);
        self.note_failure(failure, message);
        let at_newest = self.attempt.newest_only;
        self.interrupt_full_state(streaming.events);
        let state = match failure {
            Failure::Unreachable | Failure::Credentials | Failure::Throttled { .. } => {
                self.wait(AfterWait::Stream, failure)
            }
            // The newest state needs no version. If the server rejects even that, back off.
            Failure::Expired | Failure::VersionTooLarge if at_newest => {
                self.wait(AfterWait::Stream, failure)
            }
            Failure::Expired | Failure::VersionTooLarge => {
                self.attempt.newest_only = true;
                self.stream()
            }
            Failure::Broken | Failure::TimedOut if opened => self.stream_again(&streaming),
            Failure::NoEndBookmark => {
                self.server.never_streams = true;
                self.list()
            }
            // A list may work in every other case.
            Failure::Unauthorized
            | Failure::Forbidden
            | Failure::NotFound
            | Failure::Invalid
            | Failure::Internal
            | Failure::Unavailable
            | Failure::TimedOut
            | Failure::Broken
            | Failure::Undecodable
            | Failure::Idle
            | Failure::ShortWatch
            | Failure::TransformFailed
            | Failure::Full
            | Failure::TooFast
            | Failure::Other => self.list(),
        };
        (state, abandoned)
    }

    /// Handles a stream that the server closed cleanly before the end bookmark.
    fn close_streaming<T: Resource>(&mut self, streaming: Streaming<S::Text>) -> Outcome<S, T> {
        // One stream that had the time for its end bookmark and did not send it may be chance: a large
        // state, or a server that shuts down. The second is not.
        let had_time = |patience| !streaming.exchange.is_younger_than(patience, self.now);
        let unannounced = self.config.end_bookmark.is_some_and(had_time);
        let failure = if unannounced && !self.attempt.ended_unannounced() {
            Failure::NoEndBookmark
        } else {
            Failure::Broken
        };
        let message =
            "the streamed state is incomplete: the server closed it before the end bookmark";
        self.fail_streaming(streaming, failure, message)
    }

    /// Handles a stream that broke: opens it again, at once the first time and after a delay from then
    /// on, because each time the server sends the whole state.
    fn stream_again(&mut self, streaming: &Streaming<S::Text>) -> State<S::Text> {
        if streaming.events == 0 && streaming.exchange.is_younger_than(SHORT_WATCH, self.now) {
            self.list()
        } else if self.attempt.stream_broke() {
            self.stream()
        } else {
            self.wait(AfterWait::Stream, Failure::Broken)
        }
    }
}
