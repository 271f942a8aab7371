//! What differs, and why.

use std::time::Duration;

use informer::{FirstState, InformerConfig, TransformError, Verified};
use informer_transport_mock::fault::Fault;
use serde_json::json;

use crate::rig::{SOON, synced, verify, with_pods, write_elsewhere};
use crate::world::{World, pods};

#[test]
fn missing_extra_and_differing_objects_are_reported() {
    // Another server is at the same version, and has something else.
    let world = with_pods(&["a", "b", "c", "d"]);
    let informer = synced(&world, &pods());
    let other = with_pods(&["a", "c", "x"]);
    other.touch("a");
    let verified = world.wait(informer.verify(&other.connect(), SOON)).unwrap();
    assert!(!verified.is_consistent());
    let Verified {
        objects,
        missing,
        extra,
        differing,
        explained,
        ..
    } = verified;
    assert_eq!(
        (objects, missing, extra, differing, explained),
        (4, 1, 2, 2, 0)
    );
    assert_eq!(
        verified.to_string(),
        "pods.v1 at version 5: 4 objects; 1 missing, 2 extra, 2 at another version than on the server: \
         web/a has version 2 in the cache and 5 on the server; \
         web/c has version 4 in the cache and 3 on the server; \
         web/x is missing: the server has version 4; \
         web/b is extra: only the cache has it, at version 3; \
         web/d is extra: only the cache has it, at version 5"
    );
    let report = serde_json::to_value(&verified).unwrap();
    assert_eq!(report["name"], "pods.v1");
    assert_eq!(report["version"], "5");
    assert_eq!(report["extra"], 2);
    assert_eq!(
        report["differences"][2],
        json!({"key": "web/x", "cached": null, "server": "4", "explanation": null})
    );
}

#[test]
fn many_differences_are_counted_and_the_first_are_kept() {
    let names: Vec<_> = (0..80).map(|number| format!("pod-{number}")).collect();
    let world = World::new();
    let other = World::new();
    for name in &names {
        world.create(name);
        write_elsewhere(&other);
    }
    let informer = synced(&world, &pods());
    let verified = world.wait(informer.verify(&other.connect(), SOON)).unwrap();
    assert_eq!((verified.extra, verified.differences.len()), (80, 50));
    let said = verified.to_string();
    assert!(said.ends_with("; and 75 more"), "{said}");
    assert_eq!(said.matches("is extra").count(), 5, "{said}");
}

#[test]
fn objects_that_the_informer_could_not_use_are_explained() {
    let world = with_pods(&["a", "b"]);
    let refusing = pods().transform(|pod| match pod.key().name() {
        "b" => Err(TransformError::new("not b")),
        "a" if !pod.body()["spec"]["touched"].is_null() => Err(TransformError::new("touched")),
        _ => Ok(()),
    });
    let informer = synced(&world, &refusing);
    world.touch("a");
    world.settle();
    let verified = verify(&world, &informer, SOON).unwrap();
    assert!(!verified.is_consistent());
    assert_eq!(
        (verified.missing, verified.differing, verified.explained),
        (1, 1, 2)
    );
    let said = verified.to_string();
    for part in [
        "web/a has version 2 in the cache and 4 on the server (it was left out: refused by the transform: touched)",
        "web/b is missing: the server has version 3 (it was left out: refused by the transform: not b)",
    ] {
        assert!(said.contains(part), "{said}");
    }
    // The explanation is for these objects alone.
    let other = with_pods(&["a", "x", "y"]);
    let verified = world.wait(informer.verify(&other.connect(), SOON)).unwrap();
    assert_eq!((verified.missing, verified.explained), (2, 0), "{verified}");
}

#[test]
fn objects_without_a_readable_key_are_explained() {
    let world = with_pods(&["a", "b", "c"]);
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    let informer = synced(&world, &pods().preset(config));
    // The relist has an object without a name: `b` is gone, but that may be it.
    world.server.inject(Fault::Corrupt {
        nth: 0,
        nameless: true,
    });
    world.server.with(|server| {
        server.delete("pods", "web/b").unwrap();
        server
            .create(
                "pods",
                json!({"metadata": {"namespace": "web", "name": "0"}}),
            )
            .unwrap();
        server.forget_changes();
        server.restart();
    });
    world.pass(Duration::from_secs(60));
    assert!(informer.status().unswept, "{}", informer.status());
    let verified = verify(&world, &informer, SOON).unwrap();
    assert_eq!(
        (verified.missing, verified.extra, verified.explained),
        (1, 1, 2),
        "{verified}"
    );
    let said = verified.to_string();
    assert!(
        said.contains("web/0 is missing: the server has version 6 (perhaps it was left out: "),
        "{said}"
    );
    assert!(
        said.contains(
            "web/b is extra: only the cache has it, at version 3 (the last relist had an object"
        ),
        "{said}"
    );
}
