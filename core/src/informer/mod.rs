//! The whole informer, composed of all stages.

// The configuration and the presets.
mod config;

// A rest of the informer, or of a listener.
mod rest;

// Reads bytes: decoder → reflector → queue.
mod intake;

// Applies changes: queue → store → listeners.
mod pump;

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
use pump::{PLACES, Unpublished};

pub use config::{InformerConfig, OnTransformError, SameVersion};
pub use error::{AddListenerError, WaitError};
pub use input::{Input, Output};
pub use status::{Counts, InformerStatus, RejectedObject};

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
    decoder: D,
    reflector: Reflector<S>,
    queue: Queue<D::Object, S>,
    store: Indexer<D::Object, S>,
    unpublished: Unpublished<D::Object>,
    processor: Processor<D::Object, S>,
    /// The exchange that the decoder reads.
    decoding: Option<ExchangeId>,
    heard: Heard,
    gaps: Gaps<KeyOf<D>, S>,
    /// When to check for due resyncs next.
    resync_at: Option<Instant>,
    held_up: Option<HeldUp>,
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
    /// An informer that has not been started. `seed` determines all its random decisions and hashes. Take
    /// it from a source of entropy, except in tests.
    ///
    /// # Errors
    /// The configuration is not valid.
    pub fn new(decoder: D, config: InformerConfig, seed: u64) -> Result<Self, InvalidConfig> {
        if let Some(period) = config.resync.filter(|period| *period < SHORTEST_RESYNC) {
            return Err(InvalidConfig::ResyncTooShort(period));
        }
        config.limits.check().map_err(InvalidConfig::Limit)?;
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
            unpublished: Unpublished::nothing(processor.moment()),
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

    /// Adds a transform for the objects on their way into the queue.
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

    /// Starts. Does nothing the second time, or after [`stop`](Self::stop).
    pub fn start(&mut self, now: Instant) {
        let now = self.tick(now);
        self.processor.start();
        self.reflector.start(now);
    }

    /// Stops for good. Drops queued changes and waiting notifications. The store stays readable.
    pub fn stop(&mut self, now: Instant) {
        let now = self.tick(now);
        let synced = self.is_synced();
        self.stopped.get_or_insert(synced);
        self.reflector.stop(now);
        self.queue.clear();
        self.unpublished = Unpublished::nothing(self.processor.moment());
        self.processor.discard();
        self.resync_at = None;
    }

    /// Takes a signal of the transport. Returns the number of bytes used, which is 0 for a signal without
    /// bytes. Returns `None` if the signal was not taken: because a listener is full, or because a sweep
    /// or a resync must end before the next full state. Offer the signal again after polling the listeners
    /// or at the [deadline](Self::next_deadline).
    ///
    /// Ignores signals of any exchange but the current one, and reports all their bytes as used.
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
            self.hold_up();
            return None;
        }
        let mut used = 0;
        match signal {
            Signal::Opened(encoding) => self.open(exchange, encoding),
            Signal::Bytes(bytes) => {
                self.open(exchange, Encoding::default());
                self.reflector.hear(exchange, now);
                self.heard.last_byte = Some(now);
                used = self.read(exchange, bytes);
                self.heard.counts.bytes += used as u64;
            }
            Signal::Closed => {
                self.open(exchange, Encoding::default());
                let change = self.reflector.handle(exchange, self.decoder.end(), now);
                self.push(change);
            }
            Signal::Failed { failure, message } => {
                let fact = Fact::Failed { failure, message };
                let change = self.reflector.handle(exchange, fact, now);
                self.push(change);
            }
        }
        if !self.pump() {
            self.hold_up();
        }
        self.schedule_resync();
        Some(used)
    }

    /// Does what is due. Calling this early or often is free. Calling it late is safe.
    pub fn advance(&mut self, now: Instant) {
        let now = self.tick(now);
        let stalled = !self.pump();
        if let Some(held_up) = self.held_up.take()
            && (held_up.certain || stalled)
        {
            // A listener held up the bytes, not the server.
            self.reflector.excuse_silence(now.since(held_up.since), now);
        }
        let change = self.reflector.advance(now);
        self.push(change);
        self.schedule_resync();
        if self.resync_at.is_some_and(|due| due <= now) {
            let period = self.processor.check_period();
            self.resync_at = period.map(|period| now.after(period));
            // While something else is running, a resync would only pile up behind it.
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

    /// When to call [`advance`](Self::advance) next; `None` if only a signal or a listener can change
    /// anything. While a sweep or a resync is running and no listener blocks it, this is now.
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

    /// Adds a listener. It first gets all objects that are in the store.
    ///
    /// # Errors
    /// The informer has been stopped, or there is no room.
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

    /// Leaves out what a listener has not seen yet of the store as it was when it joined. It still gets
    /// every change since then.
    pub fn skip_replay(&mut self, listener: ListenerId) {
        self.places = PLACES;
        self.processor.skip_replay(listener);
        self.pump();
    }

    /// Removes a listener and drops everything that waits for it. Returns whether it existed.
    pub fn remove_listener(&mut self, listener: ListenerId) -> bool {
        self.places = PLACES;
        let removed = self.processor.remove_listener(listener);
        self.pump();
        removed
    }

    /// A listener that has received notifications since this last returned it.
    pub fn poll_ready_listener(&mut self) -> Option<ListenerId> {
        self.processor.poll_ready_listener()
    }

    /// Takes the next notification of a listener, and acknowledges those before.
    #[must_use = "a notification is delivered once"]
    pub fn poll_notification(&mut self, listener: ListenerId) -> Option<Notification<D::Object>> {
        let mut next = None;
        self.poll_notifications(listener, 1, |notification| next = Some(notification));
        next
    }

    /// Takes up to `most` notifications of a listener, acknowledges those of earlier calls, and returns
    /// how many there were.
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

    /// Takes a report of an object that could not be used. The newest 64 are kept.
    #[must_use = "a report is delivered once"]
    pub fn poll_rejected(&mut self) -> Option<RejectedObject<KeyOf<D>, S::Text>> {
        self.gaps.reports.pop()
    }

    /// Begins a call. Time never goes back: an earlier `now` counts as the last one.
    fn tick(&mut self, now: Instant) -> Instant {
        self.places = PLACES;
        self.now = self.now.max(now);
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

    /// Resync checks run only while the state is known.
    fn schedule_resync(&mut self) {
        let period = self.processor.check_period();
        let next = period.map(|period| self.resync_at.unwrap_or_else(|| self.now.after(period)));
        self.resync_at = next.filter(|_| self.reflector.is_live());
    }
}

debug_fields!([D: Decode, S: Storage] Informer[D, S], self: reflector, store, processor);
