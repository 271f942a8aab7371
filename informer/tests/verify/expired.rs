//! Versions that the server has discarded.

use std::sync::Arc;
use std::time::Duration;

use informer::runtime::Runtime as _;
use informer::{Failure, NotVerified};
use informer_transport_mock::fault::Fault;

use crate::rig::{LONG, SOON, synced, verify, with_pods, write_elsewhere};
use crate::world::{World, pods, sleep};

#[test]
fn a_version_that_the_server_discarded_is_replaced_by_a_newer_one() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    write_elsewhere(&world);
    world.server.with(|server| server.compact(3));
    // A bookmark comes after a minute.
    let verified = verify(&world, &informer, LONG).unwrap();
    assert!(verified.is_consistent(), "{verified}");
    assert_eq!(verified.version, "3");
}

#[test]
fn a_page_may_expire_too() {
    let world = World::new();
    for number in 0..600 {
        world.create(&format!("pod-{number}"));
    }
    let informer = synced(&world, &pods());
    world.server.inject(Fault::Delay(Duration::ZERO));
    world.server.inject(Fault::Expire);
    write_elsewhere(&world);
    let verified = verify(&world, &informer, LONG).unwrap();
    assert!(
        verified.is_consistent() && verified.version == "602",
        "{verified}"
    );
    assert_eq!(world.server.fault_counts()["expire"], 1);
}

#[test]
fn without_a_newer_version_the_error_says_what_the_informer_does() {
    let world = with_pods(&["a"]);
    let informer = synced(&world, &pods());
    world.server.inject(Fault::Expire);
    let error = verify(&world, &informer, SOON).unwrap_err();
    assert_eq!(
        error.to_string(),
        "pods.v1 cannot be compared with the server: the server no longer has version 2, and the cache \
         showed no newer one within 30s: it is watching, and the server has sent nothing newer"
    );
    let NotVerified::NoState { expired, .. } = error else {
        unreachable!("{error}");
    };
    assert_eq!(expired.as_deref(), Some("2"));
}

#[test]
fn a_server_that_discards_every_version_is_asked_three_times() {
    let world = Arc::new(with_pods(&["a"]));
    let informer = synced(&world, &pods());
    for _ in 0..9 {
        world.server.inject(Fault::Expire);
    }
    let (changes, clock) = (Arc::clone(&world), world.clock.clone());
    let write = async move {
        for _ in 0..20 {
            changes.touch("a");
            sleep(&clock, Duration::from_secs(1)).await;
        }
    };
    world.runtime.spawn(Box::pin(write)).unwrap();
    let error = verify(&world, &informer, LONG).unwrap_err();
    assert!(
        matches!(
            &error,
            NotVerified::Failed {
                failure: Failure::Expired,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("(3 attempts)"), "{error}");
    assert_eq!(world.server.fault_counts()["expire"], 3);
}
