//! Handlers that are paused, and informers that are suspended.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::{
    Backlog, ListenerConfig, Notification, Phase, Registration, Resync, SharedInformer, Target,
    Transport,
};
use informer_test_support::{Fold, Strictness, stamp};
use informer_transport_mock::transport::MockTransport;
use serde_json::Value;
use world::random::Random;
use world::{Pod, Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);

fn synced(world: &World) -> (SharedInformer<Value>, Registration<Value>, Told) {
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    (informer, registration, told)
}

fn with(backlog: Backlog) -> ListenerConfig {
    ListenerConfig {
        resync: Resync::Never,
        backlog,
    }
}

#[test]
fn a_paused_handler_is_not_called_and_misses_nothing() {
    let world = World::new();
    world.create("a");
    let (informer, registration, told) = synced(&world);
    let other = Told::default();
    informer.on(other.handler()).unwrap();
    world.settle();
    told.take();
    other.take();

    registration.pause();
    assert!(registration.is_paused());
    world.create("b");
    world.delete("a");
    world.pass(MINUTE);
    assert_eq!(told.take(), Vec::<String>::new());
    assert_eq!(other.take(), ["add b Watch", "delete a Observed Watch"]);
    let status = registration.status().unwrap();
    assert!(status.paused && status.pending == 2 && status.synced);
    let said = informer.status().explain().join(" ");
    assert!(
        said.contains("is paused, with 2 notifications waiting"),
        "{said}"
    );
    assert!(informer.is_fresh(2 * MINUTE), "the others are served");

    registration.resume();
    world.settle();
    assert!(!registration.is_paused());
    assert_eq!(told.take(), ["add b Watch", "delete a Observed Watch"]);
    world.create("c");
    world.settle();
    assert_eq!(told.take(), ["add c Watch"]);
}

/// A handler takes notifications in batches. A pause holds up the rest of the batch, too.
#[test]
fn a_pause_takes_effect_within_a_batch() {
    let world = World::new();
    for at in 0..50 {
        world.create(&format!("pod-{at}"));
    }
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let calls = Arc::new(Mutex::new(0));
    let own: Arc<Mutex<Option<Registration<Value>>>> = Arc::default();
    let (counted, itself) = (Arc::clone(&calls), Arc::clone(&own));
    let registration = informer
        .on(move |_| {
            let mut calls = counted.lock().unwrap();
            *calls += 1;
            if *calls % 10 == 0
                && let Some(registration) = &*itself.lock().unwrap()
            {
                registration.pause();
            }
        })
        .unwrap();
    *own.lock().unwrap() = Some(registration);
    informer.start().unwrap();
    for round in 1..=5 {
        world.pass(MINUTE);
        assert_eq!(*calls.lock().unwrap(), round * 10);
        let status = informer.status().handlers[0];
        assert_eq!((status.pending, status.paused), (50 - round * 10, true));
        own.lock().unwrap().as_ref().unwrap().resume();
    }
    world.settle();
    assert!(informer.status().handlers[0].synced);
    // A paused handler can be removed, and its task ends.
    let tasks = world.runtime.tasks();
    let registration = own.lock().unwrap().take().unwrap();
    registration.pause();
    world.wait(registration.remove());
    assert_eq!(world.runtime.tasks(), tasks - 1);
}

#[test]
fn a_paused_handler_that_stalls_the_informer_is_named() {
    let world = World::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let stalls = informer
        .on_with(|_| (), with(Backlog::Stall { at: 1 }))
        .unwrap();
    informer.start().unwrap();
    world.wait(stalls.synced(SOON)).unwrap();
    stalls.pause();
    for name in ["a", "b", "c"] {
        world.create(name);
        world.settle();
    }
    let status = informer.status();
    assert!(status.stalled && status.handlers[0].stalls && status.handlers[0].paused);
    assert!(!informer.is_fresh(MINUTE));
    for said in [status.to_string(), status.explain().join(" ")] {
        assert!(
            said.contains("is paused; call `resume` on its registration"),
            "{said}"
        );
    }
    stalls.resume();
    world.settle();
    assert!(!informer.status().stalled);
    assert_eq!(keys(&informer).len(), 3);
}

#[test]
fn waiting_for_a_paused_handler_says_why() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let registration = informer.on(|_| ()).unwrap();
    registration.pause();
    informer.start().unwrap();
    let error = world.wait(registration.synced(SOON)).unwrap_err();
    assert!(error.reason.contains("the handler is paused"), "{error}");
    // Somebody who waits for the status is told.
    let seen = informer.status();
    registration.resume();
    let news = world.wait(informer.status_change(&seen)).unwrap();
    assert!(!news.handlers[0].paused);
    informer.stop();
    registration.pause();
    registration.resume();
}

#[test]
fn a_suspended_informer_asks_for_nothing_and_then_tells_the_difference() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let (informer, registration, told) = synced(&world);
    let mut stream = informer.stream().unwrap();
    told.take();
    let requests = |informer: &SharedInformer<Value>| {
        let status = informer.status();
        status.requests.lists + status.requests.watches
    };
    let before = requests(&informer);
    informer.suspend();
    assert!(informer.is_suspended() && !informer.is_stopped());
    world.delete("a");
    world.touch("b");
    world.create("c");
    world.pass(60 * MINUTE);
    assert_eq!(requests(&informer), before);
    assert_eq!(told.take(), Vec::<String>::new());
    assert_eq!(
        keys(&informer),
        ["web/a", "web/b"],
        "the cache stays readable"
    );
    let status = informer.status();
    assert_eq!(status.phase, Phase::Suspended);
    assert!(!informer.is_fresh(120 * MINUTE) && informer.is_synced());
    assert!(status.explain()[0].starts_with("It has been suspended for 3600s"));
    // A handler may join meanwhile.
    let late = Told::default();
    let joined = informer.on(late.handler()).unwrap();
    let error = world.wait(joined.synced(SOON)).unwrap_err();
    assert!(error.reason.contains("it is suspended"), "{error}");
    assert_eq!(late.take(), Vec::<String>::new());

    informer.resume();
    world
        .wait(informer.reached(&world.server.with(|it| it.version().to_string()), SOON))
        .unwrap();
    world.settle();
    let mut changes = told.take();
    changes.sort();
    assert_eq!(
        changes,
        [
            "add c Relist",
            "delete a Inferred Relist",
            "update b Relist"
        ]
    );
    assert_eq!(late.take().len(), 2 + 3);
    assert!(registration.is_synced() && joined.is_synced());
    assert!(world.wait(stream.next()).is_some(), "streams go on");
    assert!(informer.is_fresh(MINUTE));

    // It can be stopped, or dropped, while it is suspended.
    informer.suspend();
    informer.stop();
    informer.resume();
    world.wait(informer.join());
    assert_eq!(informer.status().phase, Phase::Stopped);
    assert_eq!(world.runtime.tasks(), 0);
}

/// A transport that counts the requests it is told to abort.
struct Counting {
    inner: MockTransport,
    aborts: Arc<AtomicUsize>,
}

impl Transport for Counting {
    fn execute(&mut self, command: Command<'_>) {
        if matches!(command, Command::Abort(_)) {
            self.aborts.fetch_add(1, Ordering::Relaxed);
        }
        self.inner.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        self.inner.poll_signal(cx)
    }

    fn consume(&mut self, bytes: usize) {
        self.inner.consume(bytes);
    }
}

#[test]
fn a_suspension_ends_the_watch_at_once() {
    let world = World::new();
    let aborts = Arc::new(AtomicUsize::new(0));
    let (connect, counted) = (world.connect(), Arc::clone(&aborts));
    let counting = move |target: &Target| Counting {
        inner: connect(target),
        aborts: Arc::clone(&counted),
    };
    let informer = pods().build(&counting, world.runtime.clone()).unwrap();
    informer.start().unwrap();
    world.settle();
    assert_eq!(aborts.load(Ordering::Relaxed), 0);
    informer.suspend();
    world.settle();
    assert_eq!(aborts.load(Ordering::Relaxed), 1);
    informer.resume();
    world.settle();
    assert_eq!(informer.status().phase, Phase::Watching);
}

#[test]
fn a_dropped_informer_that_was_suspended_ends() {
    let world = World::new();
    world.create("a");
    let (informer, ..) = synced(&world);
    informer.suspend();
    world.settle();
    drop(informer);
    world.settle();
    assert_eq!(world.runtime.tasks(), 0);
}

/// Pauses, suspensions and changes at random: every handler ends with the picture of the server.
#[test]
fn every_handler_ends_with_the_right_picture() {
    for seed in 0..60 {
        let world = World::new();
        let mut random = Random::new(seed);
        let informer = pods()
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        let mut handlers = Vec::new();
        for backlog in [
            Backlog::Grow,
            Backlog::Coalesce { above: 0 },
            Backlog::Stall { at: 2 },
        ] {
            let fold = Arc::new(Mutex::new(Fold::new(Strictness::Ours)));
            let told = Arc::clone(&fold);
            let handler = move |notification: Notification<Pod>| {
                told.lock().unwrap().tell(&notification, stamp).unwrap();
            };
            handlers.push((informer.on_with(handler, with(backlog)).unwrap(), fold));
        }
        informer.start().unwrap();
        let mut there = [false; 6];
        for _ in 0..120 {
            let at = random.below(6);
            let name = format!("pod-{at}");
            let handler = &handlers[random.below(3)].0;
            match random.below(12) {
                0..=3 => {
                    if there[at] {
                        world.touch(&name);
                    } else {
                        world.create(&name);
                    }
                    there[at] = true;
                }
                4 | 5 => {
                    if there[at] {
                        world.delete(&name);
                    }
                    there[at] = false;
                }
                6 => handler.pause(),
                7 => handler.resume(),
                8 => informer.suspend(),
                9 => informer.resume(),
                10 => world.pass(Duration::from_millis(random.below(5_000) as u64)),
                _ => world.settle(),
            }
        }
        informer.resume();
        handlers.iter().for_each(|(handler, _)| handler.resume());
        let version = world.server.with(|server| server.version().to_string());
        world.wait(informer.reached(&version, 10 * MINUTE)).unwrap();
        world.settle();
        for (handler, fold) in &handlers {
            assert_eq!(handler.status().unwrap().panics, 0, "seed {seed}");
            assert_eq!(fold.lock().unwrap().view(), world.view(), "seed {seed}");
        }
    }
}
