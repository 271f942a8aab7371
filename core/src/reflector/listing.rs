//! Facts during a list.

use super::pages::{MAX_TOKEN, Turn};
use super::phase::{Listing, State};
use super::{Outcome, Reflector};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Rejected};
use crate::object::Resource;
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{OwnedAt as At, OwnedRequest as Request};
use crate::version::MAX_VERSION;

const REPEATS: &str = "the list does not end: a page has the continue token of an earlier one";
const ENDLESS: &str = "the list does not end: it has more pages than any server's";

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_listing<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                let first = listing.exchange.open(now) && listing.pages.is_first();
                first.then_some(Change::ReplaceBegin { streamed: false })
            }
            Fact::Item(object) => {
                listing.items += 1;
                listing.pages.item();
                Some(Change::ReplaceItem(object))
            }
            Fact::Rejected(Rejected { key, .. }) => {
                listing.items += 1;
                listing.pages.item();
                Some(Change::ReplaceUnreadable(key))
            }
            Fact::PageEnd {
                version,
                next,
                remaining,
            } => {
                listing.remaining = remaining;
                return self.end_page(listing, version, next, now);
            }
            Fact::Closed => {
                let message = "the list ended before it was complete";
                return self.fail_listing(listing, Failure::Broken, message, now);
            }
            Fact::Failed { failure, message } => {
                return self.fail_listing(listing, failure, message, now);
            }
            // No decoder makes these of a list.
            Fact::Added(_)
            | Fact::Modified(_)
            | Fact::Deleted(_)
            | Fact::Bookmark { .. }
            | Fact::InitialEnd { .. } => None,
        };
        (State::Listing(listing), change)
    }

    fn end_page<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        version: &str,
        next: Option<&str>,
        now: Instant,
    ) -> Outcome<S, T> {
        let is_first = listing.pages.is_first();
        // The version of a list is that of its first page: the others are read as of that one.
        if is_first && !version.is_empty() {
            if version.len() > MAX_VERSION {
                let message =
                    "the list has a version of more than 128 bytes, which no server's has";
                return self.fail_listing(listing, Failure::Undecodable, message, now);
            }
            let Ok(version) = Text::copy(version) else {
                let message = "the version of the list does not fit";
                return self.fail_listing(listing, Failure::Full, message, now);
            };
            listing.version = Some(version);
        }
        if let Some(next) = next {
            return self.turn_page(listing, next, now);
        }
        if !is_first && listing.at == At::Any {
            self.server.paged_its_cache();
        }
        self.version = listing.version;
        self.finish_full_state();
        (self.watch(), Some(Change::ReplaceEnd))
    }

    fn turn_page<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        next: &str,
        now: Instant,
    ) -> Outcome<S, T> {
        let fits = next.len() <= MAX_TOKEN;
        let Some(token) = fits.then(|| S::Text::copy(next).ok()).flatten() else {
            if listing.unpaged {
                let message = "the token of the next page does not fit";
                return self.fail_listing(listing, Failure::Full, message, now);
            }
            return (self.list_unpaged(listing), Some(Change::ReplaceAbandon));
        };
        let asked = match &listing.exchange.request {
            Request::List { page, .. } => page.as_ref(),
            Request::Watch { .. } => None,
        };
        let turn = listing.pages.turn(&token, asked, listing.limit);
        let request = Request::List {
            version: At::Latest,
            limit: listing.limit,
            page: Some(token),
        };
        listing.exchange = match turn {
            Turn::Repeats => {
                return self.fail_listing(listing, Failure::Undecodable, REPEATS, now);
            }
            Turn::TooMany => return self.give_up_pages(listing, now),
            _ if self.server.never_pages() => return self.give_up_pages(listing, now),
            Turn::Full => self.exchange_due(request, None),
            Turn::Sparse => self.exchange_for(request),
        };
        (State::Listing(listing), None)
    }

    /// There is no end of pages. From here on the list is asked for in one piece, and a server that
    /// sends pages even then is given time.
    fn give_up_pages<T: Resource>(
        &mut self,
        listing: Listing<S::Text>,
        now: Instant,
    ) -> Outcome<S, T> {
        if !self.server.paged_without_end() || listing.unpaged {
            return self.fail_listing(listing, Failure::Undecodable, ENDLESS, now);
        }
        self.note_failure(Failure::Undecodable, ENDLESS, now);
        (self.list_unpaged(listing), Some(Change::ReplaceAbandon))
    }

    fn fail_listing<T: Resource>(
        &mut self,
        listing: Listing<S::Text>,
        failure: Failure,
        message: &str,
        now: Instant,
    ) -> Outcome<S, T> {
        self.note_failure(failure, message, now);
        self.interrupt_full_state(listing.items);
        let on_later_page = !listing.pages.is_first();
        let begun = listing.exchange.opened || on_later_page;
        let abandoned = begun.then_some(Change::ReplaceAbandon);
        let state = match failure {
            // Not resumed with the fresh token that the server offers: what changed on the pages read
            // so far would be lost.
            Failure::Expired | Failure::Invalid if on_later_page && !listing.unpaged => {
                self.list_unpaged(listing)
            }
            Failure::Expired | Failure::VersionTooLarge if !listing.retried => {
                self.attempt.needs_newest();
                State::Listing(Listing {
                    retried: true,
                    ..self.list_at(At::Latest, listing.limit)
                })
            }
            Failure::Invalid => {
                self.distrust(&listing.at);
                self.leave(failure, now)
            }
            // The whole attempt is repeated after a wait.
            Failure::Expired
            | Failure::VersionTooLarge
            | Failure::Throttled { .. }
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
            | Failure::Idle
            | Failure::ShortWatch
            | Failure::NoEndBookmark
            | Failure::TransformFailed
            | Failure::Full
            | Failure::TooFast
            | Failure::Other => self.leave(failure, now),
        };
        (state, abandoned)
    }

    /// The same list again, in one piece.
    fn list_unpaged(&mut self, listing: Listing<S::Text>) -> State<S::Text> {
        self.interrupt_full_state(listing.items);
        let at = if self.attempt.is_newest_only() {
            At::Latest
        } else {
            listing.at
        };
        State::Listing(Listing {
            unpaged: true,
            retried: listing.retried,
            ..self.list_at(at, None)
        })
    }
}
