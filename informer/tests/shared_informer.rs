//! Shared informers on the mock, with virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::{Filter, Notification};
use world::{Pod, Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

#[test]
fn handlers_are_told_and_the_store_follows() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let told = Told::default();
    let registration = informer.on(told.handler()).unwrap();
    world.settle();
    assert!(told.take().is_empty(), "it was not started");
    informer.start();
    world.wait(registration.synced(SOON)).unwrap();
    assert_eq!(told.take(), ["add a initial Relist"]);
    world.create("b");
    world.touch("a");
    world.delete("b");
    world.settle();
    assert_eq!(
        told.take(),
        ["add b Watch", "update a Watch", "delete b Observed Watch"]
    );
    assert_eq!(keys(&informer), ["web/a"]);
}

/// What a newcomer writes must compile: nobody wants to name the types of a closure.
#[test]
fn closures_need_no_types() {
    let world = World::new();
    world.create("a");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let (names, seen) = std::sync::mpsc::channel();
    let (again, later) = (names.clone(), names.clone());
    informer
        .on(move |change| names.send(change.key().name().to_owned()).unwrap())
        .unwrap();
    informer
        .on_async(move |change| {
            let again = again.clone();
            async move { again.send(change.key().to_string()).unwrap() }
        })
        .unwrap();
    let tell = move |change: Notification<Pod>| later.send(format!("{change}")).unwrap();
    informer
        .add_handler(Filter::new(|pod| pod.labels.get("app") == Some("a"), tell))
        .unwrap();
    informer.start();
    world.settle();
    let mut said: Vec<_> = seen.try_iter().collect();
    said.sort();
    assert_eq!(said, ["a", "added web/a (initial, relist)", "web/a"]);
}
