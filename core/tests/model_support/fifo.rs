//! A naive `DeltaFifo`, as a list of lists. It follows the numbered rules of the conformance vectors.

use std::collections::BTreeSet;

use informer_core::ObjectKey;
use informer_core::flow::{Deletion, Delta};
use informer_core::indexer::View;
use informer_core::queue::{DeltaFifo, Epoch, Known, ReplaceAs};
use informer_core::storage::Heap;
use proptest::prelude::*;

use super::{Obj, State};

pub(crate) type Fifo = DeltaFifo<Obj, Heap>;
pub(crate) type Queue = Vec<(ObjectKey, Vec<Delta<Obj>>)>;

/// Returns the contents of the queue through its public API.
pub(crate) fn queue_of(fifo: &Fifo) -> Queue {
    let chain = |key: &ObjectKey| fifo.deltas(key).cloned().collect();
    fifo.keys().map(|key| (key.clone(), chain(key))).collect()
}

/// A store of known objects, if there is one.
pub(crate) struct Perhaps<'a>(pub(crate) Option<&'a View<Obj, Heap>>);

impl Known<Obj> for Perhaps<'_> {
    fn newest(&self) -> Epoch {
        self.0.map_or(Epoch::NEVER, Known::newest)
    }

    fn get(&self, key: &ObjectKey) -> Option<&Obj> {
        self.0?.get(key)
    }

    fn places(&self) -> u32 {
        self.0.map_or(0, Known::places)
    }

    fn at(&self, place: u32) -> Option<(&Obj, Epoch)> {
        self.0?.at(place)
    }
}

pub(crate) fn any_emit() -> impl Strategy<Value = ReplaceAs> {
    prop_oneof![Just(ReplaceAs::Replaced), Just(ReplaceAs::Sync)]
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    pub(crate) known: bool,
    pub(crate) emit: ReplaceAs,
}

pub(crate) fn any_config() -> impl Strategy<Value = Config> {
    (any::<bool>(), any_emit()).prop_map(|(known, emit)| Config { known, emit })
}

/// A naive `DeltaFifo`. The numbered rules are in `conformance/vectors/README.md`.
pub(crate) struct NaiveFifo {
    pub(crate) config: Config,
    pub(crate) queue: Queue,
    pub(crate) populated: bool,
    pub(crate) initial: usize,
    /// The expected contents of the store of known objects.
    pub(crate) known: State,
}

impl NaiveFifo {
    pub(crate) fn new(config: Config, known: State) -> Self {
        Self {
            config,
            queue: vec![],
            populated: false,
            initial: 0,
            known,
        }
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.populated && self.initial == 0
    }

    pub(crate) fn is_queued(&self, key: &ObjectKey) -> bool {
        self.queue.iter().any(|(queued, _)| queued == key)
    }

    pub(crate) fn append(&mut self, delta: Delta<Obj>) {
        // Rule 1.
        if !self.is_queued(delta.key()) {
            self.queue.push((delta.key().clone(), vec![]));
        }
        let chain = self.queue.iter_mut().find(|(key, _)| key == delta.key());
        let chain = &mut chain.unwrap().1;
        chain.push(delta);
        // Rule 2.
        if let [.., Delta::Deleted(older), Delta::Deleted(_)] = chain.as_slice() {
            let loser = if matches!(older, Deletion::Inferred { .. }) {
                2
            } else {
                1
            };
            chain.remove(chain.len() - loser);
        }
    }

    /// Rule 10.
    pub(crate) fn upsert(&mut self, delta: Delta<Obj>) {
        self.populated = true;
        self.append(delta);
    }

    /// Rule 3.
    pub(crate) fn delete(&mut self, deletion: Deletion<Obj>) {
        self.populated = true;
        if self.is_queued(deletion.key()) || self.known.contains_key(deletion.key()) {
            self.append(Delta::Deleted(deletion));
        }
    }

    /// Rule 4. `order` is the order of keys in the store.
    pub(crate) fn replace(&mut self, objects: Vec<Obj>, order: &[ObjectKey]) {
        let listed: BTreeSet<ObjectKey> = objects.iter().map(|o| o.key().clone()).collect();
        for object in objects {
            self.append(match self.config.emit {
                ReplaceAs::Replaced => Delta::Replaced(object),
                ReplaceAs::Sync => Delta::Sync(object),
            });
        }
        let mut gone = vec![];
        for (key, chain) in &self.queue {
            if !listed.contains(key) {
                gone.push((key.clone(), chain.last().unwrap().object().cloned()));
            }
        }
        for key in order {
            if !listed.contains(key) && !self.is_queued(key) {
                gone.push((key.clone(), Some(self.known[key].clone())));
            }
        }
        // Rule 6.
        if !self.populated {
            self.populated = true;
            self.initial = listed.len() + gone.len();
        }
        for (key, last) in gone {
            self.append(Delta::Deleted(Deletion::Inferred { key, last }));
        }
    }

    /// Rule 5.
    pub(crate) fn resync(&mut self, order: &[ObjectKey]) {
        for key in order {
            if !self.is_queued(key) {
                self.append(Delta::Sync(self.known[key].clone()));
            }
        }
    }

    /// Rules 6 and 7.
    pub(crate) fn pop(&mut self) -> Option<(Vec<Delta<Obj>>, bool)> {
        if self.queue.is_empty() {
            return None;
        }
        let initial = !self.is_synced();
        self.initial = self.initial.saturating_sub(1);
        Some((self.queue.remove(0).1, initial))
    }
}
