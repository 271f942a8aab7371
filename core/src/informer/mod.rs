//! The composition: all stages, and the contract by which they are driven.

// The knobs and the presets.
mod config;

// Takes bytes in: decoder → reflector → queue.
mod intake;

// Moves changes on: queue → store → listeners.
mod pump;

// What was heard of the server, and when.
mod heard;

// What the store lacks, and why.
mod gaps;

// The objects that could not be used.
mod reports;

// Writes that the store does not show.
mod unshown;

// Everything that can be done to it, as data.
mod input;

// How it is doing.
mod status;

// What callers are told instead.
mod error;

use core::fmt;

use crate::decode::Decode;
use crate::encoding::Encoding;
use crate::flow::{Fact, Notification};
use crate::indexer::{IndexError, IndexFn, IndexId, IndexRef, Indexer, UnknownIndex};
use crate::object::Resource;
use crate::processor::{
    ListenerConfig, ListenerId, PER_CHANGE, Processor, Recreated, SHORTEST_RESYNC,
};
use crate::queue::{Queue, Transform};
use crate::reflector::{InvalidConfig, Reflector};
use crate::storage::{Cells, Seed, Storage};
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Signal};

use gaps::Gaps;
use heard::Heard;
use pump::{PLACES, Telling};

pub use config::{InformerConfig, OnTransformError, SameVersion};
pub use error::{AddListenerError, WaitError};
pub use input::{Input, Output};
pub use status::{Counts, InformerStatus, RejectedObject};

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
    queue: Queue<D::Object, S>,
    store: Indexer<D::Object, S>,
    telling: Telling<D::Object>,
    processor: Processor<D::Object, S>,
    /// The exchange for whose answer the decoder was made ready.
    decoding: Option<ExchangeId>,
    heard: Heard,
    gaps: Gaps<KeyOf<D>, S>,
    /// When to check for due resyncs next.
    resync_at: Option<Instant>,
    held_up: Option<HeldUp>,
    stopped: Option<Stopped>,
    /// How many places of the store this call may still look at.
    places: u32,
    now: Instant,
}

/// A time during which bytes may have waited for a listener.
#[derive(Clone, Copy, Debug)]
struct HeldUp {
    since: Instant,
    /// False for a resync that has only just begun: usually its listeners poll soon, and nobody says
    /// when they have.
    certain: bool,
}

/// The informer was stopped.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    /// Whether the first full state was in the store by then.
    synced: bool,
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// An informer that is not started. `seed` decides everything random in it and the hashes of its
    /// tables: take it from a source of entropy, except in tests.
    ///
    /// # Errors
    /// The configuration cannot work.
    pub fn new(decoder: D, config: InformerConfig, seed: u64) -> Result<Self, InvalidConfig> {
        if let Some(period) = config.resync.filter(|period| *period < SHORTEST_RESYNC) {
            return Err(InvalidConfig::ResyncTooShort(period));
        }
        if config.limits.objects == Some(0) {
            return Err(InvalidConfig::Limit("objects"));
        }
        if config.limits.bytes == Some(0) {
            return Err(InvalidConfig::Limit("bytes"));
        }
        let capacity = S::Cells::<()>::default().capacity();
        if capacity < PER_CHANGE {
            return Err(InvalidConfig::StorageTooSmall);
        }
        let hashes = Seed::new(seed);
        let recreated = if config.rules.split_recreated {
            Recreated::KeepBoth
        } else {
            Recreated::Update
        };
        let mut reflector = Reflector::new(config.reflector, seed)?;
        let queue = Queue::new(config.queue, config.relist, config.limits, hashes.clone());
        if queue.is_streamed() {
            reflector = reflector.with_partial_states();
        } else if capacity < u32::MAX as usize {
            return Err(InvalidConfig::NeedsUnboundedStorage);
        }
        let processor = Processor::new(config.resync, hashes.clone()).with_recreated(recreated);
        Ok(Self {
            config,
            decoder,
            reflector,
            queue,
            store: Indexer::new(hashes).with_limits(config.limits),
            telling: Telling::nothing(processor.moment()),
            processor,
            decoding: None,
            heard: Heard::default(),
            gaps: Gaps::new(),
            resync_at: None,
            held_up: None,
            stopped: None,
            places: PLACES,
            now: Instant::default(),
        })
    }

    /// The same informer with a transform at the entrance of its queue.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<D::Object>) -> Self {
        self.queue = self.queue.with_transform(transform);
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
        let synced = self.is_synced();
        self.stopped.get_or_insert(Stopped { synced });
        self.reflector.stop(now);
        self.queue.clear();
        self.telling = Telling::nothing(self.processor.moment());
        self.processor.discard();
        self.resync_at = None;
    }

    /// Takes a signal of the transport. Gives the number of bytes used (0 for signals without bytes),
    /// or `None` if nothing was taken, because a listener is full, or because a sweep or a resync must
    /// end before the next full state begins. Offer the same signal again after listeners have been
    /// polled, or when the [deadline](Self::next_deadline) has come.
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
                Signal::Opened(_) | Signal::Closed | Signal::Failed { .. } => 0,
            });
        }
        let drained = self.pump();
        let full_state_waits = self.queue.has_cursor() && !self.reflector.is_live();
        if !drained || full_state_waits {
            self.hold_up(now);
            return None;
        }
        let used = match signal {
            Signal::Opened(encoding) => {
                self.open(exchange, encoding, now);
                0
            }
            Signal::Bytes(bytes) => {
                self.open(exchange, Encoding::default(), now);
                self.reflector.hear(exchange, now);
                self.heard.last_byte = Some(now);
                let used = self.read(exchange, bytes, now);
                self.heard.counts.bytes += used as u64;
                used
            }
            Signal::Closed => {
                self.open(exchange, Encoding::default(), now);
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
            let period = self.processor.check_period();
            self.resync_at = period.map(|period| now.after(period));
            // While something is under way, showing more would only pile up behind it.
            if self.is_settled() && self.processor.check_resync(now) {
                self.queue.resync(&*self.store);
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
    pub fn poll_command(&mut self, now: Instant) -> Option<Command<'_>> {
        let now = self.tick(now);
        self.reflector.poll_command(now)
    }

    /// When [`advance`](Self::advance) has something to do next; `None` means that only a signal or a
    /// listener can make a difference. While a sweep or a resync is under way and no listener is in
    /// its way, this is now.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let walks = self.queue.walks();
        let deadlines = [
            self.reflector.next_deadline(),
            self.resync_at,
            walks.then_some(self.now),
        ];
        deadlines.into_iter().flatten().min()
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
        if self.is_stopped() {
            return Err(AddListenerError::Stopped);
        }
        let now = self.tick(now);
        Ok(self.processor.add_listener(config, &self.store, now)?)
    }

    /// Removes a listener and drops what waits for it. Says whether there was one.
    pub fn remove_listener(&mut self, listener: ListenerId) -> bool {
        self.places = PLACES;
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
        self.places = PLACES;
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
        self.places = PLACES;
        let given = self
            .processor
            .poll_notifications(listener, &self.store, most, give);
        self.pump();
        given
    }

    /// A report of an object that could not be used. The newest 64 are kept.
    #[must_use = "a report is given once"]
    pub fn poll_rejected(&mut self) -> Option<RejectedObject<KeyOf<D>, S::Text>> {
        self.gaps.reports.pop()
    }

    /// A call begins. Time never goes back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.places = PLACES;
        self.now = self.now.max(now);
        self.now
    }

    /// Something here, and not the server, keeps a signal waiting.
    fn hold_up(&mut self, now: Instant) {
        let since = self.held_up.map_or(now, |held_up| held_up.since);
        self.held_up = Some(HeldUp {
            since,
            certain: true,
        });
    }

    /// Resync checks run only while the state is known.
    fn schedule_resync(&mut self, now: Instant) {
        let period = self
            .processor
            .check_period()
            .filter(|_| self.reflector.is_live());
        self.resync_at = period.map(|period| self.resync_at.unwrap_or_else(|| now.after(period)));
    }
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
