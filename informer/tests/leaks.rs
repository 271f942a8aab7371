//! Informers that come and go leave nothing behind: no tasks, no threads, no objects.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::runtime::Runtime;
use informer::{Notification, Object, SharedInformer};
use world::World;
use world::tracked::Tracked;

const INFORMERS: usize = 200;
const OBJECTS: usize = 5;
const LONG: Duration = Duration::from_secs(60);

fn world() -> World {
    let world = World::new();
    for at in 0..OBJECTS {
        world.create(&format!("pod-{at}"));
    }
    world
}

fn build<const TEST: usize>(
    world: &World,
    runtime: impl Runtime + 'static,
) -> SharedInformer<Tracked<TEST>> {
    let builder = Tracked::pods();
    builder.build(&world.connect(), runtime).unwrap()
}

/// Adds handlers of all kinds. One of them holds a lister of its informer, as a controller does.
fn add_handlers<const TEST: usize>(informer: &SharedInformer<Tracked<TEST>>) {
    let lister = informer.lister();
    let kept = std::sync::Mutex::new(Vec::new());
    let handler = move |notification: Notification<Object<Tracked<TEST>>>| {
        let _ = lister.by_key(notification.key());
        kept.lock().unwrap().push(notification);
    };
    informer.on(handler).unwrap();
    informer.on_async(|_| std::future::ready(())).unwrap();
}

#[test]
fn by_hand() {
    type Tested = Tracked<0>;
    let world = world();
    for round in 0..INFORMERS {
        let informer = build::<0>(&world, world.runtime.clone());
        let observed = informer.on(|_| {}).unwrap();
        // Some end before they start, some while they sync, some afterwards.
        match round % 5 {
            0 => {}
            1 => informer.start().unwrap(),
            2 => {
                informer.start().unwrap();
                world.wait(observed.synced(LONG)).unwrap();
                assert!(Tested::live().get() >= OBJECTS);
            }
            3 => {
                // A handler that holds a lister keeps the informer alive until it is stopped.
                add_handlers(&informer);
                informer.start().unwrap();
                world.wait(observed.synced(LONG)).unwrap();
                informer.stop();
            }
            _ => {
                let mut stream = informer.stream().unwrap();
                informer.start().unwrap();
                assert!(world.wait(stream.next()).is_some());
                drop(informer);
                world.settle();
                assert!(world.runtime.tasks() > 0, "the stream keeps it alive");
                continue;
            }
        }
        drop(informer);
        drop(observed);
        world.settle();
        assert_eq!(world.runtime.tasks(), 0, "in round {round}");
        assert_eq!(Tested::live().get(), 0, "in round {round}");
    }
    world.settle();
    assert_eq!(world.runtime.tasks(), 0);
    assert_eq!(Tested::live().get(), 0);
}

#[test]
fn a_snapshot_outlives_its_informer_and_keeps_only_its_objects() {
    type Tested = Tracked<1>;
    let world = world();
    let informer = build::<1>(&world, world.runtime.clone());
    informer.start().unwrap();
    world.wait(informer.synced(LONG)).unwrap();
    let snapshot = informer.snapshot();
    drop(informer);
    world.settle();
    assert_eq!(world.runtime.tasks(), 0);
    assert_eq!((snapshot.len(), Tested::live().get()), (OBJECTS, OBJECTS));
    drop(snapshot);
    assert_eq!(Tested::live().get(), 0);
}

#[cfg(feature = "tokio")]
mod on_tokio {
    use informer::runtime::Tokio;
    use tokio::runtime::{Builder, Handle};

    use super::*;

    /// Some informers are stopped and joined, some are only stopped, some are just dropped.
    async fn come_and_go<const TEST: usize>() {
        let world = world();
        for round in 0..INFORMERS {
            let informer = build::<TEST>(&world, Tokio::current().unwrap());
            let observed = informer.on(|_| {}).unwrap();
            if round % 3 > 0 {
                add_handlers(&informer);
            }
            informer.start().unwrap();
            if round % 2 > 0 {
                observed.synced(LONG).await.unwrap();
            }
            if round % 3 > 0 {
                informer.stop();
            }
            if round % 3 > 1 {
                informer.join().await;
            }
        }
    }

    /// Gives tasks that were woken for the last time their turn.
    async fn until_no_task_is_left() {
        let patience = std::time::Instant::now() + LONG;
        while Handle::current().metrics().num_alive_tasks() > 0 {
            assert!(std::time::Instant::now() < patience, "tasks are left");
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn with_one_thread() {
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            come_and_go::<2>().await;
            until_no_task_is_left().await;
            assert_eq!(Tracked::<2>::live().get(), 0);
        });
    }

    #[test]
    fn with_many_threads() {
        let runtime = Builder::new_multi_thread()
            .worker_threads(4)
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            come_and_go::<3>().await;
            until_no_task_is_left().await;
        });
        // tokio counts a task as gone shortly before it drops what the task held.
        assert!(Tracked::<3>::live().wait_for_zero());
    }
}

#[cfg(feature = "threads")]
mod on_threads {
    use std::cell::RefCell;
    use std::sync::Arc;

    use informer::Clock;
    use informer::runtime::{RuntimeError, Task, Threads, block_on};
    use world::tracked::Count;

    use super::*;

    /// Counts threads until they have ended.
    struct CountedThreads(Threads);

    static RUNNING: Count = Count::new();

    struct Running;

    impl Drop for Running {
        fn drop(&mut self) {
            RUNNING.subtract();
        }
    }

    thread_local! {
        /// Dropped when its thread ends.
        static HERE: RefCell<Option<Running>> = const { RefCell::new(None) };
    }

    impl Runtime for CountedThreads {
        fn spawn(&self, task: Task) -> Result<(), RuntimeError> {
            RUNNING.add();
            self.0.spawn(Box::pin(async move {
                HERE.set(Some(Running));
                task.await;
            }))
        }

        fn clock(&self) -> Arc<dyn Clock> {
            self.0.clock()
        }
    }

    #[test]
    fn threads_end_with_their_informers() {
        type Tested = Tracked<4>;
        let world = world();
        for round in 0..INFORMERS {
            let informer = build::<4>(&world, CountedThreads(Threads::new()));
            let observed = informer.on(|_| {}).unwrap();
            if round % 3 > 0 {
                add_handlers(&informer);
            }
            informer.start().unwrap();
            if round % 2 > 0 {
                block_on(observed.synced(LONG)).unwrap();
            }
            if round % 3 > 0 {
                informer.stop();
            }
            if round % 3 > 1 {
                block_on(informer.join());
            }
        }
        assert!(RUNNING.wait_for_zero(), "{} threads run", RUNNING.get());
        assert!(Tested::live().wait_for_zero());
    }
}
