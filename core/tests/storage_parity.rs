//! The same script on two storages gives the same trace below capacity, and the same final state
//! when the storage is often full.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod world;

use core::time::Duration;

use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::reflector::FirstState;
use informer_core::storage::{Fixed, Heap, Storage};
use informer_core::{Failure, InformerConfig};
use world::World;

fn config(seed: u64) -> InformerConfig {
    let mut config = InformerConfig::new();
    if seed & 1 == 0 {
        config.reflector.first_state = FirstState::Listed;
    }
    if seed & 2 == 0 {
        config.resync = Some(Duration::from_secs(30));
    }
    config
}

fn run<S: Storage>(seed: u64, backlogs: &[Backlog], joins_late: bool) -> World<S> {
    let mut world = World::<S>::new(config(seed), seed);
    world.server.page = (seed % 5) as usize;
    for backlog in backlogs {
        let resync = Resync::Default;
        world.listen(
            ListenerConfig {
                resync,
                backlog: *backlog,
            },
            true,
        );
    }
    world.informer.start(world.now);
    for act in 0..300 {
        world.act();
        if joins_late && act == 150 {
            let resync = Resync::Default;
            world.listen(
                ListenerConfig {
                    resync,
                    backlog: backlogs[0],
                },
                true,
            );
        }
    }
    world.settle();
    world
}

#[test]
fn heap_and_fixed_give_the_same_trace_below_capacity() {
    // Coalescing keeps the backlog below the capacity.
    let backlogs = [
        Backlog::Coalesce { above: 2 },
        Backlog::Coalesce { above: 0 },
    ];
    let mut lines = 0;
    for seed in 0..150 {
        let heap = run::<Heap>(seed, &backlogs, false).trace;
        let fixed = run::<Fixed<64, 4, 64>>(seed, &backlogs, false).trace;
        assert!(
            heap == fixed,
            "seed {seed}: {}",
            first_difference(&heap, &fixed)
        );
        lines += heap.lines().count();
    }
    assert!(lines > 5_000, "too little happens: {lines}");
}

/// Twelve objects in storage for sixteen, with listeners that are often full. The world checks
/// every notification and the final state.
#[test]
fn full_storage_stalls_and_loses_nothing() {
    let backlogs = [
        Backlog::Grow,
        Backlog::Stall { at: 2 },
        Backlog::Coalesce { above: 3 },
    ];
    let mut stalled = 0;
    for seed in 0..150 {
        let heap = run::<Heap>(seed, &backlogs, true);
        let fixed = run::<Fixed<16, 4, 64>>(seed, &backlogs, true);
        stalled += usize::from(heap.trace != fixed.trace);
        let failure = fixed
            .informer
            .status()
            .last_failure
            .map(|last| last.failure);
        assert_ne!(failure, Some(Failure::Full), "seed {seed}");
    }
    assert!(stalled > 20, "the bounds are hardly hit: {stalled}");
}

/// With more objects than capacity it reports a failure, keeps trying, and recovers when they fit.
#[test]
fn a_store_that_is_too_small_says_so_and_recovers() {
    let mut world = World::<Fixed<8, 4, 64>>::new(config(0), 1);
    world.listen(ListenerConfig::new(), true);
    for n in 0..12 {
        world.server.put(&format!("q{n}"), false);
    }
    world.informer.start(world.now);
    for _ in 0..400 {
        world.informer.advance(world.now);
        world.execute();
        world.observe(0, 4);
        if !world.deliver()
            && let Some(deadline) = world.informer.next_deadline()
        {
            world.now = world.now.max(deadline);
        }
    }
    let status = world.informer.status();
    assert!(!status.synced);
    assert_eq!(status.last_failure.unwrap().failure, Failure::Full);
    assert!(status.objects <= 8);
    for n in 0..6 {
        world.server.delete(&format!("q{n}"));
    }
    world.settle();
    assert_eq!(world.informer.store().len(), 6);
}

#[test]
fn a_page_token_that_does_not_fit_makes_the_list_unpaged() {
    let mut world = World::<Fixed<16, 4, 6>>::new(config(0), 1);
    world.server.page = 2;
    for n in 0..6 {
        world
            .server
            .put(&format!("a-name-too-long-for-a-token-{n}"), false);
    }
    world.informer.start(world.now);
    world.settle();
    assert!(world.trace.contains("None None"), "{}", world.trace);
}

fn first_difference(a: &str, b: &str) -> String {
    let at = a.lines().zip(b.lines()).position(|(a, b)| a != b);
    let line = |text: &str| {
        at.and_then(|at| text.lines().nth(at))
            .unwrap_or("(the end)")
            .to_owned()
    };
    format!("line {at:?}: {:?} and {:?}", line(a), line(b))
}
