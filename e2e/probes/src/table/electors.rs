//! What electors and event recorders send: leases and events.

use serde_json::{Value, json};

use super::{LEASES, with};
use crate::probe::Probe;

const EVENTS: &str = "/apis/events.k8s.io/v1/namespaces/{ns}/events";
const CORE_EVENTS: &str = "/api/v1/namespaces/{ns}/events";
const TIME: &str = "2026-01-02T03:04:05.123456Z";

/// The fields of a lease.
pub(super) fn lease_fields() -> Vec<Probe> {
    let lease = |name: &str, spec: Value| {
        let body = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": spec});
        Probe::post(LEASES, &body)
    };
    let wrong = |spec: Value| lease("wrong", spec);
    let elected = format!("{LEASES}/elected");
    let mut probes = vec![
        lease(
            "elected",
            json!({"holderIdentity": "me", "leaseDurationSeconds": 15, "acquireTime": TIME, "renewTime": TIME, "leaseTransitions": 0}),
        )
        .keep("elected"),
        wrong(json!({"leaseDurationSeconds": 0})),
        wrong(json!({"leaseDurationSeconds": -1, "leaseTransitions": -1})),
        wrong(json!({"leaseDurationSeconds": "15"})),
        wrong(json!({"leaseDurationSeconds": 1.5})),
        wrong(json!({"holderIdentity": 5})),
        wrong(json!({"renewTime": 5})),
    ];
    probes.extend(
        [
            "2026-01-02T03:04:05Z",
            "2026-01-02T03:04:05.1Z",
            "2026-01-02T03:04:05.123456789Z",
            "2026-01-02",
            "yesterday",
        ]
        .map(|time| wrong(json!({"renewTime": time}))),
    );
    let renewed = |version: &str| {
        json!({"metadata": {"name": "elected", "resourceVersion": version},
            "spec": {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": "2026-01-02T03:04:06.000000Z", "leaseTransitions": 1}})
    };
    probes.extend([
        Probe::put(&elected, &renewed("{elected}")).keep("elected2"),
        Probe::put(&elected, &renewed("{elected}")),
        Probe::merge(&elected, &json!({"spec": {"leaseDurationSeconds": 0}})),
        Probe::bare("DELETE", &elected),
    ]);
    probes
}

fn event(name: &str) -> Value {
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": name},
        "eventTime": TIME,
        "reportingController": "example.com/controller",
        "reportingInstance": "controller-1",
        "action": "Reconcile",
        "reason": "Done",
        "type": "Normal",
        "regarding": {"kind": "ConfigMap", "namespace": "{ns}", "name": "a"},
        "note": "all is well",
    })
}

/// The fields of an event, in both groups.
pub(super) fn events() -> Vec<Probe> {
    let wrong =
        |pointer: &str, value: Value| Probe::post(EVENTS, &with(event("wrong"), pointer, value));
    let e = format!("{EVENTS}/e");
    let series =
        |count: i64| json!({"count": count, "lastObservedTime": "2026-01-02T03:04:06.000000Z"});
    let old = |name: &str, namespace: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": name},
            "involvedObject": {"kind": "ConfigMap", "namespace": namespace, "name": "a"}, "reason": "Done", "type": "Normal",
            "message": "all is well", "count": 1, "source": {"component": "controller"}})
    };
    vec![
        Probe::post(EVENTS, &event("e")).keep("e"),
        Probe::get(&e),
        wrong("/eventTime", Value::Null),
        wrong("/eventTime", json!("2026-01-02T03:04:05Z")),
        wrong("/reportingController", json!("")),
        wrong("/reportingController", json!("no name/")),
        wrong("/reportingInstance", json!("")),
        wrong("/reportingInstance", json!("i".repeat(129))),
        wrong("/action", json!("")),
        wrong("/action", json!("a".repeat(129))),
        wrong("/reason", json!("")),
        wrong("/reason", json!(5)),
        wrong("/reason", json!("r".repeat(129))),
        wrong("/note", json!("n".repeat(1025))),
        wrong("/type", json!("")),
        wrong("/type", json!("Odd")),
        wrong("/regarding", json!({"kind": "Node", "name": "n"})),
        wrong("/series", series(1)),
        wrong("/series", json!({"count": 2})),
        wrong("/deprecatedCount", json!(1)),
        wrong("/deprecatedFirstTimestamp", json!("2026-01-02T03:04:05Z")),
        wrong("/deprecatedSource", json!({"component": "controller"})),
        wrong("/metadata/name", json!("Not_A_Name")),
        // A recorder adds a series, and changes nothing else.
        Probe::merge(&e, &json!({"series": series(2)})).keep("e2"),
        Probe::patch(
            &e,
            "application/strategic-merge-patch+json",
            json!({"series": series(3)}).to_string(),
        )
        .keep("e3"),
        Probe::merge(&e, &json!({"series": series(1)})),
        Probe::merge(&e, &json!({"reason": "Undone", "note": "all is lost"})),
        Probe::get(format!("{EVENTS}?fieldSelector=regarding.name%3Da")),
        Probe::get(format!("{EVENTS}?fieldSelector=involvedObject.name%3Da")),
        Probe::bare("DELETE", &e),
        Probe::post(CORE_EVENTS, &old("old", "{ns}")),
        Probe::post(CORE_EVENTS, &old("elsewhere", "other")),
        Probe::post(CORE_EVENTS, &old("nowhere", "")),
        Probe::bare("DELETE", format!("{CORE_EVENTS}/old")),
        Probe::get(format!(
            "{EVENTS}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        )),
    ]
}
