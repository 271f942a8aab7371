//! The reflector: decides which request to send next, and what the answers mean for the set of objects.
//!
//! ```text
//!             ┌─────────── back-off ◄─────────── every failure, and the end of every attempt
//!             ▼                                        ▲
//! Idle ─► Streaming ─(end bookmark)─────────► Watching ┤   reconnect at the last version
//!             │                                   ▲    │   for as long as the server allows
//!             └─(not supported)─► Listing ─(end)──┘    ▼
//!                                                   Stopped
//! ```

// Delays after failures.
mod backoff;

// The configuration.
mod config;

// One struct per phase.
mod phase;

// Facts learned about the server.
mod server;

// Progress of the current attempt.
mod attempt;

// What was asked for, and what came of it.
mod history;

// The version and the page of the next request.
mod request;

// The pages of a list.
mod pages;

// Timeouts of requests.
mod timeouts;

// A kind that the server does not serve.
mod absence;

// A rest that can be ended.
mod suspension;

// Facts during a list.
mod listing;

// Facts during a streamed state.
mod streaming;

// Facts during a watch.
mod watching;

use core::time::Duration;

use crate::bucket::TokenBucket;
use crate::failure::{Failure, Message};
use crate::flow::{Change, Fact};
use crate::invariant::cannot_happen;
pub use crate::limits::InvalidLimit;
use crate::object::Resource;
use crate::source::SourceId;
use crate::storage::{Storage, Text};
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Request};

use crate::rng::Rng;
use absence::Absence;
use attempt::Attempt;
use backoff::{Backoff, RetryWindow};
pub use config::{
    BackoffConfig, BackoffReset, FirstState, GoneConfig, InvalidConfig, ReflectorConfig, WhenGone,
};
pub use history::{FullState, History, Tally};
pub use phase::{AfterWait, Phase};
use phase::{State, Waiting};
use server::Server;

/// Lists, watches, and relists when it must.
///
/// You pass it the facts that the decoder finds in an answer, and it returns the change that each of them
/// means. It does no I/O: it states the next request as a [`Command`].
///
/// ```
/// use informer_core::flow::{Change, Fact};
/// use informer_core::reflector::{FirstState, Reflector, ReflectorConfig};
/// use informer_core::storage::Heap;
/// use informer_core::transport::{At, Command, Request};
/// use informer_core::{Instant, Object, ObjectKey};
///
/// let now = Instant::from_micros(0);
/// let config = ReflectorConfig { first_state: FirstState::Listed, ..ReflectorConfig::new() };
/// let mut reflector: Reflector<Heap> = Reflector::new(config, 42)?;
/// reflector.start(now);
///
/// // It asks for a list first.
/// let Some(Command::Open { exchange, request }) = reflector.poll_command(now) else { panic!() };
/// assert!(matches!(request, Request::List { version: At::Any, .. }));
///
/// let pod = Object::builder(ObjectKey::new("default", "web"))
///     .version("7")
///     .body(());
/// let facts = [
///     Fact::Opened,
///     Fact::Item(pod.clone()),
///     Fact::PageEnd { version: "8", next: None, remaining: None },
/// ];
/// let changes = facts.map(|fact| reflector.handle(exchange, fact, now));
/// assert_eq!(
///     changes.map(Option::unwrap),
///     [Change::ReplaceBegin { streamed: false }, Change::ReplaceItem(pod), Change::ReplaceEnd],
/// );
///
/// // It then watches from the version of the list.
/// let Some(Command::Open { request, .. }) = reflector.poll_command(now) else { panic!() };
/// assert!(matches!(request, Request::Watch { version: At::Version("8"), .. }));
/// # Ok::<(), informer_core::reflector::InvalidConfig>(())
/// ```
pub struct Reflector<S: Storage> {
    config: ReflectorConfig,
    rng: Rng,
    backoff: Backoff,
    /// Decides whether to watch again after an internal error. `None`: always relist.
    internal_retry: Option<RetryWindow>,
    /// Paces requests. Every request takes a token, except the one for the page after a full page.
    pace: TokenBucket,
    state: State<S::Text>,
    /// An exchange that the transport must abort.
    abort: Option<ExchangeId>,
    exchanges: u64,
    now: Instant,
    /// The last known version, if the server named one. It is opaque: the last one received counts.
    version: Option<S::Text>,
    server: Server,
    attempt: Attempt,
    /// Set while the server does not serve the kind.
    absence: Option<Absence>,
    /// The definition of the kind was deleted, and no full state has been read since.
    definition_deleted: bool,
    /// The caller uses the objects of a full state before it is complete.
    partial_states: bool,
    /// The number of full states read.
    full_states: u64,
    last_failure: Option<LastFailure<S::Text>>,
    failures: u64,
    history: History,
}

/// The most recent failure.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LastFailure<X> {
    /// The class of the failure.
    pub failure: Failure,
    /// The message of the server or the transport, cut to
    /// [`MAX_MESSAGE`](crate::failure::MAX_MESSAGE) bytes.
    pub message: X,
    /// The time of the failure.
    pub at: Instant,
}

/// A watch that ends sooner than this, without an event, counts as failed.
const SHORT_WATCH: Duration = Duration::from_secs(1);

/// How many requests may follow one another at once.
const BURST: u32 = 5;

/// The time between requests after the burst.
const PACE: Duration = Duration::from_secs(3);

/// The message when a deletion without a key ends a watch: only a full state can tell what is gone.
const UNKNOWN_GONE: &str = "an object was deleted, but the event does not say which one";

/// The longest `Retry-After` that is honoured.
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);

/// The next phase, and the change that a fact means.
type Outcome<S, T> = (State<<S as Storage>::Text>, Option<Change<T>>);

impl<S: Storage> Reflector<S> {
    /// Creates a reflector that is not started. `seed` determines the random parts of its delays and
    /// timeouts.
    ///
    /// # Errors
    /// [`InvalidConfig`] if a value of the configuration is invalid.
    pub fn new(config: ReflectorConfig, seed: u64) -> Result<Self, InvalidConfig> {
        config.check()?;
        Ok(Self {
            config,
            rng: Rng::new(seed),
            backoff: Backoff::new(config.backoff, Instant::default()),
            internal_retry: config.internal_retry.map(RetryWindow::new),
            // A token never takes longer than the longest delay after a failure.
            pace: TokenBucket::new(1.0 / PACE.min(config.backoff.cap).as_secs_f64(), BURST),
            state: State::Idle,
            abort: None,
            exchanges: 0,
            now: Instant::default(),
            version: None,
            server: Server::default(),
            attempt: Attempt::default(),
            absence: None,
            definition_deleted: false,
            partial_states: false,
            full_states: 0,
            last_failure: None,
            failures: 0,
            history: History::default(),
        })
    }

    /// Declares that you use the objects of a full state before it is complete.
    ///
    /// The state after an interrupted one must not be older than the part you used. The reflector does
    /// not know how new that part was, so it asks for the newest state.
    #[must_use]
    pub const fn with_partial_states(mut self) -> Self {
        self.partial_states = true;
        self
    }

    /// Numbers the exchanges as those of this source.
    #[must_use]
    pub(crate) const fn with_source(mut self, source: SourceId) -> Self {
        self.exchanges = source.to_high_bits();
        self
    }

    /// Starts to read the full state. Does nothing if the reflector was started before.
    pub fn start(&mut self, now: Instant) {
        let now = self.tick(now);
        if matches!(self.state, State::Idle) {
            self.backoff = Backoff::new(self.config.backoff, now);
            self.state = self.full_state();
        }
    }

    /// Stops for good, and aborts the request in flight.
    pub fn stop(&mut self, now: Instant) {
        self.tick(now);
        self.abort_exchange();
        if !matches!(self.state, State::Stopped) {
            self.absence = None;
        }
        self.state = State::Stopped;
        self.attempt = Attempt::default();
    }

    /// Handles one fact from the answer to `exchange`, and returns the change that it means. Facts from
    /// any exchange but the current one are ignored.
    #[must_use = "a change is returned once"]
    pub fn handle<T: Resource>(
        &mut self,
        exchange: ExchangeId,
        fact: Fact<'_, T>,
        now: Instant,
    ) -> Option<Change<T>> {
        self.tick(now);
        if !self.is_current(exchange) {
            return None;
        }
        let state = core::mem::replace(&mut self.state, State::Idle);
        let (state, change) = match state {
            State::Listing(listing) => self.handle_listing(listing, fact),
            State::Streaming(streaming) => self.handle_streaming(streaming, fact),
            State::Watching(watching) => self.handle_watching(watching, fact),
            state @ (State::Idle | State::Waiting(_) | State::Suspended | State::Stopped) => {
                cannot_happen("an exchange without a phase", (state, None))
            }
        };
        self.state = state;
        change
    }

    /// Gives up the current exchange because of a failure on this side.
    #[must_use = "a change is returned once"]
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

    /// Handles the timeouts that are due, and returns the change that they mean.
    #[must_use = "a change is returned once"]
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
            State::Idle | State::Suspended | State::Stopped => {
                return cannot_happen("a deadline without a request or a wait", None);
            }
        };
        self.give_up(failure, failure.describe(), now)
    }

    /// Returns the next command for the transport. The timeouts of a request start here.
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
        self.history.open(&exchange.request, now);
        Some(Command::Open {
            exchange: exchange.id,
            request: exchange.request.as_request(),
        })
    }

    /// Whether [`poll_command`](Self::poll_command) has a command.
    pub(crate) fn has_command(&self, now: Instant) -> bool {
        self.abort.is_some()
            || self.state.exchange().is_some_and(|exchange| {
                exchange.began.is_none() && exchange.due.is_none_or(|due| due <= now)
            })
    }

    /// Returns the current activity.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.state.phase(match &self.last_failure {
            // If full states keep failing, their failure explains the wait better than `TooFast`.
            Some(last) if !self.attempt.live => last.failure,
            Some(_) | None => Failure::TooFast,
        })
    }

    /// Returns the version up to which all changes have been returned. `None` before the first full
    /// state, and after a list without a version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_ref().map(AsRef::as_ref)
    }

    /// Whether a full state has been read and no relist is needed. A watch that is being retried counts as
    /// live.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        self.attempt.live
    }

    /// Whether changes arrive now: a watch has been answered, and nothing has failed since. It stays true
    /// when a watch ends normally, as each does every few minutes, and the next one opens.
    #[must_use]
    pub const fn is_following(&self) -> bool {
        self.attempt.following
    }

    /// Returns the number of full states read.
    #[must_use]
    pub const fn full_states(&self) -> u64 {
        self.full_states
    }

    /// Returns the most recent failure.
    #[must_use]
    pub const fn last_failure(&self) -> Option<&LastFailure<S::Text>> {
        self.last_failure.as_ref()
    }

    /// Returns the number of failures.
    #[must_use]
    pub const fn failures(&self) -> u64 {
        self.failures
    }

    /// Returns what was asked for since the start, and what came of it.
    #[must_use]
    pub const fn history(&self) -> &History {
        &self.history
    }

    /// Returns the current request, whether or not it has been sent.
    #[must_use]
    pub fn request(&self) -> Option<(ExchangeId, Request<'_>)> {
        let exchange = self.state.exchange()?;
        Some((exchange.id, exchange.request.as_request()))
    }

    /// Whether `exchange` is the current exchange.
    #[must_use]
    pub fn is_current(&self, exchange: ExchangeId) -> bool {
        let current = self.state.exchange();
        current.is_some_and(|current| current.id == exchange)
    }

    /// Whether the answer to the current request has begun.
    #[must_use]
    pub fn is_opened(&self) -> bool {
        let exchange = self.state.exchange();
        exchange.is_some_and(|exchange| exchange.opened)
    }

    /// Keeps time from going back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// Aborts the current exchange if the transport has seen it.
    fn abort_exchange(&mut self) {
        if let Some(exchange) = self.state.exchange()
            && exchange.began.is_some()
        {
            self.abort = Some(exchange.id);
        }
    }

    fn note_failure(&mut self, failure: Failure, message: &str) {
        self.failures += 1;
        self.history.failures.count(failure);
        self.attempt.following = false;
        self.last_failure = Some(LastFailure {
            failure,
            message: S::Text::beginning(Message::of(&message).as_str()),
            at: self.now,
        });
    }

    /// Waits for one back-off delay, or for the server's `Retry-After` if that is longer.
    fn wait(&mut self, then: AfterWait, cause: Failure) -> State<S::Text> {
        let at_least = cause.asked_wait().unwrap_or_default().min(LONGEST_PATIENCE);
        let delay = self.backoff.delay(at_least, &mut self.rng, self.now);
        State::Waiting(Waiting {
            until: self.now.after(delay),
            then,
            cause,
        })
    }

    /// Ends this attempt. The next one starts with the full state, after a delay.
    fn leave(&mut self, cause: Failure) -> State<S::Text> {
        if core::mem::take(&mut self.attempt.live) {
            self.history.lose(cause);
        }
        self.wait(AfterWait::FullState, cause)
    }

    /// Handles a full state that is interrupted after `items` of its objects were returned.
    const fn interrupt_full_state(&mut self, items: u64) {
        if self.partial_states && items > 0 {
            self.attempt.newest_only = true;
        }
    }

    /// Records a complete full state of this many objects.
    fn finish_full_state(&mut self, items: u64) {
        self.attempt.complete();
        self.absence = None;
        self.definition_deleted = false;
        self.full_states += 1;
        self.history.complete(items, self.now);
    }
}

debug_fields!([S: Storage] Reflector[S], self: phase = self.phase(), version, last_failure);
