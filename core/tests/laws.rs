//! The laws of the driver contract, one test each, with one source and with several.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;
mod world;

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hand::{EVERYTHING, Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic, Limits};
use informer_core::indexer::IndexFn;
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::QueueKind;
use informer_core::storage::Heap;
use informer_core::transport::{Command, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Instant};
use proptest::prelude::*;
use world::World;

/// A world with one source, and one with several that come and go.
fn worlds(config: InformerConfig, seed: u64) -> [World; 2] {
    [World::new(config, seed), World::with_several(config, seed)]
}

/// An informer with one source, and one with several. The test plays one of them.
fn hands(config: InformerConfig) -> [Hand; 2] {
    let informer = || Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    [Hand::with(informer()), Hand::among_others(informer())]
}

/// Runs the steps of the driver loop at random.
#[test]
fn no_drain_rule_any_order_of_calls_is_safe() {
    for mut world in (0..60).flat_map(|seed| worlds(listed(), seed)) {
        world.listen(EVERYTHING, true);
        world.informer.start(world.now);
        for _ in 0..200 {
            match world.random.below(6) {
                0 => world.server.mutate(&mut world.random),
                1 => world.execute(),
                2 => world.informer.advance(world.now),
                3 => {
                    world.observe(0, 1);
                }
                _ => {
                    world.deliver();
                }
            }
        }
        world.settle();
    }
}

#[test]
fn time_never_goes_back() {
    for mut hand in hands(listed()) {
        hand.sleep(Duration::from_secs(100));
        hand.fail(Failure::Forbidden, "");
        let deadline = hand.informer.next_deadline();
        assert!(deadline > Some(hand.now));
        // An earlier `now` counts as the last one.
        hand.informer.advance(Instant::default());
        hand.informer.start(Instant::default());
        assert_eq!(hand.informer.next_deadline(), deadline);
        assert_eq!(hand.informer.poll_command(Instant::default()), None);
    }
    for mut hand in hands(listed()) {
        hand.sleep(Duration::from_secs(100));
        let then = hand.now;
        hand.now = Instant::default();
        hand.fail(Failure::Forbidden, "");
        assert!(hand.informer.next_deadline() > Some(then));
    }
}

/// Extra calls of `advance` change nothing.
#[test]
fn early_advance_is_free() {
    for (seed, which) in (0..30).flat_map(|seed| [(seed, 0), (seed, 1)]) {
        let run = |needless: bool| {
            let mut world = worlds(listed(), seed).into_iter().nth(which).unwrap();
            world.listen(EVERYTHING, true);
            world.informer.start(world.now);
            for _ in 0..150 {
                world.act();
                let early = world
                    .informer
                    .next_deadline()
                    .is_none_or(|due| world.now < due);
                if needless && early {
                    for _ in 0..3 {
                        world.informer.advance(world.now);
                    }
                }
            }
            world.settle();
            world.trace
        };
        assert_eq!(run(false), run(true), "seed {seed}");
    }
}

/// A late call handles each overdue timer once.
#[test]
fn late_advance_is_safe() {
    let mut config = listed();
    config.resync = Some(Duration::from_secs(10));
    for hand in hands(config) {
        let mut hand = hand.sync(&[pod("x", "u1", 1)]);
        hand.now = hand.now.after(Duration::from_secs(100_000));
        hand.bookmark(11);
        hand.others_are_alive();
        hand.informer.advance(hand.now);
        hand.informer.advance(hand.now);
        assert_eq!(hand.notes(), ["update x 1 to 1 Resync"]);
        let next = hand.now.after(Duration::from_secs(10));
        assert_eq!(hand.informer.next_deadline(), Some(next));
    }
}

#[test]
fn an_untaken_command_never_times_out() {
    for sources in [1, 3] {
        let mut informer =
            Informer::<_, Heap>::new(Decoder::new(Dynamic), InformerConfig::new(), 1).unwrap();
        for _ in 1..sources {
            let decoder = Decoder::new(Dynamic);
            informer.add_source(decoder, Instant::default()).unwrap();
        }
        informer.start(Instant::default());
        let late = Instant::default().after(Duration::from_secs(1_000_000));
        informer.advance(late);
        assert_eq!(informer.status().counts.failures, 0);
        let mut exchanges = Vec::new();
        while let Some(Command::Open { exchange, .. }) = informer.poll_command(late) {
            exchanges.push(exchange);
        }
        assert_eq!(exchanges.len(), sources, "each source has one request");
        // Neither does a full state that the transport holds back.
        assert_eq!(informer.next_deadline(), None);
        let later = late.after(Duration::from_secs(1_000_000));
        for exchange in exchanges {
            let opened = Signal::Opened(Encoding::Json);
            assert_eq!(informer.signal(exchange, opened, later), Some(0));
            assert!(informer.next_deadline() > Some(later));
        }
    }
}

#[test]
fn signals_of_old_exchanges_are_ignored() {
    for mut hand in hands(listed()) {
        let old = hand.exchange;
        hand.fail(Failure::Broken, "");
        hand.wait();
        assert_ne!(hand.exchange, old);
        let new = core::mem::replace(&mut hand.exchange, old);
        for signal in [
            Signal::Opened(Encoding::Json),
            Signal::Bytes(br#"{"metadata":{"resourceVersion":"1"},"items":[]}"#),
            Signal::Closed,
            Signal::Failed {
                failure: Failure::Expired,
                message: "",
            },
        ] {
            let bytes = if let Signal::Bytes(bytes) = signal {
                bytes.len()
            } else {
                0
            };
            assert_eq!(hand.signal(signal), Some(bytes));
        }
        assert!(!hand.informer.is_synced());
        assert_eq!(hand.informer.status().counts.failures, 1);
        hand.exchange = new;
        hand.list(10, &[]);
        assert!(hand.informer.is_synced());
    }
}

/// Anything that a server may send.
fn anything() -> impl Strategy<Value = Vec<u8>> {
    let event = |kind: &'static str| {
        any::<u8>().prop_map(move |n| {
            let object = pod(&format!("p{}", n % 5), "u", u64::from(n));
            format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n").into_bytes()
        })
    };
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..60),
        "[\\[\\]{}\",:a-z0-9 \\\\\n]{0,60}".prop_map(String::into_bytes),
        event("ADDED"),
        event("DELETED"),
        event("BOOKMARK"),
        event("ERROR"),
        event("WHATEVER"),
        Just(br#"{"kind":"PodList","metadata":{"resourceVersion":"7","continue":"t"},"items":[{"metadata":{"name":"q"}},3,null]}"#.to_vec()),
        Just(br#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}
"#.to_vec()),
        Just("[".repeat(3_000).into_bytes()),
        Just("x".repeat(5_000).into_bytes()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the server sends, no call fails, panics or hangs, and every byte is used. The limits bound
    /// the memory, not the input.
    #[test]
    fn remote_input_never_fails_a_call(
        says in proptest::collection::vec((anything(), 0..12_u8), 1..60),
        in_order in any::<bool>(),
        client_go in any::<bool>(),
        among_others in any::<bool>(),
    ) {
        let queue = if in_order { QueueKind::InOrder } else { QueueKind::DeltaFifo };
        let config = if client_go {
            InformerConfig::client_go(queue)
        } else {
            InformerConfig { queue, ..InformerConfig::new() }
        };
        let decoder = Decoder::with_limits(Dynamic, Limits { object_bytes: 400, depth: 16 }).unwrap();
        let informer = Informer::new(decoder, config, 1).unwrap();
        let mut hand = if among_others { Hand::among_others(informer) } else { Hand::with(informer) };
        for (bytes, then) in says {
            hand.request();
            if hand.exchange.is_some() {
                prop_assert_eq!(hand.signal(Signal::Bytes(&bytes)), Some(bytes.len()));
                match then {
                    0 => { let _ = hand.signal(Signal::Closed); }
                    1 => hand.fail(Failure::Internal, &"m".repeat(10_000)),
                    2 => hand.fail(Failure::Expired, ""),
                    3 => { let _ = hand.signal(Signal::Opened(Encoding::Json)); }
                    _ => {}
                }
            }
            if let Some(deadline) = hand.informer.next_deadline() && then > 8 {
                hand.now = hand.now.max(deadline);
            }
            hand.informer.advance(hand.now);
            let status = hand.informer.status();
            prop_assert!(status.last_failure.is_none_or(|last| last.message.len() <= 512));
            prop_assert!(status.objects <= 12);
            prop_assert_eq!(status.queued, 0);
        }
    }
}

/// With a slow listener and tiny chunks, everything arrives in order, and no listener exceeds its bound.
#[test]
fn bounds_stall_and_never_lose() {
    let all = (0..40).flat_map(|seed| {
        let queue = if seed % 2 == 0 {
            QueueKind::DeltaFifo
        } else {
            QueueKind::InOrder
        };
        worlds(InformerConfig { queue, ..listed() }, seed)
    });
    for mut world in all {
        let stall = ListenerConfig {
            backlog: Backlog::Stall { at: 2 },
            ..EVERYTHING
        };
        world.listen(stall, true);
        world.listen(EVERYTHING, true);
        world.informer.start(world.now);
        world.chunk = 40;
        for _ in 0..400 {
            world.act();
            let pending = world
                .informer
                .listener_status(world.observers[0].id)
                .unwrap()
                .pending;
            assert!(pending <= 3, "{pending}");
        }
        world.settle();
    }
}

#[test]
fn same_seed_and_inputs_same_outputs() {
    for (seed, which) in (0..20).flat_map(|seed| [(seed, 0), (seed, 1)]) {
        let run = |seed| {
            let all = worlds(InformerConfig::new(), seed);
            let mut world = all.into_iter().nth(which).unwrap();
            world.listen(ListenerConfig::new(), true);
            world.informer.start(world.now);
            for _ in 0..200 {
                world.act();
            }
            world.settle();
            world.trace
        };
        assert_eq!(run(seed), run(seed), "seed {seed}");
        assert_ne!(run(seed), run(seed + 1), "another seed gives another run");
    }
}

/// The work for one event does not depend on the size of the store: it calls each index function a fixed
/// number of times.
#[test]
fn work_is_bounded_by_the_bytes_handed_in() {
    let calls = |objects: u64, which: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let mut hand = hands(listed()).into_iter().nth(which).unwrap();
        let by_version = IndexFn::new(move |pod: &Pod, file: &mut dyn FnMut(&[u8])| {
            counter.fetch_add(1, Ordering::Relaxed);
            file(pod.version().as_bytes());
        });
        hand.informer.add_index("version", by_version).unwrap();
        let pods: Vec<_> = (0..objects)
            .map(|n| pod(&format!("p{n}"), "u", n))
            .collect();
        hand.list(objects, &pods);
        hand.request();
        asked.store(0, Ordering::Relaxed);
        hand.event("MODIFIED", &pod("p1", "u", objects + 1));
        hand.event("DELETED", &pod("p2", "u", objects + 2));
        hand.event("ADDED", &pod("new", "u", objects + 3));
        asked.load(Ordering::Relaxed)
    };
    for which in [0, 1] {
        assert_eq!(calls(10, which), calls(5_000, which));
    }
}
