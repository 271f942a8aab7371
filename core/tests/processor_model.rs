//! Compares `Processor` with plain lists: what waits for each listener, what it knows, and when it syncs
//! and resyncs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod model_support;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use informer_core::processor::{Audience, Backlog, ListenerConfig, ListenerId, Processor, Resync};
use informer_core::storage::{Heap, Seed};
use informer_core::{Cause, Certainty, Instant, Notification, ObjectKey};
use informer_test_support::Fold;
use model_support::{
    KEYS, Obj, Store, Told, added, any_key, cases, coalesced, contents, deleted, key, listener,
    object, updated,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A model of one listener, with all its notifications in plain lists.
struct Oracle {
    id: ListenerId,
    backlog: Backlog,
    replay: Vec<Told>,
    pending: Vec<Told>,
    /// Initial notifications that the last poll delivered.
    unacknowledged: usize,
    synced: bool,
    ready: bool,
    delivered: u64,
    coalesced: u64,
    /// What it knows, and the newest version that it got of each key.
    view: Fold<Obj>,
    newest: BTreeMap<ObjectKey, u32>,
    requested: Duration,
    next_due: Instant,
    resyncing: bool,
}

impl Oracle {
    fn publish(&mut self, told: &Told) {
        let same_key = self
            .pending
            .iter()
            .rposition(|waiting| waiting.key() == told.key());
        if let (Backlog::Coalesce { above }, Some(at)) = (self.backlog, same_key)
            && self.pending.len() >= above
        {
            let left = coalesced(&self.pending[at], told);
            if let [deletion, add] = left.as_slice() {
                self.pending[at] = deletion.clone();
                self.pending.push(add.clone());
                self.ready = true;
                return;
            }
            self.coalesced += 2 - left.len() as u64;
            self.ready |= left.is_empty();
            self.pending.splice(at..=at, left);
            return;
        }
        self.pending.push(told.clone());
        self.ready = true;
    }

    /// What a poll for `most` delivers.
    fn poll(&mut self, most: usize) -> Vec<Told> {
        let replayed = most.min(self.replay.len());
        let mut given: Vec<_> = self.replay.drain(..replayed).collect();
        let rest = (most - replayed).min(self.pending.len());
        given.extend(self.pending.drain(..rest));
        self.delivered += given.len() as u64;
        self.unacknowledged = given.iter().filter(|told| told.is_initial()).count();
        given
    }

    /// Whether all its initial notifications have been delivered and acknowledged.
    fn is_through(&self) -> bool {
        let waiting = self.replay.iter().chain(&self.pending);
        waiting.filter(|told| told.is_initial()).count() + self.unacknowledged == 0
    }

    /// Applies a notification to its view, and checks that the versions of a key never go back.
    fn learn(&mut self, told: &Told) {
        self.view.tell(told, Obj::clone).unwrap();
        if let Notification::Added { object, .. } | Notification::Updated { new: object, .. } = told
        {
            let version = object.version().parse().unwrap();
            let before = self.newest.insert(object.key().clone(), version);
            assert!(
                before.is_none_or(|before| before <= version),
                "an old state after a new one"
            );
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    /// Creates or changes an object, or deletes and re-creates it.
    Put {
        key: ObjectKey,
        recreate: bool,
    },
    Delete {
        key: ObjectKey,
        last: bool,
    },
    ShowAgain,
    Join(ListenerConfig),
    Leave(prop::sample::Index),
    /// Polls for up to this many, or for one with the method for one.
    Poll(prop::sample::Index, Option<usize>),
    NameReady,
    SetSynced,
    Start,
    CheckResync {
        after_ms: u64,
    },
}

fn any_op() -> impl Strategy<Value = Op> {
    let listener = any::<prop::sample::Index>;
    let backlog = prop_oneof![
        Just(Backlog::Grow),
        (0..5_usize).prop_map(|at| Backlog::Stall { at }),
        (0..5_usize).prop_map(|above| Backlog::Coalesce { above }),
    ];
    let resync = prop_oneof![
        Just(Resync::Default),
        Just(Resync::Never),
        prop::sample::select(vec![0, 300, 1_000, 1_500, 2_000, 5_000])
            .prop_map(|ms| Resync::Every(Duration::from_millis(ms))),
    ];
    prop_oneof![
        12 => (any_key(), prop::bool::weighted(0.3)).prop_map(|(key, recreate)| Op::Put { key, recreate }),
        8 => (any_key(), any::<bool>()).prop_map(|(key, last)| Op::Delete { key, last }),
        1 => Just(Op::ShowAgain),
        3 => (resync, backlog).prop_map(|(resync, backlog)| Op::Join(ListenerConfig { resync, backlog })),
        1 => listener().prop_map(Op::Leave),
        9 => (listener(), proptest::option::of(0..5_usize)).prop_map(|(listener, most)| Op::Poll(listener, most)),
        2 => Just(Op::NameReady),
        1 => Just(Op::SetSynced),
        1 => Just(Op::Start),
        2 => (0..3_000_u64).prop_map(|after_ms| Op::CheckResync { after_ms }),
    ]
}

/// The model uses zero for "never".
fn unless_zero(period: Duration) -> Option<Duration> {
    Some(period).filter(|period| !period.is_zero())
}

struct World {
    processor: Processor<Obj, Heap>,
    /// The source of replays.
    store: Store,
    listeners: Vec<Oracle>,
    left: Vec<ListenerId>,
    version: u32,
    synced: bool,
    started: bool,
    now: Instant,
    default_period: Duration,
    check_period: Duration,
}

impl World {
    fn new(period: Duration) -> Self {
        Self {
            processor: Processor::new(unless_zero(period), Seed::new(1)),
            store: Store::new(Seed::new(2)),
            listeners: vec![],
            left: vec![],
            version: 0,
            synced: false,
            started: false,
            now: Instant::from_micros(0),
            default_period: period,
            check_period: period,
        }
    }

    fn publish(&mut self, told: &Told, audience: Audience) {
        self.processor.publish(told, audience).unwrap();
        for listener in &mut self.listeners {
            if audience == Audience::Everybody || listener.resyncing {
                listener.publish(told);
            }
        }
    }

    /// Changes the store first, then notifies the listeners.
    fn put(&mut self, key: &ObjectKey, recreate: bool) {
        self.version += 1;
        let old = self.store.get(key).cloned();
        let uid = old
            .as_ref()
            .map_or(1, |old| old.uid()[1..].parse().unwrap());
        let new = object(
            key.clone(),
            if recreate { uid + 1 } else { uid },
            self.version,
        );
        self.store.put(new.clone()).unwrap();
        match old {
            Some(old) if !recreate => {
                return self.publish(&updated(old, new, Cause::Watch), Audience::Everybody);
            }
            Some(old) => {
                let gone = deleted(key.clone(), Some(old), Certainty::Inferred, Cause::Relist);
                self.publish(&gone, Audience::Everybody);
            }
            None => {}
        }
        self.publish(
            &added(new, !self.synced, Cause::Relist),
            Audience::Everybody,
        );
    }

    /// Periods are at least a second. Before the start, a shorter one lowers the check period. Afterwards
    /// it is raised to the check period.
    fn admit(&mut self, resync: Resync) -> Duration {
        let asked = match resync {
            Resync::Default => self.default_period,
            Resync::Never => Duration::ZERO,
            Resync::Every(period) => period,
        };
        if asked.is_zero() || self.check_period.is_zero() {
            return Duration::ZERO;
        }
        let asked = asked.max(Duration::from_secs(1));
        if !self.started {
            self.check_period = self.check_period.min(asked);
        }
        asked.max(self.check_period)
    }

    fn join(&mut self, config: ListenerConfig) {
        let requested = self.admit(config.resync);
        let id = self
            .processor
            .add_listener(config, &self.store, self.now)
            .unwrap();
        let replay: Vec<_> = self
            .store
            .iter()
            .map(|o| added(o.clone(), true, Cause::Replay))
            .collect();
        self.listeners.push(Oracle {
            id,
            backlog: config.backlog,
            ready: !replay.is_empty(),
            synced: self.synced && replay.is_empty(),
            replay,
            pending: vec![],
            unacknowledged: 0,
            delivered: 0,
            coalesced: 0,
            view: listener(),
            newest: BTreeMap::new(),
            requested,
            next_due: self.now.after(requested),
            resyncing: true,
        });
    }

    fn poll(&mut self, at: usize, most: Option<usize>) -> usize {
        let Self {
            processor,
            listeners,
            store,
            ..
        } = self;
        let (listener, mut given) = (&mut listeners[at], vec![]);
        match most {
            None => given.extend(processor.poll_notification(listener.id, store)),
            Some(most) => {
                let count =
                    processor.poll_notifications(listener.id, store, most, |told| given.push(told));
                assert_eq!(count, given.len());
            }
        }
        // Grow and Stall deliver everything in order. Coalesce merges first.
        assert_eq!(given, listener.poll(most.unwrap_or(1)));
        given.iter().for_each(|told| listener.learn(told));
        listener.synced |= self.synced && listener.is_through();
        given.len()
    }

    fn check_resync(&mut self, after_ms: u64) {
        self.now = self.now.after(Duration::from_millis(after_ms));
        let now = self.now;
        for listener in &mut self.listeners {
            listener.resyncing = !listener.requested.is_zero() && now >= listener.next_due;
            if listener.resyncing {
                listener.next_due = now.after(listener.requested);
            }
        }
        let any = self.listeners.iter().any(|listener| listener.resyncing);
        assert_eq!(self.processor.check_resync(now), any);
    }

    fn name_ready(&mut self) {
        let mut named = BTreeSet::new();
        while let Some(id) = self.processor.poll_ready_listener() {
            let at = self.listeners.iter().position(|l| l.id == id).unwrap();
            assert!(named.insert(at), "returned twice");
        }
        for (at, listener) in self.listeners.iter_mut().enumerate() {
            assert_eq!(core::mem::take(&mut listener.ready), named.contains(&at));
        }
    }

    fn run(&mut self, op: Op) {
        let count = self.listeners.len();
        let nth = |index: prop::sample::Index| (count > 0).then(|| index.index(count));
        match op {
            Op::Put { key, recreate } => self.put(&key, recreate),
            Op::Delete { key, last } => {
                if let Some(object) = self.store.remove(&key) {
                    let last = last.then_some(object);
                    let gone = deleted(key, last, Certainty::Observed, Cause::Watch);
                    self.publish(&gone, Audience::Everybody);
                }
            }
            Op::ShowAgain => {
                for object in contents(&self.store).into_values() {
                    let shown = updated(object.clone(), object, Cause::Resync);
                    self.publish(&shown, Audience::Resyncing);
                }
            }
            Op::Join(config) => self.join(config),
            Op::Leave(index) => {
                if let Some(at) = nth(index) {
                    let id = self.listeners.remove(at).id;
                    assert!(self.processor.remove_listener(id));
                    self.left.push(id);
                }
            }
            Op::Poll(listener, most) => {
                if let Some(at) = nth(listener) {
                    self.poll(at, most);
                }
            }
            Op::NameReady => self.name_ready(),
            Op::SetSynced => {
                self.processor.set_synced();
                // Only the first time. Listeners that join later are checked when they poll.
                if !core::mem::replace(&mut self.synced, true) {
                    for listener in &mut self.listeners {
                        let becomes_synced = !listener.synced && listener.is_through();
                        listener.synced |= becomes_synced;
                        listener.ready |= becomes_synced;
                    }
                }
            }
            Op::Start => {
                self.processor.start();
                self.started = true;
            }
            Op::CheckResync { after_ms } => self.check_resync(after_ms),
        }
    }

    fn check(&mut self) {
        let check_period = unless_zero(self.check_period);
        assert_eq!(self.processor.check_period(), check_period);
        let ids: BTreeSet<_> = self.processor.listeners().collect();
        assert_eq!(ids, self.listeners.iter().map(|l| l.id).collect());
        let mut has_room = true;
        for listener in &self.listeners {
            let status = self.processor.status(listener.id).unwrap();
            assert_eq!(
                status.pending,
                listener.pending.len() + listener.replay.len()
            );
            assert_eq!(status.delivered, listener.delivered);
            assert_eq!(status.coalesced, listener.coalesced);
            assert_eq!(status.synced, listener.synced);
            assert_eq!(self.processor.is_synced(listener.id), Some(listener.synced));
            match listener.backlog {
                Backlog::Grow => {}
                // The rest of a replay takes no room.
                Backlog::Stall { at } => {
                    assert_eq!(status.stalls, listener.pending.len() >= at.max(1));
                    has_room &= !status.stalls;
                }
                Backlog::Coalesce { above } => {
                    assert!(
                        listener.pending.len() <= above + 2 * KEYS,
                        "the number of objects must bound the backlog"
                    );
                }
            }
        }
        assert_eq!(self.processor.has_room(), has_room);
        for id in self.left.clone() {
            assert!(!self.processor.remove_listener(id));
            assert_eq!(self.processor.poll_notification(id, &self.store), None);
            assert!(self.processor.status(id).is_none() && self.processor.is_synced(id).is_none());
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn every_listener_gets_a_consistent_history_that_ends_with_the_store(
        period in prop::sample::select(vec![0, 500, 2_000, 3_000]),
        ops in vec(any_op(), 0..70),
    ) {
        let mut world = World::new(Duration::from_millis(period));
        for op in ops {
            world.run(op);
            world.check();
        }
        world.run(Op::SetSynced);
        for at in 0..world.listeners.len() {
            while world.poll(at, Some(3)) > 0 {
                world.check();
            }
            prop_assert_eq!(world.listeners[at].view.known(), &contents(&world.store));
            prop_assert!(world.listeners[at].synced);
        }
        world.check();
        world.run(Op::Put { key: key(0), recreate: true });
        world.processor.discard();
        for listener in &world.listeners {
            prop_assert_eq!(world.processor.poll_notification(listener.id, &world.store), None);
        }
    }
}

/// What a listener that merges at once gets of `published`.
fn left_of(published: &[Told]) -> Vec<Told> {
    let mut processor = Processor::<Obj, Heap>::new(None, Seed::new(1));
    let backlog = Backlog::Coalesce { above: 0 };
    let config = ListenerConfig {
        backlog,
        ..ListenerConfig::new()
    };
    let (empty, now) = (Store::new(Seed::new(1)), Instant::from_micros(0));
    let id = processor.add_listener(config, &empty, now).unwrap();
    for told in published {
        processor.publish(told, Audience::Everybody).unwrap();
    }
    core::iter::from_fn(|| processor.poll_notification(id, &empty)).collect()
}

/// `a`, `b` and `c` are states of one object. `x` is another object with the same key, created later.
#[test]
fn the_algebra_of_coalesce() {
    use Cause::{Relist, Resync, Watch};
    let [a, b, c] = [1, 2, 3].map(|version| object(key(0), 1, version));
    let x = object(key(0), 2, 4);
    let add = |new: &Obj| added(new.clone(), false, Watch);
    let first = |new: &Obj| added(new.clone(), true, Relist);
    let change = |old: &Obj, new: &Obj, cause| updated(old.clone(), new.clone(), cause);
    let delete = |last: &Obj| deleted(key(0), Some(last.clone()), Certainty::Observed, Watch);
    let ab = change(&a, &b, Watch);
    let bc = change(&b, &c, Relist);
    for (published, left) in [
        // add + update = add of the newest state; stays initial
        (vec![first(&a), ab.clone(), bc.clone()], vec![first(&c)]),
        (vec![add(&a), ab.clone()], vec![add(&b)]),
        // add + delete = nothing
        (vec![first(&a), delete(&a)], vec![]),
        (
            vec![add(&a), ab.clone(), delete(&b), add(&x)],
            vec![add(&x)],
        ),
        // update + update = update from the first old to the newest new
        (vec![ab.clone(), bc.clone()], vec![change(&a, &c, Relist)]),
        // update + delete = delete
        (vec![ab.clone(), bc, delete(&c)], vec![delete(&c)]),
        // delete + add = both
        (vec![delete(&a), add(&x)], vec![delete(&a), add(&x)]),
        // delete + add + delete = the first delete
        (
            vec![ab.clone(), delete(&b), add(&x), delete(&x)],
            vec![delete(&b)],
        ),
        (
            vec![delete(&a), add(&x), delete(&x), add(&b)],
            vec![delete(&a), add(&b)],
        ),
        // a resync merged with a real update is the real update
        (vec![ab.clone(), change(&b, &b, Resync)], vec![ab.clone()]),
        (vec![change(&a, &a, Resync), ab.clone()], vec![ab]),
        (
            vec![change(&a, &a, Resync); 2],
            vec![change(&a, &a, Resync)],
        ),
    ] {
        assert_eq!(left_of(&published), left, "{published:?}");
    }
}
