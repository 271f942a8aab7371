//! Sweeps and resyncs are cursors over the store. Whatever happens between two of their steps, the store
//! and its listeners end up in the right state.

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
    /// A full state with these objects and unreadable keys. `true` if it completes.
    State(Vec<Obj>, Vec<ObjectKey>, bool),
    /// Apply one step.
    Next,
    /// Let the cursor visit this many places.
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
    /// Whether the objects of a full state leave the queue before it is complete.
    streamed: bool,
    store: Store,
    /// The contents of the store when nothing is queued.
    expected: State,
    told: Fold<Obj>,
    /// How often the current resync sent each key.
    shown: BTreeMap<ObjectKey, usize>,
}

impl World {
    fn new(kind: QueueKind, relist: Relist) -> Self {
        Self {
            queue: Queue::new(kind, relist, StoreLimits::NONE, Seed::new(1)),
            streamed: (kind, relist) == (QueueKind::DeltaFifo, Relist::Streamed),
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
                self.expected.insert(object.key().clone(), object.clone());
                self.push(Change::Added(object));
            }
            Event::Updated(object) => {
                self.expected.insert(object.key().clone(), object.clone());
                self.push(Change::Updated(object));
            }
            Event::Deleted(object) => {
                self.expected.remove(object.key());
                self.push(Change::Deleted(object));
            }
            Event::Resync => {
                if self.queue.is_empty() && self.queue.resync(&*self.store) {
                    self.shown.clear();
                }
            }
            Event::State(objects, unreadable, ends) => self.full_state(objects, unreadable, ends),
            Event::Next => {
                if let Some(step) = self.queue.next_step() {
                    self.apply(step);
                }
            }
            Event::Feed(places) => {
                let mut left = places;
                let found = self.queue.feed(&*self.store, &mut left);
                assert!(left <= places);
                assert!(!found || !self.queue.is_drained(), "feed found no step");
            }
        }
        self.check();
    }

    /// Settles first: an informer does not begin a full state while a cursor walks.
    fn full_state(&mut self, objects: Vec<Obj>, unreadable: Vec<ObjectKey>, ends: bool) {
        self.settle();
        self.push(Change::ReplaceBegin { streamed: false });
        let listed: BTreeSet<_> = objects
            .iter()
            .map(|o| o.key().clone())
            .chain(unreadable.clone())
            .collect();
        let streamed = self.streamed;
        let before = self.expected.clone();
        for object in objects {
            self.expected.insert(object.key().clone(), object.clone());
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
            *self.shown.entry(object.key().clone()).or_default() += 1;
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
            "a resync sends an object once"
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
    fn events_between_two_steps_of_a_cursor_are_safe(events in vec(any_event(), 1..40)) {
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

/// The memory of a sweep or a resync does not grow with the store.
#[test]
fn a_cursor_holds_one_object_for_any_size_of_store() {
    for kind in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let mut world = World::new(kind, Relist::Staged);
        for n in 0..5_000 {
            world.store.put(object(key(n), 1, 1)).unwrap();
        }
        assert!(world.queue.resync(&*world.store));
        let mut shown = 0;
        while let Some(step) = world.queue.next_from(&*world.store) {
            assert!(world.queue.len() <= 1, "{} are queued", world.queue.len());
            assert!(!world.queue.resync(&*world.store), "one resync at a time");
            shown += world
                .store
                .apply(step, Rules::default())
                .notifications
                .count();
        }
        assert_eq!(shown, world.store.len());
    }
}

/// The store has more objects than one call visits, so watch events arrive during the sweep.
#[test]
fn watch_events_during_a_sweep_are_applied() {
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
        "the store still has objects that vanished"
    );
    assert_eq!(hand.informer.wait_for("50"), Ok(Poll::Pending));
    assert_ne!(hand.informer.store().version(), "50");
    hand.request();
    let mut version = 60;
    let mut steps = 0;
    while hand.informer.next_deadline() == Some(hand.now) {
        // Objects come back, change and go between two steps.
        hand.event("ADDED", &pod("p0001", "again", version));
        hand.event("MODIFIED", &pod("p3700", "u", version + 1));
        hand.event("DELETED", &pod("p4999", "u", version + 2));
        hand.event("ADDED", &pod("p4999", "u", version + 3));
        version += 10;
        steps += 1;
        hand.informer.advance(hand.now);
        assert!(steps < 50, "the sweep never ends");
    }
    assert!(steps > 1, "the sweep was over at once");
    assert_eq!(hand.informer.store().len(), 2_501);
    assert_eq!(hand.informer.wait_for("50"), Ok(Poll::Ready(())));
    let notes = hand.notes().join("\n");
    assert_eq!(notes.matches("p0000").count(), 1, "one notification");
}

#[test]
fn a_full_state_waits_for_the_sweep_of_the_previous_one() {
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
        "the sweep ends before the next full state begins"
    );
    hand.list(60, &[pod("p1", "u", 1), pod("p2", "u", 55)]);
    assert_eq!(hand.store(), ["p1@1", "p2@55"]);
}

/// A resync of more objects than one call visits reaches a stalled listener completely, and once.
#[test]
fn a_resync_continues_when_its_listener_has_room() {
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
            assert!(shown.insert(new.key().clone()), "sent twice");
        }
        if hand.informer.next_deadline() != Some(hand.now) {
            break;
        }
        hand.informer.advance(hand.now);
    }
    assert_eq!(shown.len(), 600);
}

#[test]
fn an_unreadable_object_is_not_deleted_and_a_refused_change_is_returned() {
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

/// A change that waits for a full listener blocks the sweep. The informer must not ask for wake-ups in the
/// meantime.
#[test]
fn a_blocked_cursor_does_not_ask_for_wake_ups() {
    let mut pods: Vec<_> = (0..5_000).map(|n| pod(&format!("p{n}"), "u", 1)).collect();
    let mut hand = Hand::synced(listed(), &pods);
    let full = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(full, hand.now).unwrap();
    while hand.informer.poll_notification(slow).is_some() {}
    hand.expire();
    // The last object has changed, which fills the listener. Nothing has vanished.
    pods[4_999] = pod("p4999", "u", 40);
    hand.list(50, &pods);
    assert_eq!(
        hand.informer.next_deadline(),
        Some(hand.now),
        "the sweep can walk"
    );
    hand.request();
    hand.event("ADDED", &pod("new", "u", 60));
    assert!(hand.informer.is_stalled());
    assert!(
        hand.informer.next_deadline() > Some(hand.now),
        "the sweep is blocked"
    );
    while hand.informer.poll_notification(slow).is_some() {}
    while hand.informer.next_deadline() == Some(hand.now) {
        hand.informer.advance(hand.now);
    }
    assert_eq!(hand.informer.store().len(), 5_001);
}
