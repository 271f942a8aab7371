//! The same answers of a real server, read from protobuf into the types of `k8s-pb` and from JSON into those of
//! `k8s-openapi`: both have the same values. Where the answers come from is in core/tests/protobuf_bodies/real.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

// Values of both crates in one form.
mod plain;

use std::fmt::Debug;

use informer::informer_core::decode::protobuf::Prost;
use informer::informer_core::decode::{
    Body, Decode as _, Decoder, Form, Keep, Lean, Packed, Typed,
};
use informer::informer_core::flow::Fact;
use informer::informer_core::pack::Packer;
use informer::{Encoding, Object};
use k8s_openapi::api::coordination::v1 as api_coordination;
use k8s_openapi::api::core::v1 as api;
use k8s_pb::api::coordination::v1 as pb_coordination;
use k8s_pb::api::core::v1 as pb;
use plain::Plain;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A recorded list in JSON and in protobuf.
macro_rules! list {
    ($name:literal) => {
        [
            &include_bytes!(concat!(
                "../../../core/tests/protobuf_bodies/real/",
                $name,
                ".json"
            ))[..],
            &include_bytes!(concat!(
                "../../../core/tests/protobuf_bodies/real/",
                $name,
                ".pb"
            ))[..],
        ]
    };
}

/// The objects of a list, of which none may be rejected.
fn read<F: Form>(form: F, encoding: Encoding, mut bytes: &[u8]) -> Vec<Object<F::Body>> {
    let mut decoder = Decoder::new(form);
    decoder.begin(Body::List, encoding);
    let mut objects = Vec::new();
    while let Some(fact) = decoder.decode(&mut bytes) {
        match fact {
            Fact::Item(object) => objects.push(object),
            Fact::Rejected(rejected) => panic!("{}", rejected.reason),
            Fact::Failed { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
    objects
}

/// Compares a list object by object, and returns the values of the last form.
fn compare<P, A>([json, protobuf]: [&[u8]; 2]) -> Vec<Value>
where
    P: prost::Message + Default + Plain + PartialEq + Debug + Send + Sync + 'static,
    A: DeserializeOwned + Plain + Debug + Send + Sync + 'static,
{
    let right = read(Typed::<A>::new(), Encoding::Json, json);
    let typed = read(Prost::<P>::new(), Encoding::Protobuf, protobuf);
    let lean = read(Lean, Encoding::Protobuf, protobuf);
    let untyped = read(Packed, Encoding::Protobuf, protobuf);
    let counts = [right.len(), typed.len(), lean.len(), untyped.len()];
    assert!(right.len() > 1 && counts.iter().all(|count| *count == right.len()));
    let mut packer = Packer::new();
    let mut values = Vec::new();
    for (((right, typed), lean), mut packed) in right.iter().zip(&typed).zip(&lean).zip(untyped) {
        let value = A::plain(right);
        assert_eq!(P::plain(typed), value, "{}", right.key());
        packer.pack(&mut packed);
        let lean: P = lean.decode_message().unwrap();
        assert_eq!(lean.plain(), value, "{}", right.key());
        assert_eq!(packed.decode_message::<P>().unwrap(), lean);
        values.push(value);
    }
    let full = Keep::new(Typed::<A>::new()).managed_fields(true);
    let right = read(full, Encoding::Json, json);
    let full = Keep::new(Prost::<P>::new()).managed_fields(true);
    let full = read(full, Encoding::Protobuf, protobuf);
    assert_eq!((right.len(), full.len()), (values.len(), values.len()));
    for ((right, full), value) in right.iter().zip(&full).zip(&values) {
        let all = A::plain(right);
        assert_eq!(P::plain(full), all, "{}", right.key());
        assert_ne!(all, *value, "managedFields are there");
    }
    values
}

/// Checks that values are there: two missing values are equal, too.
fn has(object: &Value, expected: &[(&str, Value)]) {
    for (path, value) in expected {
        assert_eq!(object.pointer(path), Some(value), "{path} of {object:#}");
    }
}

#[test]
fn pods() {
    let pods = compare::<pb::Pod, api::Pod>(list!("pods"));
    let [_, first, second, leaving] = &pods[..] else {
        panic!("{} pods", pods.len());
    };
    has(
        first,
        &[
            ("/metadata/labels/tier", json!("web")),
            ("/metadata/owner_references/0/controller", json!(true)),
            ("/spec/node_name", json!("node-1")),
            ("/spec/node_selector/kubernetes.io~1os", json!("linux")),
            ("/spec/tolerations/1/toleration_seconds", json!(90)),
            ("/spec/init_containers/0/command/1", json!("--all")),
            ("/spec/containers/0/image", json!("example.com/shop:1.1")),
            ("/spec/containers/0/ports/1/container_port", json!(9090)),
            (
                "/spec/containers/0/env/1/value_from/field_ref/field_path",
                json!("status.podIP"),
            ),
            (
                "/spec/containers/0/env/2/value_from/secret_key_ref/name",
                json!("shop"),
            ),
            ("/spec/containers/0/resources/requests/cpu", json!("250m")),
            ("/spec/containers/0/resources/limits/memory", json!("1Gi")),
            ("/spec/containers/0/volume_mounts/0/read_only", json!(true)),
            (
                "/spec/containers/0/readiness_probe/http_get/port",
                json!("http"),
            ),
            (
                "/spec/containers/0/liveness_probe/tcp_socket/port",
                json!(8080),
            ),
            (
                "/spec/containers/0/security_context/capabilities/drop/0",
                json!("ALL"),
            ),
            ("/spec/volumes/0/config_map/items/0/path", json!("mode.txt")),
            ("/spec/volumes/1/secret/default_mode", json!(0o400)),
            ("/spec/volumes/2/empty_dir/size_limit", json!("64Mi")),
            ("/status/phase", json!("Running")),
            ("/status/pod_ip", json!("10.1.0.1")),
            ("/status/pod_ips/1/ip", json!("fd00::1")),
            ("/status/start_time/seconds", json!(1_767_323_051)),
            (
                "/status/container_statuses/0/last_state/terminated/exit_code",
                json!(137),
            ),
            ("/status/qos_class", json!("Burstable")),
        ],
    );
    has(
        second,
        &[
            ("/status/conditions/1/status", json!("False")),
            ("/status/conditions/1/reason", json!("ContainersNotReady")),
            ("/status/container_statuses/0/restart_count", json!(2)),
        ],
    );
    has(
        leaving,
        &[
            ("/metadata/finalizers/0", json!("example.com/hold")),
            ("/metadata/deletion_grace_period_seconds", json!(45)),
        ],
    );
    assert!(
        leaving
            .pointer("/metadata/deletion_timestamp/seconds")
            .is_some()
    );
}

#[test]
fn config_maps_and_secrets() {
    let maps = compare::<pb::ConfigMap, api::ConfigMap>(list!("configmaps"));
    has(maps.first().unwrap(), &[("/immutable", json!(true))]);
    has(
        maps.get(1).unwrap(),
        &[
            ("/data/mode", json!("production")),
            ("/data/text", json!("é 😀\n\ttab")),
            ("/data/empty", Value::Null),
            ("/binary_data/bytes", json!([null, 1, 2, 254, 255])),
        ],
    );
    let secrets = compare::<pb::Secret, api::Secret>(list!("secrets"));
    let expected = [
        ("/type", json!("kubernetes.io/basic-auth")),
        ("/data/username", json!(b"dummy")),
    ];
    has(secrets.first().unwrap(), &expected);
    has(
        secrets.get(1).unwrap(),
        &[("/data/bytes", json!([255, null, 1]))],
    );
}

#[test]
fn nodes() {
    let nodes = compare::<pb::Node, api::Node>(list!("nodes"));
    has(
        nodes.get(1).unwrap(),
        &[
            ("/spec/provider_id", json!("example://node-1")),
            ("/spec/pod_cidrs/0", json!("10.1.1.0/24")),
            ("/status/capacity/memory", json!("16306336Ki")),
            ("/status/allocatable/cpu", json!("3920m")),
            ("/status/addresses/0/address", json!("192.0.2.11")),
            ("/status/conditions/0/type", json!("Ready")),
            ("/status/images/0/size_bytes", json!(5_000_000_000_i64)),
            ("/status/node_info/kubelet_version", json!("v1.36.3")),
        ],
    );
}

#[test]
fn events_and_leases() {
    let events = compare::<pb::Event, api::Event>(list!("events"));
    let new = [
        ("/event_time/nanos", json!(678_901_000)),
        ("/series/last_observed_time/nanos", json!(1_000)),
        ("/reporting_instance", json!("scheduler-0")),
    ];
    has(events.first().unwrap(), &new);
    let old = [
        ("/type", json!("Warning")),
        ("/count", json!(7)),
        ("/involved_object/name", json!("bare")),
        ("/source/host", json!("node-0")),
        ("/last_timestamp/seconds", json!(1_767_323_045)),
    ];
    has(events.get(1).unwrap(), &old);
    let leases = compare::<pb_coordination::Lease, api_coordination::Lease>(list!("leases"));
    let held = [
        ("/spec/holder_identity", json!("shop-1")),
        ("/spec/renew_time/nanos", json!(123_456_000)),
        ("/spec/lease_transitions", json!(2)),
    ];
    has(leases.get(1).unwrap(), &held);
}
