//! Protobuf in any pieces, and any bytes: the same facts, no panic, no endless loop; and the same objects as
//! from JSON.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use core::fmt::Debug;

use decode_support::*;
use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::form::{Form, LeanBody};
use informer_core::decode::json;
use informer_core::decode::protobuf::envelope::{Envelope, Event};
use informer_core::decode::protobuf::header::Header;
use informer_core::decode::{
    Body, Decoder, Keep, Lean, Limits, MetadataOnly, decode_object, protobuf,
};
use informer_core::failure::MAX_MESSAGE;
use informer_core::flow::{Fact, Place};
use informer_core::{Encoding, Object};
use informer_test_support::protobuf as encode;
use proptest::prelude::*;
use serde_json::{Value, json};

fn texts() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(string(), string(), 0..4).prop_map(|map| json!(map))
}

fn owner() -> impl Strategy<Value = Value> {
    (string(), string(), any::<Option<bool>>()).prop_map(|(name, uid, controller)| {
        let mut owner =
            json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": uid});
        if let Some(controller) = controller {
            owner["controller"] = json!(controller);
        }
        owner
    })
}

/// `metadata` as a server sends it.
fn metadata() -> impl Strategy<Value = Value> {
    let name = string().prop_filter("names are not empty", |name| !name.is_empty());
    let managed = json!({"manager": "m", "operation": "Update", "fieldsType": "FieldsV1", "fieldsV1": {"f:a": {}}});
    (
        (name, string(), "[0-9a-f-]{0,36}", "[0-9]{0,10}", 0..5_u32),
        prop::option::of("(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T[01][0-9]:[0-5][0-9]:[0-5][0-9]Z"),
        (texts(), texts()),
        prop::collection::vec(owner(), 0..3),
        prop::collection::vec(string(), 0..3),
        prop::collection::vec(Just(managed), 0..3),
    )
        .prop_map(|((name, namespace, uid, version, generation), time, (labels, annotations), owners, finalizers, managed)| {
            let mut metadata = json!({"name": name});
            let mut add = |name: &str, value: Value| {
                let empty = [json!(""), json!(0), json!({}), json!([]), Value::Null];
                if !empty.contains(&value) {
                    metadata[name] = value;
                }
            };
            add("namespace", json!(namespace));
            add("uid", json!(uid));
            add("resourceVersion", json!(version));
            add("generation", json!(generation));
            add("creationTimestamp", json!(time));
            add("labels", labels);
            add("annotations", annotations);
            add("ownerReferences", json!(owners));
            add("finalizers", json!(finalizers));
            add("managedFields", json!(managed));
            metadata
        })
}

fn object() -> impl Strategy<Value = Value> {
    let spec = (
        string(),
        any::<u32>(),
        prop::collection::vec(string(), 0..5),
    );
    (metadata(), spec).prop_map(|(metadata, (node, number, images))| {
        json!({"metadata": metadata, "spec": {"nodeName": node, "number": number, "images": images}})
    })
}

/// A list in protobuf, and its objects in JSON.
fn list() -> impl Strategy<Value = (Vec<u8>, Vec<Value>)> {
    prop::collection::vec(object(), 0..5).prop_map(|objects| {
        let metadata = json!({"resourceVersion": "7", "continue": "next"});
        let items = objects.iter().map(encode::object);
        (encode::list("PodList", &metadata, items), objects)
    })
}

fn watch() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop::sample::select(vec![
        "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "NEW", "",
    ]);
    let event = (kind, object()).prop_map(|(kind, object)| {
        encode::event(
            kind,
            &encode::enveloped("v1", "Pod", &encode::object(&object)),
        )
    });
    prop::collection::vec(event, 0..6).prop_map(|events| events.concat())
}

fn facts_in<F: Form<Body: Debug>>(
    form: F,
    limits: Limits,
    body: Body,
    bytes: &[u8],
    pieces: &[usize],
) -> Vec<String> {
    let mut facts = Vec::new();
    let decoder = &mut Decoder::with_limits(form, limits).unwrap();
    feed_in(Encoding::Protobuf, decoder, body, bytes, pieces, |fact| {
        match &fact {
            Fact::Failed { message, .. } => assert!(message.len() <= MAX_MESSAGE),
            Fact::Rejected(rejected) => assert!(rejected.reason.len() <= MAX_MESSAGE),
            _ => {}
        }
        facts.push(format!("{fact:?}"));
    });
    facts
}

/// Bytes that a decoder accepts for a while before they become invalid.
fn noise() -> impl Strategy<Value = (Body, Vec<u8>)> {
    let body = prop_oneof![
        list().prop_map(|(bytes, _)| (Body::List, bytes)),
        watch().prop_map(|bytes| (Body::Watch, bytes)),
        (
            prop::sample::select(vec![Body::List, Body::Watch]),
            prop::collection::vec(any::<u8>(), 0..100)
        ),
    ];
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..3);
    (body, prop::collection::vec(change, 0..4)).prop_map(|((body, mut bytes), changes)| {
        for (at, byte, how) in changes {
            let at = at.index(bytes.len() + 1);
            match how {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                _ => {
                    if let Some(old) = bytes.get_mut(at) {
                        *old = byte;
                    }
                }
            }
        }
        (body, bytes)
    })
}

/// What does not depend on the form.
fn said<K>(object: &Object<K>) -> String {
    let mut annotations = Vec::new();
    object.each_annotation(&mut |key, value| annotations.push((key.to_owned(), value.to_owned())));
    format!(
        "{} {} {} {} {:?} {:?} {annotations:?} {:?}",
        object.key(),
        object.uid(),
        object.version(),
        object.generation(),
        object.creation_time(),
        object.labels(),
        object.owners(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn objects_are_the_same_as_from_json((bytes, objects) in list(), pieces in pieces()) {
        let mut expected = objects.iter();
        let visit = |fact: Fact<'_, Object<LeanBody>>| match fact {
            Fact::Item(lean) => {
                let json = expected.next().unwrap().to_string();
                assert_eq!(said(&lean), said(&decode_object(&mut Lean, json.as_bytes()).unwrap()));
                let message = lean.protobuf().unwrap().into_owned();
                let header = Header::read(&message).unwrap();
                assert_eq!(header.managed_fields, None);
                // Without managedFields, the object is the same message.
                let mut without: Value = serde_json::from_str(&json).unwrap();
                without["metadata"].as_object_mut().unwrap().remove("managedFields");
                assert_eq!(message, encode::object(&without));
            }
            Fact::PageEnd { version, next, .. } => assert_eq!((version, next), ("7", Some("next"))),
            other => assert_eq!(other, Fact::Closed),
        };
        feed_in(Encoding::Protobuf, &mut Decoder::new(Lean), Body::List, &bytes, &pieces, visit);
        prop_assert!(expected.next().is_none());

        let mut expected = objects.iter();
        let keep = Keep::new(MetadataOnly).managed_fields(true);
        feed_in(Encoding::Protobuf, &mut Decoder::new(keep), Body::List, &bytes, &pieces, |fact| {
            if let Fact::Item(object) = fact {
                let metadata = &expected.next().unwrap()["metadata"];
                assert_eq!(&object.decode::<Value>().unwrap(), metadata);
            }
        });
    }

    #[test]
    fn pieces_do_not_matter((body, bytes) in noise(), first in pieces(), second in pieces(), longest in prop_oneof![1..300usize, Just(1 << 20)]) {
        let limits = Limits { object_bytes: longest, ..Limits::new() };
        let facts = facts_in(Lean, limits, body, &bytes, &first);
        prop_assert_eq!(&facts, &facts_in(Lean, limits, body, &bytes, &second));
        let count = |of: &str| facts.iter().filter(|fact| fact.starts_with(of)).count();
        prop_assert!(count("Failed") + count("PageEnd") <= 1);
        prop_assert_eq!(count("Closed"), usize::from(!facts.last().unwrap().starts_with("Failed")));
        let facts = facts_in(MetadataOnly, limits, body, &bytes, &first);
        prop_assert_eq!(facts, facts_in(MetadataOnly, limits, body, &bytes, &second));
    }

    #[test]
    fn readers_accept_any_bytes((_, bytes) in noise()) {
        if let Ok(header) = Header::read(&bytes) {
            let prefix = Header::from_prefix(&bytes);
            prop_assert_eq!((header.name, header.uid, header.version), (prefix.name, prefix.uid, prefix.version));
        }
        if let Ok(envelope) = Envelope::read(&bytes) {
            prop_assert_eq!(envelope, Envelope::from_prefix(&bytes));
        }
        if let Ok(event) = Event::read(&bytes) {
            prop_assert_eq!(Some(event), Event::from_prefix(&bytes));
        }
        prop_assert!(failure_of_answer(500, &bytes, None).1.len() <= MAX_MESSAGE);
        prop_assert!(failure_of_answer(500, &[b"k8s\0", &bytes[..]].concat(), None).1.len() <= MAX_MESSAGE);
    }

    #[test]
    fn a_cut_object_never_gives_wrong_fields(object in object(), cut in any::<prop::sample::Index>()) {
        let bytes = encode::object(&object);
        let whole = Header::read(&bytes).unwrap();
        let part = Header::from_prefix(&bytes[..cut.index(bytes.len() + 1)]);
        prop_assert!(part.name.is_none() || part.name == whole.name);
        prop_assert!(part.namespace.is_none() || part.namespace == whole.namespace);
        prop_assert!(part.uid.is_none() || part.uid == whole.uid);
        prop_assert!(part.version.is_none() || part.version == whole.version);
    }
}

/// Changes the message `metadata` of an object.
fn with_metadata(object: &Value, change: impl Fn(encode::Message) -> encode::Message) -> Vec<u8> {
    let bytes = encode::object(object);
    let header = Header::read(&bytes).unwrap();
    let metadata = bytes[header.metadata.clone()].to_vec();
    let message = encode::Message::default();
    let metadata = [metadata, change(message).end()].concat();
    let spec = &bytes[header.metadata.end..];
    [
        &encode::Message::default().bytes(1, metadata).end()[..],
        spec,
    ]
    .concat()
}

fn lean(object: &[u8]) -> Result<Object<LeanBody>, String> {
    let bytes = encode::enveloped("v1", "Pod", object);
    protobuf::decode_object(&mut Lean, &bytes).map_err(|error| error.to_string())
}

#[test]
fn scattered_managed_fields_are_cut_out() {
    let json =
        json!({"metadata": {"name": "a", "managedFields": [{"manager": "one"}]}, "spec": {"x": 1}});
    let bytes = with_metadata(&json, |message| {
        let message = message
            .bytes(11, b"\x0a\x01k\x12\x01v")
            .bytes(17, b"\x0a\x03two");
        message.bytes(6, "8").bytes(17, b"\x0a\x05three")
    });
    assert!(Header::read(&bytes).unwrap().is_scattered());
    let object = lean(&bytes).unwrap();
    assert_eq!(
        (object.version(), object.labels().get("k")),
        ("8", Some("v"))
    );
    assert_eq!(object.size(), bytes.len());
    let kept = object.protobuf().unwrap();
    for manager in [&b"one"[..], b"two", b"three"] {
        assert!(!kept.windows(manager.len()).any(|part| part == manager));
    }
    let plain = json!({"metadata": {"name": "a"}, "spec": {"x": 1}});
    let expected = with_metadata(&plain, |message| {
        message.bytes(11, b"\x0a\x01k\x12\x01v").bytes(6, "8")
    });
    assert_eq!(kept, expected);
}

#[test]
fn a_cut_changes_the_length_of_metadata_only() {
    // The length of `metadata` takes one byte after the cut, and one, two or three before it.
    for length in [10, 200, 20_000] {
        let json = json!({"metadata": {"name": "a", "uid": "u", "labels": {"k": "v"}, "managedFields": [{"manager": "x".repeat(length)}]}, "spec": {"node": "n"}});
        let object = lean(&encode::object(&json)).unwrap();
        assert_eq!((object.uid(), object.labels().get("k")), ("u", Some("v")));
        let mut without = json;
        without["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("managedFields");
        assert_eq!(object.protobuf().unwrap(), encode::object(&without));
        // A field behind them moves.
        let bytes = with_metadata(&without, |message| {
            message.bytes(17, vec![0x7a; 300]).bytes(5, "late")
        });
        assert_eq!(lean(&bytes).unwrap().uid(), "late");
    }
}

#[test]
fn a_tag_may_be_longer_than_necessary() {
    let json = json!({"metadata": {"name": "a", "managedFields": [{"manager": "m"}]}});
    let long = |object: Vec<u8>| [&[0x8a, 0], &object[1..]].concat();
    let object = lean(&long(encode::object(&json))).unwrap();
    let without = encode::object(&json!({"metadata": {"name": "a"}}));
    assert_eq!(object.protobuf().unwrap(), long(without));
}

#[test]
fn the_last_text_of_an_entry_counts() {
    let json = json!({"metadata": {"name": "a"}});
    let entry = b"\x0a\x01k\x12\x01v\x0a\x01z";
    let object = lean(&with_metadata(&json, |message| message.bytes(11, entry))).unwrap();
    assert!(object.labels().iter().eq([("z", "v")]));
    // A number where a text belongs, behind both texts.
    let entry = b"\x0a\x01k\x12\x01v\x08\x01";
    assert!(lean(&with_metadata(&json, |message| message.bytes(11, entry))).is_err());
}

#[test]
fn fields_count_as_protobuf_says() {
    let json = json!({"metadata": {"name": "a", "uid": "1", "labels": {"k": "v"}}});
    let bytes = with_metadata(&json, |message| {
        // The last value counts, the last entry of a map counts, and unknown fields and groups are skipped.
        let message = message
            .bytes(5, "2")
            .bytes(11, b"\x0a\x01k\x12\x01w")
            .bytes(200, "?")
            .number(3000, 7);
        message.bytes(12, b"\x12\x05value").number(7, -5)
    });
    let object = lean(&bytes).unwrap();
    assert_eq!((object.uid(), object.labels().get("k")), ("2", Some("w")));
    assert_eq!(object.annotation("").as_deref(), Some("value"));
    assert_eq!(object.generation(), 0, "a negative generation is none");
}

#[test]
fn objects_that_cannot_be_used_say_why() {
    let json = json!({"metadata": {"name": "a", "namespace": "web", "uid": "u", "resourceVersion": "9", "labels": {"k": "v"}}});
    let metadata = encode::object(&json);
    let bad = |change: fn(encode::Message) -> encode::Message| with_metadata(&json, change);
    for (object, key, reason) in [
        (
            encode::Message::default().end(),
            None,
            "`metadata` is missing",
        ),
        (
            encode::Message::default().number(1, 7).end(),
            None,
            "`metadata` or a part of it is not a message",
        ),
        (
            [&metadata[..], &metadata].concat(),
            Some("web/a"),
            "`metadata` occurs twice",
        ),
        (
            encode::object(&json!({"metadata": {}})),
            None,
            "`metadata.name` is missing or empty",
        ),
        (
            encode::object(&json!({"metadata": {"name": "x".repeat(5000)}})),
            None,
            "`metadata.name` or `metadata.namespace` is longer than 4096 bytes",
        ),
        (
            bad(|message| message.bytes(11, b"\x0a\x01\xff")),
            Some("web/a"),
            "`metadata.labels` is not UTF-8 text",
        ),
        (
            bad(|message| message.bytes(12, b"\x0a\x01\xff")),
            Some("web/a"),
            "`metadata.annotations` is not UTF-8 text",
        ),
        (
            bad(|message| message.bytes(13, b"\x0a\x01\xff")),
            Some("web/a"),
            "`metadata.ownerReferences` is not UTF-8 text",
        ),
        (
            bad(|message| message.bytes(14, b"\xff")),
            Some("web/a"),
            "`metadata.finalizers` is not UTF-8 text",
        ),
        (
            bad(|message| message.number(5, 7)),
            Some("web/a"),
            "`metadata.uid` is not UTF-8 text",
        ),
        (
            bad(|message| message.bytes(8, b"\x08")),
            Some("web/a"),
            "a field goes beyond the end of its message",
        ),
        (
            [&metadata[..], b"\x12\x05abc"].concat(),
            Some("web/a"),
            "a field goes beyond the end of its message",
        ),
        (
            [
                &metadata[..],
                b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
            ]
            .concat(),
            Some("web/a"),
            "a number has more than 64 bits",
        ),
        (
            [&metadata[..], b"\x0c"].concat(),
            Some("web/a"),
            "a field has no valid number or type",
        ),
    ] {
        assert_eq!(lean(&object).unwrap_err(), reason);
        let version = if key.is_some() { "9" } else { "" };
        let expected = |place| match key {
            Some(_) => rejected(place, key, version, reason).replace(r#"uid: """#, r#"uid: "u""#),
            None => rejected(place, None, version, reason),
        };
        let list = encode::list(
            "PodList",
            &json!({"resourceVersion": "3"}),
            [&object, &metadata],
        );
        let facts = facts_in(Lean, Limits::new(), Body::List, &list, &[7]);
        assert_eq!(facts[0], expected(Place::Item));
        assert!(facts[1].starts_with("Item"), "others are not affected");
        let watch = encode::event("DELETED", &encode::enveloped("v1", "Pod", &object));
        let facts = facts_in(Lean, Limits::new(), Body::Watch, &watch, &[7]);
        assert_eq!(facts, [expected(Place::Delete), "Closed".to_owned()]);
    }
}

#[test]
fn events_that_cannot_be_used_say_why() {
    let facts = |bytes: &[u8]| {
        let facts = facts_in(
            Lean,
            Limits {
                object_bytes: 200,
                ..Limits::new()
            },
            Body::Watch,
            bytes,
            &[usize::MAX],
        );
        facts[0].clone()
    };
    let object = encode::object(&json!({"metadata": {"name": "a", "resourceVersion": "9"}}));
    let enveloped = encode::enveloped("v1", "Pod", &object);
    let large = encode::object(
        &json!({"metadata": {"name": "a", "resourceVersion": "9"}, "spec": "x".repeat(300)}),
    );
    let too_large = "larger than 200 bytes";
    let fails = |reason: &str| failed(informer_core::Failure::Undecodable, reason);
    assert_eq!(
        facts(&encode::event(
            "MODIFIED",
            &encode::enveloped("v1", "Pod", &large)
        )),
        rejected(Place::Upsert, Some("a"), "9", too_large)
    );
    let huge = encode::object(
        &json!({"metadata": {"name": "a", "resourceVersion": "9"}, "spec": "x".repeat(2000)}),
    );
    assert_eq!(
        facts(&encode::event(
            "DELETED",
            &encode::enveloped("v1", "Pod", &huge)
        )),
        rejected(Place::Delete, Some("a"), "9", too_large)
    );
    assert_eq!(
        facts(&encode::event("PATCHED", &enveloped)),
        rejected(
            Place::Unknown,
            Some("a"),
            "9",
            "unknown event type `PATCHED`"
        )
    );
    assert_eq!(
        facts(&encode::event("ADDED", b"{}")),
        rejected(
            Place::Upsert,
            None,
            "",
            "not protobuf of Kubernetes: it does not start with `k8s`"
        )
    );
    let table = encode::enveloped("meta.k8s.io/v1", "Table", &object);
    assert_eq!(
        facts(&encode::event("ADDED", &table)),
        rejected(
            Place::Upsert,
            Some("a"),
            "9",
            "a Table of meta.k8s.io, not an object"
        )
    );
    let no_version = encode::object(&json!({"metadata": {"name": "a"}}));
    assert_eq!(
        facts(&encode::event(
            "BOOKMARK",
            &encode::enveloped("v1", "Pod", &no_version)
        )),
        rejected(
            Place::Unknown,
            Some("a"),
            "",
            "a bookmark without a version"
        )
    );
    assert!(facts(&encode::event("", &enveloped)).contains("the event has no type"));
    assert!(facts(b"<html>").contains("a frame of the watch has 1013478509 bytes"));
    assert!(facts(&encode::event("ERROR", &enveloped)).contains("an ERROR event has no Status"));
    // The frame is cut by its length, but the key is there.
    let mut cut = encode::event("ADDED", &enveloped);
    cut.truncate(cut.len() - 6);
    let length = u32::try_from(cut.len() - 4).unwrap();
    cut[..4].copy_from_slice(&length.to_be_bytes());
    assert_eq!(
        facts(&cut),
        rejected(
            Place::Upsert,
            Some("a"),
            "9",
            "a field goes beyond the end of its message"
        )
    );
    // Its last byte is the length of the name.
    cut.truncate(36);
    cut[3] = 32;
    assert_eq!(
        facts(&cut),
        fails(
            "a frame of the watch has no readable key: a field goes beyond the end of its message"
        )
    );
}

#[test]
fn single_bytes_take_linear_time() {
    let filler = "x".repeat(1_000_000);
    let object = encode::object(&json!({"metadata": {"name": "a"}, "spec": filler}));
    let list = encode::list("PodList", &json!({}), [&object]);
    assert_eq!(
        facts_in(MetadataOnly, Limits::new(), Body::List, &list, &[1]).len(),
        3
    );
    let watch = encode::event("ADDED", &encode::enveloped("v1", "Pod", &object));
    assert_eq!(
        facts_in(MetadataOnly, Limits::new(), Body::Watch, &watch, &[1]).len(),
        2
    );
}

#[test]
fn a_text_in_json_needs_no_more_than_the_header_says() {
    // What is written as JSON is read by our own parser.
    let json = json!({"metadata": {"name": "a\"\\\n\u{1}", "annotations": {"<": "\u{2028}"}}});
    let bytes = encode::enveloped("v1", "Pod", &encode::object(&json));
    let object = protobuf::decode_object(&mut MetadataOnly, &bytes).unwrap();
    assert_eq!(object.decode::<Value>().unwrap(), json["metadata"]);
    assert!(json::text::validate(object.json().unwrap().as_bytes(), 10).is_ok());
}
