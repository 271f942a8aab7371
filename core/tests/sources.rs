//! Sources that come and go, case by case.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod world;

use core::time::Duration;

use informer_core::decode::{Decoder, InCluster, Lean};
use informer_core::informer::AddSourceError;
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::{FirstState, Phase};
use informer_core::storage::{Fixed, Heap, Storage};
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Instant, SourceId};
use world::World;
use world::server::Selector;

const OPENED: Signal<'_> = Signal::Opened(Encoding::Json);

/// An informer by hand, whose sources list first.
struct Hand<S: Storage = Heap> {
    informer: Informer<Decoder<Lean>, S>,
    now: Instant,
}

fn config() -> InformerConfig {
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    config
}

fn pod(name: &str, version: u32) -> String {
    format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}","resourceVersion":"{version}"}}}}"#)
}

impl<S: Storage> Hand<S> {
    fn new(config: InformerConfig) -> Self {
        let mut informer = Informer::new(Decoder::new(Lean), config, 1).unwrap();
        let now = Instant::from_micros(1);
        informer.start(now);
        Self { informer, now }
    }

    fn add(&mut self) -> SourceId {
        self.informer
            .add_source(Decoder::new(Lean), self.now)
            .unwrap()
    }

    fn listen(&mut self, backlog: Backlog) -> ListenerId {
        let config = ListenerConfig {
            backlog,
            ..ListenerConfig::new()
        };
        self.informer.add_listener(config, self.now).unwrap()
    }

    /// The request that a source sends next, perhaps after the end of the one before.
    fn request(&mut self, source: SourceId) -> ExchangeId {
        loop {
            match self.informer.poll_command_of(source, self.now) {
                Some(Command::Open { exchange, .. }) => return exchange,
                Some(Command::Abort(_)) => {}
                other => panic!("no request: {other:?}"),
            }
        }
    }

    fn bytes(&mut self, exchange: ExchangeId, text: &str) -> Option<usize> {
        let signal = Signal::Bytes(text.as_bytes());
        self.informer.signal(exchange, signal, self.now)
    }

    /// Answers the list of a source, and returns its watch.
    fn list(&mut self, source: SourceId, pods: &[String]) -> ExchangeId {
        let exchange = self.request(source);
        let items = pods.join(",");
        let body = format!(r#"{{"metadata":{{"resourceVersion":"50"}},"items":[{items}]}}"#);
        assert!(self.bytes(exchange, &body).is_some());
        let closed = self.informer.signal(exchange, Signal::Closed, self.now);
        assert!(closed.is_some());
        self.request(source)
    }

    fn event(&mut self, exchange: ExchangeId, kind: &str, pod: &str) {
        let line = format!("{{\"type\":\"{kind}\",\"object\":{pod}}}\n");
        assert_eq!(self.bytes(exchange, &line), Some(line.len()));
    }

    fn told(&mut self, listener: ListenerId) -> Vec<String> {
        let mut told = Vec::new();
        self.informer
            .poll_notifications(listener, 100, |it| told.push(it.to_string()));
        told
    }
}

#[test]
fn a_new_source_shows_what_is_new_and_is_initial_until_it_is_synced() {
    let mut hand = Hand::<Heap>::new(config());
    let listener = hand.listen(Backlog::Grow);
    hand.list(SourceId::FIRST, &[pod("a", 1), pod("b", 2)]);
    assert!(hand.informer.is_synced());
    hand.told(listener);
    hand.told(listener);
    assert!(hand.informer.listener_status(listener).unwrap().synced);

    let second = hand.add();
    assert!(!hand.informer.is_synced());
    let late = hand.listen(Backlog::Grow);
    hand.told(late);
    hand.told(late);
    // It has all objects, but the new source may have more.
    assert!(!hand.informer.listener_status(late).unwrap().synced);
    // What was synced stays so.
    assert!(hand.informer.listener_status(listener).unwrap().synced);

    let watch = hand.list(second, &[pod("b", 2), pod("c", 3)]);
    assert!(hand.informer.is_synced());
    assert_eq!(hand.told(listener), ["added c (initial, relist)"]);
    hand.told(late);
    hand.told(late);
    assert!(hand.informer.listener_status(late).unwrap().synced);
    hand.event(watch, "ADDED", &pod("d", 60));
    assert_eq!(hand.told(listener), ["added d (watch)"]);
}

/// A full state that began again is followed by a walk through the store. It finds nothing, and nobody would poll.
#[test]
fn a_listener_hears_that_it_is_synced_even_if_there_is_nothing_to_take() {
    let mut hand = Hand::<Heap>::new(config());
    let listener = hand.listen(Backlog::Grow);
    let pods: Vec<_> = (0..600).map(|n| pod(&format!("p{n}"), n)).collect();
    hand.list(SourceId::FIRST, &pods);
    let second = hand.add();
    let list = hand.request(second);
    hand.bytes(list, &format!(r#"{{"items":[{},"#, pod("a", 1)));
    let failed = Signal::Failed {
        failure: Failure::Broken,
        message: "",
    };
    assert!(hand.informer.signal(list, failed, hand.now).is_some());
    while !hand.told(listener).is_empty() {}
    while hand.informer.poll_ready_listener().is_some() {}

    hand.now = hand.informer.next_deadline().unwrap();
    hand.informer.advance(hand.now);
    hand.list(second, &[pod("a", 1)]);
    while !hand.informer.is_settled() {
        assert_eq!(hand.informer.poll_ready_listener(), None);
        hand.informer.advance(hand.now);
    }
    assert_eq!(hand.informer.poll_ready_listener(), Some(listener));
    assert!(hand.informer.listener_status(listener).unwrap().synced);
}

/// Otherwise the walks of all new sources would take time that grows with the square of their number.
#[test]
fn a_new_source_is_synced_without_a_walk_through_the_store() {
    let mut hand = Hand::<Heap>::new(config());
    let pods: Vec<_> = (0..600).map(|n| pod(&format!("p{n}"), n)).collect();
    hand.list(SourceId::FIRST, &pods);
    let second = hand.add();
    let watch = hand.list(second, &[pod("a", 1)]);
    assert!(hand.informer.is_settled() && hand.informer.is_synced());
    // A later full state is followed by one, and finds what is gone.
    let expired = r#"{"kind":"Status","code":410,"reason":"Expired"}"#;
    hand.event(watch, "ERROR", expired);
    hand.now = hand.now.after(Duration::from_secs(5));
    hand.informer.advance(hand.now);
    hand.list(second, &[]);
    assert!(!hand.informer.is_settled());
    while !hand.informer.is_settled() {
        hand.informer.advance(hand.now);
    }
    assert_eq!(hand.informer.store().len(), 600);
}

#[test]
fn a_removed_source_is_aborted_and_its_signals_are_ignored() {
    let mut hand = Hand::<Heap>::new(config());
    let listener = hand.listen(Backlog::Grow);
    let second = hand.add();
    hand.list(SourceId::FIRST, &[pod("a", 1), pod("b", 9)]);
    let watch = hand.list(second, &[pod("b", 8), pod("c", 3)]);
    hand.told(listener);
    assert!(hand.informer.remove_source(second, hand.now));
    assert_eq!(
        hand.told(listener),
        ["deleted c (inferred, source removed)"]
    );
    // It is there until the transport has heard of its end.
    assert!(hand.informer.source_status(second).unwrap().leaving);
    hand.event(watch, "ADDED", &pod("x", 70));
    assert_eq!(
        hand.informer.poll_command(hand.now),
        Some(Command::Abort(watch))
    );
    hand.informer.advance(hand.now);
    assert!(hand.informer.source_status(second).is_none());
    assert_eq!(hand.informer.sources().count(), 1);
    assert_eq!(hand.told(listener), Vec::<String>::new());

    // Another source may take its place, but not its name.
    let third = hand.add();
    assert_ne!(third, second);
    hand.event(watch, "ADDED", &pod("x", 70));
    assert!(!hand.informer.remove_source(second, hand.now));
    assert_eq!(hand.informer.store().len(), 2);
}

#[test]
fn a_source_that_fails_does_not_stop_the_others() {
    let mut hand = Hand::<Heap>::new(config());
    let second = hand.add();
    let forbidden = hand.request(second);
    let failed = Signal::Failed {
        failure: Failure::Forbidden,
        message: "no right in b",
    };
    assert!(hand.informer.signal(forbidden, failed, hand.now).is_some());
    hand.list(SourceId::FIRST, &[pod("a", 1)]);
    assert_eq!(hand.informer.store().len(), 1);
    let status = hand.informer.status();
    assert!(!status.synced && !status.following);
    assert!(matches!(
        status.phase,
        Phase::Waiting {
            cause: Failure::Forbidden,
            ..
        }
    ));
    assert_eq!(status.last_failure.unwrap().message, "no right in b");
    assert!(hand.informer.source_status(SourceId::FIRST).unwrap().synced);
    let status = hand.informer.source_status(second).unwrap();
    assert!(!status.synced);
    assert_eq!(status.counts.failures, 1);
    assert!(!hand.informer.is_fresh(Duration::MAX, hand.now));
    // Without the forbidden one, all is well.
    assert!(hand.informer.remove_source(second, hand.now));
    assert!(hand.informer.is_synced());
}

#[test]
fn a_resync_shows_every_object_of_every_source_once() {
    let period = Duration::from_secs(10);
    let mut hand = Hand::<Heap>::new(InformerConfig {
        resync: Some(period),
        ..config()
    });
    let listener = hand.listen(Backlog::Grow);
    let second = hand.add();
    hand.list(SourceId::FIRST, &[pod("a", 1), pod("b", 2)]);
    hand.list(second, &[pod("b", 2), pod("c", 3)]);
    hand.told(listener);
    hand.now = hand.now.after(period);
    hand.informer.advance(hand.now);
    let mut told = hand.told(listener);
    told.sort();
    assert_eq!(
        told,
        [
            "updated a to 1 (resync)",
            "updated b to 2 (resync)",
            "updated c to 3 (resync)"
        ]
    );
    // The source that resynced does not show what belongs to the other one.
    let shown: Vec<_> = hand
        .informer
        .store()
        .sources_of(&"c".parse().unwrap())
        .collect();
    assert_eq!(shown, [second]);
}

/// The version from before would say less than the store shows.
#[test]
fn with_several_sources_the_store_has_no_version() {
    for (queue, relist) in [
        (QueueKind::DeltaFifo, Relist::Streamed),
        (QueueKind::DeltaFifo, Relist::Staged),
        (QueueKind::InOrder, Relist::Staged),
    ] {
        let mut hand = Hand::<Heap>::new(InformerConfig {
            queue,
            relist,
            ..config()
        });
        let watch = hand.list(SourceId::FIRST, &[pod("x", 1)]);
        assert_eq!(hand.informer.store().version(), "50");
        let second = hand.add();
        assert_eq!(hand.informer.store().version(), "");
        hand.event(watch, "MODIFIED", &pod("x", 51));
        assert_eq!(hand.informer.store().version(), "");

        // The first source is the only one again, and has a version again.
        assert!(hand.informer.remove_source(second, hand.now));
        while hand.informer.poll_command(hand.now).is_some() {}
        hand.event(watch, "MODIFIED", &pod("x", 52));
        assert_eq!(hand.informer.store().version(), "52");

        // A new source has read nothing yet.
        assert!(hand.informer.remove_source(SourceId::FIRST, hand.now));
        while hand.informer.poll_command(hand.now).is_some() {}
        hand.add();
        assert_eq!(hand.informer.sources().count(), 1);
        assert_eq!(hand.informer.store().version(), "");
    }
}

/// The last command of a removed source may be the last thing that happens for a while.
#[test]
fn the_store_has_a_version_as_soon_as_there_is_one_source() {
    let mut hand = Hand::<Heap>::new(config());
    let first = hand.list(SourceId::FIRST, &[pod("x", 1)]);
    assert_eq!(hand.informer.signal(first, OPENED, hand.now), Some(0));
    let second = hand.add();
    let watch = hand.list(second, &[]);
    assert_eq!(hand.informer.signal(watch, OPENED, hand.now), Some(0));
    assert!(hand.informer.remove_source(second, hand.now));
    while hand.informer.poll_command(hand.now).is_some() {}
    assert_eq!(hand.informer.sources().count(), 1);
    assert_eq!(hand.informer.store().version(), "50");
}

/// A resync must not begin a round in a source that reads a full state: the objects so far would count as part of an
/// earlier round, and be deleted at the end.
#[test]
fn a_resync_leaves_the_full_state_of_another_source_alone() {
    let mut hand = Hand::<Heap>::new(InformerConfig {
        resync: Some(Duration::from_secs(30)),
        ..config()
    });
    let listener = hand.listen(Backlog::Grow);
    let second = hand.add();
    hand.list(second, &[pod("of-the-second", 1)]);

    let list = hand.request(SourceId::FIRST);
    let head = r#"{"metadata":{"resourceVersion":"50"},"items":["#;
    hand.bytes(list, &format!("{head}{}", pod("before", 2)));
    hand.told(listener);
    hand.now = hand.now.after(Duration::from_secs(31));
    hand.informer.advance(hand.now);
    let told = hand.told(listener);
    assert_eq!(told.len(), 2, "the resync shows what is in the store");
    hand.bytes(list, &format!(",{}]}}", pod("after", 3)));
    let closed = hand.informer.signal(list, Signal::Closed, hand.now);
    assert!(closed.is_some());
    assert!(hand.informer.is_synced());
    assert_eq!(hand.informer.store().len(), 3, "{:?}", hand.told(listener));
}

#[test]
fn a_resync_does_not_bring_back_what_has_gone_with_another_source() {
    let period = Duration::from_secs(10);
    let mut hand = Hand::<Heap>::new(InformerConfig {
        resync: Some(period),
        ..config()
    });
    // The listener has room for one notification, so the resync stops in the middle.
    let listener = hand.listen(Backlog::Stall { at: 1 });
    let second = hand.add();
    let first = hand.list(SourceId::FIRST, &[]);
    let watch = hand.list(second, &[]);
    hand.event(first, "ADDED", &pod("a", 60));
    hand.told(listener);
    hand.event(watch, "ADDED", &pod("b", 61));
    hand.told(listener);
    hand.now = hand.now.after(period);
    hand.informer.advance(hand.now);
    // The resync has found b, which waits for the listener, when its source is removed.
    assert!(hand.informer.is_stalled());
    assert!(hand.informer.remove_source(second, hand.now));
    let mut told = Vec::new();
    loop {
        let more = hand.told(listener);
        if more.is_empty() {
            break;
        }
        told.extend(more);
    }
    assert_eq!(
        told,
        [
            "updated a to 60 (resync)",
            "deleted b (inferred, source removed)"
        ]
    );
    assert_eq!(hand.informer.store().len(), 1);
}

#[test]
fn the_last_source_may_go_and_another_may_come() {
    let mut hand = Hand::<Heap>::new(config());
    let listener = hand.listen(Backlog::Grow);
    hand.list(SourceId::FIRST, &[pod("a", 1)]);
    hand.told(listener);
    assert!(hand.informer.remove_source(SourceId::FIRST, hand.now));
    assert_eq!(
        hand.told(listener),
        ["deleted a (inferred, source removed)"]
    );
    assert!(matches!(
        hand.informer.poll_command(hand.now),
        Some(Command::Abort(_))
    ));
    hand.informer.advance(hand.now);
    let status = hand.informer.status();
    assert_eq!((status.sources, status.phase), (0, Phase::Idle));
    assert!(status.following && hand.informer.is_fresh(Duration::MAX, hand.now));
    assert!(hand.informer.is_synced() && hand.informer.next_deadline().is_none());
    let second = hand.add();
    assert!(!hand.informer.is_synced());
    hand.list(second, &[pod("a", 2)]);
    assert_eq!(hand.told(listener), ["added a (initial, relist)"]);
    hand.informer.remove_source(second, hand.now);
    while hand.informer.poll_command(hand.now).is_some() {}
    hand.informer.suspend(hand.now);
    assert!(
        !hand.informer.is_fresh(Duration::MAX, hand.now),
        "suspended"
    );
    hand.informer.resume(hand.now);
    hand.informer.stop(hand.now);
    assert!(!hand.informer.is_fresh(Duration::MAX, hand.now), "stopped");
    assert!(!hand.informer.status().following);
    let late = hand.informer.add_source(Decoder::new(Lean), hand.now);
    assert_eq!(late, Err(AddSourceError::Stopped));
}

#[test]
fn an_informer_that_expects_sources_is_not_synced() {
    let mut hand = Hand::<Heap>::new(config());
    hand.informer.expect_sources(true, hand.now);
    let listener = hand.listen(Backlog::Grow);
    hand.list(SourceId::FIRST, &[pod("a", 1)]);
    hand.told(listener);
    hand.told(listener);
    assert!(!hand.informer.is_synced());
    assert!(!hand.informer.listener_status(listener).unwrap().synced);
    assert!(hand.informer.wait_for("50").unwrap().is_pending());
    hand.informer.expect_sources(false, hand.now);
    assert!(hand.informer.wait_for("50").unwrap().is_ready());
    assert!(hand.informer.is_synced());
    hand.told(listener);
    assert!(hand.informer.listener_status(listener).unwrap().synced);
}

#[test]
fn a_source_that_is_added_while_the_informer_is_suspended_waits() {
    let mut hand = Hand::<Heap>::new(config());
    hand.list(SourceId::FIRST, &[]);
    hand.informer.suspend(hand.now);
    let second = hand.add();
    assert_eq!(hand.informer.poll_command_of(second, hand.now), None);
    hand.informer.resume(hand.now);
    hand.list(second, &[pod("a", 1)]);
    assert_eq!(hand.informer.store().len(), 1);
}

#[test]
fn waiting_for_a_version_asks_all_sources_or_one() {
    let mut hand = Hand::<Heap>::new(config());
    let second = hand.add();
    let watch = hand.list(SourceId::FIRST, &[]);
    hand.list(second, &[]);
    assert!(hand.informer.wait_for("50").unwrap().is_ready());
    hand.event(watch, "ADDED", &pod("a", 60));
    assert!(hand.informer.wait_for("60").unwrap().is_pending());
    let first = hand.informer.wait_for_in(SourceId::FIRST, "60");
    assert!(first.unwrap().is_ready());
    assert!(
        hand.informer
            .wait_for_in(second, "60")
            .unwrap()
            .is_pending()
    );
    assert_eq!(hand.informer.exact_version(), None);
    assert_eq!(hand.informer.exact_version_of(SourceId::FIRST), Some("60"));
    assert_eq!(hand.informer.store().version(), "");
}

/// A storage with room for two sources and a few holds.
#[test]
fn a_storage_of_fixed_size_says_when_it_has_no_room_for_sources() {
    type Small = Fixed<8, 4, 64, 2, 6>;
    let mut hand = Hand::<Small>::new(config());
    let listener = hand.listen(Backlog::Coalesce { above: 2 });
    let all: Vec<_> = (1..=4).map(|n| pod(&format!("p{n}"), n)).collect();
    hand.list(SourceId::FIRST, &all);
    hand.told(listener);
    let second = hand.add();
    let third = hand.informer.add_source(Decoder::new(Lean), hand.now);
    assert_eq!(third, Err(AddSourceError::Full));
    // Four holds of the first source, and room for two of the second.
    let exchange = hand.request(second);
    let body = format!(
        r#"{{"metadata":{{"resourceVersion":"50"}},"items":[{}]}}"#,
        all.join(",")
    );
    assert!(hand.bytes(exchange, &body).is_some());
    let _ = hand.informer.signal(exchange, Signal::Closed, hand.now);
    let status = hand.informer.source_status(second).unwrap();
    assert_eq!(status.last_failure.unwrap().failure, Failure::Full);
    assert!(!hand.informer.is_synced());
    assert_eq!(hand.informer.store().len(), 4, "nothing was lost");
    // The default has room for one source.
    let mut one = Hand::<Fixed<8>>::new(config());
    let second = one.informer.add_source(Decoder::new(Lean), one.now);
    assert_eq!(second, Err(AddSourceError::Full));
}

#[test]
fn heap_and_fixed_agree_with_several_sources() {
    for seed in 0..60 {
        let run = |trace: fn(u64) -> String| trace(seed);
        fn trace<S: Storage>(seed: u64) -> String {
            let mut world = World::<S>::with_several(config(), seed);
            world.listen(
                ListenerConfig {
                    backlog: Backlog::Coalesce { above: 2 },
                    ..ListenerConfig::new()
                },
                true,
            );
            world.informer.start(world.now);
            for _ in 0..200 {
                world.act();
            }
            world.settle();
            world.trace
        }
        let (heap, fixed) = (run(trace::<Heap>), run(trace::<Fixed<32, 4, 24, 12, 96>>));
        assert!(heap == fixed, "seed {seed}");
    }
}

/// Versions of different clusters are not compared, and their objects are different ones.
#[test]
fn objects_of_two_clusters_do_not_meet() {
    let now = Instant::from_micros(1);
    let decoder = |cluster: &str| InCluster::new(cluster, Decoder::new(Lean));
    let mut informer = Informer::<_, Heap>::new(decoder("east"), config(), 1).unwrap();
    let west = informer.add_source(decoder("west"), now).unwrap();
    informer.start(now);
    for (source, version) in [(SourceId::FIRST, 9), (west, 1)] {
        let Some(Command::Open { exchange, .. }) = informer.poll_command_of(source, now) else {
            panic!("no request");
        };
        let bad = r#"{"metadata":{"name":"bad","labels":7}}"#;
        let body = format!(
            r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{},{bad}]}}"#,
            pod("a", version)
        );
        let used = informer.signal(exchange, Signal::Bytes(body.as_bytes()), now);
        assert_eq!(used, Some(body.len()));
    }
    let mut shown: Vec<_> = informer
        .store()
        .iter()
        .map(|pod| format!("{} {}", pod.key(), pod.version()))
        .collect();
    shown.sort();
    assert_eq!(shown, ["east:a 9", "west:a 1"]);
    let left_out: Vec<_> = core::iter::from_fn(|| informer.poll_rejected())
        .map(|rejected| rejected.key.unwrap().to_string())
        .collect();
    assert_eq!(left_out, ["east:bad", "west:bad"]);
}

/// With one selector, the objects of a source leave it while another source still shows them.
#[test]
fn an_object_moves_from_selector_to_selector() {
    let mut world = World::<Heap>::with_sources(config(), 3, &[Selector::ALL]);
    world.listen(ListenerConfig::new(), true);
    world.informer.start(world.now);
    for n in 0..40 {
        world.server.put(&format!("p{}", n % 5), false);
        if n == 20 {
            let mut random = informer_test_support::Random::new(5);
            world.follow(Selector::any(&mut random));
        }
        world.settle();
    }
}
