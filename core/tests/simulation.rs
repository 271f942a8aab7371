//! Whole informers against a faulty server, from seeds. `SIM_SEED=n` replays seed n, `SIM_SEEDS=n` runs
//! the first n seeds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

mod world;

use core::time::Duration;

use informer_core::InformerConfig;
use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::FirstState;
use informer_core::storage::Heap;
use informer_test_support::Random;
use world::World;

/// The seed picks the queue, the relist, the first state, the preset and the number of sources.
fn world(seed: u64) -> World<Heap> {
    let queue = if seed & 1 == 0 {
        QueueKind::DeltaFifo
    } else {
        QueueKind::InOrder
    };
    let strict = seed & 2 == 0;
    let mut config = if strict {
        InformerConfig {
            queue,
            ..InformerConfig::new()
        }
    } else {
        InformerConfig::client_go(queue)
    };
    if seed & 4 == 0 {
        config.reflector.first_state = FirstState::Listed;
    }
    if seed & 8 == 0 {
        config.relist = Relist::Staged;
    }
    if seed & 16 == 0 {
        config.resync = Some(Duration::from_secs(30));
    }
    let mut world = if seed & 32 == 0 {
        World::<Heap>::new(config, seed)
    } else {
        World::with_several(config, seed)
    };
    world.server.page = (seed % 7) as usize;
    let backlogs = [
        Backlog::Grow,
        Backlog::Stall { at: 3 },
        Backlog::Coalesce { above: 2 },
        Backlog::Coalesce { above: 0 },
    ];
    for (which, backlog) in backlogs.into_iter().enumerate() {
        // A stalling listener slows all of them down, so add it only sometimes.
        if which == 1 && !seed.is_multiple_of(3) {
            continue;
        }
        let resync = if which == 2 {
            Resync::Never
        } else {
            Resync::Default
        };
        world.listen(ListenerConfig { resync, backlog }, strict);
    }
    world
}

fn run(seed: u64) -> World<Heap> {
    let mut world = world(seed);
    let strict = seed & 2 == 0;
    for _ in 0..world.random.below(10) {
        let mut random = Random::new(world.random.below(1 << 40));
        world.server.mutate(&mut random);
    }
    world.informer.start(world.now);
    let acts = 50 + world.random.below(400);
    for act in 0..acts {
        world.act();
        if act % 100 == 99 {
            let backlog = Backlog::Coalesce { above: 4 };
            world.listen(
                ListenerConfig {
                    resync: Resync::Default,
                    backlog,
                },
                strict,
            );
        }
    }
    world.settle();
    world
}

/// Prints the seed when a test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("replay with SIM_SEED={}", self.0);
        }
    }
}

#[test]
fn store_and_listeners_equal_the_server_whatever_happens() {
    let seeds = match number("SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SIM_SEEDS").unwrap_or(600),
    };
    let many = seeds.end - seeds.start >= 600;
    let (mut told, mut relists) = (0, 0);
    for seed in seeds {
        let _replay = Seed(seed);
        let world = run(seed);
        told += world
            .observers
            .iter()
            .map(|observer| observer.told)
            .sum::<usize>();
        relists += world.informer.status().counts.full_states.saturating_sub(1);
    }
    assert!(
        !many || (told > 50_000 && relists > 300),
        "too few events: {told} notifications, {relists} relists"
    );
}

fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().expect("a number of seeds, or a seed"))
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    for seed in 0..40 {
        let _replay = Seed(seed);
        let (first, second) = (run(seed).trace, run(seed).trace);
        assert!(!first.is_empty() && first == second, "seed {seed}");
    }
}
