//! User code that runs inside an informer and calls that informer.
//!
//! Each test runs on its own thread, so that a deadlock is a failure.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use informer::runtime::{Manual, Runtime, RuntimeError, Task};
use informer::{Clock, Notification, SharedInformer, SharedInformerFactory, Target, Transport};
use informer_core::indexer::IndexFn;
use informer_core::transport::{Command, ExchangeId, Signal};
use serde_json::Value;
use world::{Pod, World, pods};

/// In real time, far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// Runs something that may deadlock, on its own thread.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        what();
        tell.send(()).unwrap();
    });
    match told.recv_timeout(LONG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock"),
        _ => thread.join().unwrap(),
    }
}

type Asked = Arc<OnceLock<SharedInformer<Value>>>;

/// An index whose function calls an informer.
fn asking(asked: &Asked, ask: fn(&SharedInformer<Value>) -> usize) -> IndexFn<Pod> {
    let asked = Arc::clone(asked);
    IndexFn::new(move |_: &Pod, file| {
        if let Some(informer) = asked.get() {
            file(&ask(informer).to_be_bytes());
        }
    })
}

#[test]
fn an_index_that_calls_its_own_informer_panics_with_the_remedy() {
    ends(|| {
        let asked = Asked::default();
        let world = World::new();
        world.create("a");
        let informer = pods()
            .index("asks", asking(&asked, |it| it.status().objects))
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        asked.set(informer.clone()).unwrap();
        informer.start().unwrap();
        world.settle();
        let panic = informer.status().panic.unwrap();
        assert!(panic.contains("called its own informer"), "{panic}");
        assert!(panic.contains("`lister` or `snapshot`"), "{panic}");
    });
}

#[test]
fn an_index_may_read_the_cache_of_its_own_informer() {
    ends(|| {
        let asked = Asked::default();
        let world = World::new();
        world.create("a");
        let informer = pods()
            .index("asks", asking(&asked, |it| it.lister().len()))
            .build(&world.connect(), world.runtime.clone())
            .unwrap();
        asked.set(informer.clone()).unwrap();
        informer.start().unwrap();
        world.settle();
        world.create("b");
        world.settle();
        assert_eq!(informer.status().panic, None);
        let snapshot = informer.snapshot();
        let filed = snapshot.by_index("asks", 1_usize.to_be_bytes());
        assert_eq!(filed.unwrap().count(), 1);
    });
}

#[test]
fn an_index_may_call_another_informer_and_a_late_one_that_calls_its_own_is_rejected() {
    ends(|| {
        let asked = Asked::default();
        let world = World::new();
        world.create("a");
        let build = || {
            pods()
                .build(&world.connect(), world.runtime.clone())
                .unwrap()
        };
        let (informer, other) = (build(), build());
        informer.start().unwrap();
        other.start().unwrap();
        world.settle();
        asked.set(other.clone()).unwrap();
        let index = asking(&asked, |it| it.status().objects);
        informer.add_index("asks", index.clone()).unwrap();
        let error = other.add_index("asks", index).unwrap_err();
        assert!(
            error.to_string().contains("called its own informer"),
            "{error}"
        );
        assert_eq!(other.status().panic, None);
    });
}

/// A runtime that does something in `spawn`, as one does that polls the task there.
struct Inline<A> {
    runtime: Manual,
    act: A,
}

impl<A: Fn() + Send + Sync> Runtime for Inline<A> {
    fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
        (self.act)();
        self.runtime.spawn(task)
    }

    fn clock(&self) -> Arc<dyn Clock> {
        self.runtime.clock()
    }
}

/// A transport that reads the status of its informer in every call.
struct Asking {
    inner: Box<dyn Transport + Send>,
    asked: Asked,
    times: Arc<AtomicUsize>,
}

impl Asking {
    fn ask(&self) {
        let informer = self.asked.get().unwrap();
        assert!(informer.is_started() && informer.status().objects <= 1);
        self.times.fetch_add(1, Ordering::Relaxed);
    }
}

impl Transport for Asking {
    fn execute(&mut self, command: Command<'_>) {
        self.ask();
        self.inner.execute(command);
    }

    fn poll_signal(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        self.ask();
        self.inner.poll_signal(cx)
    }

    fn consume(&mut self, n: usize) {
        self.ask();
        self.inner.consume(n);
    }
}

/// The core lends commands from behind the lock. They are executed after the lock is released.
#[test]
fn the_lock_is_free_while_a_transport_is_called() {
    ends(|| {
        let world = World::new();
        world.create("a");
        let (asked, times) = (Asked::default(), Arc::<AtomicUsize>::default());
        let connect = world.connect();
        let (its_asked, its_times) = (Arc::clone(&asked), Arc::clone(&times));
        let asking = move |target: &Target| Asking {
            inner: Box::new(connect(target)),
            asked: Arc::clone(&its_asked),
            times: Arc::clone(&its_times),
        };
        let informer = pods().build(&asking, world.runtime.clone()).unwrap();
        assert!(asked.set(informer.clone()).is_ok());
        informer.start().unwrap();
        world.wait(informer.synced(LONG)).unwrap();
        informer.stop();
        world.settle();
        assert_eq!(informer.status().panic, None);
        assert!(times.load(Ordering::Relaxed) > 3);
    });
}

#[test]
fn the_lock_is_free_while_a_task_is_spawned() {
    type Factory = SharedInformerFactory<Box<dyn Fn(&Target) -> Mock + Send + Sync>>;
    type Mock = informer_transport_mock::transport::MockTransport;
    ends(|| {
        let world = World::new();
        world.create("a");
        let asked = Asked::default();
        let made: Arc<OnceLock<Factory>> = Arc::default();
        let (informer, factory) = (Arc::clone(&asked), Arc::clone(&made));
        let act = move || {
            if let Some(informer) = informer.get().filter(|it| !it.is_stopped()) {
                informer.start().unwrap();
                assert!(informer.is_started());
            }
            if let Some(factory) = factory.get() {
                factory.start().unwrap();
                assert_eq!(factory.status().len(), 1);
                factory.informer(&pods()).unwrap();
            }
        };
        let runtime = Inline {
            runtime: world.runtime.clone(),
            act,
        };
        let factory = SharedInformerFactory::new(
            Box::new(world.connect()) as Box<dyn Fn(&Target) -> Mock + Send + Sync>,
            runtime,
        );
        let informer = factory.informer(&pods()).unwrap();
        assert!(made.set(factory).is_ok());
        assert!(asked.set(informer.clone()).is_ok());
        informer.start().unwrap();
        informer.on(|_: Notification<Pod>| {}).unwrap();
        made.get().unwrap().start().unwrap();
        world.wait(informer.synced(LONG)).unwrap();
        // A factory that was started starts later informers itself.
        informer.stop();
        let again = made.get().unwrap().informer(&pods()).unwrap();
        assert!(!again.is_same(&informer) && again.is_started());
    });
}
