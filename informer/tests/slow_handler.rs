//! Handlers that do not keep up: they do not affect others, and still learn the final state.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use informer::runtime::{Manual, Runtime, RuntimeError, Task};
use informer::{
    Backlog, Clock, Filter, InformerBuilder, ListenerConfig, Notification, Object, Registration,
    Target,
};
use informer_test_support::{Folded, Strictness, view};
use informer_transport_mock::VirtualClock;
use world::tracked::Tracked;
use world::{Pod, Told, World, pods};

/// How many objects are created, changed and deleted.
const OBJECTS: usize = 100;
/// Above this many pending notifications, they are merged.
const ABOVE: usize = 64;
/// How many notifications a handler takes at once. Each holds up to two states.
const BATCH: usize = 64;
const TAKEN: usize = BATCH * 2;

const SECOND: Duration = Duration::from_secs(1);

type Tested = Tracked<0>;

/// How many events there are: 100,000 with `INFORMER_STRESS` in the environment, and fewer by default,
/// because builds without optimisation are slow.
fn events() -> usize {
    match std::env::var_os("INFORMER_STRESS") {
        Some(_) => 100_000,
        None => 5_000,
    }
}

/// A hash of all notifications of a handler and their times, and their number.
#[derive(Clone, Default)]
struct Trace(Arc<Mutex<(DefaultHasher, usize)>>);

impl Trace {
    fn tell(&self, notification: &Notification<Object<Tested>>, clock: &VirtualClock) {
        let (hasher, told) = &mut *self.0.lock().unwrap();
        let (what, version) = match notification {
            Notification::Added { object, .. } => (0, Some(object.version())),
            Notification::Updated { new, .. } => (1, Some(new.version())),
            Notification::Deleted { last, .. } => (2, last.as_ref().map(|last| last.version())),
        };
        (what, notification.key(), version, clock.now()).hash(hasher);
        *told += 1;
    }

    fn told(&self) -> (u64, usize) {
        let (hasher, told) = &*self.0.lock().unwrap();
        (hasher.finish(), *told)
    }
}

/// The result of a run.
struct Outcome {
    traces: Vec<(u64, usize)>,
    most_pending: usize,
    most_live: usize,
    coalesced: u64,
}

fn run(with_slow: bool) -> Outcome {
    let world = World::new();
    let clock = world.clock.clone();
    let informer = Tested::pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let config = ListenerConfig {
        backlog: Backlog::Coalesce { above: ABOVE },
        ..ListenerConfig::new()
    };
    let knows = Folded::new(Strictness::Once);
    let slow = with_slow.then(|| {
        let (knows, clock) = (knows.clone(), clock.clone());
        let handler = move |notification| {
            let (knows, clock) = (knows.clone(), clock.clone());
            async move {
                world::sleep(&clock, SECOND).await;
                knows.tell(&notification);
            }
        };
        informer.on_async_with(handler, config).unwrap()
    });
    let traces: Vec<_> = std::iter::repeat_with(Trace::default).take(7).collect();
    for trace in &traces {
        let (trace, clock) = (trace.clone(), clock.clone());
        let handler = move |notification| trace.tell(&notification, &clock);
        informer.on_with(handler, config).unwrap();
    }
    informer.start().unwrap();
    world.settle();

    let (mut most_pending, mut most_live) = (0, 0);
    let mut there = [false; OBJECTS];
    for event in 0..events() {
        // Each object is created, changed eight times and deleted, repeatedly.
        let at = event % OBJECTS;
        let name = format!("pod-{at}");
        if !there[at] {
            world.create(&name);
            there[at] = true;
        } else if (event / OBJECTS) % 10 == 9 {
            world.delete(&name);
            there[at] = false;
        } else {
            world.touch(&name);
        }
        // Fifty events per second: fifty times what the slow handler can process.
        if event % 50 == 49 {
            world.pass(SECOND);
            if let Some(slow) = &slow {
                most_pending = most_pending.max(slow.status().unwrap().pending);
                most_live = most_live.max(Tested::live().get());
            }
        }
    }
    world.settle();
    let told: Vec<_> = traces.iter().map(Trace::told).collect();
    let mut coalesced = 0;
    if let Some(slow) = slow {
        // The slow handler finishes, too, at its own pace.
        world.pass(SECOND * (3 * OBJECTS + TAKEN) as u32);
        let status = slow.status().unwrap();
        assert_eq!(status.pending, 0);
        coalesced = status.coalesced;
        assert_eq!(knows.faults(), [""; 0]);
        assert_eq!(knows.view(), view(informer.snapshot().iter()));
        assert!(knows.told() < events() / 10, "it saw only a few states");
    }
    drop(informer);
    world.settle();
    assert_eq!(Tested::live().get(), 0);
    Outcome {
        traces: told,
        most_pending,
        most_live,
        coalesced,
    }
}

#[test]
fn a_slow_handler_does_not_affect_seven_others_and_memory_stays_bounded() {
    let without = run(false);
    let with = run(true);
    assert_eq!(
        with.traces, without.traces,
        "the same notifications at the same times"
    );
    for (_, told) in &with.traces {
        assert_eq!(*told, events(), "nothing was merged");
    }
    assert!(with.coalesced as usize > events() / 2);
    // For each object there may wait a deletion and an add, or one other notification.
    let bound = ABOVE.max(2 * OBJECTS);
    let in_hand = bound + BATCH;
    assert!(with.most_pending <= in_hand, "{} wait", with.most_pending);
    let bound = OBJECTS + 2 * bound + TAKEN;
    assert!(with.most_live <= bound, "{} live", with.most_live);
}

#[test]
fn a_filter_passes_on_a_deletion_that_was_merged_with_an_earlier_change() {
    let world = World::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let untouched = |pod: &Pod| pod.body()["spec"]["touched"].is_null();
    let config = ListenerConfig {
        backlog: Backlog::Coalesce { above: 0 },
        ..ListenerConfig::new()
    };
    let filter = Filter::new(untouched, told.handler());
    informer.on_with(filter, config).unwrap();
    informer.start().unwrap();
    world.create("a");
    world.settle();
    assert_eq!(told.take(), ["add a initial Relist"]);
    // Both changes arrive before the handler runs.
    world.touch("a");
    world.delete("a");
    world.settle();
    assert_eq!(informer.status().handlers[0].coalesced, 1);
    assert_eq!(told.take(), ["delete a Observed Watch"]);
}

/// The task that is being polled: 0 is the driver.
static TASK: AtomicUsize = AtomicUsize::new(0);

/// How many bodies each task has dropped.
static DROPPED: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

/// How many bodies were made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// A body that notes who drops it.
struct Noted;

impl Noted {
    fn dropped() -> [usize; 2] {
        [0, 1].map(|task| DROPPED[task].load(Ordering::Relaxed))
    }

    fn live() -> usize {
        MADE.load(Ordering::Relaxed) - Self::dropped().iter().sum::<usize>()
    }
}

impl<'de> serde::Deserialize<'de> for Noted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(deserializer)?;
        MADE.fetch_add(1, Ordering::Relaxed);
        Ok(Self)
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        DROPPED[TASK.load(Ordering::Relaxed)].fetch_add(1, Ordering::Relaxed);
    }
}

/// Notes which task is being polled.
struct Noting {
    runtime: Manual,
    tasks: AtomicUsize,
}

impl Runtime for Noting {
    fn spawn(&self, mut task: Task) -> Result<(), RuntimeError> {
        let number = self.tasks.fetch_add(1, Ordering::Relaxed);
        self.runtime.spawn(Box::pin(poll_fn(move |cx| {
            TASK.store(number, Ordering::Relaxed);
            task.as_mut().poll(cx)
        })))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.runtime.clock()
    }
}

/// A driver and its handlers must not free and allocate at the same time on different threads.
#[test]
fn while_a_driver_is_at_work_it_drops_old_states_and_otherwise_the_handler_does() {
    const PODS: usize = 2_000;
    let world = World::new();
    for at in 0..PODS {
        world.create(&format!("pod-{at}"));
    }
    let noting = Noting {
        runtime: world.runtime.clone(),
        tasks: AtomicUsize::new(0),
    };
    let builder = InformerBuilder::<Noted>::typed_at(Target::new("", "v1", "pods"));
    let informer = builder.build(&world.connect(), noting).unwrap();
    informer.start().unwrap();
    let most_live = Arc::new(AtomicUsize::new(0));
    let most = Arc::clone(&most_live);
    let handler = move |_: Notification<Object<Noted>>| {
        most.fetch_max(Noted::live(), Ordering::Relaxed);
    };
    let handler = informer.on(handler).unwrap();
    world.wait(handler.synced(SECOND)).unwrap();
    assert_eq!(Noted::dropped(), [0, 0]);
    // More changes than the server remembers. So they are listed, in several turns of the driver with the handler
    // in between.
    for at in 0..PODS {
        world.touch(&format!("pod-{at}"));
    }
    world.pass(60 * SECOND);
    let [driver, handler] = Noted::dropped();
    assert_eq!(Noted::live(), PODS, "nothing is kept");
    assert!(driver > PODS / 2, "{driver}");
    let most_live = most_live.load(Ordering::Relaxed);
    assert!(most_live < PODS * 3 / 2, "{most_live}");
    // The driver waits when the handler is done.
    world.touch("pod-0");
    world.pass(SECOND);
    assert_eq!(Noted::dropped(), [driver, handler + 1]);
}

/// A batch can be left for long, but not with what its handler is done with.
#[test]
fn a_paused_handler_keeps_no_old_state_that_it_has_seen() {
    type Tested = Tracked<1>;
    let world = World::new();
    let names: Vec<_> = (0..10).map(|at| format!("pod-{at}")).collect();
    for name in &names {
        world.create(name);
    }
    let runtime = world.runtime.clone();
    let informer = Tested::pods().build(&world.connect(), runtime).unwrap();
    let registered = Arc::new(OnceLock::<Registration<Tested>>::new());
    let updates = AtomicUsize::new(0);
    let pauses = Arc::clone(&registered);
    let handler = move |notification: Notification<Object<Tested>>| {
        if let Notification::Updated { .. } = notification
            && updates.fetch_add(1, Ordering::Relaxed) == 3
        {
            pauses.get().unwrap().pause();
        }
    };
    assert!(registered.set(informer.on(handler).unwrap()).is_ok());
    informer.start().unwrap();
    world.pass(SECOND);
    assert_eq!(Tested::live().get(), 10);
    for name in &names {
        world.touch(name);
    }
    world.pass(SECOND);
    assert_eq!(Tested::live().get(), 10 + 6, "six updates are left");
    registered.get().unwrap().resume();
    world.pass(SECOND);
    assert_eq!(Tested::live().get(), 10);
}
