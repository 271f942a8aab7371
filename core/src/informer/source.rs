//! One source of an informer: a target with its own decoder, reflector and queue.

use super::config::InformerConfig;
use super::gaps::Gaps;
use super::heard::Heard;
use super::{KeyOf, SourceId};
use crate::decode::Decode;
use crate::indexer::{Indexer, Shown};
use crate::queue::{Queue, Transform};
use crate::reflector::{InvalidConfig, Reflector};
use crate::rng::Rng;
use crate::storage::{Seed, Storage};
use crate::time::Instant;
use crate::transport::ExchangeId;

/// A target that the informer lists and watches, up to the store, which all sources share.
pub(super) struct Source<D: Decode, S: Storage> {
    pub(super) id: SourceId,
    pub(super) decoder: D,
    pub(super) reflector: Reflector<S>,
    pub(super) queue: Queue<D::Object, S>,
    /// The exchange that the decoder reads.
    pub(super) decoding: Option<ExchangeId>,
    pub(super) heard: Heard,
    pub(super) gaps: Gaps<KeyOf<D>, S>,
    /// It may have shown an object.
    pub(super) has_shown: bool,
    /// A bookmark has arrived since this was last taken.
    pub(super) bookmarked: bool,
    /// The kind is gone, and the informer is to stop then.
    pub(super) ended: bool,
    /// It was removed, and what only it shows is being deleted.
    pub(super) leaving: bool,
}

/// What a source needs to know about its informer.
pub(super) struct Around<'a, D: Decode, S: Storage> {
    pub(super) store: &'a Indexer<D::Object, S>,
    pub(super) config: &'a InformerConfig,
    pub(super) now: Instant,
}

impl<D: Decode, S: Storage> Clone for Around<'_, D, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D: Decode, S: Storage> Copy for Around<'_, D, S> {}

/// A source, and what it needs to know.
pub(super) type SourceInPlace<'a, D, S> = (&'a mut Source<D, S>, Around<'a, D, S>);

impl<D: Decode, S: Storage> Source<D, S> {
    pub(super) fn new(
        id: SourceId,
        decoder: D,
        config: &InformerConfig,
        transform: Option<&Transform<D::Object>>,
        seed: u64,
    ) -> Result<Self, InvalidConfig> {
        // Two sources must not retry at the same moments.
        let own_seed = match id.number() {
            0 => seed,
            number => Rng::new(seed ^ u64::from(number)).below(u64::MAX),
        };
        let mut reflector = Reflector::new(config.reflector, own_seed)?.with_source(id);
        let mut queue = Queue::new(config.queue, config.relist, config.limits, Seed::new(seed));
        if let Some(transform) = transform {
            queue = queue.with_transform(transform.clone());
        }
        if queue.is_streamed() {
            reflector = reflector.with_partial_states();
        }
        Ok(Self {
            id,
            decoder,
            reflector,
            queue,
            decoding: None,
            heard: Heard::default(),
            gaps: Gaps::new(),
            has_shown: false,
            bookmarked: false,
            ended: false,
            leaving: false,
        })
    }

    /// The part of the store that this source shows.
    pub(super) fn known<'a>(&self, around: Around<'a, D, S>) -> Shown<'a, D::Object, S> {
        around.store.shown_by(self.id).of_new(!self.has_shown)
    }

    /// The part of the store that a walk of the queue goes through.
    pub(super) fn walked<'a>(&self, store: &'a Indexer<D::Object, S>) -> Shown<'a, D::Object, S> {
        if self.queue.is_resyncing() {
            store.seen_by(self.id)
        } else {
            store.shown_by(self.id)
        }
    }

    /// Whether all of its changes are in the store. The listeners may still wait for the last of them.
    pub(super) fn is_settled(&self) -> bool {
        self.queue.is_empty()
    }

    /// Whether its first full state is in the store.
    pub(super) fn is_synced(&self) -> bool {
        self.queue.is_synced()
    }

    /// It shows nothing any more, and the transport knows.
    pub(super) fn is_gone(&self) -> bool {
        // A stopped reflector has no command but the abort of its last request.
        self.leaving && self.queue.is_empty() && !self.reflector.has_command(Instant::default())
    }
}
