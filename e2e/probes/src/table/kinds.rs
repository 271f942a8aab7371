//! Kinds with special rules: the answer to a deletion, the status, updates without a version,
//! generations.

use serde_json::{Value, json};

use super::{DEPLOYMENTS, LEASES, PODS, WIDGETS, with};
use crate::probe::Probe;

fn labels() -> Value {
    json!({"app": "web", "run": "{ns}"})
}

pub(super) fn pods() -> Vec<Probe> {
    let p = format!("{PODS}/p");
    let containers = json!([{"name": "c", "image": "i"}]);
    vec![
        Probe::post(
            PODS,
            &json!({
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "p", "labels": labels()},
                "spec": {"containers": containers},
                "status": {"phase": "Running"},
            }),
        )
        .keep("p"),
        Probe::get(&p),
        Probe::get(format!("{p}/status")),
        Probe::merge(
            &p,
            &json!({"metadata": {"labels": {"app": "db"}}, "status": {"phase": "Failed"}}),
        )
        .keep("p2"),
        Probe::merge(
            format!("{p}/status"),
            &json!({"metadata": {"labels": {"app": "lost"}}, "status": {"phase": "Running"}}),
        )
        .keep("p3"),
        Probe::patch(
            &p,
            "application/strategic-merge-patch+json",
            json!({"spec": {"containers": [{"name": "c", "image": "i2"}]}}).to_string(),
        )
        .keep("p4"),
        Probe::get(PODS),
        Probe::get(format!("{PODS}?fieldSelector=status.phase%3DRunning")),
        Probe::get(format!("{PODS}?fieldSelector=status.phase%3DPending")),
        Probe::get(format!("{PODS}?fieldSelector=spec.nodeName%3D")),
        Probe::delete(&p, &json!({"gracePeriodSeconds": 0})),
        Probe::get(&p),
        Probe::get(format!(
            "{PODS}?watch=true&timeoutSeconds=1&resourceVersion={{p}}"
        )),
        Probe::get(format!(
            "{PODS}?watch=true&timeoutSeconds=1&resourceVersion={{p}}&fieldSelector=status.phase%3DRunning"
        )),
    ]
}

/// The empty object of every built-in kind, as in the bookmark at the end of an empty state.
pub(super) fn blanks() -> Vec<Probe> {
    [
        "/api/v1/pods",
        "/api/v1/nodes",
        "/api/v1/namespaces",
        "/api/v1/services",
        "/api/v1/endpoints",
        "/api/v1/secrets",
        "/api/v1/serviceaccounts",
        "/api/v1/events",
        "/api/v1/replicationcontrollers",
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/replicasets",
        "/apis/apps/v1/statefulsets",
        "/apis/apps/v1/daemonsets",
        "/apis/batch/v1/jobs",
        "/apis/coordination.k8s.io/v1/leases",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    ]
    .map(|path| {
        Probe::get(format!(
            "{path}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=no%3Dbody"
        ))
    })
    .to_vec()
}

pub(super) fn deployments() -> Vec<Probe> {
    let d = format!("{DEPLOYMENTS}/d");
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    vec![
        Probe::post(
            DEPLOYMENTS,
            &json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": "d", "labels": labels()},
                "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template},
            }),
        )
        .keep("d1"),
        Probe::merge(&d, &json!({"spec": {"replicas": 2}})).keep("d2"),
        Probe::merge(&d, &json!({"metadata": {"annotations": {"note": "x"}}})).keep("d3"),
        Probe::merge(format!("{d}/status"), &json!({"status": {"replicas": 1}})).keep("d4"),
        Probe::get(&d),
        Probe::get(DEPLOYMENTS),
        Probe::get(format!("{DEPLOYMENTS}?fieldSelector=spec.replicas%3D1")),
        Probe::delete(&d, &json!({"preconditions": {"resourceVersion": "1"}})),
        Probe::delete(&d, &json!({"propagationPolicy": "Background"})),
        Probe::get(format!(
            "{DEPLOYMENTS}?watch=true&timeoutSeconds=1&resourceVersion={{d1}}"
        )),
        Probe::get(format!(
            "{DEPLOYMENTS}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        )),
    ]
}

pub(super) fn leases() -> Vec<Probe> {
    let l = format!("{LEASES}/l");
    let lease = |version: Value| {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "l", "resourceVersion": version},
            "spec": {"holderIdentity": "probes"},
        })
    };
    vec![
        Probe::post(LEASES, &lease(Value::Null)).keep("l"),
        // It must name a version.
        Probe::put(&l, &lease(Value::Null)),
        Probe::put(&l, &lease(json!("1"))),
        Probe::put(&l, &lease(json!("{l}"))),
        Probe::merge(&l, &json!({"spec": {"holderIdentity": "others"}})),
        Probe::bare("DELETE", &l),
        Probe::bare("DELETE", &l),
    ]
}

pub(super) fn widgets() -> Vec<Probe> {
    let w = format!("{WIDGETS}/w");
    let widget = |name: &str| {
        json!({
            "apiVersion": "probes.example.com/v1",
            "kind": "Widget",
            "metadata": {"name": name, "labels": labels()},
            "spec": {"size": 1},
            "status": {"is": "early"},
        })
    };
    let without_version = with(widget("w"), "/spec/size", json!(2));
    vec![
        Probe::get(WIDGETS),
        Probe::post(WIDGETS, &widget("w")).keep("w"),
        Probe::post(WIDGETS, &widget("w")),
        Probe::post(WIDGETS, &widget("x")).keep("x"),
        Probe::post(WIDGETS, &widget("Not_A_Name")),
        Probe::post(WIDGETS, &json!({"metadata": {"name": "without-kind"}})),
        Probe::put(&w, &without_version),
        Probe::merge(&w, &json!({"spec": {"size": 2}, "status": {"is": "lost"}})).keep("w2"),
        Probe::merge(
            format!("{w}/status"),
            &json!({"spec": {"size": 9}, "status": {"is": "set"}}),
        )
        .keep("w3"),
        Probe::patch(&w, "application/strategic-merge-patch+json", "{}"),
        Probe::get(&w),
        Probe::get(format!("{w}/status")),
        Probe::get(WIDGETS),
        Probe::get(format!("{WIDGETS}?limit=1")),
        Probe::get(format!(
            "{WIDGETS}?resourceVersion={{x}}&resourceVersionMatch=Exact"
        )),
        Probe::get(format!("{WIDGETS}?labelSelector=app%3Dweb")),
        Probe::get(format!("{WIDGETS}?fieldSelector=metadata.name%3Dw")),
        Probe::get(format!("{WIDGETS}?fieldSelector=spec.size%3D1")),
        Probe::get(WIDGETS)
            .accepting("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
        Probe::get(WIDGETS).accepting("application/json;as=Table;v=v1;g=meta.k8s.io"),
        Probe::get(&w).accepting("application/vnd.kubernetes.protobuf"),
        Probe::get(format!(
            "{WIDGETS}?watch=true&timeoutSeconds=1&resourceVersion={{w}}"
        )),
        Probe::get(format!(
            "{WIDGETS}?watch=true&timeoutSeconds=1&resourceVersion=1"
        )),
        Probe::get(format!(
            "{WIDGETS}?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        )),
        Probe::delete(&w, &json!({"preconditions": {"resourceVersion": "1"}})),
        Probe::bare("DELETE", &w),
        Probe::bare("DELETE", &w),
        Probe::bare("DELETE", WIDGETS),
    ]
}
