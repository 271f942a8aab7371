//! Facts during a list.

use super::phase::{Listing, State};
use super::{Outcome, Reflector};
use crate::failure::Failure;
use crate::flow::{Change, Fact, Rejected};
use crate::object::Resource;
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{At, Request};

impl<S: Storage> Reflector<S> {
    pub(super) fn handle_listing<T: Resource>(
        &mut self,
        mut listing: Listing<S::Text>,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Outcome<S, T> {
        let change = match fact {
            Fact::Opened => {
                let first = !listing.exchange.opened && listing.version.is_none();
                listing.exchange.opened = true;
                listing.exchange.heard = now;
                first.then_some(Change::ReplaceBegin { streamed: false })
            }
            Fact::Item(object) => {
                listing.items += 1;
                Some(Change::ReplaceItem(object))
            }
            Fact::Rejected(Rejected { key, .. }) => {
                listing.items += 1;
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
        // The version of a list is that of its first page: the others are read as of that one.
        let paged = listing.version.is_some();
        let list_version = listing.version.get_or_insert_default();
        if !paged && list_version.set(version).is_err() {
            let message = "the version of the list does not fit";
            return self.fail_listing(listing, Failure::Full, message, now);
        }
        if let Some(next) = next {
            let mut token = S::Text::default();
            if token.set(next).is_err() {
                if listing.unpaged {
                    let message = "the token of the next page does not fit";
                    return self.fail_listing(listing, Failure::Full, message, now);
                }
                return (self.list_unpaged(listing), Some(Change::ReplaceAbandon));
            }
            listing.exchange = self.exchange_for(Request::List {
                version: At::Latest,
                limit: listing.limit,
                page: Some(token),
            });
            return (State::Listing(listing), None);
        }
        if paged && listing.at == At::Any {
            self.pages_always = true;
        }
        self.version = listing.version.unwrap_or_default();
        self.finish_full_state();
        (self.watch(), Some(Change::ReplaceEnd))
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
        let begun = listing.exchange.opened || listing.version.is_some();
        let abandoned = begun.then_some(Change::ReplaceAbandon);
        let on_later_page = listing.version.is_some();
        let state = match failure {
            // Not resumed with the fresh token that the server offers: what changed on the pages read
            // so far would be lost.
            Failure::Expired if on_later_page && !listing.unpaged => self.list_unpaged(listing),
            Failure::Expired | Failure::VersionTooLarge if !listing.retried => {
                self.version_unavailable = true;
                let mut state = self.list_at(At::Latest, listing.limit);
                if let State::Listing(listing) = &mut state {
                    listing.retried = true;
                }
                state
            }
            _ => self.leave(failure, now),
        };
        (state, abandoned)
    }

    /// The same list again, in one piece.
    fn list_unpaged(&mut self, listing: Listing<S::Text>) -> State<S::Text> {
        self.interrupt_full_state(listing.items);
        let at = if self.version_unavailable {
            At::Latest
        } else {
            listing.at
        };
        let mut state = self.list_at(at, None);
        if let State::Listing(again) = &mut state {
            again.unpaged = true;
            again.retried = listing.retried;
        }
        state
    }
}
