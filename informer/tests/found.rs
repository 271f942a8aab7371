//! Regression tests, each with the smallest case that shows the bug.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer::controller::{Controller, Next};
use informer::runtime::{Manual, Runtime, RuntimeError, Task};
use informer::{
    Backlog, Clock, Failure, IndexFn, InformerBuilder, ListenerConfig, Notification, QueueKind,
    Resync, SharedInformerFactory, Target, Transport,
};
use informer_core::Encoding;
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_test_support::Woken;
use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
use world::flood::Flood;
use world::{Pod, World, pods};

const SOON: Duration = Duration::from_secs(30);

const STALL: ListenerConfig = ListenerConfig {
    resync: Resync::Default,
    backlog: Backlog::Stall { at: 1 },
};

#[test]
fn a_factory_waits_for_all_informers_at_once() {
    let world = World::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    for plural in ["ghosts", "phantoms", "spectres"] {
        let target = Target::new("", "v1", plural);
        factory
            .informer(&InformerBuilder::dynamic_at(target))
            .unwrap();
    }
    factory.start().unwrap();
    let begun = world.clock.now();
    let error = world.wait(factory.synced(SOON)).unwrap_err();
    assert_eq!(error.late.len(), 3);
    assert_eq!(world.clock.now().since(begun), SOON);
}

#[test]
fn a_sync_wait_is_woken_when_a_stalling_handler_leaves() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = pods()
        .queue(QueueKind::InOrder)
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    // It holds up notifications of the first state, which is already in the cache.
    let holding = informer.stream_with(STALL).unwrap();
    informer.start().unwrap();
    world.pass(Duration::from_secs(1));
    assert_eq!(informer.snapshot().len(), 3);
    let late = informer.on(|_| {}).unwrap();
    world.settle();
    assert!(!late.is_synced());
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut synced = pin!(late.synced(SOON));
    assert!(
        synced
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(holding);
    world.settle();
    assert!(late.is_synced());
    assert!(woken.times() > 0, "the waiting task was not woken");
}

#[test]
fn a_worker_that_is_never_idle_yields_to_other_tasks() {
    const TOO_OFTEN: usize = 10_000;
    let world = World::new();
    let controller: Controller<u32> = Controller::new(world.runtime.clone());
    let (worked, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (count, stopped) = (Arc::clone(&worked), Arc::clone(&stop));
    controller
        .work(1, move |_| {
            let again = count.fetch_add(1, Ordering::Relaxed) < TOO_OFTEN;
            let next = if again && !stopped.load(Ordering::Relaxed) {
                Next::After(Duration::ZERO)
            } else {
                Next::Done
            };
            async move { Ok::<_, String>(next) }
        })
        .unwrap();
    controller.queue().add(1);
    world
        .runtime
        .spawn(Box::pin(async move {
            stop.store(true, Ordering::Relaxed);
        }))
        .unwrap();
    world.settle();
    assert!(worked.load(Ordering::Relaxed) < TOO_OFTEN);
}

/// A runtime that can only run a few tasks, as when the system has no threads left.
struct Few {
    runtime: Manual,
    left: AtomicUsize,
}

impl Runtime for Few {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                left.checked_sub(1)
            });
        left.map_err(|_| RuntimeError::new("there are no threads left"))?;
        self.runtime.spawn(task)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.runtime.clock()
    }
}

#[test]
fn a_handler_without_a_task_does_not_hold_up_the_informer() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let few = Few {
        runtime: world.runtime.clone(),
        left: AtomicUsize::new(2),
    };
    let informer = pods().build(&world.connect(), few).unwrap();
    informer.start().unwrap();
    let runs = informer.on(|_: Notification<Pod>| {}).unwrap();
    let error = informer.on_with(|_: Notification<Pod>| {}, STALL);
    let error = error.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot start a task: there are no threads left"
    );
    world.wait(runs.synced(SOON)).unwrap();
    assert_eq!(informer.status().handlers.len(), 1);
}

/// A transport whose answers begin, but never send a byte.
struct Silent {
    begun: Option<ExchangeId>,
}

impl Transport for Silent {
    fn execute(&mut self, command: Command<'_>) {
        if let Command::Open { exchange, .. } = command {
            self.begun = Some(exchange);
        }
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        match self.begun {
            Some(exchange) => Poll::Ready((exchange, Signal::Opened(Encoding::Json))),
            None => Poll::Pending,
        }
    }

    fn consume(&mut self, _: usize) {
        self.begun = None;
    }
}

#[test]
fn a_timeout_is_reported_at_once() {
    let world = World::new();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (seen, clock) = (Arc::clone(&told), world.clock.clone());
    let silent = |_: &Target| Silent { begun: None };
    let informer = pods()
        .on_failure(move |last| seen.lock().unwrap().push((last.failure, clock.now())))
        .build(&silent, world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.settle();
    while informer.status().counts.failures == 0 {
        world.clock.advance_to_next().unwrap();
        world.settle();
    }
    let told = told.lock().unwrap();
    assert_eq!(*told, [(Failure::NoEndBookmark, world.clock.now())]);
}

#[test]
fn waiting_for_a_handler_of_a_stopped_informer_fails_with_the_reason() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    let stuck = informer.on_async(|_| std::future::pending::<()>()).unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    informer.stop();
    let error = world.wait(stuck.synced(SOON)).unwrap_err();
    assert_eq!(error.reason, "it was stopped");
}

#[test]
fn a_fast_handler_keeps_up_with_a_flood() {
    // Synced from here on: turns of a first state end by the clock, too, which stands still.
    let end = r#"{"k8s.io/initial-events-end":"true"}"#;
    let mut text = format!(
        "{{\"type\":\"BOOKMARK\",\"object\":{{\"metadata\":{{\"resourceVersion\":\"1\",\"annotations\":{end}}}}}}}\n"
    );
    for version in 2..=4_001 {
        let kind = if version == 2 { "ADDED" } else { "MODIFIED" };
        let padding = "x".repeat(900);
        text += &format!(
            "{{\"type\":\"{kind}\",\"object\":{{\"metadata\":{{\"name\":\"a\",\"resourceVersion\":\"{version}\",\"annotations\":{{\"p\":\"{padding}\"}}}}}}}}\n"
        );
    }
    let connect = move |_: &Target| Flood::new(&text);
    let world = World::new();
    let pods = InformerBuilder::dynamic_at(Target::new("", "v1", "pods"))
        .build(&connect, world.runtime.clone())
        .unwrap();
    let longest = Arc::new(AtomicUsize::new(0));
    let all = ListenerConfig {
        backlog: Backlog::Grow,
        ..ListenerConfig::new()
    };
    let (seen, informer) = (Arc::clone(&longest), pods.clone());
    let told = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&told);
    pods.on_with(
        move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            let pending = informer.status().handlers[0].pending;
            seen.fetch_max(pending, Ordering::Relaxed);
        },
        all,
    )
    .unwrap();
    pods.start().unwrap();
    world.runtime.run_until_idle();
    assert_eq!(told.load(Ordering::Relaxed), 4_000);
    // The driver brings no more changes in a turn than a handler takes in one.
    let longest = longest.load(Ordering::Relaxed);
    assert!(longest < 500, "{longest} notifications waited");
}

/// While it decodes a lot, the driver holds the lock nearly all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_handler_works_through_its_batch_while_the_cache_is_written() {
    let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    let create = |server: &MockServer, name: &str| {
        let pod = serde_json::json!({"metadata": {"name": name}});
        server.with(|server| server.create("pods", pod)).unwrap();
    };
    create(&server, "a");
    create(&server, "b");
    // A write that blocks until the test allows it to go on. Index functions run under the lock.
    let (begin, begun) = mpsc::channel();
    let (allow, allowed) = mpsc::channel();
    let (allowed, was_allowed) = (Mutex::new(allowed), Arc::new(AtomicBool::new(false)));
    let noted = Arc::clone(&was_allowed);
    let slow = IndexFn::new(move |pod: &Pod, _: &mut dyn FnMut(&[u8])| {
        if pod.key().name() == "z" && !noted.load(Ordering::Relaxed) {
            begin.send(()).unwrap();
            let allowed = allowed.lock().unwrap().recv_timeout(SOON);
            noted.store(allowed.is_ok(), Ordering::Relaxed);
        }
    });
    let pods = pods().index("slow", slow).start(&server.connect()).unwrap();
    pods.synced(SOON).await.unwrap();
    // Both objects exist already, so the handler takes them in one batch.
    let elsewhere = server.clone();
    let registration =
        pods.on(
            move |notification: Notification<Pod>| match notification.key().name() {
                "a" => {
                    // Create on another thread: tokio would run the driver on this one, which blocks.
                    std::thread::scope(|scope| {
                        scope.spawn(|| create(&elsewhere, "z"));
                    });
                    begun.recv_timeout(SOON).unwrap();
                }
                "b" => allow.send(()).unwrap(),
                _ => {}
            },
        );
    let registration = registration.unwrap();
    registration.synced(SOON).await.unwrap();
    assert!(
        was_allowed.load(Ordering::Relaxed),
        "the handler had to wait for the lock before b"
    );
}
