//! Like `churn.rs`, with real threads: a writer that never waits, and handlers that come and go.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use informer::runtime::Runtime;
use informer::{Backlog, Clock, ListenerConfig, Registration, Resync, SharedInformer};
use informer_test_support::{Folded, Strictness, view};
use informer_transport_mock::fault::Fault;
use serde_json::Value;
use world::random::Random;
use world::{World, pods};

/// In virtual time, which the test advances.
const LONG: Duration = Duration::from_secs(1 << 16);
const NAMES: usize = 16;
const WRITES: usize = 1_000;

/// Writes without a pause, and breaks a connection now and then.
fn write(world: &World, seed: u64) {
    let mut random = Random::new(seed);
    for _ in 0..WRITES {
        let name = format!("pod-{}", random.below(NAMES));
        let key = format!("web/{name}");
        let exists = world
            .server
            .with(|server| server.get("pods", &key).is_some());
        match random.below(200) {
            0 => world.server.with(|server| server.restart()),
            1 => world.server.inject(Fault::Reset { after: 500 }),
            _ if !exists => drop(world.create(&name)),
            2..60 => world.delete(&name),
            _ => drop(world.touch(&name)),
        }
    }
}

struct Watcher {
    knows: Folded,
    registration: Registration<Value>,
}

fn add(informer: &SharedInformer<Value>, random: &mut Random) -> Watcher {
    let config = ListenerConfig {
        resync: Resync::Never,
        backlog: match random.below(4) {
            0 => Backlog::Grow,
            1 => Backlog::Stall { at: 2 },
            2 => Backlog::Coalesce { above: 0 },
            _ => Backlog::Coalesce { above: 5 },
        },
    };
    let knows = Folded::new(Strictness::Once);
    let registration = informer.on_with(knows.handler(), config).unwrap();
    Watcher {
        knows,
        registration,
    }
}

async fn remove(watcher: Watcher) {
    watcher.registration.remove().await;
    let told = watcher.knows.told();
    watcher.knows.close();
    assert_eq!(watcher.knows.told(), told);
    assert_eq!(watcher.knows.faults(), [""; 0]);
}

/// Adds and removes handlers until the writer is done, and then compares what they know.
async fn churn(world: &World, informer: &SharedInformer<Value>, seed: u64, done: &AtomicBool) {
    let mut random = Random::new(seed);
    let mut watchers: Vec<Watcher> = Vec::new();
    while !done.load(Ordering::Acquire) {
        match random.below(4) {
            0 | 1 if watchers.len() < 8 => watchers.push(add(informer, &mut random)),
            2 if !watchers.is_empty() => {
                let at = random.below(watchers.len());
                watchers[at].registration.synced(LONG).await.unwrap();
            }
            _ if !watchers.is_empty() => {
                let at = random.below(watchers.len());
                remove(watchers.swap_remove(at)).await;
            }
            _ => {}
        }
    }
    watchers.push(add(informer, &mut random));
    let version = world.server.with(|server| server.version().to_string());
    informer.reached(&version, LONG).await.unwrap();
    let store = view(informer.snapshot().iter());
    assert_eq!(store, world.view());
    for watcher in watchers {
        // All changes are pending or delivered, so the handler knows the state when it has processed them.
        watcher.registration.synced(LONG).await.unwrap();
        while watcher.knows.view() != store {
            assert_eq!(watcher.knows.faults(), [""; 0]);
            let status = watcher.registration.status().unwrap();
            let idle = status.pending == 0 && watcher.knows.told() as u64 == status.delivered;
            assert!(!idle || watcher.knows.view() == store, "{status:?}");
            thread::yield_now();
        }
        remove(watcher).await;
    }
}

/// Sets the flag even if the test fails, so that the other threads end.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

type Churn<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs a writer, a reader that advances the clock, and the churn concurrently.
fn stress<R: Runtime + 'static>(
    seed: u64,
    runtime: impl FnOnce(Arc<dyn Clock>) -> R,
    block_on: impl FnOnce(Churn<'_>),
) {
    let world = World::new();
    let runtime = runtime(Arc::new(world.clock.clone()));
    let informer = pods().build(&world.connect(), runtime).unwrap();
    informer.start().unwrap();
    let (written, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let _ends = Ends(&ended);
        scope.spawn(|| {
            let _ends = Ends(&written);
            write(&world, seed);
        });
        scope.spawn(|| {
            while !ended.load(Ordering::Acquire) {
                // Advance the clock a little with each read.
                world.clock.advance(Duration::from_millis(5));
                let seen = view(informer.snapshot().iter()).len();
                assert!(seen <= NAMES && informer.status().panic.is_none());
            }
        });
        block_on(Box::pin(async {
            churn(&world, &informer, seed, &written).await;
            informer.stop();
            informer.join().await;
        }));
    });
}

#[cfg(feature = "tokio")]
#[test]
fn on_tokio() {
    use informer::runtime::Tokio;

    let tokio = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let _here = tokio.enter();
    for seed in 0..3 {
        let runtime = |clock| Tokio::current().unwrap().with_clock(clock);
        stress(seed, runtime, |churn| tokio.block_on(churn));
    }
}

#[cfg(feature = "threads")]
#[test]
fn on_plain_threads() {
    use informer::runtime::{Threads, block_on};

    for seed in 10..12 {
        let runtime = |clock| Threads::new().with_clock(clock);
        stress(seed, runtime, |churn| block_on(churn));
    }
}
