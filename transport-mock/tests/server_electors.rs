//! Leases and events: what electors and event recorders depend on.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

mod support;

use serde_json::{Value, json};
use support::{server, write};

#[test]
fn a_lease_has_a_duration_and_micro_times() {
    let mut server = server();
    let line = "POST /apis/coordination.k8s.io/v1/namespaces/default/leases";
    let time = "2026-01-02T03:04:05.000006Z";
    for (spec, code) in [
        (json!({"leaseDurationSeconds": 0}), 422),
        (json!({"leaseTransitions": -1}), 422),
        (json!({"leaseDurationSeconds": "15"}), 400),
        (json!({"renewTime": "2026-01-02T03:04:05Z"}), 400),
        (
            json!({"leaseDurationSeconds": 15, "renewTime": time, "holderIdentity": "a"}),
            201,
        ),
    ] {
        let lease = json!({"metadata": {"name": "l"}, "spec": spec});
        assert_eq!(write(&mut server, line, &lease).0, code, "{lease}");
    }
    let patch = server.patch("leases", "l", json!({"spec": {"leaseDurationSeconds": 0}}));
    assert_eq!(patch.unwrap_err().code(), 422);
}

#[test]
fn only_the_series_of_an_event_changes() {
    let mut server = server();
    let line = "POST /apis/events.k8s.io/v1/namespaces/default/events";
    let event = |action: &str| {
        json!({"metadata": {"name": "e"}, "eventTime": "2026-01-02T03:04:05.000006Z", "reportingController": "c",
            "reportingInstance": "c-1", "action": action, "reason": "r", "type": "Normal",
            "regarding": {"kind": "Pod", "namespace": "default", "name": "p"}})
    };
    let (code, refused) = write(&mut server, line, &event(""));
    assert_eq!(
        (code, &refused["details"]["causes"][0]["field"]),
        (422, &json!("action"))
    );
    assert_eq!(write(&mut server, line, &event("a")).0, 201);
    let kind = "events.events.k8s.io";
    let mut patch = |changes: Value| server.patch(kind, "e", changes).map(|it| it.version());
    let time = "2026-01-02T03:04:06.000000Z";
    assert_eq!(
        patch(json!({"series": {"count": 2, "lastObservedTime": time}})),
        Ok(3)
    );
    assert_eq!(
        patch(json!({"series": {"count": 1}})).unwrap_err().code(),
        422
    );
    assert_eq!(patch(json!({"reason": "other"})).unwrap_err().code(), 422);
}
