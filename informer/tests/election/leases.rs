//! What is in the Lease.

use std::time::Duration;

use serde_json::{Value, json};

use crate::place::{DEADLINE, LEASE, Place, poll};

fn create(place: &Place, lease: Value) {
    place
        .server
        .with(|server| server.create("leases", lease))
        .unwrap();
}

fn patch(place: &Place, patch: Value) {
    place
        .server
        .with(|server| server.patch("leases", LEASE, patch))
        .unwrap();
}

#[test]
fn what_others_have_written_stays() {
    let place = Place::new();
    let metadata = json!({
        "namespace": "web",
        "name": "shop",
        "labels": {"team": "blue"},
        "annotations": {"example.com/why": "because"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
    });
    let spec = json!({"strategy": "OldestEmulationVersion", "preferredHolder": "z"});
    create(&place, json!({"metadata": metadata, "spec": spec}));
    let a = place.replica("a");
    place.settle();
    let written = place.lease().unwrap();
    assert_eq!(written["spec"]["holderIdentity"], "a");
    // Somebody writes while it leads.
    let note = json!({"metadata": {"labels": {"colour": "red"}}, "spec": {"preferredHolder": "y"}});
    patch(&place, note);
    let guard = a.guard();
    place.pass(Duration::from_secs(30));
    assert!(guard.holds());
    drop(a.election.stop());
    place.settle();
    let lease = place.lease().unwrap();
    assert_eq!(lease["spec"].get("holderIdentity"), None);
    assert_eq!(lease["spec"]["strategy"], "OldestEmulationVersion");
    assert_eq!(lease["spec"]["preferredHolder"], "y");
    let labels = json!({"team": "blue", "colour": "red"});
    assert_eq!(lease["metadata"]["labels"], labels);
    for part in ["annotations", "ownerReferences"] {
        assert_eq!(lease["metadata"][part], metadata[part], "{part}");
    }
}

#[test]
fn a_lease_without_a_holder_is_taken_at_once() {
    for spec in [
        json!(null),
        json!({}),
        json!({"holderIdentity": null, "leaseDurationSeconds": null, "renewTime": null}),
        json!({"holderIdentity": "", "leaseDurationSeconds": 15, "leaseTransitions": 7}),
        // Nobody says how long this one holds it.
        json!({"holderIdentity": "z"}),
    ] {
        let place = Place::new();
        create(
            &place,
            json!({"metadata": {"namespace": "web", "name": "shop"}, "spec": spec}),
        );
        let a = place.replica("a");
        place.settle();
        assert!(a.election.is_leader(), "{spec}: {}", a.election.status());
        let before = spec["leaseTransitions"].as_u64().unwrap_or(0);
        assert_eq!(place.spec()["leaseTransitions"], before + 1);
    }
}

#[test]
fn a_lease_of_another_one_is_taken_when_its_own_time_has_passed() {
    let place = Place::new();
    let spec = json!({"holderIdentity": "z", "leaseDurationSeconds": 40, "leaseTransitions": 7});
    create(
        &place,
        json!({"metadata": {"namespace": "web", "name": "shop"}, "spec": spec}),
    );
    let a = place.replica("a");
    let waited = place.until(Duration::from_secs(60), || a.election.is_leader());
    assert!(waited >= Duration::from_secs(40), "{waited:?}");
    assert_eq!(a.election.fencing_token(), Some(8));
}

#[test]
fn a_deleted_lease_comes_back_and_its_holder_goes_on() {
    let place = Place::new();
    let (a, b) = (place.replica("a"), place.replica("b"));
    place.pass(Duration::from_secs(30));
    let guard = a.guard();
    // Just after the leader has renewed, so that the other one looks first.
    place.until_renewed();
    place
        .server
        .with(|server| server.delete("leases", LEASE))
        .unwrap();
    let mut leading = b.election.leading();
    place.until(DEADLINE, || place.lease().is_some());
    place.pass(Duration::from_secs(60));
    assert!(guard.holds());
    assert_eq!(a.election.fencing_token(), Some(guard.fencing_token()));
    assert_eq!(place.spec()["holderIdentity"], "a");
    assert!(poll(&mut leading).is_pending());
}

#[test]
fn a_leader_that_is_replaced_by_hand_sees_it() {
    let place = Place::new();
    let a = place.replica("a");
    place.settle();
    let guard = a.guard();
    patch(&place, json!({"spec": {"holderIdentity": "z"}}));
    place.pass(Duration::from_secs(3));
    assert!(!guard.holds());
    assert_eq!(a.election.holder().as_deref(), Some("z"));
}
