//! The subresources: status and scale.

use serde_json::{Value, json};

use super::{CONFIGMAPS, DEPLOYMENTS, PODS, WIDGETS};
use crate::probe::Probe;

const JSON_PATCH: &str = "application/json-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn pod_template() -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    })
}

/// The status, with every verb.
pub(super) fn status() -> Vec<Probe> {
    let s = format!("{PODS}/s");
    let status = format!("{s}/status");
    let running = |app: &str| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "s", "labels": {"app": app}},
        "spec": {"containers": [{"name": "c", "image": "other"}]}, "status": {"phase": "Running"}})
    };
    vec![
        Probe::post(
            PODS,
            &json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "s", "labels": {"app": "s"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]}}),
        )
        .keep("s"),
        Probe::get(&status),
        Probe::patch(
            &status,
            JSON_PATCH,
            json!([{"op": "replace", "path": "/status/phase", "value": "Failed"}]).to_string(),
        )
        .keep("s2"),
        Probe::patch(
            &status,
            JSON_PATCH,
            json!([{"op": "test", "path": "/status/phase", "value": "None"}]).to_string(),
        ),
        Probe::patch(
            &status,
            STRATEGIC,
            json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
                .to_string(),
        )
        .keep("s3"),
        Probe::merge(format!("{status}?dryRun=All"), &json!({"status": {"phase": "Failed"}})),
        Probe::merge(&status, &json!({"metadata": {"resourceVersion": "1"}, "status": {"phase": "Failed"}})),
        Probe::get(format!("{PODS}?fieldSelector=status.phase%3DRunning")),
        Probe::post(&status, &running("s")),
        Probe::bare("DELETE", &status),
        Probe::get(format!("{PODS}/nobody/status")),
        Probe::merge(format!("{PODS}/nobody/status"), &json!({})),
        Probe::put(format!("{PODS}/nobody/status"), &running("s")),
        Probe::put(&status, &json!({"metadata": {"name": "other"}})),
        Probe::get(format!("{s}/nothing")),
        Probe::bare("DELETE", format!("{s}/nothing")),
        Probe::get(format!("{CONFIGMAPS}/a/status")),
        Probe::delete(&s, &json!({"gracePeriodSeconds": 0})),
    ]
}

/// The scale of built-in kinds.
pub(super) fn scale() -> Vec<Probe> {
    let d = format!("{DEPLOYMENTS}/scaled");
    let scale = format!("{d}/scale");
    let controllers = "/api/v1/namespaces/{ns}/replicationcontrollers";
    let body = |metadata: Value, replicas: Value| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas}});
    let name = || json!({"name": "scaled"});
    let selector = json!({"matchLabels": {"app": "web"}, "matchExpressions": [
        {"key": "x", "operator": "NotIn", "values": ["b", "a"]}, {"key": "y", "operator": "DoesNotExist"}]});
    vec![
        Probe::post(
            DEPLOYMENTS,
            &json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "scaled"},
                "spec": {"replicas": 1, "selector": selector, "template": pod_template()}}),
        )
        .keep("d1"),
        Probe::get(&scale),
        Probe::put(&scale, &body(name(), json!(3))).keep("d2"),
        Probe::put(&scale, &body(name(), json!(3))),
        Probe::merge(&scale, &json!({"spec": {"replicas": 2}})).keep("d3"),
        Probe::patch(
            &scale,
            JSON_PATCH,
            json!([{"op": "test", "path": "/spec/replicas", "value": 2},
                {"op": "replace", "path": "/spec/replicas", "value": 4}])
            .to_string(),
        )
        .keep("d4"),
        Probe::patch(
            &scale,
            STRATEGIC,
            json!({"spec": {"replicas": 5}}).to_string(),
        )
        .keep("d5"),
        Probe::merge(
            format!("{scale}?dryRun=All"),
            &json!({"spec": {"replicas": 9}}),
        ),
        // Not a part of the scale.
        Probe::merge(
            &scale,
            &json!({"metadata": {"labels": {"k": "v"}}, "status": {"replicas": 9}}),
        ),
        Probe::get(&d),
        Probe::put(&scale, &body(name(), json!(-3))),
        Probe::put(&scale, &body(name(), json!("three"))),
        Probe::put(&scale, &body(name(), Value::Null)),
        Probe::put(&scale, &body(json!({"name": "other"}), json!(1))),
        Probe::put(&scale, &body(json!({}), json!(1))),
        Probe::put(
            &scale,
            &body(json!({"name": "scaled", "namespace": "other"}), json!(1)),
        ),
        Probe::put(
            &scale,
            &body(json!({"name": "scaled", "resourceVersion": "1"}), json!(1)),
        ),
        Probe::put(
            &scale,
            &body(
                json!({"name": "scaled", "uid": "00000000-0000-0000-0000-000000000000"}),
                json!(1),
            ),
        ),
        Probe::put(
            &scale,
            &json!({"metadata": name(), "spec": {"replicas": 1}}),
        ),
        Probe::put(
            format!("{DEPLOYMENTS}/nobody/scale"),
            &body(json!({"name": "nobody"}), json!(1)),
        ),
        Probe::merge(format!("{DEPLOYMENTS}/nobody/scale"), &json!({})),
        Probe::get(format!("{DEPLOYMENTS}/nobody/scale")),
        Probe::bare("DELETE", &scale),
        Probe::post(&scale, &body(name(), json!(1))),
        Probe::get(format!("{d}/nothing")),
        Probe::get(&scale)
            .accepting("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"),
        Probe::get("/apis/apps/v1/namespaces/{ns}/daemonsets/d/scale"),
        Probe::post(
            controllers,
            &json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "rc", "labels": {"app": "web"}},
                "spec": {"replicas": 1, "selector": {"app": "web"}, "template": pod_template()}}),
        ),
        Probe::get(format!("{controllers}/rc/scale")),
        Probe::merge(
            format!("{controllers}/rc/scale"),
            &json!({"spec": {"replicas": 2}}),
        ),
        Probe::delete(&d, &json!({"propagationPolicy": "Background"})),
        Probe::delete(
            format!("{controllers}/rc"),
            &json!({"propagationPolicy": "Background"}),
        ),
    ]
}

/// The scale of a custom resource.
pub(super) fn custom_scale() -> Vec<Probe> {
    let w = format!("{WIDGETS}/scaled");
    let scale = format!("{w}/scale");
    let body = |metadata: Value, replicas: i64| json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadata, "spec": {"replicas": replicas}});
    vec![
        Probe::post(
            WIDGETS,
            &json!({"apiVersion": "probes.example.com/v1", "kind": "Widget", "metadata": {"name": "scaled"}, "spec": {"size": 1}}),
        )
        .keep("w1"),
        Probe::get(&scale),
        Probe::put(&scale, &body(json!({"name": "scaled"}), 3)).keep("w2"),
        Probe::merge(
            format!("{w}/status"),
            &json!({"status": {"replicas": 2, "selector": "a=b"}}),
        )
        .keep("w3"),
        Probe::get(&scale),
        Probe::merge(&scale, &json!({"spec": {"replicas": 4}})).keep("w4"),
        Probe::get(&w),
        Probe::merge(&scale, &json!({"spec": {"replicas": -1}})),
        Probe::put(
            &scale,
            &body(json!({"name": "scaled", "resourceVersion": "1"}), 1),
        ),
        Probe::patch(&scale, STRATEGIC, "{}"),
        Probe::bare("DELETE", &scale),
        Probe::get(format!("{w}/nothing")),
        Probe::get(format!("{WIDGETS}/nobody/scale")),
        Probe::bare("DELETE", &w),
    ]
}
