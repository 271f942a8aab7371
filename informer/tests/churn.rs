//! Handlers that come and go at random while events flow: nothing is lost or delivered twice.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use informer::runtime::Runtime as _;
use informer::{
    Backlog, Filter, InformerConfig, ListenerConfig, QueueKind, Registration, Resync,
    SharedInformer,
};
use informer_test_support::{Folded, Strictness, view};
use informer_transport_mock::fault::Fault;
use serde_json::Value;
use world::random::Random;
use world::{Pod, World, pods};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(100_000);
const SECOND: Duration = Duration::from_secs(1);
const NAMES: usize = 8;

/// Whether a filter selects a pod. That changes with about every second write.
fn is_even(pod: &Pod) -> bool {
    let touched = pod.body()["spec"]["touched"].as_u64();
    touched.is_none_or(|touched| touched.is_multiple_of(2))
}

/// Ready after this many polls.
struct After(usize);

impl Future for After {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.0 = self.0.saturating_sub(1);
        if self.0 == 0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// One handler and what it knows. A task that waits for its sync holds the registration meanwhile.
struct Watcher {
    knows: Folded,
    filtered: bool,
    registration: Arc<Mutex<Option<Registration<Value>>>>,
}

struct Simulation {
    world: World,
    random: Random,
    informer: SharedInformer<Value>,
    is_client_go: bool,
    watchers: Vec<Watcher>,
    removed: Vec<Folded>,
    /// How many tasks wait for something. They run only when they are woken.
    waiting: Arc<AtomicUsize>,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let world = World::new();
        let mut random = Random::new(seed);
        let mut builder = pods().seed(seed);
        let preset = random.below(3);
        builder = match preset {
            0 => builder,
            1 => builder.preset(InformerConfig::client_go(QueueKind::DeltaFifo)),
            _ => builder.queue(QueueKind::InOrder),
        };
        if random.below(2) == 0 {
            builder = builder.resync(SECOND * 15);
        }
        let informer = builder
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        Self {
            world,
            random,
            informer,
            is_client_go: preset == 1,
            watchers: Vec::new(),
            removed: Vec::new(),
            waiting: Arc::default(),
        }
    }

    fn wait_in_a_task(&self, task: impl Future<Output = ()> + Send + 'static) {
        let waiting = Arc::clone(&self.waiting);
        waiting.fetch_add(1, Ordering::Relaxed);
        self.world
            .runtime
            .spawn(Box::pin(async move {
                task.await;
                waiting.fetch_sub(1, Ordering::Relaxed);
            }))
            .unwrap();
    }

    fn write(&mut self) {
        let name = format!("pod-{}", self.random.below(NAMES));
        let key = format!("web/{name}");
        let exists = self
            .world
            .server
            .with(|server| server.get("pods", &key).is_some());
        let version = match self.random.below(3) {
            _ if !exists => self.world.create(&name),
            0 => {
                self.world.delete(&name);
                self.world
                    .server
                    .with(|server| server.version().to_string())
            }
            _ => self.world.touch(&name),
        };
        if self.random.below(6) == 0 {
            let informer = self.informer.clone();
            self.wait_in_a_task(async move {
                let reached = informer.reached(&version, LONG).await.unwrap();
                drop(reached);
            });
        }
    }

    fn add(&mut self) {
        let config = ListenerConfig {
            resync: if self.random.below(2) == 0 {
                Resync::Default
            } else {
                Resync::Every(SECOND * 10)
            },
            // With the rules of client-go, a deletion and an add would be merged into an update from a
            // state that the handler never saw.
            backlog: match self.random.below(if self.is_client_go { 2 } else { 4 }) {
                0 => Backlog::Grow,
                1 => Backlog::Stall { at: 2 },
                2 => Backlog::Coalesce { above: 0 },
                _ => Backlog::Coalesce { above: 3 },
            },
        };
        let knows = Folded::new(if self.is_client_go {
            Strictness::AddsUp
        } else {
            Strictness::Ours
        });
        let tell = knows.handler();
        let kind = self.random.below(3);
        let registration = match kind {
            0 => self.informer.on_with(tell, config),
            1 => self.informer.on_with(Filter::new(is_even, tell), config),
            _ => {
                let clock = self.world.clock.clone();
                let pause = SECOND / (2 + self.random.below(9) as u32);
                let handler = move |notification| {
                    let (clock, mut tell) = (clock.clone(), tell.clone());
                    async move {
                        world::sleep(&clock, pause).await;
                        tell(notification);
                    }
                };
                self.informer.on_async_with(handler, config)
            }
        };
        let registration = Arc::new(Mutex::new(Some(registration.unwrap())));
        if self.random.below(2) == 0 {
            let slot = Arc::clone(&registration);
            let taken = slot.lock().unwrap().take().unwrap();
            self.wait_in_a_task(async move {
                taken.synced(LONG).await.unwrap();
                *slot.lock().unwrap() = Some(taken);
            });
        }
        self.watchers.push(Watcher {
            knows,
            filtered: kind == 1,
            registration,
        });
    }

    fn remove(&mut self) {
        if self.watchers.is_empty() {
            return;
        }
        let at = self.random.below(self.watchers.len());
        let registration = self.watchers[at].registration.lock().unwrap().take();
        let Some(registration) = registration else {
            return;
        };
        let knows = self.watchers.swap_remove(at).knows;
        let removal = registration.remove();
        self.removed.push(knows.clone());
        self.wait_in_a_task(async move {
            removal.await;
            knows.close();
        });
    }

    fn step(&mut self) {
        match self.random.below(40) {
            0..16 => self.write(),
            16..20 => self.add(),
            20..23 => self.remove(),
            23..34 => {
                // Run some of the tasks that can run now.
                let looks = 1 + self.random.below(12);
                let _ = self.world.runtime.run(After(looks));
            }
            34..37 => self.world.pass(SECOND / 4),
            37 => self.world.server.inject(Fault::Reset { after: 300 }),
            38 => self.world.server.with(|server| server.restart()),
            _ => self.world.server.inject(Fault::Fail),
        }
    }

    /// Lets all tasks finish, and compares.
    fn finish(mut self, seed: u64) {
        self.informer.start().unwrap();
        self.world
            .server
            .set_faults(informer_transport_mock::fault::FaultPlan::none());
        self.world.pass(SECOND * 100);
        let store = view(self.informer.snapshot().iter());
        assert_eq!(store, self.world.view(), "seed {seed}");
        let snapshot = self.informer.snapshot();
        let even = view(snapshot.iter().filter(|pod| is_even(pod)));
        for watcher in &self.watchers {
            assert_eq!(watcher.knows.faults(), [""; 0], "seed {seed}");
            let expected = if watcher.filtered { &even } else { &store };
            assert_eq!(&watcher.knows.view(), expected, "seed {seed}");
        }
        for knows in &self.removed {
            assert_eq!(knows.faults(), [""; 0], "seed {seed}");
        }
        assert_eq!(
            self.waiting.load(Ordering::Relaxed),
            0,
            "seed {seed}: a wake-up was lost"
        );

        let informer = self.informer.clone();
        self.wait_in_a_task(async move { informer.join().await });
        self.watchers.clear();
        self.informer.stop();
        // The stop waits for calls in progress.
        self.world.pass(SECOND);
        assert_eq!(self.world.runtime.tasks(), 0, "seed {seed}");
    }
}

#[test]
fn in_simulation() {
    let seeds = match std::env::var_os("INFORMER_STRESS") {
        Some(_) => 0..5_000,
        None => 0..50,
    };
    for seed in seeds {
        let mut simulation = Simulation::new(seed);
        let before = simulation.random.below(20);
        for step in 0..250 {
            if step == before {
                simulation.informer.start().unwrap();
            }
            simulation.step();
        }
        simulation.finish(seed);
    }
}
