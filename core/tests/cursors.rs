//! Sweeps and resyncs are cursors over the store: whatever comes between two of their steps, the store
//! and its listeners end up as they must.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod hand;
mod model_support;

use core::task::Poll;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::flow::{Cause, Change, Delta, Step};
use informer_core::indexer::{Rules, StoreLimits};
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::{PushError, Queue, QueueKind, Relist, Transform, TransformError};
use informer_core::storage::{Heap, Seed};
use informer_core::transport::Signal;
use informer_core::{Encoding, Failure, Notification, ObjectKey};
use informer_test_support::Fold;
use model_support::{
    Obj, State, Store, any_key, any_object, cases, contents, key, listener, object,
};
use proptest::collection::vec;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Event {
    Added(Obj),
    Updated(Obj),
    Deleted(Obj),
    Resync,
    /// A full state with these objects and these unreadable keys; `true` if it is completed.
    State(Vec<Obj>, Vec<ObjectKey>, bool),
    /// One step is applied.
    Next,
    /// The cursor may look at this many places.
    Feed(u32),
}

fn any_event() -> impl Strategy<Value = Event> {
    let state = (
        vec(any_object(), 0..6),
        vec(any_key(), 0..2),
        prop::bool::weighted(0.8),
    );
    prop_oneof![
        3 => any_object().prop_map(Event::Added),
        3 => any_object().prop_map(Event::Updated),
        2 => any_object().prop_map(Event::Deleted),
        1 => Just(Event::Resync),
        2 => state.prop_map(|(objects, unreadable, ends)| Event::State(objects, unreadable, ends)),
        6 => Just(Event::Next),
        6 => (0..3_u32).prop_map(Event::Feed),
    ]
}

struct World {
    queue: Queue<Obj, Heap>,
    store: Store,
    /// What the store must hold as soon as nothing is queued.
    expected: State,
    told: Fold<Obj>,
    /// How often each key was shown by the resync under way.
    shown: BTreeMap<ObjectKey, usize>,
}

impl World {
    fn new(kind: QueueKind, relist: Relist) -> Self {
        Self {
            queue: Queue::new(kind, relist, StoreLimits::NONE, Seed::new(1)),
            store: Store::new(Seed::new(2)),
            expected: State::new(),
            told: listener(),
            shown: BTreeMap::new(),
        }
    }

    fn push(&mut self, change: Change<Obj>) {
        self.queue.push(change, &*self.store).unwrap();
    }

    fn run(&mut self, event: Event) {
        match event {
            Event::Added(object) => {
                self.expected.insert(object.key.clone(), object.clone());
                self.push(Change::Added(object));
            }
            Event::Updated(object) => {
                self.expected.insert(object.key.clone(), object.clone());
                self.push(Change::Updated(object));
            }
            Event::Deleted(object) => {
                self.expected.remove(&object.key);
                self.push(Change::Deleted(object));
            }
            Event::Resync => {
                if self.queue.is_empty() && self.queue.resync(&*self.store) {
                    self.shown.clear();
                }
            }
            Event::State(objects, unreadable, ends) => self.full_state(objects, unreadable, ends),
            Event::Next => {
                if let Some(step) = self.queue.next() {
                    self.apply(step);
                }
            }
            Event::Feed(places) => {
                let mut left = places;
                let found = self.queue.feed(&*self.store, &mut left);
                assert!(left <= places);
                assert!(!found || !self.queue.is_drained(), "it found nothing");
            }
        }
        self.check();
    }

    /// An informer begins no full state while a cursor walks.
    fn full_state(&mut self, objects: Vec<Obj>, unreadable: Vec<ObjectKey>, ends: bool) {
        self.settle();
        self.push(Change::ReplaceBegin { streamed: false });
        let listed: BTreeSet<_> = objects
            .iter()
            .map(|o| o.key.clone())
            .chain(unreadable.clone())
            .collect();
        let streamed = self.queue.is_streamed();
        let before = self.expected.clone();
        for object in objects {
            self.expected.insert(object.key.clone(), object.clone());
            self.push(Change::ReplaceItem(object));
        }
        for key in unreadable {
            self.push(Change::ReplaceUnreadable(Some(key)));
        }
        if ends {
            self.expected.retain(|key, _| listed.contains(key));
            self.push(Change::ReplaceEnd);
        } else {
            if !streamed {
                self.expected = before;
            }
            self.push(Change::ReplaceAbandon);
        }
    }

    fn apply(&mut self, step: Step<Obj>) {
        if let Step::Delta {
            delta: Delta::Sync(object),
            ..
        } = &step
        {
            *self.shown.entry(object.key.clone()).or_default() += 1;
        }
        let applied = self.store.apply(step, Rules::default());
        assert_eq!(applied.left_out, 0);
        applied
            .notifications
            .for_each(|told| self.told.tell(&told, Obj::clone).unwrap());
    }

    fn settle(&mut self) {
        while let Some(step) = self.queue.next_from(&*self.store) {
            self.apply(step);
            self.check();
        }
        assert!(self.queue.is_empty());
        self.check();
    }

    fn check(&self) {
        assert_eq!(
            &contents(&self.store),
            self.told.known(),
            "store and listener agree"
        );
        assert!(
            self.shown.values().all(|times| *times == 1),
            "a resync shows an object once"
        );
        if self.queue.is_empty() {
            assert_eq!(
                self.told.known(),
                &self.expected,
                "the store holds the state"
            );
        }
    }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn whatever_comes_between_two_steps_of_a_cursor(events in vec(any_event(), 1..40)) {
        for (kind, relist) in [
            (QueueKind::DeltaFifo, Relist::Streamed),
            (QueueKind::DeltaFifo, Relist::Staged),
            (QueueKind::InOrder, Relist::Staged),
        ] {
            let mut world = World::new(kind, relist);
            events.iter().cloned().for_each(|event| world.run(event));
            world.settle();
        }
    }
}

/// What a sweep or a resync holds does not grow with the store.
#[test]
fn a_cursor_holds_one_object_whatever_the_store_holds() {
    for kind in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let mut world = World::new(kind, Relist::Staged);
        for n in 0..5_000 {
            world.store.put(object(key(n), 1, 1)).unwrap();
        }
        assert!(world.queue.resync(&*world.store));
        let mut shown = 0;
        while let Some(step) = world.queue.next_from(&*world.store) {
            assert!(world.queue.len() <= 1, "{} are queued", world.queue.len());
            assert!(!world.queue.resync(&*world.store), "one at a time");
            shown += world
                .store
                .apply(step, Rules::default())
                .notifications
                .count();
        }
        assert_eq!(shown, world.store.len());
    }
}

/// An informer with more objects than one call looks at: events of the watch come between the calls.
#[test]
fn signals_between_the_steps_of_a_sweep() {
    let names: Vec<String> = (0..5_000).map(|n| format!("p{n:04}")).collect();
    let first: Vec<_> = names.iter().map(|name| pod(name, "u", 1)).collect();
    let mut hand = Hand::synced(listed(), &first);
    hand.notes();
    hand.expire();
    // Half of them have vanished.
    let rest: Vec<_> = names
        .iter()
        .skip(2_500)
        .map(|name| pod(name, "u", 1))
        .collect();
    hand.list(50, &rest);
    assert_eq!(
        hand.informer.next_deadline(),
        Some(hand.now),
        "there is more to do"
    );
    assert!(hand.informer.store().len() > 2_500);
    assert!(
        !hand.informer.is_fresh(Duration::from_secs(60), hand.now),
        "what has vanished is shown"
    );
    assert_eq!(hand.informer.wait_for("50"), Ok(Poll::Pending));
    assert_ne!(hand.informer.store().version(), "50");
    hand.request();
    let mut version = 60;
    let mut steps = 0;
    while hand.informer.next_deadline() == Some(hand.now) {
        // Comes back, changes, and goes, between two steps.
        hand.event("ADDED", &pod("p0001", "again", version));
        hand.event("MODIFIED", &pod("p3700", "u", version + 1));
        hand.event("DELETED", &pod("p4999", "u", version + 2));
        hand.event("ADDED", &pod("p4999", "u", version + 3));
        version += 10;
        steps += 1;
        hand.informer.advance(hand.now);
        assert!(steps < 50, "it never ends");
    }
    assert!(steps > 1, "the sweep was over at once");
    assert_eq!(hand.informer.store().len(), 2_501);
    assert_eq!(hand.informer.wait_for("50"), Ok(Poll::Ready(())));
    let notes = hand.notes().join("\n");
    assert_eq!(notes.matches("p0000").count(), 1, "told once");
}

/// The next full state waits for the sweep of the one before it.
#[test]
fn a_full_state_waits_for_the_sweep_before_it() {
    let first: Vec<_> = (0..5_000).map(|n| pod(&format!("p{n}"), "u", 1)).collect();
    let mut hand = Hand::synced(listed(), &first);
    hand.expire();
    hand.list(50, &[pod("p1", "u", 1)]);
    hand.request();
    hand.fail(Failure::Expired, "too old");
    hand.sleep(Duration::from_secs(60));
    hand.request().unwrap();
    let mut refused = 0;
    while hand.signal(Signal::Opened(Encoding::Json)).is_none() {
        refused += 1;
        assert!(refused < 100, "the sweep never ends");
    }
    assert!(refused > 1, "nothing waited");
    assert_eq!(
        hand.store(),
        ["p1@1"],
        "what has vanished is gone before the next state begins"
    );
    hand.list(60, &[pod("p1", "u", 1), pod("p2", "u", 55)]);
    assert_eq!(hand.store(), ["p1@1", "p2@55"]);
}

/// A resync of more objects than one call looks at reaches a listener that stalls, whole and once.
#[test]
fn a_resync_goes_on_when_its_listener_has_room() {
    let first: Vec<_> = (0..600).map(|n| pod(&format!("p{n}"), "u", 1)).collect();
    let mut config = listed();
    config.resync = Some(Duration::from_secs(30));
    let mut hand = Hand::synced(config, &first);
    let slow = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    while hand.informer.poll_notification(slow).is_some() {}
    hand.notes();
    hand.now = hand.now.after(Duration::from_secs(31));
    hand.informer.advance(hand.now);
    let mut shown = BTreeSet::new();
    loop {
        while let Some(told) = hand.informer.poll_notification(slow) {
            let Notification::Updated {
                new,
                cause: Cause::Resync,
                ..
            } = told
            else {
                panic!("{told:?}")
            };
            assert!(shown.insert(new.key.clone()), "shown twice");
        }
        if hand.informer.next_deadline() != Some(hand.now) {
            break;
        }
        hand.informer.advance(hand.now);
    }
    assert_eq!(shown.len(), 600);
}

/// An unreadable object of a full state is no deletion, and the transform refuses at the entrance.
#[test]
fn what_cannot_be_read_is_no_deletion_and_a_refused_change_comes_back() {
    let mut world = World::new(QueueKind::DeltaFifo, Relist::Streamed);
    world.run(Event::Added(object(key(1), 1, 1)));
    world.settle();
    world.full_state(vec![], vec![key(1)], true);
    world.settle();
    assert_eq!(world.store.len(), 1);

    let refuse = |_: &mut Obj| Err(TransformError::new("no"));
    let mut queue: Queue<Obj, Heap> = Queue::new(
        QueueKind::DeltaFifo,
        Relist::Streamed,
        StoreLimits::NONE,
        Seed::new(1),
    )
    .with_transform(Transform::new(refuse));
    let change = Change::Added(object(key(2), 1, 1));
    let refused = queue.push(change.clone(), &*world.store).unwrap_err();
    let PushError::Transform {
        change: back,
        key: whose,
        error,
    } = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!((back, whose), (change, key(2)));
    assert_eq!(error.to_string(), "refused by the transform: no");
    assert!(queue.is_empty());
}

/// A change that waits for a full listener is in the way of a sweep; nobody is woken for nothing
/// meanwhile.
#[test]
fn a_cursor_that_must_wait_asks_for_no_time() {
    let mut pods: Vec<_> = (0..5_000).map(|n| pod(&format!("p{n}"), "u", 1)).collect();
    let mut hand = Hand::synced(listed(), &pods);
    let full = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(full, hand.now).unwrap();
    while hand.informer.poll_notification(slow).is_some() {}
    hand.expire();
    // The last object has changed, which fills the listener; nothing has vanished.
    pods[4_999] = pod("p4999", "u", 40);
    hand.list(50, &pods);
    assert_eq!(
        hand.informer.next_deadline(),
        Some(hand.now),
        "the sweep can look"
    );
    hand.request();
    hand.event("ADDED", &pod("new", "u", 60));
    assert!(hand.informer.is_stalled());
    assert!(
        hand.informer.next_deadline() > Some(hand.now),
        "it cannot go on"
    );
    while hand.informer.poll_notification(slow).is_some() {}
    while hand.informer.next_deadline() == Some(hand.now) {
        hand.informer.advance(hand.now);
    }
    assert_eq!(hand.informer.store().len(), 5_001);
}
