//! Compares streamed full states, with pops in between, with the definition of a full state.

use std::collections::BTreeSet;

use informer_core::flow::{Deletion, Delta, Step};
use informer_core::indexer::Rules;
use informer_core::queue::ReplaceAs;
use informer_core::storage::Seed;
use informer_core::{Notification, ObjectKey};
use informer_test_support::Fold;
use proptest::collection::vec;
use proptest::prelude::*;

use super::{Fifo, Obj, State, Store, any_key, any_object, contents, listener, queue_of};

#[derive(Clone, Debug)]
pub(crate) enum Event {
    Added(Obj),
    Updated(Obj),
    Deleted(Obj),
    DeletedUnreadable(ObjectKey),
    Pop,
    Resync,
    /// Only in a full state: the state contains this object.
    Item(Obj),
    /// Only in a full state: the state contains the object known under this key, unchanged.
    ItemAgain(ObjectKey),
    /// Only in a full state: the state contains an unreadable object under this key.
    Unreadable(ObjectKey),
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum End {
    Complete,
    Unswept,
    Abandoned,
}

/// Live events, then a full state with events in between, then its end.
pub(crate) type Round = (Vec<Event>, Vec<Event>, End);

pub(crate) fn live_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => any_object().prop_map(Event::Added),
        2 => any_object().prop_map(Event::Updated),
        2 => any_object().prop_map(Event::Deleted),
        1 => any_key().prop_map(Event::DeletedUnreadable),
        4 => Just(Event::Pop),
    ]
}

pub(crate) fn any_round() -> impl Strategy<Value = Round> {
    let end =
        prop_oneof![3 => Just(End::Complete), 1 => Just(End::Unswept), 1 => Just(End::Abandoned)];
    let before = prop_oneof![8 => live_event(), 1 => Just(Event::Resync)];
    let within = prop_oneof![
        4 => live_event(),
        4 => any_object().prop_map(Event::Item),
        3 => any_key().prop_map(Event::ItemAgain),
        2 => any_key().prop_map(Event::Unreadable),
        2 => Just(Event::Pop),
        1 => Just(Event::Resync),
    ];
    (vec(before, 0..6), vec(within, 0..14), end)
}

/// The expected result, independent of queues: the final state, and the keys that sync waits for.
pub(crate) struct Stream {
    fifo: Fifo,
    store: Store,
    rules: Rules,
    /// The contents of the store when nothing is queued.
    expected: State,
    /// The state of a listener.
    told: Fold<Obj>,
    /// The keys that the current full state contains.
    listed: Option<BTreeSet<ObjectKey>>,
    /// The keys to pop before the queue is synced. `None` until they are known.
    awaited: Option<BTreeSet<ObjectKey>>,
}

impl Stream {
    pub(crate) fn new(emit: ReplaceAs, rules: Rules) -> Self {
        Self {
            fifo: Fifo::new(Seed::new(3)).with_replace_as(emit),
            store: Store::new(Seed::new(4)),
            rules,
            expected: State::new(),
            told: listener(),
            listed: None,
            awaited: None,
        }
    }

    fn is_synced(&self) -> bool {
        self.awaited.as_ref().is_some_and(BTreeSet::is_empty)
    }

    fn run(&mut self, event: Event) {
        match event {
            Event::Added(object) => {
                self.exists(&object, true);
                self.fifo.add(object).unwrap();
            }
            Event::Updated(object) => {
                self.exists(&object, true);
                self.fifo.update(object).unwrap();
            }
            Event::Item(object) => {
                self.exists(&object, false);
                self.fifo.replace_item(object).unwrap();
            }
            Event::ItemAgain(key) => {
                if let Some(object) = self.expected.get(&key).cloned() {
                    self.exists(&object, false);
                    self.fifo.replace_item(object).unwrap();
                }
            }
            Event::Deleted(object) => {
                self.is_gone(object.key());
                self.fifo.delete(object, &*self.store).unwrap();
            }
            Event::DeletedUnreadable(key) => {
                self.is_gone(&key);
                let deletion = Deletion::Unreadable(key);
                self.fifo.delete_as(deletion, &*self.store).unwrap();
            }
            Event::Unreadable(key) => {
                self.fifo.replace_unreadable(&key);
                let (key_seen, seen) = (key.clone(), self.fifo.epoch());
                let marked = self.store.apply(
                    Step::Seen {
                        key: key_seen,
                        seen,
                    },
                    self.rules,
                );
                assert_eq!(marked.notifications.count(), 0);
                self.listed.as_mut().unwrap().insert(key);
            }
            Event::Resync => self.fifo.resync(&*self.store).unwrap(),
            Event::Pop => self.pop(),
        }
        self.check();
    }

    fn exists(&mut self, object: &Obj, live: bool) {
        self.expected.insert(object.key().clone(), object.clone());
        match &mut self.listed {
            Some(listed) => drop(listed.insert(object.key().clone())),
            None if live => self.live(),
            None => {}
        }
    }

    fn is_gone(&mut self, key: &ObjectKey) {
        self.expected.remove(key);
        if self.listed.is_none() {
            self.live();
        }
    }

    /// Records a live event outside of a full state. If it is the very first event, sync waits for nothing.
    fn live(&mut self) {
        self.awaited.get_or_insert_default();
    }

    fn pop(&mut self) {
        let synced = self.is_synced();
        let Some(popped) = self.fifo.pop() else {
            return;
        };
        let chain: Vec<_> = popped.collect();
        for step in chain {
            let Step::Delta { delta, initial, .. } = &step else {
                panic!("{step:?}")
            };
            assert_eq!(*initial, !synced, "initial until synced");
            if let Some(awaited) = &mut self.awaited {
                awaited.remove(delta.key());
            }
            let applied = self.store.apply(step, self.rules);
            assert_eq!(applied.left_out, 0);
            for told in applied.notifications {
                if let Notification::Added { initial, .. } = told {
                    assert_eq!(initial, !synced);
                }
                self.told.tell(&told, Obj::clone).unwrap();
            }
        }
    }

    fn end(&mut self, end: End) {
        let listed = self.listed.take().unwrap();
        let queued = queue_of(&self.fifo);
        match end {
            End::Complete => {
                self.expected.retain(|key, _| listed.contains(key));
                self.fifo.end_replace(&*self.store).unwrap();
            }
            End::Unswept => self.fifo.end_replace_unswept(),
            End::Abandoned => self.fifo.abandon_replace(),
        }
        if end != End::Complete {
            assert_eq!(queue_of(&self.fifo), queued, "nothing is deleted");
        }
        if end != End::Abandoned && self.awaited.is_none() {
            self.awaited = Some(self.fifo.keys().cloned().collect());
        }
        self.check();
    }

    fn check(&self) {
        let told = self.told.known();
        assert_eq!(&contents(&self.store), told, "store and listener agree");
        assert_eq!(self.fifo.is_synced(), self.is_synced());
        if self.fifo.is_empty() {
            assert_eq!(told, &self.expected, "the store holds the state");
        }
        for (_, chain) in queue_of(&self.fifo) {
            let two_deletions =
                |two: &[Delta<Obj>]| two.iter().all(|d| matches!(d, Delta::Deleted(_)));
            assert!(
                !chain.is_empty() && !chain.windows(2).any(two_deletions),
                "{chain:?}"
            );
        }
    }

    pub(crate) fn run_all(&mut self, rounds: Vec<Round>) {
        for (before, within, end) in rounds {
            before.into_iter().for_each(|event| self.run(event));
            self.fifo.begin_replace(&*self.store);
            self.listed = Some(BTreeSet::new());
            within.into_iter().for_each(|event| self.run(event));
            self.end(end);
        }
        while !self.fifo.is_empty() {
            self.run(Event::Pop);
        }
    }
}
