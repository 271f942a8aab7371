//! `Informer`: one watch, one cache, one handler.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use informer::{Informer, Notification, StartError};
use serde_json::Value;
use world::{Pod, Told, World, pods};

const SOON: Duration = Duration::from_secs(30);

fn start(world: &World, told: &Told) -> Informer<Value> {
    let shared = pods().build(&world.connect(), world.runtime.clone());
    Informer::new(shared.unwrap(), told.handler()).unwrap()
}

#[test]
fn its_handler_hears_every_change_and_its_cache_follows() {
    let world = World::new();
    world.create("a");
    let told = Told::default();
    let informer = start(&world, &told);
    assert!(!informer.is_synced() && told.take().is_empty());
    world.wait(informer.synced(SOON)).unwrap();
    assert_eq!(told.take(), ["add a initial Relist"]);

    let before = informer.snapshot();
    world.create("b");
    world.touch("a");
    world.delete("b");
    world.settle();
    let heard = ["add b Watch", "update a Watch", "delete b Observed Watch"];
    assert_eq!(told.take(), heard);
    let now = informer.lister().get("web", "a").unwrap();
    let then = before.iter().next().unwrap();
    assert_ne!(now.version(), then.version());
    let status = informer.status();
    assert_eq!((status.objects, status.handlers.len()), (1, 1));
    assert_eq!(status.handlers.first().unwrap().delivered, 4);
}

/// The cache is synced before its handler has returned from the last call for the first state.
#[test]
fn synced_means_the_cache_and_the_handler() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let shared = pods().build(&world.connect(), world.runtime.clone());
    let shared = shared.unwrap();
    let cache = shared.clone();
    let both = Arc::new(OnceLock::<Informer<Value>>::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (asked, noted) = (Arc::clone(&both), Arc::clone(&seen));
    let handler = move |_: Notification<Pod>| {
        let informer = asked.get().unwrap();
        let synced = (cache.is_synced(), informer.is_synced());
        noted.lock().unwrap().push(synced);
    };
    both.set(Informer::new(shared, handler).unwrap()).unwrap();
    let informer = both.get().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    assert!(informer.is_synced());
    let seen = seen.lock().unwrap();
    assert_eq!((seen.len(), seen.last()), (3, Some(&(true, false))));
}

#[test]
fn a_server_that_does_not_answer_is_the_reason() {
    let world = World::new();
    let connect =
        |target: &informer::Target| informer_transport_mock::script::Script::new(target.clone());
    let shared = pods().build(&connect, world.runtime.clone()).unwrap();
    let informer = Informer::new(shared, Told::default().handler()).unwrap();
    let error = world.wait(informer.synced(SOON)).unwrap_err();
    assert!(error.to_string().contains("pods.v1"), "{error}");
    assert!(!informer.is_synced());
}

/// Nothing is left: no task and no handler.
#[test]
fn a_drop_ends_it() {
    let world = World::new();
    let held = Arc::new(());
    let holds = Arc::clone(&held);
    let shared = pods().build(&world.connect(), world.runtime.clone());
    let handler = move |_: Notification<Pod>| drop(Arc::clone(&holds));
    let informer = Informer::new(shared.unwrap(), handler).unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    assert_eq!(Arc::strong_count(&held), 2);
    drop(informer);
    world.settle();
    assert_eq!(Arc::strong_count(&held), 1);
    assert_eq!(world.runtime.tasks(), 0);
}

/// A lister is a handle of the cache, so it keeps the informer alive.
#[test]
fn a_lister_outlives_it() {
    let world = World::new();
    let told = Told::default();
    let informer = start(&world, &told);
    world.wait(informer.synced(SOON)).unwrap();
    let lister = informer.lister();
    drop(informer);
    world.create("a");
    world.settle();
    assert_eq!(told.take(), ["add a Watch"]);
    assert_eq!(lister.len(), 1);
}

#[test]
fn a_stop_ends_it_and_leaves_the_cache() {
    let world = World::new();
    world.create("a");
    let told = Told::default();
    let informer = start(&world, &told);
    world.wait(informer.synced(SOON)).unwrap();
    let lister = informer.lister();
    world.wait(informer.stop());
    told.take();
    world.create("b");
    world.pass(SOON);
    assert!(told.take().is_empty());
    assert_eq!(lister.len(), 1);
}

#[test]
fn a_shared_informer_that_has_ended_is_refused() {
    let world = World::new();
    let shared = pods().build(&world.connect(), world.runtime.clone());
    let shared = shared.unwrap();
    shared.stop();
    let error = Informer::new(shared, Told::default().handler()).map(drop);
    assert!(matches!(error, Err(StartError::Ended { .. })), "{error:?}");
}
