//! How a reflector handles facts during a list.

use super::pages::{MAX_TOKEN, Turn};
use super::phase::{Listing, State};
use super::{Outcome, Reflector};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Rejected};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::{Storage, Text};
use crate::transport::{OwnedAt, OwnedRequest};
use crate::version::MAX_VERSION;

const REPEATS: &str = "the list does not end: a page has the continue token of an earlier one";
const ENDLESS: &str = "the list does not end: it has more pages than a server sends";

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_listing<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        fact: Fact<'_, T>,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                let first = listing.exchange.open(self.now) && listing.pages.is_first();
                first.then_some(Change::ReplaceBegin { streamed: false })
            }
            Fact::Item(object) => {
                listing.pages.items += 1;
                Some(Change::ReplaceItem(object))
            }
            Fact::Rejected(Rejected { key, .. }) => {
                listing.pages.items += 1;
                Some(Change::ReplaceUnreadable(key))
            }
            Fact::PageEnd {
                version,
                next,
                remaining,
            } => {
                listing.remaining = remaining;
                return self.end_page(listing, version, next);
            }
            Fact::Closed => {
                let message = "the list ended before it was complete";
                return self.fail_listing(listing, Failure::Broken, message);
            }
            Fact::Failed { failure, message } => {
                return self.fail_listing(listing, failure, message);
            }
            // The decoder does not produce these from a list.
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
    ) -> Outcome<S, T> {
        let is_first = listing.pages.is_first();
        // The first page has the version of the list: the server reads later pages at that version.
        if is_first && !version.is_empty() {
            if version.len() > MAX_VERSION {
                let message = "the version of the list is invalid: it has more than 128 bytes";
                return self.fail_listing(listing, Failure::Undecodable, message);
            }
            let Ok(version) = Text::copy(version) else {
                let message = "the version of the list is too long for the storage";
                return self.fail_listing(listing, Failure::Full, message);
            };
            listing.version = Some(version);
        }
        if let Some(next) = next {
            return self.turn_page(listing, next);
        }
        if !is_first && listing.at == OwnedAt::Any {
            self.server.pages_always = true;
        }
        self.version = listing.version;
        self.finish_full_state(listing.pages.items);
        (self.watch(), Some(Change::ReplaceEnd))
    }

    fn turn_page<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        next: &str,
    ) -> Outcome<S, T> {
        let fits = next.len() <= MAX_TOKEN;
        let Some(token) = fits.then(|| S::Text::copy(next).ok()).flatten() else {
            if listing.unpaged {
                let message = "the continue token of the list is too long for the storage";
                return self.fail_listing(listing, Failure::Full, message);
            }
            return (self.list_unpaged(listing), Some(Change::ReplaceAbandon));
        };
        let asked = match &listing.exchange.request {
            OwnedRequest::List { page, .. } => page.as_ref(),
            OwnedRequest::Watch { .. } => cannot_happen("a list that sent a watch", None),
        };
        let turn = listing.pages.turn(&token, asked, listing.limit);
        let request = OwnedRequest::List {
            version: OwnedAt::Latest,
            limit: listing.limit,
            page: Some(token),
        };
        listing.exchange = match turn {
            Turn::Repeats => {
                return self.fail_listing(listing, Failure::Undecodable, REPEATS);
            }
            Turn::TooMany => return self.give_up_pages(listing),
            _ if self.server.never_pages => return self.give_up_pages(listing),
            Turn::Full => self.exchange_due(request, None),
            Turn::Sparse => self.exchange_for(request),
        };
        (State::Listing(listing), None)
    }

    /// Handles a list whose pages do not end. From now on, lists are requested in one piece. If the
    /// server sends pages even then, the reflector backs off.
    fn give_up_pages<T: Resource>(&mut self, listing: Listing<S::Text>) -> Outcome<S, T> {
        if core::mem::replace(&mut self.server.never_pages, true) || listing.unpaged {
            return self.fail_listing(listing, Failure::Undecodable, ENDLESS);
        }
        self.note_failure(Failure::Undecodable, ENDLESS);
        (self.list_unpaged(listing), Some(Change::ReplaceAbandon))
    }

    fn fail_listing<T: Resource>(
        &mut self,
        listing: Listing<S::Text>,
        failure: Failure,
        message: &str,
    ) -> Outcome<S, T> {
        self.note_failure(failure, message);
        self.interrupt_full_state(listing.pages.items);
        let on_later_page = !listing.pages.is_first();
        let begun = listing.exchange.opened || on_later_page;
        let abandoned = begun.then_some(Change::ReplaceAbandon);
        let state = match failure {
            // The server offers a fresh token, but using it would miss changes on the pages read so far.
            Failure::Expired | Failure::Invalid if on_later_page && !listing.unpaged => {
                self.list_unpaged(listing)
            }
            Failure::Expired | Failure::VersionTooLarge if !listing.retried => {
                self.attempt.newest_only = true;
                State::Listing(Listing {
                    retried: true,
                    ..self.list_at(OwnedAt::Latest, listing.limit)
                })
            }
            Failure::Invalid => {
                self.distrust(&listing.at);
                self.leave(failure)
            }
            Failure::NotFound => return self.miss_kind(abandoned),
            // Repeat the whole attempt after a delay.
            Failure::Expired
            | Failure::VersionTooLarge
            | Failure::Throttled { .. }
            | Failure::Unreachable
            | Failure::Credentials
            | Failure::Unauthorized
            | Failure::Forbidden
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
            | Failure::Other => self.leave(failure),
        };
        (state, abandoned)
    }

    /// Repeats the list in one piece.
    fn list_unpaged(&mut self, listing: Listing<S::Text>) -> State<S::Text> {
        self.interrupt_full_state(listing.pages.items);
        let at = self.or_newest(listing.at);
        State::Listing(Listing {
            unpaged: true,
            retried: listing.retried,
            ..self.list_at(at, None)
        })
    }
}
