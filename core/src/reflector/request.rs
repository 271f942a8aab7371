//! The version and the page of the next request.

use core::time::Duration;

use super::Reflector;
use super::config::FirstState;
use super::pages::Pages;
use super::phase::{AfterWait, Exchange, Listing, State, Streaming, Waiting, Watching};
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{ExchangeId, OwnedAt, OwnedRequest};
use crate::version::MAX_VERSION;

/// Objects per page, where the server pages.
const PAGE: u32 = 500;

/// The shortest time after which the server is asked to end a watch.
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(300);

impl<S: Storage> Reflector<S> {
    /// Reads the full state now instead of after the wait. The request is still paced. If the kind was
    /// [gone](Self::is_gone), its delays start over.
    pub fn hurry(&mut self, now: Instant) {
        let now = self.tick(now);
        if let Some(absence) = &mut self.absence {
            absence.start_over(now);
        }
        if let State::Waiting(Waiting { then, .. }) = self.state
            && then == AfterWait::FullState
        {
            self.state = self.full_state();
        }
    }

    /// Starts an attempt with the full state, streamed if that is configured and works with this server.
    pub(super) fn full_state(&mut self) -> State<S::Text> {
        match self.config.first_state {
            FirstState::Streamed if !self.server.never_streams => self.stream(),
            FirstState::Streamed | FirstState::Listed => self.list(),
        }
    }

    /// Lists. The first list accepts any version that the server has in its cache, which is cheap. Later
    /// lists ask for a state at least as new as the known version, or for the newest one if the server
    /// did not have that.
    pub(super) fn list(&mut self) -> State<S::Text> {
        let known = self.version.clone();
        let at = self.or_newest(known.map_or(OwnedAt::Any, OwnedAt::from_text));
        let limit = self.limit(&at);
        State::Listing(self.list_at(at, limit))
    }

    pub(super) fn list_at(&mut self, at: OwnedAt<S::Text>, limit: Option<u32>) -> Listing<S::Text> {
        let request = OwnedRequest::List {
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
            remaining: None,
            pages: Pages::default(),
        }
    }

    /// Returns the page size. A server does not page what it answers from its cache, and a limit would
    /// only send it to the database.
    fn limit(&self, at: &OwnedAt<S::Text>) -> Option<u32> {
        match self.config.page_size {
            _ if self.server.never_pages => None,
            Some(size) => Some(size.get()),
            None if self.server.pages_always => Some(PAGE),
            None => match at {
                OwnedAt::Latest | OwnedAt::Any => Some(PAGE),
                OwnedAt::Version(_) | OwnedAt::Exact(_) => None,
            },
        }
    }

    /// Asks for a streamed state at least as new as the known version. The first one is the newest.
    pub(super) fn stream(&mut self) -> State<S::Text> {
        let version = self.or_newest(self.known_version());
        State::Streaming(Streaming {
            exchange: self.watch_from(version, true),
            events: 0,
            last_event: Instant::default(),
        })
    }

    /// Watches from the known version.
    pub(super) fn watch(&mut self) -> State<S::Text> {
        let version = self.known_version();
        let adopts_added = matches!(version, OwnedAt::Version(_));
        State::Watching(Watching {
            exchange: self.watch_from(version, false),
            events: 0,
            adopts_added,
        })
    }

    fn watch_from(&mut self, version: OwnedAt<S::Text>, initial_events: bool) -> Exchange<S::Text> {
        let timeout = self.watch_timeout();
        self.exchange_for(OwnedRequest::Watch {
            version,
            timeout,
            initial_events,
        })
    }

    /// The newest state instead of `at`, if only that is good enough.
    pub(super) fn or_newest(&self, at: OwnedAt<S::Text>) -> OwnedAt<S::Text> {
        if self.attempt.newest_only {
            OwnedAt::Latest
        } else {
            at
        }
    }

    fn known_version(&self) -> OwnedAt<S::Text> {
        let known = self.version.clone();
        known.map_or(OwnedAt::Latest, OwnedAt::from_text)
    }

    /// Paces a request: without a token in the bucket, it is held back until there is one.
    pub(super) fn exchange_for(&mut self, request: OwnedRequest<S::Text>) -> Exchange<S::Text> {
        let wait = self.pace.take(self.now);
        let due = (!wait.is_zero()).then(|| self.now.after(wait));
        self.exchange_due(request, due)
    }

    pub(super) fn exchange_due(
        &mut self,
        request: OwnedRequest<S::Text>,
        due: Option<Instant>,
    ) -> Exchange<S::Text> {
        self.exchanges += 1;
        Exchange {
            id: ExchangeId(self.exchanges),
            request,
            due,
            began: None,
            opened: false,
            heard: Instant::default(),
        }
    }

    /// Adopts a version, which is opaque, and returns whether it did. An empty version says nothing, and
    /// one that is too long is not adopted. The next watch then starts a little earlier.
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

    /// Handles a request that the server rejected as invalid. The version may be the reason, so the next
    /// full state is the newest, which needs no version.
    pub(super) const fn distrust(&mut self, version: &OwnedAt<S::Text>) {
        if matches!(version, OwnedAt::Version(_)) {
            self.attempt.newest_only = true;
        }
    }

    /// Returns a random timeout, so that the watches of many clients do not end together.
    fn watch_timeout(&mut self) -> Duration {
        let least = self.config.watch_timeout.max(SHORTEST_TIMEOUT).as_secs();
        Duration::from_secs(least.saturating_add(self.rng.below(least)))
    }
}
