//! Shared informers on the mock, with virtual time.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use world::{Told, World, keys, pods};

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
