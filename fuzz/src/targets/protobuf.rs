//! Protobuf, against prost.
//!
//! The input is taken as the message of an object, as a list and as a watch. What must hold:
//!
//! * An object that both readers accept has the same names, texts, labels, annotations and owner references.
//!   Only some differences are allowed: see `acceptance`.
//! * A lean object is what prost reads, without `managedFields`; its metadata is the same in JSON.
//! * The pieces of a body do not change the facts, and neither do limits on the size of an object in what
//!   they allow.
//! * What is read from a prefix agrees with the whole.

use std::collections::BTreeMap;

use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::protobuf::header::{Header, HeaderError};
use informer_core::decode::{Body, Decode, Decoder, Form, Lean, Limits, MetadataOnly, protobuf};
use informer_core::{Encoding, Object};
use informer_test_support::protobuf as encode;
use prost::Message as _;
use serde_json::Value;

use crate::Target;

/// This target.
pub const TARGET: Target = Target {
    name: "protobuf",
    run,
    words: &[
        "k8s\0",
        "\x0a\x00",
        "\x0a\x03\x0a\x01a",
        "\x0a\x01a",
        "\x1a\x03web",
        "\x32\x017",
        "\x12\x02\x08\x01",
        "\x5a\x06\x0a\x01k\x12\x01v",
        "\x62\x06\x0a\x01k\x12\x01v",
        "\x6a\x03\x1a\x01n",
        "\x0b\x0c",
        "\x13\x0b",
        "\x14",
        "\x08\u{80}\u{80}\x01",
        "\x12\u{7f}",
        "\x0a\x05ADDED",
        "\x0a\x07DELETED",
        "PodList",
        "Status",
        "\0\0\0\x05",
        "\u{7ff}",
    ],
};

/// Reads the input in every possible way.
pub fn run(input: &[u8]) {
    object(input);
    for body in [Body::List, Body::Watch] {
        facts_of(Lean, body, input);
        facts_of(MetadataOnly, body, input);
    }
    let (_, message) = failure_of_answer(500, input, None);
    assert!(message.len() <= 512);
}

fn object(input: &[u8]) {
    let theirs = Known::decode(input);
    let ours = Header::read(input);
    acceptance(input, &ours, &theirs);
    let lean = protobuf::decode_object(&mut Lean, &encode::enveloped("v1", "Pod", input));
    let is_object = ours.as_ref().is_ok_and(|header| header.key().is_ok());
    assert_eq!(lean.is_ok(), is_object, "{lean:?}");
    together(input, is_object);
    let (Ok(header), Ok(lean)) = (ours, lean) else {
        return;
    };
    let prefix = Header::from_prefix(input);
    assert_eq!((prefix.name, prefix.version), (header.name, header.version));
    let part = Header::from_prefix(&input[..input.len() / 2]);
    assert!(part.name.is_none() || part.name == header.name);

    let kept = lean.protobuf().unwrap();
    let again = Header::read(&kept).unwrap();
    assert_eq!(again.managed_fields, None);
    assert_eq!((again.name, again.uid), (header.name, header.uid));
    let metadata =
        protobuf::decode_object(&mut MetadataOnly, &encode::enveloped("v1", "Pod", input)).unwrap();
    assert_eq!(said(&lean), said(&metadata));
    let json: Value = metadata.decode().unwrap();
    assert_eq!(json["name"].as_str(), header.name);
    if let Ok(mut theirs) = theirs {
        assert_eq!(said(&lean), theirs.said());
        if let Some(metadata) = &mut theirs.metadata {
            metadata.managed_fields.clear();
        }
        assert_eq!(
            Known::decode(&*kept),
            Ok(theirs),
            "more than managedFields was cut out"
        );
    }
}

/// Where the readers may differ: we refuse an object that repeats its metadata, or has none; prost refuses a
/// number or a bool of a wrong type, groups that do not match, and deep groups.
fn acceptance(
    input: &[u8],
    ours: &Result<Header<'_>, HeaderError>,
    theirs: &Result<Known, prost::DecodeError>,
) {
    match (ours, theirs) {
        (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
        (Err(error), Ok(_)) => assert!(
            matches!(error, HeaderError::MetadataTwice | HeaderError::NoMetadata),
            "{error} in {input:?}"
        ),
        (Ok(_), Err(error)) => {
            let text = error.to_string();
            let allowed = ["wire type", "end group", "recursion"];
            assert!(
                allowed.iter().any(|part| text.contains(part)),
                "{text} in {input:?}"
            );
        }
    }
}

/// An object is accepted alone exactly if it is accepted in a list and in a watch.
fn together(input: &[u8], accepted: bool) {
    let list = encode::list(
        "PodList",
        &serde_json::json!({"resourceVersion": "7"}),
        [input],
    );
    let facts = facts_of(Lean, Body::List, &list);
    assert_eq!(facts.len(), 3, "{facts:?}");
    assert!(facts[0].starts_with(if accepted { "Item" } else { "Rejected" }));
    let watch = encode::event("ADDED", &encode::enveloped("v1", "Pod", input));
    let facts = facts_of(MetadataOnly, Body::Watch, &watch);
    assert_eq!(facts.len(), 2, "{facts:?}");
    assert!(facts[0].starts_with(if accepted { "Added" } else { "Rejected" }));
}

/// The facts of a body. They do not depend on the pieces.
fn facts_of<F: Form<Body: core::fmt::Debug> + Copy>(
    form: F,
    body: Body,
    bytes: &[u8],
) -> Vec<String> {
    let facts = |limits, longest| {
        let mut decoder = Decoder::with_limits(form, limits).unwrap();
        decoder.begin(body, Encoding::Protobuf);
        let mut facts = Vec::new();
        for mut piece in bytes.chunks(longest) {
            while let Some(fact) = decoder.decode(&mut piece) {
                facts.push(format!("{fact:?}"));
            }
            assert!(piece.is_empty());
        }
        facts.push(format!("{:?}", decoder.end()));
        facts
    };
    for object_bytes in [16, 300] {
        let limits = Limits {
            object_bytes,
            ..Limits::new()
        };
        let whole = facts(limits, usize::MAX);
        assert_eq!(whole, facts(limits, 1), "the pieces change the facts");
    }
    let whole = facts(Limits::new(), usize::MAX);
    for longest in [1, 7] {
        let pieces = facts(Limits::new(), longest);
        assert_eq!(whole, pieces, "the pieces change the facts");
    }
    whole
}

/// What an object says without a schema.
fn said<K>(object: &Object<K>) -> String {
    let mut annotations = BTreeMap::new();
    object.each_annotation(&mut |key, value| {
        annotations.insert(key.to_owned(), value.to_owned());
    });
    let labels: BTreeMap<_, _> = object.labels().iter().collect();
    let owners = object.owners();
    let owners: Vec<_> = owners
        .iter()
        .map(|owner| (&*owner.kind, &*owner.name, &*owner.uid, owner.controller))
        .collect();
    format!(
        "{:?} {:?} {} {} {labels:?} {annotations:?} {owners:?}",
        object.key().namespace(),
        object.key().name(),
        object.uid(),
        object.version(),
    )
}

/// What every object has, as prost reads it.
#[derive(Clone, PartialEq, prost::Message)]
struct Known {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ObjectMeta>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct ObjectMeta {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    generate_name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "4")]
    self_link: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    resource_version: String,
    #[prost(int64, tag = "7")]
    generation: i64,
    #[prost(message, optional, tag = "8")]
    created: Option<Time>,
    #[prost(message, optional, tag = "9")]
    deleted: Option<Time>,
    #[prost(int64, optional, tag = "10")]
    grace_period: Option<i64>,
    #[prost(message, repeated, tag = "11")]
    labels: Vec<Entry>,
    #[prost(message, repeated, tag = "12")]
    annotations: Vec<Entry>,
    #[prost(message, repeated, tag = "13")]
    owners: Vec<Owner>,
    #[prost(string, repeated, tag = "14")]
    finalizers: Vec<String>,
    #[prost(bytes = "vec", repeated, tag = "17")]
    managed_fields: Vec<Vec<u8>>,
}

/// An entry of a map. The maps of prost do not check the type of their fields.
#[derive(Clone, PartialEq, prost::Message)]
struct Entry {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Owner {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    uid: String,
    #[prost(string, tag = "5")]
    api_version: String,
    #[prost(bool, optional, tag = "6")]
    controller: Option<bool>,
}

impl Known {
    fn said(&self) -> String {
        let metadata = self.metadata.clone().unwrap_or_default();
        let owners: Vec<_> = metadata
            .owners
            .iter()
            .map(|owner| (&*owner.kind, &*owner.name, &*owner.uid, owner.controller()))
            .collect();
        format!(
            "{:?} {:?} {} {} {:?} {:?} {owners:?}",
            metadata.namespace,
            metadata.name,
            metadata.uid,
            metadata.resource_version,
            map(&metadata.labels),
            map(&metadata.annotations),
        )
    }
}

fn map(entries: &[Entry]) -> BTreeMap<&str, &str> {
    entries
        .iter()
        .map(|Entry { key, value }| (key.as_str(), value.as_str()))
        .collect()
}
