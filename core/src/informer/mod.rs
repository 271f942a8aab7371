//! The composition: all stages, and the contract by which they are driven.

// The knobs and the presets.
mod config;

// Takes bytes in: decoder → reflector → transform → queue.
mod intake;

// Moves changes on: queue → store → listeners.
mod pump;

// What waits for listeners after a change that was applied in one step.
mod undelivered;

// The objects that could not be used.
mod reports;

// Writes that the store does not show.
mod unshown;

// How it is doing.
mod status;

// What callers are told instead.
mod error;

use core::fmt;
use core::task::Poll;
use core::time::Duration;

use crate::decode::Decode;
use crate::flow::{Fact, Notification};
use crate::indexer::{IndexError, IndexFn, IndexId, IndexRef, Indexer, UnknownIndex};
use crate::object::Resource;
use crate::processor::{
    ListenerConfig, ListenerId, ListenerStatus, PER_CHANGE, Processor, Recreated, SHORTEST_RESYNC,
};
use crate::queue::{ChangeQueue, Transform};
use crate::reflector::{ConfigError, Reflector};
use crate::storage::{Cells, Full, Seed, Storage};
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Signal};
use crate::version::compare_versions;

use reports::Reports;
use undelivered::Undelivered;
use unshown::Unshown;

pub use config::{InformerConfig, OnTransformError, SameVersion};
pub use error::{AddListenerError, WaitError};
pub use status::{Counts, RejectedObject, Status};

type KeyOf<D> = <<D as Decode>::Object as Resource>::Key;

/// A whole informer, to be driven by hand or by a driver.
///
/// ```text
/// 1. advance(now)
/// 2. while let Some(command) = poll_command(now)       → transport.execute(command)
/// 3. while let Some(listener) = poll_ready_listener()  → its handler polls for its notifications
/// 4. transport.poll_signal(cx) → signal(exchange, signal, now) → transport.consume(n)
/// 5. sleep until next_deadline() or a wake-up from 4; go to 1
/// ```
///
/// The steps may be taken in any order, left out or repeated: that can cost time, and nothing else.
/// What comes out is a function of the configuration, the seed and the calls made.
pub struct Informer<D: Decode, S: Storage> {
    config: InformerConfig,
    decoder: D,
    reflector: Reflector<S>,
    transform: Option<Transform<D::Object>>,
    queue: ChangeQueue<D::Object, S>,
    store: Indexer<D::Object, S>,
    undelivered: Undelivered<D::Object>,
    processor: Processor<D::Object, S>,
    /// The exchange for whose answer the decoder was made ready.
    decoding: Option<ExchangeId>,
    /// When due resyncs are looked for next.
    resync_at: Option<Instant>,
    reports: Reports<KeyOf<D>, S>,
    unshown: Unshown<KeyOf<D>, S>,
    counts: Counts,
    last_byte: Option<Instant>,
    last_event: Option<Instant>,
    last_bookmark: Option<Instant>,
    /// The store lacks something for which it had no room.
    incomplete: bool,
    /// It was stopped before the first full state was in the store.
    never_synced: bool,
    /// When the server last said something that was not a failure.
    last_fact: Option<Instant>,
    /// Bytes may have been held up since the last time it was looked at.
    held_up: Option<HeldUp>,
    /// The newest full state contained something that could not even be named.
    unswept: bool,
    now: Instant,
    stopped: bool,
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// An informer that is not started. `seed` decides everything random in it and the hashes of its
    /// tables: take it from a source of entropy, except in tests.
    ///
    /// # Errors
    /// The configuration cannot work.
    pub fn new(decoder: D, config: InformerConfig, seed: u64) -> Result<Self, ConfigError> {
        if let Some(period) = config.resync.filter(|period| *period < SHORTEST_RESYNC) {
            return Err(ConfigError::ResyncTooShort(period));
        }
        if config.limits.objects == Some(0) {
            return Err(ConfigError::Limit("objects"));
        }
        if config.limits.bytes == Some(0) {
            return Err(ConfigError::Limit("bytes"));
        }
        let capacity = S::Cells::<()>::default().capacity();
        if capacity < PER_CHANGE {
            return Err(ConfigError::StorageTooSmall);
        }
        let hashes = Seed::new(seed);
        let recreated = if config.rules.split_recreated {
            Recreated::KeepBoth
        } else {
            Recreated::Update
        };
        let mut reflector = Reflector::new(config.reflector, seed)?;
        let queue = ChangeQueue::new(&config, hashes.clone());
        if queue.is_streamed() {
            reflector = reflector.with_partial_states();
        } else if capacity < u32::MAX as usize {
            return Err(ConfigError::NeedsUnboundedStorage);
        }
        Ok(Self {
            config,
            decoder,
            reflector,
            queue,
            transform: None,
            store: Indexer::new(hashes.clone()).with_limits(config.limits),
            undelivered: Undelivered::new(),
            processor: Processor::new(config.resync, hashes).with_recreated(recreated),
            decoding: None,
            resync_at: None,
            reports: Reports::new(),
            unshown: Unshown::new(),
            counts: Counts::default(),
            last_byte: None,
            last_event: None,
            last_bookmark: None,
            incomplete: false,
            never_synced: false,
            last_fact: None,
            held_up: None,
            unswept: false,
            now: Instant::default(),
            stopped: false,
        })
    }

    /// The same informer with a transform between decoder and queue.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<D::Object>) -> Self {
        self.transform = Some(transform);
        self
    }

    /// Adds an index to the store, at any time.
    ///
    /// # Errors
    /// The name is taken, or there is no room.
    pub fn add_index(
        &mut self,
        name: &str,
        function: IndexFn<D::Object>,
    ) -> Result<IndexId, IndexError> {
        self.store.add_index(name, function)
    }

    /// Removes an index of the store.
    ///
    /// # Errors
    /// There is no such index.
    pub fn remove_index<'a>(&mut self, index: impl Into<IndexRef<'a>>) -> Result<(), UnknownIndex> {
        self.store.remove_index(index)
    }

    /// Begins. Does nothing the second time, or after [`stop`](Self::stop).
    pub fn start(&mut self, now: Instant) {
        let now = self.tick(now);
        self.processor.start();
        self.reflector.start(now);
    }

    /// Ends, for good. What is queued and what waits for listeners is dropped; the store stays readable.
    pub fn stop(&mut self, now: Instant) {
        let now = self.tick(now);
        self.never_synced |= !self.is_synced();
        self.reflector.stop(now);
        while self.queue.next().is_some() {}
        while self.undelivered.pop().is_some() {}
        self.processor.discard();
        self.resync_at = None;
        self.stopped = true;
    }

    /// Whether it was stopped.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes a signal of the transport. Gives the number of bytes used (0 for signals without bytes),
    /// or `None` if a listener asks for patience: then nothing was taken, and the same signal is to be
    /// offered again after listeners have been polled.
    ///
    /// Signals of any exchange but the current one are used up and ignored.
    #[must_use = "bytes that were not used must be offered again"]
    pub fn signal(
        &mut self,
        exchange: ExchangeId,
        signal: Signal<'_>,
        now: Instant,
    ) -> Option<usize> {
        let now = self.tick(now);
        if !self.reflector.is_current(exchange) {
            return Some(match signal {
                Signal::Bytes(bytes) => bytes.len(),
                Signal::Opened | Signal::Closed | Signal::Failed { .. } => 0,
            });
        }
        if !self.pump() {
            self.hold_up(now);
            return None;
        }
        let used = match signal {
            Signal::Opened => {
                self.open(exchange, now);
                0
            }
            Signal::Bytes(bytes) => {
                self.open(exchange, now);
                self.reflector.hear(exchange, now);
                self.last_byte = Some(now);
                let used = self.read(exchange, bytes, now);
                self.counts.bytes += used as u64;
                used
            }
            Signal::Closed => {
                self.open(exchange, now);
                let change = self.reflector.handle(exchange, self.decoder.end(), now);
                self.push(change, now);
                0
            }
            Signal::Failed { failure, message } => {
                let fact = Fact::Failed { failure, message };
                let change = self.reflector.handle(exchange, fact, now);
                self.push(change, now);
                0
            }
        };
        if !self.pump() {
            self.hold_up(now);
        }
        self.schedule_resync(now);
        Some(used)
    }

    /// Fires what is due. Calling it early or often is free, calling it late is safe.
    pub fn advance(&mut self, now: Instant) {
        let now = self.tick(now);
        let stalled = !self.pump();
        if let Some(held_up) = self.held_up.take()
            && (held_up.certain || stalled)
        {
            // It was a listener that held up the bytes, not the server.
            self.reflector.excuse_silence(now.since(held_up.since), now);
        }
        let change = self.reflector.advance(now);
        self.push(change, now);
        self.schedule_resync(now);
        if self.resync_at.is_some_and(|due| due <= now) {
            self.resync_at = self
                .processor
                .check_period()
                .map(|period| now.after(period));
            // While a listener holds up the queue, showing more would only pile up behind it.
            if self.is_drained()
                && self.processor.check_resync(now)
                && let Err(Full) = self.queue.resync(&self.store)
            {
                self.overflow(now);
            }
        }
        if !self.pump() {
            self.held_up = Some(HeldUp {
                since: now,
                certain: stalled,
            });
        }
    }

    /// The next command for the transport.
    #[must_use = "a command that is not executed is lost"]
    pub fn poll_command(&mut self, now: Instant) -> Option<Command<S::Text>> {
        let now = self.tick(now);
        self.reflector.poll_command(now)
    }

    /// When [`advance`](Self::advance) has something to do next; `None` means that only a signal or a
    /// listener can make a difference.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let reflector = self.reflector.next_deadline();
        reflector.into_iter().chain(self.resync_at).min()
    }

    /// Adds a listener. If the store holds objects, it is shown those first.
    ///
    /// # Errors
    /// The informer was stopped, or there is no room.
    pub fn add_listener(
        &mut self,
        config: ListenerConfig,
        now: Instant,
    ) -> Result<ListenerId, AddListenerError> {
        if self.stopped {
            return Err(AddListenerError::Stopped);
        }
        let now = self.tick(now);
        Ok(self.processor.add_listener(config, &self.store, now)?)
    }

    /// Removes a listener and drops what waits for it. Says whether there was one.
    pub fn remove_listener(&mut self, listener: ListenerId) -> bool {
        let removed = self.processor.remove_listener(listener);
        self.pump();
        removed
    }

    /// A listener for which something has come since it was last named here.
    pub fn poll_ready_listener(&mut self) -> Option<ListenerId> {
        self.processor.poll_ready_listener()
    }

    /// The next notification of a listener. What it was given before counts as dealt with.
    #[must_use = "a notification is given once"]
    pub fn poll_notification(&mut self, listener: ListenerId) -> Option<Notification<D::Object>> {
        let next = self.processor.poll_notification(listener, &self.store);
        self.pump();
        next
    }

    /// Up to `most` notifications of a listener at once. What it was given before, by an earlier call,
    /// counts as dealt with. Says how many there were.
    pub fn poll_notifications(
        &mut self,
        listener: ListenerId,
        most: usize,
        give: impl FnMut(Notification<D::Object>),
    ) -> usize {
        let given = self
            .processor
            .poll_notifications(listener, &self.store, most, give);
        self.pump();
        given
    }

    /// A report of an object that could not be used. The newest 64 are kept.
    #[must_use = "a report is given once"]
    pub fn poll_rejected(&mut self) -> Option<RejectedObject<KeyOf<D>, S::Text>> {
        self.reports.pop()
    }

    /// The store.
    #[must_use]
    pub const fn store(&self) -> &Indexer<D::Object, S> {
        &self.store
    }

    /// The reflector, for those who want to know more than [`status`](Self::status) tells.
    #[must_use]
    pub const fn reflector(&self) -> &Reflector<S> {
        &self.reflector
    }

    /// Whether the first full state is in the store. It says nothing about listeners: see
    /// [`listener_status`](Self::listener_status). It never turns back.
    #[must_use]
    pub const fn is_synced(&self) -> bool {
        self.queue.is_synced() && !self.never_synced
    }

    /// Whether something is held up by a listener: [`Status::stalled`], for those who ask often.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        !self.is_drained()
    }

    /// How a listener is doing, its own sync included; `None` if there is no such listener.
    #[must_use]
    pub fn listener_status(&self, listener: ListenerId) -> Option<ListenerStatus> {
        self.processor.status(listener)
    }

    /// All listeners.
    pub fn listeners(&self) -> impl Iterator<Item = ListenerId> {
        self.processor.listeners()
    }

    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> Status<'_, S::Text> {
        Status {
            phase: self.reflector.phase(),
            last_failure: self.reflector.last_failure(),
            version: self.reflector.version().unwrap_or_default(),
            synced: self.is_synced(),
            following: self.reflector.is_following(),
            last_byte: self.last_byte,
            last_event: self.last_event,
            last_bookmark: self.last_bookmark,
            objects: self.store.len(),
            queued: self.queue.len() + self.undelivered.len(),
            stalled: self.is_stalled(),
            unswept: self.unswept,
            counts: Counts {
                full_states: self.reflector.full_states(),
                failures: self.reflector.failures(),
                rejected: self.reports.rejected,
                reports_lost: self.reports.lost,
                ..self.counts
            },
        }
    }

    /// Whether the store follows the server now. All of this must hold:
    ///
    /// * the first full state is in the store;
    /// * a watch has been answered, and nothing has failed since: any failure makes this false at once,
    ///   until the next watch is answered;
    /// * no listener holds up the changes;
    /// * something was heard at most `within` ago.
    ///
    /// A watch that ends in good order, as each does every few minutes, changes nothing: the next one is
    /// asked for within seconds. A connection that is dead without a sign is noticed when `within` has passed. A
    /// server sends bookmarks about once a minute, so two minutes are a good value for a readiness probe.
    #[must_use]
    pub fn is_fresh(&self, within: Duration, now: Instant) -> bool {
        self.is_synced()
            && self.reflector.is_following()
            && self.is_drained()
            && self
                .last_fact
                .is_some_and(|heard| now.max(self.now).since(heard) <= within)
    }

    /// Whether the store shows at least the state of `version`, such as the one that a write of one's
    /// own was answered with. Ask again after each call that took something.
    ///
    /// # Errors
    /// One of the versions is not a decimal number, so nobody can tell. Or the object of the write could
    /// not be used, so the store does not show it; the error names the object. Of a write that only a
    /// full state brought it can be told no more than between which versions it is, so the object may be
    /// another one than that of the caller.
    pub fn wait_for(&self, version: &str) -> Result<Poll<()>, WaitError<'_, KeyOf<D>, S::Text>> {
        let Some(known) = self.reflector.version() else {
            // Nothing is known yet, but a version that cannot be compared never will be.
            compare_versions(version, version)?;
            return Ok(Poll::Pending);
        };
        let reached = compare_versions(known, version)?.is_ge();
        if !reached || !self.is_drained() || self.incomplete {
            return Ok(Poll::Pending);
        }
        match self.unshown.covering(version) {
            Some(object) => Err(WaitError::Rejected(object)),
            None => Ok(Poll::Ready(())),
        }
    }

    /// Time never goes back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }

    /// A listener does not let a signal pass.
    fn hold_up(&mut self, now: Instant) {
        let since = self.held_up.map_or(now, |held_up| held_up.since);
        self.held_up = Some(HeldUp {
            since,
            certain: true,
        });
    }

    /// Looks for due resyncs begin when the state is known, and end when it has to be read again.
    fn schedule_resync(&mut self, now: Instant) {
        let period = self
            .processor
            .check_period()
            .filter(|_| self.reflector.is_live());
        self.resync_at = period.map(|period| self.resync_at.unwrap_or_else(|| now.after(period)));
    }
}

/// A stall, as far as it matters to the clocks of the server.
#[derive(Clone, Copy, Debug)]
struct HeldUp {
    since: Instant,
    /// Not certain is that of a resync which has just begun: as a rule it is over as soon as its
    /// listeners have polled, and nobody tells us when that was.
    certain: bool,
}

impl<D: Decode, S: Storage> fmt::Debug for Informer<D, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("reflector", &self.reflector)
            .field("store", &self.store)
            .field("processor", &self.processor)
            .finish_non_exhaustive()
    }
}
