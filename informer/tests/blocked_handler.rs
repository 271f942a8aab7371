//! Handlers whose call does not return: the status shows it, and their notifications stay pending.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use informer::{Backlog, HandlerStatus, ListenerConfig, Notification, Resync, SharedInformer};
use serde_json::Value;
use world::{Pod, World, pods};

const SOON: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// An informer that is not started, and a server with `objects` pods.
fn build(world: &World, objects: usize) -> SharedInformer<Value> {
    for at in 0..objects {
        world.create(&format!("pod-{at}"));
    }
    let runtime = world.runtime.clone();
    pods().build(&world.connect(), runtime).unwrap()
}

/// Pending, delivered, and how long the current call has been running.
fn shown(status: HandlerStatus) -> (usize, u64, Option<Duration>) {
    (status.pending, status.delivered, status.in_call)
}

/// A handler that takes this long for each notification.
fn taking(world: &World, time: Duration) -> impl FnMut(Notification<Pod>) -> Pause + use<> {
    let clock = world.clock.clone();
    move |_| {
        let clock = clock.clone();
        Box::pin(async move { world::sleep(&clock, time).await })
    }
}

type Pause = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

#[test]
fn notifications_are_pending_until_their_call_has_returned() {
    let world = World::new();
    let informer = build(&world, 5);
    let slow = informer
        .on_async(taking(&world, Duration::from_secs(10)))
        .unwrap();
    assert_eq!(shown(slow.status().unwrap()), (0, 0, None));
    informer.start().unwrap();
    world.settle();
    assert_eq!(shown(slow.status().unwrap()), (5, 0, Some(Duration::ZERO)));
    world.pass(3 * SECOND);
    assert_eq!(shown(slow.status().unwrap()), (5, 0, Some(3 * SECOND)));
    assert_eq!(informer.status().handlers, [slow.status().unwrap()]);
    world.pass(9 * SECOND);
    assert_eq!(shown(slow.status().unwrap()), (4, 1, Some(2 * SECOND)));
    world.pass(60 * SECOND);
    assert_eq!(shown(slow.status().unwrap()), (0, 5, None));
}

#[test]
fn a_handler_sees_its_own_call_in_the_status() {
    let world = World::new();
    let informer = build(&world, 5);
    let asked: Arc<OnceLock<SharedInformer<Value>>> = Arc::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (asks, sees) = (Arc::clone(&asked), Arc::clone(&seen));
    let handler = move |_: Notification<Pod>| {
        let status = asks.get().unwrap().status();
        sees.lock().unwrap().push(shown(status.handlers[0]));
    };
    informer.on(handler).unwrap();
    assert!(asked.set(informer.clone()).is_ok());
    informer.start().unwrap();
    world.settle();
    let expected = [5, 4, 3, 2, 1].map(|left| (left, 5 - left as u64, Some(Duration::ZERO)));
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn a_call_that_panicked_has_returned() {
    let world = World::new();
    let informer = build(&world, 3);
    let panicking = informer.on(|_: Notification<Pod>| panic!("whatever it is"));
    let panicking = panicking.unwrap();
    informer.start().unwrap();
    world.settle();
    assert_eq!(shown(panicking.status().unwrap()), (0, 3, None));
}

/// A stream has no calls.
#[test]
fn notifications_are_pending_until_the_stream_returns_them() {
    let world = World::new();
    let informer = build(&world, 3);
    let mut stream = informer.stream().unwrap();
    informer.start().unwrap();
    world.settle();
    assert_eq!(shown(stream.status().unwrap()), (3, 0, None));
    assert!(world.wait(stream.next()).is_some());
    assert_eq!(shown(stream.status().unwrap()), (2, 1, None));
}

#[test]
fn waiting_for_a_blocked_handler_fails_with_that_reason() {
    let world = World::new();
    let informer = build(&world, 5);
    let slow = informer.on_async(taking(&world, 600 * SECOND)).unwrap();
    informer.start().unwrap();
    let error = world.wait(slow.synced(SOON)).unwrap_err();
    assert_eq!(
        error.reason,
        "the cache is synced, but 5 notifications wait for the handler; its current call has not returned for 30s"
    );
    // One notification is singular.
    let world = World::new();
    let informer = build(&world, 1);
    let slow = informer.on_async(taking(&world, 600 * SECOND)).unwrap();
    informer.start().unwrap();
    let error = world.wait(slow.synced(SOON)).unwrap_err();
    assert_eq!(
        error.reason,
        "the cache is synced, but 1 notification waits for the handler; its current call has not returned for 30s"
    );
}

#[test]
fn an_informer_says_that_a_blocked_handler_holds_it_up() {
    let world = World::new();
    let informer = build(&world, 5);
    let stalling = ListenerConfig {
        resync: Resync::Default,
        backlog: Backlog::Stall { at: 1 },
    };
    let handler = taking(&world, 600 * SECOND);
    let _slow = informer.on_async_with(handler, stalling).unwrap();
    informer.start().unwrap();
    let error = world.wait(informer.synced(SOON)).unwrap_err();
    assert!(
        error.reason.contains(
            "a handler with `Backlog::Stall` holds it up: its current call has not returned for 30s"
        ),
        "{error}"
    );
    // A stream that is never read is not in a call.
    let world = World::new();
    let informer = build(&world, 5);
    let _stream = informer.stream_with(stalling).unwrap();
    informer.start().unwrap();
    let error = world.wait(informer.synced(SOON)).unwrap_err();
    assert!(
        error.reason.contains(
            "a handler with `Backlog::Stall` holds it up: it has not taken its notifications"
        ),
        "{error}"
    );
}
