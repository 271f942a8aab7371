//! The lifetime of what informers return: registrations, streams, waits, informers of a factory.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use informer::{
    Backlog, Failure, ListenerConfig, NotReached, Notification, Phase, Registration, Resync,
    SharedInformer, SharedInformerFactory,
};
use informer_test_support::Woken;
use informer_transport_mock::fault::Fault;
use serde_json::Value;
use world::{Pod, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

const STALL: ListenerConfig = ListenerConfig {
    resync: Resync::Never,
    backlog: Backlog::Stall { at: 1 },
};

fn started(world: &World) -> SharedInformer<Value> {
    let informer = pods().build(&world.connect(), world.runtime.clone());
    let informer = informer.unwrap();
    informer.start().unwrap();
    informer
}

#[test]
fn a_registration_does_not_keep_its_informer_alive() {
    let world = World::new();
    world.create("a");
    let informer = started(&world);
    let kept = informer.on(|_: Notification<Pod>| {}).unwrap();
    let removed = informer.on(|_: Notification<Pod>| {}).unwrap();
    world.wait(kept.synced(SOON)).unwrap();
    // Nor does a removal that is not awaited.
    let removal = removed.remove();
    let mut object = informer.lister().get("web", "a").unwrap();
    drop(informer);
    world.settle();
    assert!(object.get_mut().is_some(), "the cache still exists");
    assert_eq!(kept.status(), None);
    assert!(!kept.is_synced());
    let error = world.wait(kept.synced(SOON)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods.v1 is not synced after 30s: the informer was dropped; keep a handle or a lister of it"
    );
    assert_eq!(error.status, None);
    world.wait(kept.remove());
    world.wait(removal);
}

/// A handler that acts in every call, and counts its calls.
fn first_call(
    mut act: impl FnMut() + Send + 'static,
) -> (
    impl FnMut(Notification<Pod>) + Send + 'static,
    Arc<Mutex<usize>>,
) {
    let calls = Arc::new(Mutex::new(0));
    let count = Arc::clone(&calls);
    let handler = move |_| {
        *count.lock().unwrap() += 1;
        act();
    };
    (handler, calls)
}

#[test]
fn the_rest_of_a_batch_is_not_told_after_a_stop() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = started(&world);
    let mut stream = informer.stream().unwrap();
    world.settle();
    let stopped = informer.clone();
    let (handler, calls) = first_call(move || stopped.stop());
    let mut taken = world.wait(stream.next());
    assert!(taken.take().is_some());
    informer.on(handler).unwrap();
    world.settle();
    assert_eq!(*calls.lock().unwrap(), 1);
    assert!(world.wait(stream.next()).is_none());
}

#[test]
fn the_rest_of_a_batch_is_not_told_after_a_removal() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = started(&world);
    world.settle();
    let registration: Arc<Mutex<Option<Registration<Value>>>> = Arc::default();
    let own = Arc::clone(&registration);
    let (handler, calls) = first_call(move || {
        // The removal takes effect at once, even if it is not awaited.
        drop(own.lock().unwrap().take().map(Registration::remove));
    });
    *registration.lock().unwrap() = Some(informer.on(handler).unwrap());
    world.settle();
    assert_eq!(*calls.lock().unwrap(), 1);
    assert_eq!(world.runtime.tasks(), 1, "only the driver is left");
}

#[test]
fn what_a_stalled_handler_held_up_goes_on_when_it_is_removed() {
    let world = World::new();
    let informer = started(&world);
    let stream = informer.stream_with(STALL).unwrap();
    world.settle();
    for name in ["a", "b", "c", "d", "e"] {
        world.create(name);
        world.settle();
    }
    assert!(informer.status().stalled);
    assert!(keys(&informer).len() < 5);
    drop(stream);
    world.settle();
    assert_eq!(keys(&informer).len(), 5);
    assert!(!informer.status().stalled);
}

#[test]
fn a_factory_hands_out_no_informer_that_has_ended() {
    let world = World::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let first = factory.informer(&pods()).unwrap();
    factory.start().unwrap();
    assert!(factory.informer(&pods()).unwrap().is_same(&first));
    first.stop();
    // An informer that has ended is not an error.
    factory.start().unwrap();
    let second = factory.informer(&pods()).unwrap();
    assert!(!second.is_same(&first));
    world.wait(second.synced(SOON)).unwrap();
}

#[test]
fn one_more_failure_is_a_change_of_the_status() {
    let world = World::new();
    world
        .server
        .with(|server| server.remove_kind("pods"))
        .unwrap();
    let informer = started(&world);
    let waits = |failures| {
        while informer.status().counts.failures < failures
            || !matches!(informer.status().phase, Phase::Waiting { .. })
        {
            world.clock.advance_to_next();
            world.settle();
        }
        informer.status()
    };
    world.settle();
    let seen = waits(1);
    waits(seen.counts.failures + 1);
    // It still waits, for the same reason.
    let mut changed = pin!(informer.status_change(&seen));
    let Poll::Ready(Some(changed)) = look(changed.as_mut(), Waker::noop()) else {
        panic!("the new failure is not a change");
    };
    assert!(changed.counts.failures > seen.counts.failures);
}

fn look<F: Future>(future: std::pin::Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

#[test]
fn a_wait_that_is_dropped_is_forgotten() {
    let world = World::new();
    let informer = started(&world);
    let registration = informer.on(|_: Notification<Pod>| {}).unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    let seen = informer.status();
    let (status, version) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
    {
        let waker = Waker::from(Arc::clone(&status));
        let mut changed = pin!(informer.status_change(&seen));
        let mut joined = pin!(informer.join());
        assert!(look(changed.as_mut(), &waker).is_pending());
        assert!(look(joined.as_mut(), &waker).is_pending());
        assert_eq!(Arc::strong_count(&status), 4);
        let waker = Waker::from(Arc::clone(&version));
        let mut reached = pin!(informer.reached("999", SOON));
        assert!(look(reached.as_mut(), &waker).is_pending());
    }
    assert_eq!(Arc::strong_count(&status), 1, "a waker was kept");
    informer.stop();
    assert_eq!(status.times(), 0);
    assert_eq!(version.times(), 0);
}

#[test]
fn a_status_wait_is_woken_when_a_synced_stream_is_dropped() {
    let world = World::new();
    world.create("a");
    let informer = started(&world);
    let mut stream = informer.stream().unwrap();
    world.wait(stream.next()).unwrap();
    // The stream counts as synced when it is asked for more.
    assert!(look(pin!(stream.next()), Waker::noop()).is_pending());
    world.settle();
    let seen = informer.status();
    assert!(seen.handlers[0].synced);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut changed = pin!(informer.status_change(&seen));
    assert!(look(changed.as_mut(), &waker).is_pending());
    drop(stream);
    assert_eq!(woken.times(), 1);
    assert!(look(changed.as_mut(), &waker).is_ready());
}

#[test]
fn an_outage_shows_until_the_server_answers_again() {
    let world = World::new();
    world.create("a");
    let informer = started(&world);
    world.wait(informer.synced(SOON)).unwrap();
    let long = Duration::from_secs(1_000_000);
    assert!(informer.is_fresh(long) && informer.status().following);
    world.server.inject(Fault::Refuse);
    world.server.inject(Fault::Refuse);
    world.server.with(|server| server.restart());
    world.settle();
    assert!(!informer.is_fresh(long), "the watch is gone");
    assert!(!informer.status().following);
    while !informer.is_fresh(long) {
        assert!(world.clock.advance_to_next().is_some());
        world.settle();
    }
    let status = informer.status();
    assert!(status.counts.failures >= 2, "{status:?}");
    assert_eq!(status.last_failure.unwrap().failure, Failure::Unreachable);
}

#[test]
fn a_version_that_is_not_reached_is_an_error_with_the_state_of_the_informer() {
    let world = World::new();
    let informer = started(&world);
    world.wait(informer.synced(SOON)).unwrap();
    let told = |error: NotReached| match error {
        NotReached::InTime { reason, .. } => reason,
        other => panic!("{other}"),
    };
    let error = world.wait(informer.reached("999", SOON)).unwrap_err();
    assert_eq!(
        told(error),
        "it is watching, and the server has sent nothing newer"
    );
    // The next watch is not answered.
    let mut reached = pin!(informer.reached("999", Duration::from_millis(1)));
    assert!(look(reached.as_mut(), Waker::noop()).is_pending());
    world.server.inject(Fault::Delay(SOON));
    world.server.with(|server| server.restart());
    let error = world.wait(reached).unwrap_err();
    let reason = told(error);
    assert!(
        reason.starts_with("the server has not answered the watch yet; 1 failure"),
        "{reason}"
    );
}
