//! Informers to compare, and servers to compare them with.

use std::time::Duration;

use informer::{InformerBuilder, NotVerified, SharedInformer, Verified};
use serde_json::{Value, json};

use crate::world::World;

pub(crate) const SOON: Duration = Duration::from_secs(30);

pub(crate) const LONG: Duration = Duration::from_secs(3_600);

pub(crate) fn start(world: &World, builder: &InformerBuilder<Value>) -> SharedInformer<Value> {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    informer
}

pub(crate) fn synced(world: &World, builder: &InformerBuilder<Value>) -> SharedInformer<Value> {
    let informer = start(world, builder);
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    informer
}

pub(crate) fn verify(
    world: &World,
    informer: &SharedInformer<Value>,
    within: Duration,
) -> Result<Verified, NotVerified> {
    world.wait(informer.verify(&world.connect(), within))
}

/// A server with these pods, made one after the other.
pub(crate) fn with_pods(names: &[&str]) -> World {
    let world = World::new();
    for name in names {
        world.create(name);
    }
    world
}

/// A write that the informer does not follow. The server's version moves on.
pub(crate) fn write_elsewhere(world: &World) {
    world.server.with(|server| {
        let name = format!("node-{}", server.version());
        server
            .create("nodes", json!({"metadata": {"name": name}}))
            .unwrap()
    });
}
