//! The whole informer, composed of all stages.

// The configuration and the presets.
mod config;

// A rest of the informer, or of a listener.
mod rest;

// Reads bytes: decoder → reflector → queue.
mod intake;

// Applies changes: queue → store → listeners.
mod pump;

// One target, with its decoder, reflector and queue.
mod source;

// Sources that come and go.
mod sources;

// Adding and polling listeners.
mod listeners;

// What the server has sent, and when.
mod heard;

// What is missing from the store, and why.
mod gaps;

// Reports of objects that could not be used.
mod reports;

// Writes that the store does not show.
mod unshown;

// The calls that change an informer, as data.
mod input;

// The state of the informer.
mod status;

// Errors of its methods.
mod error;

use crate::decode::Decode;
use crate::encoding::Encoding;
use crate::flow::Fact;
use crate::indexer::{IndexError, IndexFn, IndexId, IndexRef, Indexer, UnknownIndex};
use crate::object::Resource;
use crate::processor::{PER_CHANGE, Processor, Recreated, SHORTEST_RESYNC};
use crate::queue::Transform;
use crate::reflector::InvalidConfig;
use crate::source::SourceId;
use crate::storage::{Cells, Seed, SourcePlaces, Storage};
use crate::time::Instant;
use crate::transport::{Command, ExchangeId, Signal};

use pump::{PLACES, Unpublished};
use source::Source;

pub use config::{InformerConfig, OnTransformError, SameVersion};
pub use error::{AddListenerError, AddSourceError, WaitError};
pub use input::{Input, Output, Parts};
pub use status::{Counts, InformerStatus, RejectedObject, SourceStatus};

type KeyOf<D> = <<D as Decode>::Object as Resource>::Key;

/// A whole informer, to be run by a driver or by hand.
///
/// ```text
/// 1. advance(now)
/// 2. while let Some(command) = poll_command(now)       → transport.execute(command)
/// 3. while let Some(listener) = poll_ready_listener()  → its handler polls for its notifications
/// 4. transport.poll_signal(cx) → signal(exchange, signal, now) → transport.consume(n)
/// 5. sleep until next_deadline() or a wake-up from 4; go to 1
/// ```
///
/// You may take these steps in any order, skip them or repeat them. That can only cost time. The output
/// depends only on the configuration, the seed and the calls.
///
#[cfg_attr(feature = "json", doc = "```")]
#[cfg_attr(not(feature = "json"), doc = "```ignore")]
/// use informer_core::decode::{Decoder, Dynamic};
/// use informer_core::processor::ListenerConfig;
/// use informer_core::storage::Heap;
/// use informer_core::transport::{Command, Signal};
/// use informer_core::{Informer, InformerConfig, Instant};
///
/// let now = Instant::from_micros(0);
/// let mut informer: Informer<_, Heap> =
///     Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 42)?;
/// let listener = informer.add_listener(ListenerConfig::new(), now)?;
/// informer.start(now);
///
/// // The test is the server: it answers the first request with a state of one pod.
/// let Some(Command::Open { exchange, .. }) = informer.poll_command(now) else { panic!() };
/// let answer = br#"{"type":"ADDED","object":{"metadata":{"name":"web","resourceVersion":"7"}}}
/// {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}
/// "#;
/// assert_eq!(informer.signal(exchange, Signal::Bytes(answer), now), Some(answer.len()));
///
/// assert!(informer.is_synced());
/// assert_eq!(informer.poll_ready_listener(), Some(listener));
/// let added = informer.poll_notification(listener).unwrap();
/// assert_eq!(added.to_string(), "added web (initial, relist)");
/// // The next poll says that the first notification has been handled.
/// assert!(informer.poll_notification(listener).is_none());
/// assert!(informer.listener_status(listener).unwrap().synced);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Informer<D: Decode, S: Storage> {
    config: InformerConfig,
    seed: u64,
    transform: Option<Transform<D::Object>>,
    sources: SourcePlaces<S, Source<D, S>>,
    /// How many sources have ever been added.
    sources_made: u16,
    /// Whether more sources are to come before it can be synced.
    more_to_come: bool,
    /// The source whose queue is looked at next.
    turn: u32,
    /// Whether the queues of all other sources are known to be empty.
    others_settled: bool,
    store: Indexer<D::Object, S>,
    unpublished: Unpublished<D::Object>,
    processor: Processor<D::Object, S>,
    /// How many sources were removed and still have objects in the store.
    leaving: u32,
    /// Whether an object of some source has no room.
    cramped: bool,
    /// How many changes made no notification.
    suppressed: u64,
    /// When to check for due resyncs next.
    resync_at: Option<Instant>,
    held_up: Option<HeldUp>,
    started: bool,
    suspended: bool,
    /// Whether it had synced when it was stopped, if it was.
    stopped: Option<bool>,
    /// How many places of the store this call may still visit.
    places: u32,
    now: Instant,
}

/// A time during which bytes may have waited for a listener.
#[derive(Clone, Copy, Debug)]
struct HeldUp {
    since: Instant,
    /// False for a resync that has only just begun. Its listeners usually poll soon, and there is no
    /// signal when they have.
    certain: bool,
}

impl<D: Decode, S: Storage> Informer<D, S> {
    /// An informer with one source that has not been started. `seed` determines all its random decisions and
    /// hashes. Take it from a source of entropy, except in tests.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn new(decoder: D, config: InformerConfig, seed: u64) -> Result<Self, InvalidConfig> {
        let mut informer = Self::without_sources(config, seed)?;
        match informer.add_source(decoder, Instant::default()) {
            Ok(_) => Ok(informer),
            Err(AddSourceError::Stopped | AddSourceError::Full) => {
                Err(InvalidConfig::StorageTooSmall)
            }
        }
    }

    /// An informer without sources, which has not been started. Without sources, it counts as synced.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn without_sources(config: InformerConfig, seed: u64) -> Result<Self, InvalidConfig> {
        if let Some(period) = config.resync.filter(|period| *period < SHORTEST_RESYNC) {
            return Err(InvalidConfig::ResyncTooShort(period));
        }
        config.limits.check().map_err(InvalidConfig::Limit)?;
        config.reflector.check()?;
        let capacity = S::Cells::<()>::default().capacity();
        if capacity < PER_CHANGE {
            return Err(InvalidConfig::StorageTooSmall);
        }
        if config.collects_states() && capacity < u32::MAX as usize {
            return Err(InvalidConfig::NeedsUnboundedStorage);
        }
        let hashes = Seed::new(seed);
        let recreated = if config.rules.split_recreated {
            Recreated::KeepBoth
        } else {
            Recreated::Update
        };
        let processor = Processor::new(config.resync, hashes.clone()).with_recreated(recreated);
        Ok(Self {
            config,
            seed,
            transform: None,
            sources: SourcePlaces::<S, _>::default(),
            sources_made: 0,
            more_to_come: false,
            turn: 0,
            others_settled: true,
            store: Indexer::new(hashes).with_limits(config.limits),
            unpublished: Unpublished::nothing(processor.moment()),
            processor,
            leaving: 0,
            cramped: false,
            suppressed: 0,
            resync_at: None,
            held_up: None,
            started: false,
            suspended: false,
            stopped: None,
            places: PLACES,
            now: Instant::default(),
        })
    }

    /// Adds a transform for the objects on their way into the queue.
    #[must_use]
    pub fn with_transform(mut self, transform: Transform<D::Object>) -> Self {
        for at in 0..self.sources.bound() {
            if let Some(source) = self.sources.get_mut(at) {
                source.queue.set_transform(transform.clone());
            }
        }
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

    /// Starts. Does nothing the second time, or after [`stop`](Self::stop).
    pub fn start(&mut self, now: Instant) {
        let now = self.tick(now);
        self.processor.start();
        self.started = true;
        self.each_source(|source| source.reflector.start(now));
        self.pump();
    }

    /// Stops for good. Drops queued changes and waiting notifications. The store stays readable.
    pub fn stop(&mut self, now: Instant) {
        let now = self.tick(now);
        let synced = self.is_synced();
        self.stopped.get_or_insert(synced);
        self.each_source(|source| {
            source.reflector.stop(now);
            source.queue.clear();
        });
        self.unpublished = Unpublished::nothing(self.processor.moment());
        self.processor.discard();
        self.resync_at = None;
    }

    /// Takes a signal of the transport. Returns the number of bytes used, which is 0 for a signal without
    /// bytes. Returns `None` if the signal was not taken: because a listener is full, or because a sweep
    /// or a resync must end before the next full state. Offer the signal again after polling the listeners
    /// or at the [deadline](Self::next_deadline).
    ///
    /// Ignores signals of any exchange but the current one of its source, and reports all their bytes as
    /// used.
    #[must_use = "bytes that were not used must be offered again"]
    pub fn signal(
        &mut self,
        exchange: ExchangeId,
        signal: Signal<'_>,
        now: Instant,
    ) -> Option<usize> {
        let now = self.tick(now);
        let at = exchange.source().at();
        let source = self.sources.get(at);
        if !source.is_some_and(|source| source.reflector.is_current(exchange)) {
            return Some(match signal {
                Signal::Bytes(bytes) => bytes.len(),
                Signal::Opened(_) | Signal::Closed | Signal::Failed { .. } => 0,
            });
        }
        let drained = self.pump();
        self.turn_to(at);
        let source = self.sources.linked_mut(at)?;
        let full_state_waits = source.queue.has_cursor() && !source.reflector.is_live();
        if !drained || full_state_waits {
            self.hold_up();
            return None;
        }
        let (source, around) = self.source_at(at)?;
        let mut used = 0;
        match signal {
            Signal::Opened(encoding) => source.open(exchange, encoding, around),
            Signal::Bytes(bytes) => {
                source.open(exchange, Encoding::default(), around);
                source.reflector.hear(exchange, now);
                source.heard.last_byte = Some(now);
                used = self.read(exchange, bytes);
                let source = self.sources.linked_mut(at)?;
                source.heard.counts.bytes += used as u64;
            }
            Signal::Closed => {
                source.open(exchange, Encoding::default(), around);
                let change = source.reflector.handle(exchange, source.decoder.end(), now);
                source.push(change, around);
            }
            Signal::Failed { failure, message } => {
                let fact = Fact::Failed { failure, message };
                let change = source.reflector.handle(exchange, fact, now);
                source.push(change, around);
            }
        }
        self.end_with(at);
        if !self.pump() {
            self.hold_up();
        }
        self.schedule_resync();
        Some(used)
    }

    /// Decodes while there are bytes, the exchange is current and no listener is full.
    fn read(&mut self, exchange: ExchangeId, bytes: &[u8]) -> usize {
        let mut input = bytes;
        while self.pump() {
            let Some((source, around)) = self.source_at(exchange.source().at()) else {
                return bytes.len();
            };
            let more = source.read(exchange, &mut input, around);
            // In an in-order queue, nothing comes before a bookmark any more.
            if core::mem::take(&mut source.bookmarked) && source.queue.is_in_order() {
                self.show_version();
            }
            if !more {
                return bytes.len();
            }
        }
        bytes.len() - input.len()
    }

    /// Does what is due. Calling this early or often is free. Calling it late is safe.
    pub fn advance(&mut self, now: Instant) {
        let now = self.tick(now);
        let stalled = !self.pump();
        if let Some(held_up) = self.held_up.take()
            && (held_up.certain || stalled)
        {
            // A listener held up the bytes, not the server.
            self.each_source(|source| {
                source
                    .reflector
                    .excuse_silence(now.since(held_up.since), now);
            });
        }
        for at in 0..self.sources.bound() {
            self.advance_source(at);
        }
        self.schedule_resync();
        if self.resync_at.is_some_and(|due| due <= now) {
            let period = self.processor.check_period();
            self.resync_at = period.map(|period| now.after(period));
            // While something else is running, a resync would only pile up behind it.
            if self.is_settled() && self.processor.check_resync(now) {
                self.resync();
            }
        }
        if !self.pump() {
            self.held_up = Some(HeldUp {
                since: now,
                certain: stalled,
            });
        }
    }

    /// The next command for a transport. With several sources, [`ExchangeId::source`] says whose transport.
    #[must_use = "a command that is not executed is lost"]
    pub fn poll_command(&mut self, now: Instant) -> Option<Command<'_>> {
        self.tick(now);
        let id = self.sources().find(|id| {
            let source = self.sources.get(id.at());
            source.is_some_and(|source| source.reflector.has_command(self.now))
        })?;
        self.poll_command_of(id, now)
    }

    /// When to call [`advance`](Self::advance) next; `None` if only a signal or a listener can change
    /// anything. While a sweep or a resync is running and no listener blocks it, this is now.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Instant> {
        let sources = self.sources.iter();
        let of_sources = sources.filter_map(|(_, source)| source.reflector.next_deadline());
        of_sources.chain(self.own_deadline()).min()
    }

    /// When something is due that concerns no single source.
    fn own_deadline(&self) -> Option<Instant> {
        let walks = self.sources.iter().any(|(_, source)| source.queue.walks());
        [self.resync_at, walks.then_some(self.now)]
            .into_iter()
            .flatten()
            .min()
    }

    /// Begins a call. Time never goes back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.places = PLACES;
        self.now = self.now.max(now);
        if self.leaving > 0 {
            self.forget_gone();
        }
        self.now
    }

    /// Notes that a signal waits because of something here, not because of the server.
    fn hold_up(&mut self) {
        let since = self.held_up.map_or(self.now, |held_up| held_up.since);
        self.held_up = Some(HeldUp {
            since,
            certain: true,
        });
    }

    /// Resync checks run only while the state of some source is known.
    fn schedule_resync(&mut self) {
        let Some(period) = self.processor.check_period() else {
            return;
        };
        let live = |(_, source): (u32, &Source<D, S>)| source.reflector.is_live();
        let next = self.resync_at.unwrap_or_else(|| self.now.after(period));
        self.resync_at = self.sources.iter().any(live).then_some(next);
    }
}

debug_fields!([D: Decode, S: Storage] Informer[D, S], self: sources = self.sources.len(), store, processor);
