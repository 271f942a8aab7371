//! What the cache holds and shows.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::{
    Failure, InformerBuilder, NotReached, SharedInformer, SharedInformerFactory, TransformError,
};
use serde_json::Value;
use world::{World, pods};

const SOON: Duration = Duration::from_secs(30);
const LONG: Duration = Duration::from_secs(3_600);

fn start(world: &World, builder: &InformerBuilder<Value>) -> SharedInformer<Value> {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    informer
}

#[test]
fn too_many_objects_are_a_failure_with_a_remedy_until_they_fit() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let all = start(&world, &pods());
    world.wait(all.synced(SOON)).unwrap();
    let bytes = all.snapshot().bytes();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone()).max_objects(2);
    let too_many = [
        start(&world, &pods().max_objects(2)),
        start(&world, &pods().max_bytes(bytes - 1)),
        factory.informer(&pods()).unwrap(),
    ];
    factory.start().unwrap();
    for informer in &too_many {
        let error = world.wait(informer.synced(SOON)).unwrap_err().to_string();
        assert!(error.contains("the limit of "), "{error}");
        assert!(error.contains("was reached; raise it"), "{error}");
        assert!(!informer.is_fresh(LONG));
        assert!(informer.lister().len() < 3);
        let failure = informer.status().last_failure.unwrap().failure;
        assert_eq!(failure, Failure::Full);
    }
    world.delete("a");
    world.delete("b");
    for informer in &too_many {
        world.wait(informer.synced(LONG)).unwrap();
        assert!(informer.is_fresh(LONG));
        assert_eq!(informer.lister().len(), 1);
    }
    // The limit of an informer wins over the limit of its factory.
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone()).max_objects(2);
    let own = factory.informer(&pods().max_objects(9)).unwrap();
    for name in ["d", "e", "f"] {
        world.create(name);
    }
    factory.start().unwrap();
    world.wait(own.synced(SOON)).unwrap();
    assert_eq!(own.lister().len(), 4);
}

#[test]
fn a_write_to_a_rejected_object_is_not_reached_and_the_error_names_it() {
    let world = World::new();
    world.create("a");
    let refusing = pods().transform(|pod| match pod.body()["spec"]["touched"].as_u64() {
        Some(_) if pod.key().name() == "a" => Err(TransformError::new("touched")),
        _ => Ok(()),
    });
    let informer = start(&world, &refusing);
    world.wait(informer.synced(SOON)).unwrap();
    let refused = world.touch("a");
    let shown = world.create("b");
    world.wait(informer.reached(&shown, SOON)).unwrap();
    let error = world.wait(informer.reached(&refused, SOON)).unwrap_err();
    let said = error.to_string();
    let NotReached::Rejected {
        object, version, ..
    } = error
    else {
        unreachable!("{said}");
    };
    assert_eq!(
        (version, object.version.clone()),
        (refused.clone(), Some(refused.clone()))
    );
    assert_eq!(object.key.as_ref().unwrap().to_string(), "web/a");
    let expected = format!(
        "pods.v1 cannot show version {refused}: the object \"web/a\" at version {refused} was left out: refused by the transform: touched; fix the object, or the code that rejects it"
    );
    assert_eq!(said, expected);
    world.delete("a");
    let gone = world.create("c");
    world.wait(informer.reached(&gone, SOON)).unwrap();
    world.wait(informer.reached(&refused, SOON)).unwrap();
}
