//! Informers on plain threads: no async runtime, neither running nor in the dependency tree.
#![cfg(feature = "threads")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::future::poll_fn;
use std::process::Command;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use informer::Notification;
use informer::runtime::{Runtime as _, Threads, block_on};
use informer_test_support::words;
use world::{Pod, World, keys, pods};

/// In real time, far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_blocking_program_can_start_wait_handle_and_join() {
    let world = World::new();
    world.create("a");
    let informer = pods().start_blocking(&world.connect()).unwrap();
    informer.wait_synced(LONG).unwrap();
    assert_eq!(keys(&informer), ["web/a"]);

    let (tell, told) = mpsc::channel();
    let handler = move |notification: Notification<Pod>| tell.send(words(&notification)).unwrap();
    let registration = informer.on(handler).unwrap();
    block_on(registration.synced(LONG)).unwrap();
    assert_eq!(told.recv().unwrap(), "add a initial Replay");

    world.create("b");
    assert_eq!(told.recv().unwrap(), "add b Watch");
    let version = world.touch("a");
    assert_eq!(told.recv().unwrap(), "update a Watch");
    let reached = block_on(informer.reached(&version, LONG)).unwrap();
    assert_eq!(reached.len(), 2);

    block_on(registration.remove());
    assert!(
        told.recv().is_err(),
        "the handler is dropped when it is removed"
    );
    world.delete("b");
    informer.stop();
    block_on(informer.join());
    assert!(informer.is_stopped());
}

#[test]
fn handlers_run_concurrently_and_join_waits_for_a_call_in_progress() {
    let world = World::new();
    world.create("a");
    let informer = pods().start_blocking(&world.connect()).unwrap();
    // The first handler blocks its thread until the second has processed the same notification.
    let (tell, told) = mpsc::channel();
    let (arrive, arrived) = mpsc::channel();
    let (leave, left) = mpsc::channel();
    let first = informer.on(move |_: Notification<Pod>| {
        arrive.send(()).unwrap();
        told.recv().unwrap();
        leave.send(()).unwrap();
    });
    let first = first.unwrap();
    arrived.recv().unwrap();
    let second = informer.on(|_: Notification<Pod>| {}).unwrap();
    block_on(second.synced(LONG)).unwrap();
    assert!(!first.is_synced());
    informer.stop();
    tell.send(()).unwrap();
    block_on(informer.join());
    left.try_recv().unwrap();
}

#[test]
fn blocking_waits_end_at_their_timeout() {
    let world = World::new();
    let informer = pods().build(&world.connect(), Threads::new()).unwrap();
    let error = informer.wait_synced(Duration::from_millis(5)).unwrap_err();
    assert!(error.to_string().contains("not started"), "{error}");
}

#[test]
fn threads_use_the_clock_they_are_given() {
    let world = World::new();
    let threads = Threads::new().with_clock(Arc::new(world.clock.clone()));
    let informer = pods().build(&world.connect(), threads).unwrap();
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| informer.wait_synced(LONG));
        // Wait until the thread has set its timer.
        while world.clock.next_deadline().is_none() {
            std::thread::yield_now();
        }
        world.clock.advance(LONG);
        waiting.join().unwrap()
    });
    assert!(waiting.is_err());
}

#[test]
fn a_nested_block_on_leaves_outer_timers_alone() {
    let clock = Threads::new().clock();
    let mut timer = clock.timer();
    let deadline = clock.now().after(Duration::from_millis(5));
    block_on(poll_fn(|cx| {
        let polled = timer.poll_until(deadline, cx);
        // For example a handler that waits for another informer.
        assert_eq!(block_on(async { 7 }), 7);
        match polled {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => Poll::Pending,
        }
    }));
    assert!(clock.now() >= deadline);
}

#[test]
fn a_thread_sleeps_until_the_nearest_of_its_timers() {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let clock = Threads::new().clock();
        let near = clock.now().after(Duration::from_millis(5));
        let far = clock.now().after(Duration::from_secs(3_600));
        for deadlines in [[near, far], [far, near]] {
            let mut timers = [clock.timer(), clock.timer()];
            block_on(poll_fn(|cx| {
                let polled = timers.iter_mut().zip(deadlines);
                let polled: Vec<_> = polled.map(|(it, at)| it.poll_until(at, cx)).collect();
                polled
                    .into_iter()
                    .find(Poll::is_ready)
                    .unwrap_or(Poll::Pending)
            }));
        }
        tell.send(()).unwrap();
    });
    told.recv_timeout(LONG).unwrap();
}

#[test]
fn the_threads_feature_depends_on_no_async_runtime() {
    let tree = |features: &str| {
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--package", "informer", "--edges", "normal"])
            .args(["--prefix", "none", "--format", "{lib}", "--locked"])
            .args(["--no-default-features", "--features", features])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&tree.stderr);
        assert!(tree.status.success(), "{said}");
        let tree = String::from_utf8(tree.stdout).unwrap();
        let names = tree.lines().map(|name| name.trim().to_owned());
        names.collect::<Vec<_>>()
    };
    let runtimes = [
        "tokio",
        "async_std",
        "smol",
        "async_executor",
        "futures_executor",
        "mio",
    ];
    let threads = tree("threads");
    assert!(threads.contains(&"informer_core".to_owned()));
    for runtime in runtimes {
        assert!(!threads.contains(&runtime.to_owned()), "{runtime}");
    }
    assert!(
        tree("tokio").contains(&"tokio".to_owned()),
        "the check would find tokio"
    );
}
