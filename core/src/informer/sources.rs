//! Sources that come and go.

use super::pump::show;
use super::source::{Around, Source, SourceInPlace};
use super::{AddSourceError, Informer};
use crate::decode::Decode;
use crate::flow::Cause;
use crate::reflector::Reflector;
use crate::source::SourceId;
use crate::storage::Storage;
use crate::time::Instant;
use crate::transport::Command;

/// The most sources at a time: an exchange has 16 bits for the place of its source.
const MOST: u32 = 1 << 16;

/// Sources that come and go.
///
/// A source is a target, for example a namespace, with a decoder and requests of its own. All sources share
/// the store, the indices and the listeners. An object that several sources show is one object. It is
/// deleted when the last of them lets go of it.
///
/// The newest state is stored. Within a cluster, the state with the larger resource version is the newer one.
/// A source never takes back what it has shown itself, so the order of its own events decides whenever it
/// also brought the stored state, or a version is not a decimal number. Versions of different clusters
/// must not be compared: wrap their decoders in an `InCluster`, which makes the cluster a part of the keys.
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
/// let first = informer.sources().next().unwrap();
/// let second = informer.add_source(Decoder::new(Dynamic), now)?;
/// let listener = informer.add_listener(ListenerConfig::new(), now)?;
/// informer.start(now);
///
/// // Each source sends its own requests. Both answers contain the same pod.
/// let answer = |version: &str| format!(
///     r#"{{"type":"ADDED","object":{{"metadata":{{"name":"web","resourceVersion":"{version}"}}}}}}
/// {{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"9","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}}
/// "#);
/// for (source, version) in [(first, "8"), (second, "7")] {
///     let Some(Command::Open { exchange, .. }) = informer.poll_command(now) else { panic!() };
///     assert_eq!(exchange.source(), source);
///     let answer = answer(version);
///     assert!(informer.signal(exchange, Signal::Bytes(answer.as_bytes()), now).is_some());
/// }
/// assert!(informer.is_synced());
///
/// // It is one object, in its newest state, until no source shows it any more.
/// assert!(informer.remove_source(first, now));
/// assert_eq!(informer.store().len(), 1);
/// assert!(informer.remove_source(second, now));
/// let mut lines = Vec::new();
/// informer.poll_notifications(listener, 10, |notification| lines.push(notification.to_string()));
/// assert_eq!(lines, ["added web (initial, relist)", "deleted web (inferred, source removed)"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl<D: Decode, S: Storage> Informer<D, S> {
    /// Adds a source. If the informer has been started, the source starts at once. Its objects are initial
    /// until it is synced, and until then the informer is not.
    ///
    /// The first time that there are two sources, this visits all objects in the store.
    ///
    /// # Errors
    /// The informer has been stopped, or there is no room.
    pub fn add_source(&mut self, decoder: D, now: Instant) -> Result<SourceId, AddSourceError> {
        if self.is_stopped() {
            return Err(AddSourceError::Stopped);
        }
        let now = self.tick(now);
        self.sources.reserve()?;
        let free = self.sources.next_place();
        let at = u16::try_from(free).ok().filter(|_| free < MOST);
        let id = SourceId::new(self.sources_made, at.ok_or(AddSourceError::Full)?);
        if !self.sources.is_empty() {
            self.store.distinguish_sources()?;
        }
        let transform = self.transform.as_ref();
        let Ok(mut source) = Source::new(id, decoder, &self.config, transform, self.seed) else {
            // The configuration was checked when the informer was made.
            return Err(AddSourceError::Full);
        };
        if self.started {
            source.reflector.start(now);
        }
        if self.suspended {
            source.reflector.suspend(now);
        }
        self.sources.insert(source)?;
        self.sources_made = self.sources_made.wrapping_add(1);
        // The store no longer has the version of an only source, and goes on without it.
        show(&mut self.store, "");
        self.turn_to(id.at());
        self.processor.await_sync();
        Ok(id)
    }

    /// Removes a source and returns whether there was one. Its request is aborted, and what no other source
    /// shows is deleted, with [`Cause::SourceRemoved`]. It stays among the
    /// [`sources`](Self::sources) until that is done.
    pub fn remove_source(&mut self, source: SourceId, now: Instant) -> bool {
        let now = self.tick(now);
        let stopped = self.is_stopped();
        let Some(removed) = self.source_mut(source).filter(|source| !source.leaving) else {
            return false;
        };
        removed.leaving = true;
        removed.reflector.stop(now);
        if !stopped {
            removed.queue.empty(Cause::SourceRemoved);
        }
        self.leaving += 1;
        self.turn_to(source.at());
        self.pump();
        self.schedule_resync();
        true
    }

    /// Says whether the sources so far are not all yet, because somebody has still to find out which ones there
    /// are. Until they are, the informer is not synced, and new listeners are not either.
    pub fn expect_sources(&mut self, more: bool, now: Instant) {
        self.tick(now);
        self.more_to_come = more;
        if more {
            self.processor.await_sync();
        }
        self.pump();
    }

    /// All sources, including those that were removed and still have objects in the store.
    pub fn sources(&self) -> impl Iterator<Item = SourceId> {
        self.sources.iter().map(|(_, source)| source.id)
    }

    /// The reflector of a source, for details that [`source_status`](Self::source_status) does not have.
    #[must_use]
    pub fn reflector(&self, source: SourceId) -> Option<&Reflector<S>> {
        self.source(source).map(|source| &source.reflector)
    }

    /// The next command for the transport of a source.
    #[must_use = "a command that is not executed is lost"]
    pub fn poll_command_of(&mut self, source: SourceId, now: Instant) -> Option<Command<'_>> {
        let now = self.tick(now);
        self.source_mut(source)?.reflector.poll_command(now)
    }

    /// [`next_deadline`](Self::next_deadline) for a driver that serves one source. What concerns no single
    /// source is left to the driver of the first one.
    #[must_use]
    pub fn next_deadline_of(&self, source: SourceId) -> Option<Instant> {
        let served = self.source(source)?;
        let first = self.sources().next() == Some(source);
        [
            served.reflector.next_deadline(),
            served.queue.walks().then_some(self.now),
            self.resync_at.filter(|_| first),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    pub(super) fn source(&self, id: SourceId) -> Option<&Source<D, S>> {
        self.sources.get(id.at()).filter(|source| source.id == id)
    }

    pub(super) fn source_mut(&mut self, id: SourceId) -> Option<&mut Source<D, S>> {
        let source = self.sources.get_mut(id.at());
        source.filter(|source| source.id == id)
    }

    /// The source at a place, and what it needs to know about the informer.
    pub(super) fn source_at(&mut self, at: u32) -> Option<SourceInPlace<'_, D, S>> {
        let around = Around {
            store: &self.store,
            config: &self.config,
            now: self.now,
        };
        Some((self.sources.get_mut(at)?, around))
    }

    pub(super) fn each_source(&mut self, mut visit: impl FnMut(&mut Source<D, S>)) {
        for at in 0..self.sources.bound() {
            self.sources.get_mut(at).map(&mut visit);
        }
    }

    /// Lets the reflector of a source do what is due.
    pub(super) fn advance_source(&mut self, at: u32) {
        let Some((source, around)) = self.source_at(at) else {
            return;
        };
        if let Some(change) = source.reflector.advance(around.now) {
            source.push(Some(change), around);
            self.turn_to(at);
            self.end_with(at);
        }
    }

    /// Stops if the kind of this source is gone and the informer is to stop then.
    pub(super) fn end_with(&mut self, at: u32) {
        if self.sources.get(at).is_some_and(|source| source.ended) {
            self.stop(self.now);
        }
    }

    /// The queue of this source is looked at first.
    pub(super) fn turn_to(&mut self, at: u32) {
        if self.turn != at {
            let before = self.sources.get(self.turn);
            self.others_settled &= before.is_none_or(Source::is_settled);
            self.turn = at;
        }
    }

    /// Sends all objects to the listeners again. The queue of one source does it for all: the first that
    /// reads no full state, which a resync would divide in two.
    pub(super) fn resync(&mut self) {
        let can =
            |(_, source): &(u32, &Source<D, S>)| !source.leaving && source.reflector.is_live();
        let Some((at, id)) = self
            .sources
            .iter()
            .find(can)
            .map(|(at, source)| (at, source.id))
        else {
            return;
        };
        if let Some(source) = self.sources.linked_mut(at) {
            source.queue.resync(&self.store.seen_by(id));
            self.turn_to(at);
        }
    }

    /// Forgets removed sources that have no object in the store any more.
    pub(super) fn forget_gone(&mut self) {
        for at in 0..self.sources.bound() {
            if self.sources.get(at).is_some_and(Source::is_gone) {
                self.sources.remove(at);
                self.leaving -= 1;
            }
        }
        self.settle_if_settled();
    }
}
