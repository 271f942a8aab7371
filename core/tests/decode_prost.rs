//! Types of prost, lean and typed, and fields by numbers: on bodies that the serializers of Kubernetes wrote.
#![cfg(all(feature = "json", feature = "prost"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use std::collections::BTreeMap;

use decode_support::feed_in;
use informer_core::decode::Form;
use informer_core::decode::known::KnownField;
use informer_core::decode::protobuf::{AsProst, Prost};
use informer_core::decode::{
    Body, Decoder, FieldPath, Fields, Keep, Lean, MetadataOnly, Packed, known,
};
use informer_core::flow::Fact;
use informer_core::pack::Packer;
use informer_core::{Encoding, Object};

/// A part of the schema of Kubernetes.
#[derive(Clone, PartialEq, prost::Message)]
struct Pod {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
    #[prost(message, optional, tag = "2")]
    spec: Option<PodSpec>,
    #[prost(message, optional, tag = "3")]
    status: Option<PodStatus>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ObjectMeta {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(btree_map = "string, string", tag = "12")]
    annotations: BTreeMap<String, String>,
    #[prost(bytes = "vec", repeated, tag = "17")]
    managed_fields: Vec<Vec<u8>>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PodSpec {
    #[prost(message, repeated, tag = "2")]
    containers: Vec<Container>,
    #[prost(string, optional, tag = "10")]
    node_name: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Container {
    #[prost(string, optional, tag = "2")]
    image: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct PodStatus {
    #[prost(string, optional, tag = "1")]
    phase: Option<String>,
}

const PODS: &[u8] = include_bytes!("protobuf_bodies/pods.pb");
const PODS_IN_JSON: &[u8] = include_bytes!("protobuf_bodies/pods.json");

fn read<F: Form>(form: F, encoding: Encoding, bytes: &[u8]) -> (Vec<Object<F::Body>>, Vec<String>) {
    let mut objects = Vec::new();
    let mut failures = Vec::new();
    let decoder = &mut Decoder::new(form);
    feed_in(
        encoding,
        decoder,
        Body::List,
        bytes,
        &[100],
        |fact| match fact {
            Fact::Item(object) => objects.push(object),
            Fact::Failed { message, .. } => failures.push(message.to_owned()),
            Fact::Rejected(rejected) => failures.push(rejected.reason.to_owned()),
            _ => {}
        },
    );
    (objects, failures)
}

fn check(pod: &Pod, number: usize) {
    let metadata = pod.metadata.as_ref().unwrap();
    assert_eq!(metadata.name(), format!("shop-{number}"));
    assert!(metadata.managed_fields.is_empty());
    let spec = pod.spec.as_ref().unwrap();
    assert_eq!(spec.node_name(), format!("node-{}", number % 3));
    let images: Vec<_> = spec.containers.iter().map(Container::image).collect();
    assert_eq!(images, ["example.com/shop:1.7", "example.com/side:2"]);
    assert_eq!(pod.status.as_ref().unwrap().phase(), "Running");
}

#[test]
fn typed_lean_and_packed_objects_give_the_same_values() {
    let typed = read(Prost::<Pod>::new(), Encoding::Protobuf, PODS).0;
    let lean = read(AsProst::<Lean, Pod>::new(), Encoding::Protobuf, PODS).0;
    let untyped = read(Packed, Encoding::Protobuf, PODS).0;
    let mut packer = Packer::new();
    assert_eq!((typed.len(), lean.len(), untyped.len()), (4, 4, 4));
    for _ in 0..5 {
        for number in 0..4 {
            check(&typed[number], number);
            check(&lean[number].decode().unwrap(), number);
            let mut packed = untyped[number].clone();
            packer.pack(&mut packed);
            check(&packed.decode_message().unwrap(), number);
            assert_eq!(typed[number].owners(), lean[number].owners());
            assert_eq!(packed.owners(), lean[number].owners());
        }
    }
}

#[test]
fn managed_fields_and_annotations_are_kept_on_demand() {
    let keep = Keep::new(Prost::<Pod>::new()).managed_fields(true);
    let full = read(keep, Encoding::Protobuf, PODS).0;
    assert_eq!(full[0].metadata.as_ref().unwrap().managed_fields.len(), 2);

    let of = |pods: Vec<Object<Pod>>| pods[1].annotation("team/owner").map(String::from);
    assert_eq!(of(full), None);
    let keep = Keep::new(Prost::<Pod>::new()).annotations(true);
    assert_eq!(
        of(read(keep, Encoding::Protobuf, PODS).0).as_deref(),
        Some("blue")
    );
    let form = Prost::<Pod>::new().with_annotations(|pod, visit| {
        for (key, value) in pod
            .metadata
            .iter()
            .flat_map(|metadata| &metadata.annotations)
        {
            visit(key, value);
        }
    });
    assert_eq!(
        of(read(form, Encoding::Protobuf, PODS).0).as_deref(),
        Some("blue")
    );
}

#[test]
fn a_type_that_does_not_fit_says_so() {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Other {
        #[prost(int32, tag = "2")]
        spec: i32,
    }
    let (objects, reasons) = read(Prost::<Other>::new(), Encoding::Protobuf, PODS);
    assert_eq!((objects.len(), reasons.len()), (0, 4));
    assert!(reasons[0].contains("wire type"), "{}", reasons[0]);
    let lean = read(Lean, Encoding::Protobuf, PODS).0;
    assert!(lean[0].decode_message::<Other>().is_err());
}

#[test]
fn prost_does_not_read_json() {
    let (objects, failures) = read(Prost::<Pod>::new(), Encoding::Json, PODS_IN_JSON);
    assert_eq!((objects.len(), failures.len()), (0, 1));
    assert!(
        failures[0].contains("the type reads only protobuf"),
        "{}",
        failures[0]
    );
    let (objects, failures) = read(AsProst::<Lean, Pod>::new(), Encoding::Json, PODS_IN_JSON);
    assert_eq!((objects.len(), failures.len()), (0, 1));
    let lean = read(Lean, Encoding::Json, PODS_IN_JSON).0;
    let error = lean[0].decode_message::<Pod>().unwrap_err().to_string();
    assert!(error.contains("kept in JSON"), "{error}");
}

/// The texts at a path.
fn texts(object: &impl Fields, path: &FieldPath) -> Vec<String> {
    let mut texts = Vec::new();
    object.each_field(path, &mut |field| {
        texts.extend(field.as_text().map(str::to_owned))
    });
    texts
}

#[test]
fn known_fields_are_the_same_in_both_encodings() {
    let json = read(Lean, Encoding::Json, PODS_IN_JSON).0;
    let protobuf = read(Lean, Encoding::Protobuf, PODS).0;
    let fields: [(KnownField, &[&str]); 9] = [
        (known::POD_NODE_NAME, &["node-0"]),
        (known::POD_SERVICE_ACCOUNT, &["default"]),
        (known::POD_SCHEDULER, &[]),
        (
            known::POD_IMAGES,
            &["example.com/shop:1.7", "example.com/side:2"],
        ),
        (known::POD_VOLUME_SECRETS, &["tls"]),
        (known::POD_VOLUME_CONFIG_MAPS, &[]),
        (known::POD_PHASE, &["Running"]),
        (known::POD_IP, &["10.0.0.1"]),
        (known::POD_HOST_IP, &["192.168.0.1"]),
    ];
    for (field, expected) in fields {
        let path = FieldPath::from(field);
        assert_eq!(texts(&json[0], &path), expected, "{path}");
        assert_eq!(texts(&protobuf[0], &path), expected, "{path}");
    }
    for path in [
        "metadata.name",
        "metadata.labels.app",
        "metadata.annotations['team/owner']",
        "metadata.ownerReferences[*].uid",
        "metadata.finalizers[*]",
        "metadata.creationTimestamp",
        "metadata.nothing",
    ] {
        let path: FieldPath = path.parse().unwrap();
        assert!(path.reads_protobuf());
        for (json, protobuf) in json.iter().zip(&protobuf) {
            assert_eq!(texts(json, &path), texts(protobuf, &path), "{path}");
        }
    }
    let path: FieldPath = "spec.nodeName".parse().unwrap();
    assert!(!path.reads_protobuf());
    assert_eq!(texts(&protobuf[0], &path), [""; 0]);
    assert!(!protobuf[0].knows_field(&path) && !Fields::knows_field(&&protobuf[0], &path));
    assert!(json[0].knows_field(&path) && protobuf[0].knows_field(&known::POD_NODE_NAME.into()));
    let metadata = read(MetadataOnly, Encoding::Protobuf, PODS).0;
    let path: FieldPath = "metadata.labels.app".parse().unwrap();
    assert_eq!(texts(&metadata[0], &path), ["shop"]);
}
