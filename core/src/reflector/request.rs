//! Which version and page the next request carries, and why.

use core::time::Duration;

use super::Reflector;
use super::config::FirstState;
use super::pages::Pages;
use super::phase::{AfterWait, Exchange, Listing, State, Streaming, Waiting, Watching};
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{ExchangeId, OwnedAt as At, OwnedRequest as Request};
use crate::version::MAX_VERSION;

/// Objects per page where the server pages.
const PAGE: u32 = 500;

/// The shortest time after which the server is asked to end a watch.
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(300);

impl<S: Storage> Reflector<S> {
    /// Reads the full state now instead of after the wait. It still takes a token.
    pub fn hurry(&mut self, now: Instant) {
        self.tick(now);
        if let State::Waiting(Waiting { then, .. }) = self.state
            && then == AfterWait::FullState
        {
            self.state = self.full_state();
        }
    }

    /// Begins an attempt: the full state, streamed if that is wanted and works with this server.
    pub(super) fn full_state(&mut self) -> State<S::Text> {
        match self.config.first_state {
            FirstState::Streamed if !self.server.never_streams() => self.stream(),
            FirstState::Streamed | FirstState::Listed => self.list(),
        }
    }

    /// The first list asks for whatever the server has at hand, which is cheap; a later one for what
    /// is at least as new as what we know; and if the server did not have that, for the newest.
    pub(super) fn list(&mut self) -> State<S::Text> {
        let at = match &self.version {
            _ if self.attempt.is_newest_only() => At::Latest,
            None => At::Any,
            Some(version) => At::from_text(version.clone()),
        };
        let limit = self.limit(&at);
        State::Listing(self.list_at(at, limit))
    }

    pub(super) fn list_at(&mut self, at: At<S::Text>, limit: Option<u32>) -> Listing<S::Text> {
        let request = Request::List {
            version: at.clone(),
            limit,
            page: None,
        };
        Listing {
            exchange: self.exchange_for(request),
            at,
            limit,
            version: None,
            unpaged: false,
            retried: false,
            items: 0,
            remaining: None,
            pages: Pages::new(),
        }
    }

    /// A server answers from its cache where it can, and then does not page; asking it to would only
    /// send it to the database.
    fn limit(&self, at: &At<S::Text>) -> Option<u32> {
        match self.config.page_size {
            _ if self.server.never_pages() => None,
            Some(size) => Some(size.get()),
            None if self.server.pages_always() => Some(PAGE),
            None => match at {
                At::Latest | At::Any => Some(PAGE),
                At::Version(_) => None,
            },
        }
    }

    /// A streamed state is at least as new as what we know; the first one is the newest.
    pub(super) fn stream(&mut self) -> State<S::Text> {
        let version = if self.attempt.is_newest_only() {
            At::Latest
        } else {
            self.known_version()
        };
        let request = Request::Watch {
            version,
            timeout: self.watch_timeout(),
            initial_events: true,
        };
        State::Streaming(Streaming {
            exchange: self.exchange_for(request),
            events: 0,
            last_event: Instant::default(),
        })
    }

    /// Watches on from the version that we know.
    pub(super) fn watch(&mut self) -> State<S::Text> {
        let version = self.known_version();
        let adopts_added = matches!(version, At::Version(_));
        let request = Request::Watch {
            version,
            timeout: self.watch_timeout(),
            initial_events: false,
        };
        State::Watching(Watching {
            exchange: self.exchange_for(request),
            events: 0,
            adopts_added,
        })
    }

    fn known_version(&self) -> At<S::Text> {
        let known = self.version.clone();
        known.map_or(At::Latest, At::from_text)
    }

    /// A request for which a token is taken. If there is none, it waits until there is one.
    pub(super) fn exchange_for(&mut self, request: Request<S::Text>) -> Exchange<S::Text> {
        let wait = self.pace.take(self.now);
        let due = (!wait.is_zero()).then(|| self.now.after(wait));
        self.exchange_due(request, due)
    }

    pub(super) fn exchange_due(
        &mut self,
        request: Request<S::Text>,
        due: Option<Instant>,
    ) -> Exchange<S::Text> {
        self.exchanges += 1;
        Exchange::new(ExchangeId(self.exchanges), request, due)
    }

    /// Adopts a version, whatever it looks like, and says whether it did. An event without one says
    /// nothing about where we are; one that is too long is none, or does not fit. Without it the next
    /// watch begins a little earlier.
    pub(super) fn adopt(&mut self, version: &str) -> bool {
        if version.is_empty() || version.len() > MAX_VERSION {
            return false;
        }
        if let Some(known) = &mut self.version {
            return known.set(version).is_ok();
        }
        self.version = Text::copy(version).ok();
        self.version.is_some()
    }

    /// The server does not accept a request with this version as it is. Nobody can tell whether the
    /// version is the reason; without it, the next full state is the newest.
    pub(super) const fn distrust(&mut self, version: &At<S::Text>) {
        if matches!(version, At::Version(_)) {
            self.attempt.needs_newest();
        }
    }

    /// A random time, so that the watches of many clients do not end together.
    fn watch_timeout(&mut self) -> Duration {
        let least = self.config.watch_timeout.max(SHORTEST_TIMEOUT).as_secs();
        Duration::from_secs(least.saturating_add(self.rng.below(least)))
    }
}
