//! No wake-up is lost, whatever the interleaving of threads.
//!
//! In each scenario every task gets what it waits for. If a wake-up is lost, the scenario never ends: the
//! clock stands still, so no timeout helps.
//!
//! With `RUSTFLAGS="--cfg shuttle"` the crate uses the locks, atomics and threads of shuttle, which tries
//! many interleavings and fails with "deadlock" when no thread can go on. Use a separate target directory
//! to avoid rebuilding everything. Without shuttle, the scenarios run a few times on real threads.
#![cfg(feature = "threads")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::future::poll_fn;
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use informer::controller::{Controller, Next};
use informer::runtime::{Runtime as _, Threads, block_on};
use informer::{Backlog, ListenerConfig, Phase, Resync, SharedInformer};
use informer_test_support::{Folded, Strictness, view};
use informer_transport_mock::fault::Fault;
use serde_json::Value;
use world::{World, pods};

#[cfg(shuttle)]
use shuttle::{
    scheduler::{PctScheduler, RandomScheduler},
    sync::Mutex,
    thread,
};
#[cfg(not(shuttle))]
use std::{sync::Mutex, thread};

/// In virtual time, which stands still.
const NEVER: Duration = Duration::from_secs(1_000_000);

/// How many interleavings to try. `INFORMER_STRESS` in the environment tries more.
fn rounds() -> usize {
    let rounds = if cfg!(shuttle) { 200 } else { 20 };
    match std::env::var_os("INFORMER_STRESS") {
        Some(_) => rounds * 50,
        None => rounds,
    }
}

#[cfg(shuttle)]
fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    let scenario = Arc::new(scenario);
    let again = Arc::clone(&scenario);
    let random = RandomScheduler::new(rounds());
    shuttle::Runner::new(random, config()).run(move || scenario());
    // Only a few thread switches, at the worst moments.
    let few_switches = PctScheduler::new(3, rounds());
    shuttle::Runner::new(few_switches, config()).run(move || again());
}

/// The default stacks of shuttle, 32 KiB, are too small for a whole informer in a debug build.
#[cfg(shuttle)]
fn config() -> shuttle::Config {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    config
}

#[cfg(not(shuttle))]
fn explore(scenario: impl Fn() + Send + Sync + 'static) {
    for _ in 0..rounds() {
        scenario();
    }
}

fn threads(world: &World) -> Threads {
    Threads::new().with_clock(Arc::new(world.clock.clone()))
}

fn informer(world: &World) -> SharedInformer<Value> {
    pods().build(&world.connect(), threads(world)).unwrap()
}

fn with(backlog: Backlog) -> ListenerConfig {
    ListenerConfig {
        resync: Resync::Never,
        backlog,
    }
}

/// Creates `writes` pods on another thread, one after the other.
fn writing(world: &World, writes: usize) -> thread::JoinHandle<()> {
    let world = World {
        clock: world.clock.clone(),
        server: world.server.clone(),
        runtime: world.runtime.clone(),
    };
    thread::spawn(move || {
        for at in 0..writes {
            world.create(&format!("late-{at}"));
            thread::yield_now();
        }
    })
}

#[test]
fn a_server_event_wakes_the_driver_handlers_and_waiters() {
    explore(|| {
        let world = World::new();
        world.create("a");
        let informer = informer(&world);
        let knows = Folded::new(Strictness::Once);
        let registration = informer.on(knows.handler()).unwrap();
        let mut stream = informer.stream().unwrap();
        let last = world.server.with(|server| server.version()) + 2;
        let reading = thread::spawn({
            let informer = informer.clone();
            move || {
                block_on(informer.reached(&last.to_string(), NEVER))
                    .unwrap()
                    .len()
            }
        });
        let writer = writing(&world, 2);
        informer.start().unwrap();
        block_on(informer.synced(NEVER)).unwrap();
        block_on(registration.synced(NEVER)).unwrap();
        for _ in 0..3 {
            block_on(stream.next()).unwrap();
        }
        writer.join().unwrap();
        assert_eq!(reading.join().unwrap(), 3);
        drop(stream);
        informer.stop();
        block_on(informer.join());
        assert_eq!(knows.faults(), [""; 0]);
    });
}

#[test]
fn a_handler_that_takes_something_wakes_a_stalled_driver() {
    explore(|| {
        let world = World::new();
        for name in ["a", "b", "c"] {
            world.create(name);
        }
        let informer = informer(&world);
        let knows = Folded::new(Strictness::Once);
        let stalling = with(Backlog::Stall { at: 1 });
        let first = informer.on_with(knows.handler(), stalling).unwrap();
        let second = informer
            .on_with(Folded::new(Strictness::Once).handler(), stalling)
            .unwrap();
        let mut stream = informer.stream_with(with(Backlog::Grow)).unwrap();
        informer.start().unwrap();
        let writer = writing(&world, 1);
        for _ in 0..4 {
            block_on(stream.next()).unwrap();
        }
        block_on(first.synced(NEVER)).unwrap();
        block_on(second.synced(NEVER)).unwrap();
        writer.join().unwrap();
        informer.stop();
        block_on(informer.join());
        assert_eq!(knows.faults(), [""; 0]);
    });
}

#[test]
fn the_removal_of_a_stalling_handler_wakes_the_driver() {
    explore(|| {
        let world = World::new();
        for name in ["a", "b", "c"] {
            world.create(name);
        }
        let informer = informer(&world);
        let stalling = informer
            .stream_with(with(Backlog::Stall { at: 1 }))
            .unwrap();
        let mut stream = informer.stream().unwrap();
        informer.start().unwrap();
        let leaving = thread::spawn(move || drop(stalling));
        for _ in 0..3 {
            block_on(stream.next()).unwrap();
        }
        leaving.join().unwrap();
    });
}

#[test]
fn the_end_of_the_last_call_wakes_a_removal() {
    explore(|| {
        let world = World::new();
        world.create("a");
        let informer = informer(&world);
        let knows = Folded::new(Strictness::Once);
        let registration = informer.on(knows.handler()).unwrap();
        let other = informer
            .on(Folded::new(Strictness::Once).handler())
            .unwrap();
        informer.start().unwrap();
        let writer = writing(&world, 2);
        let leaving = thread::spawn({
            let knows = knows.clone();
            move || {
                block_on(registration.remove());
                knows.close();
            }
        });
        block_on(other.synced(NEVER)).unwrap();
        leaving.join().unwrap();
        writer.join().unwrap();
        informer.stop();
        block_on(informer.join());
        assert_eq!(knows.faults(), [""; 0]);
    });
}

#[test]
fn a_stop_wakes_everything() {
    explore(|| {
        let world = World::new();
        // The server never answers.
        world.server.inject(Fault::Delay(NEVER * 2));
        let informer = informer(&world);
        let registration = informer
            .on(Folded::new(Strictness::Once).handler())
            .unwrap();
        let mut stream = informer.stream().unwrap();
        informer.start().unwrap();
        let stopping = thread::spawn({
            let informer = informer.clone();
            move || informer.stop()
        });
        let versions = thread::spawn({
            let informer = informer.clone();
            move || assert!(block_on(informer.reached("7", NEVER)).is_err())
        });
        assert!(block_on(registration.synced(NEVER)).is_err());
        assert!(block_on(informer.synced(NEVER)).is_err());
        assert!(block_on(stream.next()).is_none());
        block_on(informer.join());
        stopping.join().unwrap();
        versions.join().unwrap();
    });
}

#[test]
fn every_change_of_the_status_wakes_its_followers() {
    explore(|| {
        let world = World::new();
        world.create("a");
        let informer = informer(&world);
        let following = thread::spawn({
            let informer = informer.clone();
            let mut seen = informer.status();
            move || {
                while let Some(status) = block_on(informer.status_change(&seen)) {
                    seen = status;
                }
                seen
            }
        });
        informer.start().unwrap();
        let mut status = informer.status();
        while !(status.synced && status.phase == Phase::Watching) {
            status = block_on(informer.status_change(&status)).unwrap();
        }
        assert_eq!(view(informer.snapshot().iter()).len(), 1);
        informer.stop();
        following.join().unwrap();
        block_on(informer.join());
    });
}

#[test]
fn the_last_handle_may_be_dropped_at_any_time() {
    explore(|| {
        let world = World::new();
        world.create("a");
        let informer = informer(&world);
        let registration = informer
            .on(Folded::new(Strictness::Once).handler())
            .unwrap();
        informer.start().unwrap();
        let leaving = thread::spawn(move || drop(informer));
        // The removal finishes, whichever thread is first.
        block_on(registration.remove());
        leaving.join().unwrap();
    });
}

#[test]
fn a_new_key_and_a_stop_wake_workers() {
    explore(|| {
        let world = World::new();
        let controller = Controller::new(threads(&world));
        let done = Arc::new(StdMutex::new(Vec::new()));
        let work = Arc::clone(&done);
        controller
            .work(2, move |key: u32| {
                let work = Arc::clone(&work);
                async move {
                    work.lock().unwrap().push(key);
                    Ok::<_, String>(Next::Done)
                }
            })
            .unwrap();
        let adding = [[1, 2], [2, 3]].map(|keys| {
            let queue = controller.queue();
            thread::spawn(move || keys.into_iter().for_each(|key| queue.add(key)))
        });
        for adding in adding {
            adding.join().unwrap();
        }
        block_on(controller.stop());
        let mut done = done.lock().unwrap().clone();
        done.sort_unstable();
        // A key that is added while a worker has it is processed again.
        assert!(done == [1, 2, 3] || done == [1, 2, 2, 3], "{done:?}");
    });
}

/// A flag that a task can wait for.
#[derive(Default)]
struct Flag {
    /// Whether it is set, and the waiting task.
    state: Mutex<(bool, Option<Waker>)>,
}

impl Flag {
    fn set(&self) {
        let mut state = self.state.lock().unwrap();
        state.0 = true;
        let waker = state.1.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }

    async fn is_set(&self) {
        poll_fn(|cx| {
            let mut state = self.state.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// A wrong version: it releases the lock between the check and the registration of its waker.
    #[cfg(shuttle)]
    async fn is_set_wrong(&self) {
        poll_fn(|cx| {
            if self.state.lock().unwrap().0 {
                return Poll::Ready(());
            }
            self.state.lock().unwrap().1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

#[test]
fn a_wake_up_unblocks_block_on() {
    explore(|| {
        let flags: Arc<[Flag; 2]> = Arc::default();
        let setting = thread::spawn({
            let flags = Arc::clone(&flags);
            move || flags.iter().for_each(Flag::set)
        });
        block_on(async {
            flags[1].is_set().await;
            flags[0].is_set().await;
        });
        setting.join().unwrap();
    });
}

#[test]
fn the_manual_runtime_works_on_several_threads() {
    explore(|| {
        let world = World::new();
        let runtime = world.runtime;
        let flags: Arc<[Flag; 2]> = Arc::default();
        runtime
            .spawn(Box::pin({
                let flags = Arc::clone(&flags);
                async move {
                    flags[0].is_set().await;
                    flags[1].is_set().await;
                }
            }))
            .unwrap();
        let running: Vec<_> = (0..2)
            .map(|at| {
                let (runtime, flags) = (runtime.clone(), Arc::clone(&flags));
                thread::spawn(move || {
                    runtime.run_until_idle();
                    flags[at].set();
                    runtime.run_until_idle();
                })
            })
            .collect();
        for running in running {
            running.join().unwrap();
        }
        // A wake-up by one thread while the other polls the task is not lost.
        runtime.run_until_idle();
        assert_eq!(runtime.tasks(), 0);
    });
}

/// Checks that shuttle finds a wake-up that can be lost.
#[cfg(shuttle)]
#[test]
#[should_panic(expected = "deadlock")]
fn a_wrong_wait_is_found() {
    explore(|| {
        let flag: Arc<Flag> = Arc::default();
        let setting = thread::spawn({
            let flag = Arc::clone(&flag);
            move || flag.set()
        });
        block_on(flag.is_set_wrong());
        setting.join().unwrap();
    });
}
