//! `Reflector`: what to ask the server next, and what its answers mean for the set of objects.
//!
//! ```text
//!             ┌────────────── wait ◄──────────── every failure, and the end of every attempt
//!             ▼                                        ▲
//! Idle ─► Streaming ─(end bookmark)─────────► Watching ┤   reconnect from the last version
//!             │                                   ▲    │   as long as the server plays along
//!             └─(not supported)─► Listing ─(end)──┘    ▼
//!                                                   Stopped
//! ```

// How long to wait.
mod backoff;

// The knobs.
mod config;

// One struct for each phase.
mod phase;

// What has been learned about the server.
mod server;

// How far the current attempt has come.
mod attempt;

// A seeded generator.
mod rng;

// Which version and page the next request carries, and why.
mod request;

// How many pages a list has.
mod pages;

// Facts during a list.
mod listing;

// Facts during a streamed state.
mod streaming;

// Facts during a watch.
mod watching;

use core::fmt;
use core::time::Duration;

use crate::bucket::TokenBucket;
use crate::failure::{Failure, Message};
use crate::flow::{Change, Fact};
use crate::invariant::cannot_happen;
use crate::object::Resource;
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Request};

use attempt::Attempt;
use backoff::{Backoff, RetryWindow};
pub use config::{BackoffConfig, BackoffReset, FirstState, InvalidConfig, ReflectorConfig};
pub use phase::{AfterWait, Phase};
use phase::{Exchange, Listing, State, Streaming, Waiting};
use rng::Rng;
use server::Server;

/// Lists, watches, and starts over when it must. It is handed the facts of the answers and says what
/// they mean. It never sees a byte; it states the next request as a [`Command`].
pub struct Reflector<S: Storage> {
    config: ReflectorConfig,
    rng: Rng,
    backoff: Backoff,
    /// When internal errors of the server are answered by watching again, if ever.
    internal_retry: Option<RetryWindow>,
    /// Every request takes a token from it, except one for the page behind a full one.
    pace: TokenBucket,
    state: State<S::Text>,
    /// An exchange of which nothing more is wanted.
    abort: Option<ExchangeId>,
    exchanges: u64,
    now: Instant,
    /// The version up to which everything is known, if the server named one. Opaque: the newest one
    /// counts, whatever it looks like.
    version: Option<S::Text>,
    server: Server,
    attempt: Attempt,
    /// The objects of a full state are used as they come.
    partial_states: bool,
    /// Full states that were read.
    full_states: u64,
    last_failure: Option<LastFailure<S::Text>>,
    failures: u64,
}

/// The failure that happened last.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LastFailure<X> {
    /// Its class.
    pub failure: Failure,
    /// What the server or the transport said about it, bounded.
    pub message: X,
    /// When it happened.
    pub at: Instant,
}

/// A watch that ends sooner than this without an event is suspicious.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// So many requests follow one another at once, whatever the server does.
const BURST: u32 = 5;

/// After that there is one so often.
const PACE: Duration = Duration::from_secs(3);

/// Why a deletion that cannot be attributed ends a watch: only a full state can tell what is gone.
const UNKNOWN_GONE: &str = "an object was deleted, but the event does not say which one";

/// A streamed state that has no end after so long has none, whatever it still brings.
const LONGEST_STATE: Duration = Duration::from_secs(600);

/// The longest that a server can make us wait by asking for it.
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);

/// The phase after a fact, and what the fact means for the set of objects.
type Outcome<S, T> = (State<<S as Storage>::Text>, Option<Change<T>>);

impl<S: Storage> Reflector<S> {
    /// A reflector that is not started. The seed decides the random parts of its delays and timeouts.
    ///
    /// # Errors
    /// The configuration cannot work.
    pub fn new(config: ReflectorConfig, seed: u64) -> Result<Self, InvalidConfig> {
        config.check()?;
        Ok(Self {
            config,
            rng: Rng::new(seed),
            backoff: Backoff::new(config.backoff, Instant::default()),
            internal_retry: config.internal_retry.map(RetryWindow::new),
            // Nobody waits longer for a token than the longest delay after a failure.
            pace: TokenBucket::new(1.0 / PACE.min(config.backoff.cap).as_secs_f64(), BURST),
            state: State::Idle,
            abort: None,
            exchanges: 0,
            now: Instant::default(),
            version: None,
            server: Server::default(),
            attempt: Attempt::default(),
            partial_states: false,
            full_states: 0,
            last_failure: None,
            failures: 0,
        })
    }

    /// The same reflector for somebody who uses the objects of a full state as they come.
    ///
    /// A state that is not completed has then been used in part, and the next one must not be older:
    /// as nobody knows how new that part was, the newest is asked for.
    #[must_use]
    pub const fn with_partial_states(mut self) -> Self {
        self.partial_states = true;
        self
    }

    /// Begins to read the full state. Does nothing if it was started before.
    pub fn start(&mut self, now: Instant) {
        let now = self.tick(now);
        if matches!(self.state, State::Idle) {
            self.backoff = Backoff::new(self.config.backoff, now);
            self.state = self.full_state();
        }
    }

    /// Ends everything, for good.
    pub fn stop(&mut self, now: Instant) {
        self.tick(now);
        self.abort_exchange();
        self.state = State::Stopped;
        self.attempt = Attempt::default();
    }

    /// Takes one fact of the answer to `exchange` and says what it means. Facts of any other exchange
    /// than the current one mean nothing.
    #[must_use = "a change is told once"]
    pub fn handle<T: Resource>(
        &mut self,
        exchange: ExchangeId,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Option<Change<T>> {
        let now = self.tick(now);
        if !self.is_current(exchange) {
            return None;
        }
        let state = core::mem::replace(&mut self.state, State::Idle);
        let (state, change) = match state {
            State::Listing(listing) => self.handle_listing(listing, fact, now),
            State::Streaming(streaming) => self.handle_streaming(streaming, fact, now),
            State::Watching(watching) => self.handle_watching(watching, fact, now),
            state @ (State::Idle | State::Waiting(_) | State::Stopped) => {
                cannot_happen("an exchange without a phase", (state, None))
            }
        };
        self.state = state;
        change
    }

    /// The current exchange is given up for a reason that the server does not know of.
    #[must_use = "a change is told once"]
    pub fn give_up<T: Resource>(
        &mut self,
        failure: Failure,
        message: &str,
        now: Instant,
    ) -> Option<Change<T>> {
        let exchange = self.state.exchange()?.id;
        self.abort_exchange();
        self.handle(exchange, Fact::Failed { failure, message }, now)
    }

    /// Something of `exchange` was heard.
    pub fn hear(&mut self, exchange: ExchangeId, now: Instant) {
        let now = self.tick(now);
        if let Some(current) = self.state.exchange_mut()
            && current.id == exchange
        {
            current.heard = now;
        }
    }

    /// The server was not listened to for so long up to now, so this part of its silence means
    /// nothing: its clocks stood still.
    pub fn excuse_silence(&mut self, silence: Duration, now: Instant) {
        let now = self.tick(now);
        if let Some(exchange) = self.state.exchange_mut() {
            exchange.heard = exchange.heard.after(silence).min(now);
        }
        if let State::Streaming(streaming) = &mut self.state {
            streaming.last_event = streaming.last_event.after(silence).min(now);
            let began = streaming.exchange.began;
            streaming.exchange.began = began.map(|began| began.after(silence).min(now));
        }
    }

    /// Fires what is due.
    #[must_use = "a change is told once"]
    pub fn advance<T: Resource>(&mut self, now: Instant) -> Option<Change<T>> {
        let now = self.tick(now);
        if self.next_deadline().is_none_or(|deadline| now < deadline) {
            return None;
        }
        if let Some(exchange) = self.state.exchange_mut()
            && exchange.due.take().is_some()
        {
            return None;
        }
        let is_over = |deadline| deadline <= now;
        let failure = match &self.state {
            State::Waiting(waiting) => {
                self.state = match waiting.then {
                    AfterWait::FullState => self.full_state(),
                    AfterWait::Stream => self.stream(),
                    AfterWait::Watch => self.watch(),
                };
                return None;
            }
            State::Streaming(streaming)
                if self.end_bookmark_deadline(streaming).is_some_and(is_over) =>
            {
                Failure::NoEndBookmark
            }
            State::Listing(_) | State::Streaming(_) | State::Watching(_) => Failure::Idle,
            State::Idle | State::Stopped => {
                return cannot_happen("a deadline while nothing is under way", None);
            }
        };
        self.give_up(failure, failure.describe(), now)
    }

    /// The next command for the transport. The clocks of a request start when it is taken here.
    #[must_use = "a command that is not executed is lost"]
    pub fn poll_command(&mut self, now: Instant) -> Option<Command<'_>> {
        let now = self.tick(now);
        if let Some(exchange) = self.abort.take() {
            return Some(Command::Abort(exchange));
        }
        let exchange = self.state.exchange_mut()?;
        if exchange.began.is_some() || exchange.due.is_some_and(|due| now < due) {
            return None;
        }
        exchange.due = None;
        exchange.began = Some(now);
        exchange.heard = now;
        let (exchange, request) = self.request()?;
        Some(Command::Open { exchange, request })
    }

    /// When [`advance`](Self::advance) has something to do next.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        if let Some(due) = self.state.exchange().and_then(|exchange| exchange.due) {
            return Some(due);
        }
        match &self.state {
            State::Idle | State::Stopped => None,
            State::Waiting(waiting) => Some(waiting.until),
            // A transport may hold full states back, so their clocks start with the answer.
            State::Listing(Listing { exchange, .. })
            | State::Streaming(Streaming { exchange, .. })
                if !exchange.opened =>
            {
                None
            }
            State::Listing(listing) => self.idle_deadline(&listing.exchange),
            State::Watching(watching) => self.idle_deadline(&watching.exchange),
            State::Streaming(streaming) => {
                let idle = self.idle_deadline(&streaming.exchange);
                let end = self.end_bookmark_deadline(streaming);
                idle.into_iter().chain(end).min()
            }
        }
    }

    /// What it is doing.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.state.phase(match &self.last_failure {
            // A full state that fails again and again fails for a reason of its own.
            Some(last) if !self.attempt.is_live() => last.failure,
            Some(_) | None => Failure::TooFast,
        })
    }

    /// The version up to which everything has been reported. `None` before the first full state, and
    /// after one whose list has no version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_ref().map(AsRef::as_ref)
    }

    /// Whether a full state has been read and its changes are being followed, interruptions included.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        self.attempt.is_live()
    }

    /// Whether the changes reach us now: a watch has been answered, and nothing has failed since. When a
    /// watch ends in good order, as each does every few minutes, the next one is asked for at once, and
    /// this stays true meanwhile.
    #[must_use]
    pub const fn is_following(&self) -> bool {
        self.attempt.is_following()
    }

    /// How many full states have been read.
    #[must_use]
    pub const fn full_states(&self) -> u64 {
        self.full_states
    }

    /// The failure that happened last, if any has.
    #[must_use]
    pub const fn last_failure(&self) -> Option<&LastFailure<S::Text>> {
        self.last_failure.as_ref()
    }

    /// How many failures there have been.
    #[must_use]
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// The request under way.
    #[must_use]
    pub fn request(&self) -> Option<(ExchangeId, Request<'_>)> {
        self.state
            .exchange()
            .map(|exchange| (exchange.id, exchange.request.as_request()))
    }

    /// Whether `exchange` is the one under way.
    #[must_use]
    pub fn is_current(&self, exchange: ExchangeId) -> bool {
        self.state
            .exchange()
            .is_some_and(|current| current.id == exchange)
    }

    /// Whether the answer to the request under way has begun.
    #[must_use]
    pub fn is_opened(&self) -> bool {
        self.state
            .exchange()
            .is_some_and(|exchange| exchange.opened)
    }

    /// Time never goes back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// Tells the transport to drop the exchange under way, if it knows of it.
    fn abort_exchange(&mut self) {
        if let Some(exchange) = self.state.exchange()
            && exchange.began.is_some()
        {
            self.abort = Some(exchange.id);
        }
    }

    fn note_failure(&mut self, failure: Failure, message: &str, now: Instant) {
        let mut text = S::Text::default();
        text.set_beginning(Message::of(&message).as_str());
        self.failures += 1;
        self.attempt.failed();
        self.last_failure = Some(LastFailure {
            failure,
            message: text,
            at: now,
        });
    }

    /// Waits one delay of the backoff, or longer if the server asked for it.
    fn wait(&mut self, then: AfterWait, cause: Failure, now: Instant) -> State<S::Text> {
        let at_least = cause.asked_wait().unwrap_or_default().min(LONGEST_PATIENCE);
        let delay = self.backoff.delay(at_least, &mut self.rng, now);
        State::Waiting(Waiting {
            until: now.after(delay),
            then,
            cause,
        })
    }

    /// Ends this attempt; the next one begins with the full state.
    fn leave(&mut self, cause: Failure, now: Instant) -> State<S::Text> {
        self.attempt.given_up();
        self.wait(AfterWait::FullState, cause, now)
    }

    /// A full state will not be completed after so many of its objects have been handed out.
    const fn interrupt_full_state(&mut self, items: u64) {
        if self.partial_states && items > 0 {
            self.attempt.needs_newest();
        }
    }

    /// A full state has been read completely.
    const fn finish_full_state(&mut self) {
        self.attempt.completed();
        self.full_states += 1;
    }

    fn idle_deadline(&self, exchange: &Exchange<S::Text>) -> Option<Instant> {
        let idle = self.config.idle.filter(|_| exchange.began.is_some())?;
        Some(exchange.heard.after(idle))
    }

    fn end_bookmark_deadline(&self, streaming: &Streaming<S::Text>) -> Option<Instant> {
        let patience = self.config.end_bookmark?;
        let quiet = streaming.last_event.after(patience);
        let longest = LONGEST_STATE.max(patience);
        let whole = streaming.exchange.began.map(|began| began.after(longest));
        whole.into_iter().chain([quiet]).min()
    }
}

impl<S: Storage> fmt::Debug for Reflector<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflector")
            .field("phase", &self.phase())
            .field("version", &self.version)
            .field("last_failure", &self.last_failure)
            .finish_non_exhaustive()
    }
}
