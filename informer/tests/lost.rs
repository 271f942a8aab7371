//! Lost tasks and runtimes: the status and every wait report the reason.
#![cfg(feature = "tokio")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer::controller::{Controller, Next};
use informer::runtime::{Manual, Runtime, RuntimeError, Task, Tokio};
use informer::{
    Backlog, BuildError, Clock, ListenerConfig, Notification, Phase, Resync, SharedInformer,
    SharedInformerFactory, StartError,
};
use serde_json::Value;
use tokio::runtime::Builder;
use tokio::sync::Notify;
use world::{Pod, Told, World, keys, pods};

/// Far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);
const ENDED: &str = "its runtime has ended";

fn one_thread() -> tokio::runtime::Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn two_threads() -> tokio::runtime::Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_all().build().unwrap()
}

/// Polls once, outside of any runtime.
fn look<F: Future>(future: std::pin::Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn ready<F: Future>(future: F) -> F::Output {
    match look(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future is not ready"),
    }
}

#[test]
fn a_dropped_runtime_shows_in_the_status_and_fails_waits_and_calls() {
    for runtime in [one_thread(), two_threads()] {
        let world = World::new();
        world.create("a");
        let entered = runtime.enter();
        let informer = pods().start(&world.connect()).unwrap();
        drop(entered);
        let handler = informer.on(|_: Notification<Pod>| {}).unwrap();
        let mut stream = informer.stream().unwrap();
        runtime.block_on(async {
            handler.synced(LONG).await.unwrap();
            stream.next().await.unwrap();
        });
        assert!(informer.is_fresh(LONG));
        let before = informer.status();
        assert_eq!((before.lost, before.following), (None, true));

        drop(runtime);
        let status = informer.status();
        assert_eq!(status.lost.unwrap().to_string(), ENDED);
        assert_eq!((status.phase, status.following), (Phase::Stopped, false));
        assert!(!informer.is_fresh(LONG) && informer.is_stopped());
        assert!(handler.status().unwrap().lost);

        // Waits fail at once; there is no runtime, so no timer can help.
        let error = ready(informer.synced(LONG)).unwrap_err();
        assert!(error.to_string().contains(ENDED), "{error}");
        let error = ready(handler.synced(LONG)).unwrap_err();
        assert!(error.to_string().contains(ENDED), "{error}");
        let error = ready(informer.reached("999", LONG)).unwrap_err();
        assert!(error.to_string().contains(ENDED), "{error}");
        assert!(ready(stream.next()).is_none());
        assert!(ready(informer.status_change(&informer.status())).is_none());
        ready(handler.remove());
        ready(informer.join());

        // Later calls fail.
        for error in [
            informer.start().unwrap_err(),
            informer.on(|_: Notification<Pod>| {}).unwrap_err(),
            informer.stream().unwrap_err(),
        ] {
            assert!(matches!(error, StartError::Ended { .. }), "{error:?}");
            assert!(error.to_string().contains(ENDED), "{error}");
        }
        // The cache can still be read.
        assert_eq!(keys(&informer), ["web/a"]);
    }
}

#[test]
fn waits_fail_when_the_runtime_is_dropped() {
    for runtime in [one_thread(), two_threads()] {
        let world = World::new();
        world.create("a");
        let entered = runtime.enter();
        let informer = pods().start(&world.connect()).unwrap();
        drop(entered);
        runtime.block_on(informer.synced(LONG)).unwrap();
        let status = informer.status();
        let mut reached = pin!(informer.reached("999", LONG));
        let mut changed = pin!(informer.status_change(&status));
        let mut stream = informer.stream().unwrap();
        assert!(look(reached.as_mut()).is_pending());
        assert!(look(changed.as_mut()).is_pending());
        ready(stream.next()).unwrap();
        assert!(look(pin!(stream.next())).is_pending());

        drop(runtime);
        let error = ready(reached).unwrap_err();
        assert!(error.to_string().contains(ENDED), "{error}");
        assert_eq!(ready(changed).unwrap().phase, Phase::Stopped);
        assert!(ready(stream.next()).is_none());
    }
}

#[test]
fn an_informer_whose_runtime_ends_before_its_start_cannot_be_started() {
    let world = World::new();
    let runtime = one_thread();
    let entered = runtime.enter();
    let current = Tokio::current().unwrap();
    drop(entered);
    let informer = pods().build(&world.connect(), current.clone()).unwrap();
    let handled = pods().build(&world.connect(), current.clone()).unwrap();
    let factory = SharedInformerFactory::new(world.connect(), current.clone());
    factory.informer(&pods()).unwrap();
    let controller: Controller<u32> = Controller::new(current);
    drop(runtime);

    // The timers are gone, too, so the wait returns at once and does not panic.
    let error = ready(informer.synced(LONG)).unwrap_err();
    assert!(error.reason.starts_with("it was not started"), "{error}");

    let error = informer.start().unwrap_err();
    assert_eq!(error, StartError::Runtime(RuntimeError::new(ENDED)));
    assert!(matches!(informer.start(), Err(StartError::Ended { .. })));
    assert_eq!(informer.status().lost, Some(RuntimeError::new(ENDED)));
    let error = handled.on(|_: Notification<Pod>| {}).unwrap_err();
    let cannot_start = format!("cannot start a task: {ENDED}");
    assert_eq!(error.to_string(), cannot_start);
    assert!(handled.status().handlers.is_empty(), "it was not added");
    assert_eq!(factory.start().unwrap_err().to_string(), cannot_start);
    let work = controller.work(1, |_| async { Ok::<_, String>(Next::Done) });
    assert_eq!(work, Err(RuntimeError::new(ENDED)));
    assert_eq!(
        ready(controller.stop()),
        (),
        "there is no worker to wait for"
    );
}

#[test]
fn a_missing_runtime_or_missing_timers_are_an_error_with_the_remedy() {
    let world = World::new();
    let remedy = |started: Result<SharedInformer<Value>, BuildError>| match started {
        Err(BuildError::Start(StartError::Runtime(error))) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let said = remedy(pods().start(&world.connect()));
    assert!(said.contains("`Handle::enter`"), "{said}");
    let bare = Builder::new_current_thread().build().unwrap();
    let said = bare.block_on(async { remedy(pods().start(&world.connect())) });
    assert!(said.contains("`enable_time`"), "{said}");
    assert!(Tokio::current().is_err());
}

/// A runtime that can drop a task.
#[derive(Clone)]
struct Mortal {
    runtime: Manual,
    dead: Arc<AtomicBool>,
}

impl Mortal {
    fn new(world: &World) -> Self {
        Self {
            runtime: world.runtime.clone(),
            dead: Arc::default(),
        }
    }
}

impl Runtime for Mortal {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        let (mut task, dead) = (Some(task), Arc::clone(&self.dead));
        // Drops the next task that is woken.
        self.runtime.spawn(Box::pin(poll_fn(move |cx| {
            if dead.swap(false, Ordering::Relaxed) {
                task = None;
            }
            task.as_mut()
                .map_or(Poll::Ready(()), |task| task.as_mut().poll(cx))
        })))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.runtime.clock()
    }
}

#[test]
fn a_lost_handler_shows_in_its_status_and_does_not_hold_up_the_informer() {
    const STALL: ListenerConfig = ListenerConfig {
        resync: Resync::Never,
        backlog: Backlog::Stall { at: 1 },
    };
    let world = World::new();
    world.create("a");
    let runtime = Mortal::new(&world);
    let informer = pods().build(&world.connect(), runtime.clone()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(LONG)).unwrap();
    let seen = informer.status();
    let go_on = Arc::new(Notify::new());
    let waiting = Arc::clone(&go_on);
    let lost = informer.on_async_with(
        move |_: Notification<Pod>| {
            let waiting = Arc::clone(&waiting);
            async move { waiting.notified().await }
        },
        STALL,
    );
    let lost = lost.unwrap();
    world.settle();
    runtime.dead.store(true, Ordering::Relaxed);
    go_on.notify_one();
    let error = world.wait(lost.synced(LONG)).unwrap_err();
    assert_eq!(
        error.reason,
        format!(
            "the task of the handler was lost: {ENDED}; build a new informer on a runtime that outlives it"
        )
    );
    assert!(lost.status().unwrap().lost);
    assert!(!lost.is_synced());
    let changed = world.wait(informer.status_change(&seen)).unwrap();
    assert!(changed.handlers[0].lost);

    let told = Told::default();
    informer.on(told.handler()).unwrap();
    for name in ["b", "c", "d"] {
        world.create(name);
    }
    world.settle();
    assert_eq!(told.take().len(), 4);
    assert_eq!(informer.status().lost, None, "the informer goes on");
    world.wait(lost.remove());
    assert_eq!(informer.status().handlers.len(), 1);
}

#[test]
fn a_lost_driver_ends_the_informer_with_a_reason() {
    let world = World::new();
    world.create("a");
    let runtime = Mortal::new(&world);
    let informer = pods().build(&world.connect(), runtime.clone()).unwrap();
    informer.start().unwrap();
    let handler = informer.on(|_: Notification<Pod>| {}).unwrap();
    world.wait(handler.synced(LONG)).unwrap();
    assert!(informer.is_fresh(LONG));
    runtime.dead.store(true, Ordering::Relaxed);
    world.create("b");
    world.settle();
    assert_eq!(informer.status().lost, Some(RuntimeError::new(ENDED)));
    assert!(!informer.is_fresh(LONG));
    // The task of the handler finished normally.
    assert!(!handler.status().unwrap().lost);
    assert_eq!(world.runtime.tasks(), 0);
}

#[test]
fn a_stopped_informer_is_not_lost_when_its_runtime_is_dropped() {
    let world = World::new();
    let runtime = one_thread();
    let entered = runtime.enter();
    let informer = pods().start(&world.connect()).unwrap();
    drop(entered);
    runtime.block_on(informer.synced(LONG)).unwrap();
    let handler = informer.on(|_: Notification<Pod>| {}).unwrap();
    informer.stop();
    drop(runtime);
    assert_eq!(informer.status().lost, None);
    assert!(!handler.status().unwrap().lost);
    let error = ready(informer.synced(LONG)).unwrap_err();
    assert_eq!(error.reason, "it was stopped");
    assert!(matches!(informer.start(), Err(StartError::Ended { .. })));
    ready(informer.join());
}
