//! Informers and listeners that rest: nobody misses anything.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;
mod world;

use core::task::Poll;
use core::time::Duration;

use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::Phase;
use informer_core::storage::{Fixed, Heap, Storage};
use informer_core::transport::{Command, OwnedAt, OwnedRequest, Signal};
use informer_core::{Encoding, Failure, InformerConfig};
use world::World;

fn stalling(at: usize) -> ListenerConfig {
    ListenerConfig {
        backlog: Backlog::Stall { at },
        ..EVERYTHING
    }
}

fn merging() -> ListenerConfig {
    ListenerConfig {
        backlog: Backlog::Coalesce { above: 0 },
        ..EVERYTHING
    }
}

#[test]
fn a_paused_listener_gets_nothing_and_loses_nothing() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1)]);
    let other = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    hand.notes_of(other);
    assert!(hand.informer.pause_listener(hand.listener));
    while hand.informer.poll_ready_listener().is_some() {}
    hand.event("MODIFIED", &pod("x", "u1", 11));
    hand.event("ADDED", &pod("y", "u2", 12));
    assert_eq!(hand.notes(), Vec::<String>::new());
    assert_eq!(hand.notes_of(other).len(), 2, "the others go on");
    let status = hand.informer.listener_status(hand.listener).unwrap();
    assert!(status.paused && !status.stalls && status.pending == 2);
    assert_eq!(hand.informer.poll_ready_listener(), Some(other));
    assert_eq!(hand.informer.poll_ready_listener(), None, "no wake-ups");

    assert!(hand.informer.resume_listener(hand.listener));
    assert_eq!(hand.informer.poll_ready_listener(), Some(hand.listener));
    assert_eq!(hand.notes(), ["update x 1 to 11 Watch", "add y@12 Watch"]);
    let status = hand.informer.listener_status(hand.listener).unwrap();
    assert!(!status.paused);
    // A listener that is gone cannot be paused.
    hand.informer.remove_listener(other);
    assert!(!hand.informer.pause_listener(other));
    assert!(!hand.informer.resume_listener(other));
}

#[test]
fn a_pause_lets_a_policy_do_its_work() {
    // Merging: one notification for each object.
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1)]);
    let merges = hand.informer.add_listener(merging(), hand.now).unwrap();
    let stalls = hand.informer.add_listener(stalling(2), hand.now).unwrap();
    hand.notes_of(merges);
    hand.notes_of(stalls);
    hand.informer.pause_listener(merges);
    for version in 11..20 {
        hand.event("MODIFIED", &pod("x", "u1", version));
        hand.notes_of(stalls);
    }
    hand.informer.resume_listener(merges);
    assert_eq!(hand.notes_of(merges), ["update x 1 to 19 Watch"]);

    // Stalling: it holds up the informer, and the status says who.
    hand.informer.pause_listener(stalls);
    hand.event("MODIFIED", &pod("x", "u1", 20));
    hand.event("MODIFIED", &pod("x", "u1", 21));
    let text = format!(
        "{{\"type\":\"MODIFIED\",\"object\":{}}}\n",
        pod("x", "u1", 22)
    );
    let _ = hand.signal(Signal::Bytes(text.as_bytes()));
    let _ = hand.signal(Signal::Bytes(text.as_bytes()));
    assert!(hand.informer.status().stalled);
    let status = hand.informer.listener_status(stalls).unwrap();
    assert!(status.paused && status.stalls);
    assert_eq!(hand.store(), ["x@21"]);
    assert!(!hand.informer.is_fresh(Duration::MAX, hand.now));
    hand.informer.resume_listener(stalls);
    hand.notes_of(stalls);
    assert_eq!(hand.store(), ["x@22"]);
    assert!(!hand.informer.status().stalled);
}

#[test]
fn a_paused_listener_syncs_when_it_goes_on() {
    let mut hand = Hand::new(listed());
    hand.informer.pause_listener(hand.listener);
    hand.list(10, &[pod("x", "u1", 1)]);
    assert!(hand.informer.is_synced());
    assert_eq!(hand.notes(), Vec::<String>::new());
    let synced = |hand: &Hand| hand.informer.listener_status(hand.listener).unwrap().synced;
    assert!(!synced(&hand));
    hand.informer.resume_listener(hand.listener);
    // The last poll before a pause still says that its notifications were handled.
    assert_eq!(
        hand.informer
            .poll_notification(hand.listener)
            .map(|it| it.is_initial()),
        Some(true)
    );
    hand.informer.pause_listener(hand.listener);
    assert!(hand.informer.poll_notification(hand.listener).is_none());
    assert!(synced(&hand));
}

#[test]
fn a_suspended_informer_rests_and_then_tells_the_difference() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let config = InformerConfig { queue, ..listed() };
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1), pod("y", "u2", 2)]);
        hand.event("MODIFIED", &pod("x", "u1", 11));
        let old = hand.exchange;
        while hand.informer.poll_ready_listener().is_some() {}
        hand.informer.suspend(hand.now);
        let abort = hand.informer.poll_command(hand.now);
        assert_eq!(abort, old.map(Command::Abort));
        assert!(hand.informer.is_suspended() && !hand.informer.is_stopped());
        assert_eq!(hand.informer.status().phase, Phase::Suspended);
        assert!(!hand.informer.is_fresh(Duration::MAX, hand.now));
        assert!(hand.informer.is_synced(), "once synced, always synced");
        assert_eq!(hand.store(), ["x@11", "y@2"], "the store stays readable");
        assert_eq!(hand.request(), None, "no other watch opens");
        assert_eq!(hand.informer.next_deadline(), None);
        assert_eq!(hand.notes(), Vec::<String>::new());
        assert_eq!(hand.informer.poll_ready_listener(), None);
        // Nothing that arrives now counts.
        hand.exchange = old;
        hand.event("MODIFIED", &pod("x", "u1", 12));
        hand.sleep(Duration::from_secs(3_600));
        hand.informer.hurry(hand.now);
        hand.informer.start(hand.now);
        assert_eq!(hand.request(), None);
        assert_eq!(hand.store(), ["x@11", "y@2"]);
        // A listener may join, but gets nothing yet.
        let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
        assert_eq!(hand.notes_of(late), Vec::<String>::new());

        hand.informer.resume(hand.now);
        assert!(!hand.informer.is_suspended());
        assert_eq!(hand.informer.poll_ready_listener(), Some(late));
        assert_eq!(hand.informer.poll_ready_listener(), Some(hand.listener));
        // What waited comes first, and then the difference.
        assert_eq!(hand.notes(), ["update x 1 to 11 Watch"]);
        let Some(OwnedRequest::List { version, .. }) = hand.request() else {
            panic!("it lists again");
        };
        assert_eq!(version, OwnedAt::Version("11".to_owned()));
        hand.list(30, &[pod("x", "u1", 25), pod("z", "u3", 26)]);
        let mut notes = hand.notes();
        notes.sort();
        assert_eq!(
            notes,
            [
                "add z@26 Relist",
                "delete y@2 Inferred Relist",
                "update x 11 to 25 Relist"
            ]
        );
        assert_eq!(hand.notes_of(late).len(), 2 + 3);
        // A second call of either does nothing.
        hand.request();
        hand.informer.resume(hand.now);
        assert_eq!(hand.informer.status().phase, Phase::Watching);
    }
}

#[test]
fn only_a_running_informer_is_suspended() {
    let mut hand = Hand::new(listed());
    hand.informer.stop(hand.now);
    hand.informer.suspend(hand.now);
    hand.informer.resume(hand.now);
    assert_eq!(hand.informer.status().phase, Phase::Stopped);
    let mut hand = Hand::new(listed());
    hand.informer.suspend(hand.now);
    hand.informer.suspend(hand.now);
    hand.informer.stop(hand.now);
    hand.informer.resume(hand.now);
    assert_eq!(hand.informer.status().phase, Phase::Stopped);
    assert!(!hand.informer.is_synced());
}

/// Part of a state is in the store, and its version is unknown: only the newest state is good enough.
#[test]
fn a_state_that_was_used_in_part_is_followed_by_the_newest() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    hand.expire();
    hand.bytes(&format!(
        r#"{{"metadata":{{"resourceVersion":"30","continue":"t"}},"items":[{}]}}"#,
        pod("x", "u1", 28)
    ));
    hand.informer.suspend(hand.now);
    assert_eq!(hand.store(), ["x@28", "y@2"]);
    hand.informer.resume(hand.now);
    let Some(OwnedRequest::List { version, .. }) = hand.request() else {
        panic!("it lists again");
    };
    assert_eq!(version, OwnedAt::Latest);
    hand.list(40, &[pod("x", "u1", 28)]);
    assert_eq!(
        hand.notes(),
        ["update x 1 to 28 Relist", "delete y@2 Inferred Relist"]
    );
}

/// Changes that the store does not show are dropped, so the store has not reached their version.
#[test]
fn a_version_that_was_dropped_is_not_reached() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let config = InformerConfig { queue, ..listed() };
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
        let slow = hand.informer.add_listener(stalling(1), hand.now).unwrap();
        hand.notes_of(slow);
        hand.event("MODIFIED", &pod("x", "u1", 11));
        hand.event("MODIFIED", &pod("x", "u1", 12));
        assert!(hand.informer.status().stalled);
        hand.informer.suspend(hand.now);
        assert_eq!(hand.store(), ["x@11"]);
        assert_eq!(hand.informer.wait_for("12"), Ok(Poll::Pending));
        hand.informer.resume(hand.now);
        hand.notes_of(slow);
        assert_eq!(hand.informer.wait_for("12"), Ok(Poll::Pending));
        hand.request();
        hand.list(20, &[pod("x", "u1", 12)]);
        hand.notes_of(slow);
        assert_eq!(hand.informer.wait_for("12"), Ok(Poll::Ready(())));
        assert_eq!(
            hand.notes(),
            ["update x 1 to 11 Watch", "update x 11 to 12 Relist"]
        );
    }
}

/// A first state that is not in the store does not count, however much of it was queued.
#[test]
fn a_suspension_does_not_sync() {
    for (queue, relist) in [
        (QueueKind::DeltaFifo, Relist::Streamed),
        (QueueKind::DeltaFifo, Relist::Staged),
        (QueueKind::InOrder, Relist::Streamed),
    ] {
        let config = InformerConfig {
            queue,
            relist,
            ..listed()
        };
        let mut hand = Hand::new(config);
        let slow = hand.informer.add_listener(stalling(1), hand.now).unwrap();
        let list = format!(
            r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{},{},{}]}}"#,
            pod("x", "u", 1),
            pod("y", "u", 2),
            pod("z", "u", 3)
        );
        let _ = hand.signal(Signal::Bytes(list.as_bytes()));
        assert!(hand.informer.status().stalled);
        let before = hand.informer.is_synced();
        hand.informer.suspend(hand.now);
        assert_eq!(hand.informer.is_synced(), before, "{config:?}");
        hand.informer.resume(hand.now);
        assert_eq!(hand.informer.is_synced(), before, "{config:?}");
        hand.request();
        let mut bytes = list.as_bytes();
        loop {
            hand.notes_of(slow);
            hand.informer.advance(hand.now);
            match hand.signal(Signal::Bytes(bytes)) {
                Some(used) if used < bytes.len() => bytes = &bytes[used..],
                Some(_) => break,
                None => {}
            }
        }
        hand.notes_of(slow);
        assert!(hand.informer.is_synced());
        assert_eq!(hand.store(), ["x@1", "y@2", "z@3"]);
        assert_eq!(hand.notes().len(), 3);
    }
}

/// The request that was never sent is not aborted, and the next one is paced like any other.
#[test]
fn rests_are_paced() {
    let mut hand = Hand::new(listed());
    let mut requests = 0;
    for _ in 0..50 {
        hand.informer.suspend(hand.now);
        hand.informer.resume(hand.now);
        requests += usize::from(hand.request().is_some());
    }
    assert!(requests <= 5, "{requests} requests at once");
    hand.fail(Failure::Broken, "");
    assert!(hand.informer.next_deadline() > Some(hand.now));
}

/// What a world does beside its usual work.
fn rest<S: Storage>(world: &mut World<S>) {
    let now = world.now;
    let listeners = world.observers.len() as u64;
    let some = world.observers[world.random.below(listeners) as usize].id;
    match world.random.below(12) {
        0 => world.informer.suspend(now),
        1..=3 => world.informer.resume(now),
        4 => {
            world.informer.pause_listener(some);
        }
        5..=7 => {
            world.informer.resume_listener(some);
        }
        8 => world.informer.hurry(now),
        _ => {}
    }
}

fn wake<S: Storage>(world: &mut World<S>) {
    world.informer.resume(world.now);
    for observer in &world.observers {
        world.informer.resume_listener(observer.id);
    }
}

fn run<S: Storage>(config: InformerConfig, seed: u64, late: bool) {
    let mut world = World::<S>::new(config, seed);
    for config in [EVERYTHING, merging(), stalling(2)] {
        world.listen(config, true);
    }
    world.informer.start(world.now);
    for step in 0..400 {
        world.act();
        rest(&mut world);
        if late && step % 100 == 50 {
            world.listen(merging(), true);
        }
    }
    wake(&mut world);
    world.settle();
}

/// However often informers and listeners rest, and whenever they do: what a listener was told adds up to the
/// store, and the store to the server.
#[test]
fn every_listener_ends_with_the_right_picture() {
    let staged = InformerConfig {
        relist: Relist::Staged,
        ..listed()
    };
    let in_order = InformerConfig {
        queue: QueueKind::InOrder,
        ..listed()
    };
    for seed in 0..150 {
        run::<Heap>(InformerConfig::new(), seed, true);
        run::<Heap>(listed(), seed, true);
        run::<Heap>(staged, seed, true);
        run::<Heap>(in_order, seed, true);
        run::<Fixed<16>>(listed(), seed, false);
    }
}

/// A suspension in the middle of a resync ends the resync, and the next one is complete.
#[test]
fn a_resync_begins_again_after_a_suspension() {
    let mut config = listed();
    config.resync = Some(Duration::from_secs(10));
    let pods: Vec<_> = (0..1_000)
        .map(|n| pod(&format!("p{n}"), "u", n + 1))
        .collect();
    let mut hand = Hand::synced(config, &pods);
    hand.sleep(Duration::from_secs(10));
    let first = hand
        .informer
        .listener_status(hand.listener)
        .unwrap()
        .pending;
    assert!((1..1_000).contains(&first), "{first}");
    hand.informer.suspend(hand.now);
    assert_eq!(hand.informer.next_deadline(), None);
    hand.informer.resume(hand.now);
    assert_eq!(hand.notes().len(), first, "they were on their way");
    hand.request();
    hand.list(2_000, &pods);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    hand.sleep(Duration::from_secs(1));
    assert_eq!(hand.notes().len(), 0);
    hand.sleep(Duration::from_secs(10));
    let mut told = hand.notes().len();
    while hand.informer.next_deadline() == Some(hand.now) {
        hand.informer.advance(hand.now);
        told += hand.notes().len();
    }
    assert_eq!(told, 1_000);
}
