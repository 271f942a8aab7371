//! A factory lets go of informers that nobody uses, and of no others.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use informer::{Connect, SharedInformer, SharedInformerFactory, Target};
use serde_json::Value;
use world::logged::logged;
use world::tracked::Tracked;
use world::{Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

fn started(world: &World) -> SharedInformerFactory<impl Connect + use<>> {
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    factory.start().unwrap();
    factory
}

fn released(factory: &SharedInformerFactory<impl Connect>) -> Vec<String> {
    let released = factory.release_unused();
    released.iter().map(Target::to_string).collect()
}

#[test]
fn what_nobody_uses_is_stopped_and_freed() {
    type Tested = Tracked<0>;
    let world = World::new();
    for name in ["a", "b"] {
        world.create(name);
    }
    let factory = started(&world);
    let informer = factory.informer(&Tested::pods()).unwrap();
    let other = factory.informer(&pods()).unwrap();
    world.wait(factory.synced(SOON)).unwrap();
    assert!(released(&factory).is_empty());
    assert_eq!(Tested::live().get(), 2);
    let tasks = world.runtime.tasks();

    drop(informer);
    assert_eq!(Tested::live().get(), 2, "it waits for its next user");
    assert_eq!(released(&factory), ["pods.v1"]);
    world.settle();
    assert_eq!(
        (Tested::live().get(), world.runtime.tasks()),
        (0, tasks - 1)
    );
    assert_eq!(factory.status().len(), 1);
    assert!(released(&factory).is_empty(), "it is gone already");

    // The next request gets a new one, and the other one goes on.
    world.create("c");
    let again = factory.informer(&Tested::pods()).unwrap();
    world.wait(again.synced(SOON)).unwrap();
    assert_eq!((again.lister().len(), keys(&other).len()), (3, 3));
}

/// Each kind of use keeps it, until it ends.
#[test]
fn what_somebody_uses_is_kept() {
    fn of(informer: &SharedInformer<Value>, kind: usize) -> Box<dyn std::any::Any> {
        match kind {
            0 => Box::new(informer.clone()),
            1 => Box::new(informer.lister()),
            2 => Box::new(informer.lister().namespace("web")),
            3 => Box::new(informer.lister().kept()),
            _ => Box::new(informer.stream().unwrap()),
        }
    }
    for kind in 0..5 {
        let world = World::new();
        let factory = started(&world);
        let usage = of(&factory.informer(&pods()).unwrap(), kind);
        world.settle();
        assert!(released(&factory).is_empty(), "use {kind}");
        drop(usage);
        assert_eq!(released(&factory), ["pods.v1"], "use {kind}");
        world.settle();
        assert_eq!(world.runtime.tasks(), 0);
    }
}

#[test]
fn a_handler_keeps_its_informer_until_it_is_removed() {
    let world = World::new();
    let factory = started(&world);
    let told = Told::default();
    let registration = factory.informer(&pods()).unwrap().on(told.handler());
    world.settle();
    assert!(released(&factory).is_empty());
    world.create("a");
    world.settle();
    assert_eq!(told.take(), ["add a Watch"]);
    world.wait(registration.unwrap().remove());
    assert_eq!(released(&factory), ["pods.v1"]);

    // Dropping a registration does not remove its handler.
    drop(
        factory
            .informer(&pods())
            .unwrap()
            .on(told.handler())
            .unwrap(),
    );
    assert!(released(&factory).is_empty());
    // One that has ended calls no handler.
    factory.informer(&pods()).unwrap().stop();
    assert_eq!(released(&factory), ["pods.v1"]);
}

#[test]
fn what_waits_for_a_factory_keeps_its_informers() {
    let world = World::new();
    let factory = started(&world);
    factory.informer(&pods()).unwrap();
    let mut waits = Box::pin(factory.synced(SOON));
    let mut context = Context::from_waker(Waker::noop());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    assert!(released(&factory).is_empty());
    world.wait(waits).unwrap();
    assert_eq!(released(&factory).len(), 1);
}

/// An informer that was never started goes without a complaint, and before the start.
#[test]
fn an_informer_that_was_not_started_is_released() {
    let world = World::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    factory.informer(&pods()).unwrap();
    let kept = factory.informer(&pods().namespace("web")).unwrap();
    assert_eq!(released(&factory), ["pods.v1"]);
    factory.start().unwrap();
    world.wait(kept.synced(SOON)).unwrap();
}

/// Ends the other threads of a test, also if it fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A request that races with a release gets an informer that runs, and that informer keeps running.
#[test]
fn nobody_gets_an_informer_that_is_being_released() {
    let world = World::new();
    let factory = started(&world);
    let (over, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let _ending = Ending(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                count.fetch_add(factory.release_unused().len(), Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                factory.start().unwrap();
            }
        });
        for round in 0..100 {
            let informer = factory.informer(&pods()).unwrap();
            assert!(!informer.is_stopped());
            let registration = informer.on(|_| {}).unwrap();
            drop(informer);
            std::thread::yield_now();
            // The handler keeps it.
            let same = factory.informer(&pods()).unwrap();
            assert!(registration.status().is_some() && !same.is_stopped());
            assert_eq!(same.status().handlers.len(), 1);
            let before = count.load(Ordering::Relaxed);
            drop((registration.remove(), same));
            world.settle();
            while round % 10 == 0 && count.load(Ordering::Relaxed) == before {
                std::thread::yield_now();
            }
        }
    });
    factory.release_unused();
    world.settle();
    assert_eq!(world.runtime.tasks(), 0);
}

/// A handler that was removed while it was called does not keep the informer, and is no reason to complain.
#[test]
fn a_call_that_has_not_returned_does_not_keep_it() {
    let lines = logged(|| {
        let world = World::new();
        world.create("a");
        let factory = started(&world);
        let (go, waits) = tokio::sync::watch::channel(false);
        let registration = factory.informer(&pods()).unwrap().on_async(move |_| {
            let mut waits = waits.clone();
            async move {
                waits.wait_for(|go| *go).await.unwrap();
            }
        });
        world.settle();
        let mut removal = Box::pin(registration.unwrap().remove());
        let mut context = Context::from_waker(Waker::noop());
        assert!(removal.as_mut().poll(&mut context).is_pending());
        assert_eq!(released(&factory), ["pods.v1"]);
        go.send(true).unwrap();
        world.settle();
        world.wait(removal);
        assert_eq!(world.runtime.tasks(), 0);
    });
    let complaint = lines.iter().find(|line| line.get("waiting").is_some());
    assert!(complaint.is_none(), "{complaint:?}");
}
