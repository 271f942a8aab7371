//! Bodies that the serializers of Kubernetes wrote, in JSON and in protobuf: both give the same objects.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use core::time::Duration;
use std::collections::BTreeMap;

use decode_support::encodings::{Bodies, body, facts_of, objects_of, said};
use decode_support::*;
use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::form::Form;
use informer_core::decode::{
    Body, Decode as _, Decoder, Dynamic, Keep, Lean, MetadataOnly, Packed, protobuf::decode_object,
};
use informer_core::flow::Fact;
use informer_core::pack::Packer;
use informer_core::{Encoding, Failure, Object};
use informer_test_support::protobuf::Message;
use serde_json::Value;

/// The four objects of a list in both encodings.
fn four_of<F: Form + Copy>(
    form: F,
    bodies: Bodies,
) -> impl Iterator<Item = (Object<F::Body>, Object<F::Body>)> {
    let objects: Vec<_> = objects_of(form, Body::List, bodies).collect();
    assert_eq!(objects.len(), 4);
    objects.into_iter()
}

#[test]
fn metadata_is_the_same_text_in_both_encodings() {
    for bodies in [body!("pods"), body!("metadata")] {
        for (json, protobuf) in four_of(MetadataOnly, bodies) {
            assert_eq!(json.json(), protobuf.json());
            assert_eq!(json, protobuf);
            assert_eq!(said(&json), said(&protobuf));
            assert_eq!(protobuf.encoding(), Encoding::Json);
            assert!(protobuf.size() < json.size());
        }
        let full = Keep::new(MetadataOnly).managed_fields(true);
        for (json, protobuf) in four_of(full, bodies) {
            assert_eq!(json.json(), protobuf.json());
        }
        let [json, protobuf] = facts_of(MetadataOnly, Body::List, bodies);
        assert_eq!(json, protobuf);
        assert_eq!(json.len(), 6);
    }
}

#[test]
fn lean_objects_say_the_same_without_a_schema() {
    for (json, protobuf) in four_of(Lean, body!("pods")) {
        assert_eq!(said(&json), said(&protobuf));
        assert_eq!(protobuf.encoding(), Encoding::Protobuf);
        assert!(protobuf.json().is_err() && protobuf.decode::<Value>().is_err());
        assert!(json.protobuf().is_err());
        assert_ne!(json, protobuf);
        let message = protobuf.protobuf().unwrap();
        assert!(!contains(&message, b"kubelet"), "managedFields are cut out");
        assert!(contains(&message, b"example.com/shop:1.7"));
        assert!(message.len() < protobuf.size() || protobuf.key().name() == "shop-2");
    }
    let full = Keep::new(Lean).managed_fields(true);
    for (lean, full) in four_of(Lean, body!("pods")).zip(four_of(full, body!("pods"))) {
        assert_eq!(said(&lean.1), said(&full.1));
        assert_eq!(full.1.protobuf().unwrap().len(), full.1.size());
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// A field with this number; its tag and its length have this many bytes more than they need.
fn field(number: u32, value: &[u8], longer: usize) -> Vec<u8> {
    let field = Message::default().bytes(number, value).end();
    let (head, value) = field.split_at(field.len() - value.len());
    let mut bytes = Vec::new();
    for byte in head {
        bytes.push(*byte);
        if *byte < 0x80 {
            for _ in 0..longer {
                *bytes.last_mut().unwrap() |= 0x80;
                bytes.push(0);
            }
        }
    }
    [&bytes, value].concat()
}

#[test]
fn labels_are_the_same_however_they_are_written() {
    const LABELS: u32 = 11;
    const ANNOTATIONS: u32 = 12;
    const MANAGED_FIELDS: u32 = 17;
    let mut random = 7_u32;
    let mut next = move |n: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % n
    };
    let long = "x".repeat(20_000);
    let mut packer = Packer::new();
    for round in 0..20_000 {
        let mut metadata = field(1, b"a", 0);
        let mut expected = BTreeMap::new();
        // Most rounds are written as servers write labels.
        let unusual = next(3) == 0;
        for at in 0..next(5) {
            let key = if unusual { next(4) } else { at };
            let key = ["", "app", "apple", "zone"][key.min(3) as usize];
            let value = if unusual && next(20) == 0 {
                &long
            } else {
                ["", "web", "ä"][next(3) as usize]
            };
            let pair = [field(1, key.as_bytes(), 0), field(2, value.as_bytes(), 0)];
            let (entry, longer) = match next(9) {
                0 if unusual => ([&*pair[1], &*pair[0]].concat(), 0),
                1 if unusual => (pair.concat(), 5),
                2 if unusual => (pair.concat(), 1),
                _ => (pair.concat(), 0),
            };
            metadata.extend(field(LABELS, &entry, longer));
            expected.insert(key, value);
            if unusual && next(4) == 0 {
                metadata.extend(field(
                    [ANNOTATIONS, MANAGED_FIELDS][next(2) as usize],
                    b"",
                    0,
                ));
            }
        }
        metadata.extend(field(MANAGED_FIELDS, &[0; 200], 0));
        let object = field(1, &metadata, 0);
        let envelope = [b"k8s\0".as_slice(), &field(2, &object, 0)].concat();
        let lean = decode_object(&mut Lean, &envelope).unwrap();
        assert!(
            lean.labels().iter().eq(expected.clone()),
            "{round}: {lean:?}, {expected:?}"
        );
        assert_eq!(lean.labels().len(), expected.len());
        for key in ["", "app", "apple", "zone", "none"] {
            assert_eq!(lean.labels().get(key), expected.get(key).copied());
        }
        let full = &mut Keep::new(Lean).managed_fields(true);
        let full = decode_object(full, &envelope).unwrap();
        let metadata = decode_object(&mut MetadataOnly, &envelope).unwrap();
        let mut packed = decode_object(&mut Packed, &envelope).unwrap();
        packer.pack(&mut packed);
        for labels in [full.labels(), metadata.labels(), packed.labels()] {
            assert_eq!(labels, lean.labels(), "{round}");
        }
    }
}

#[test]
fn packed_objects_say_the_same_and_unpack_to_the_same_bytes() {
    let mut packer = Packer::new();
    let mut packed_any = false;
    for _ in 0..10 {
        for (_, mut packed) in four_of(Packed, body!("pods")) {
            let before = (said(&packed), packed.protobuf().unwrap().into_owned());
            let same = packed.clone();
            packer.pack(&mut packed);
            packed_any |= packed.packed_size() < before.1.len() / 3;
            assert_eq!(
                (said(&packed), packed.protobuf().unwrap().into_owned()),
                before
            );
            assert_eq!(packed, same);
            assert!(packed.json().is_err());
        }
    }
    assert!(packed_any, "nothing was packed well");
}

#[test]
fn a_watch_gives_the_same_facts() {
    let [json, protobuf] = facts_of(MetadataOnly, Body::Watch, body!("watch"));
    assert_eq!(json, protobuf);
    assert_eq!(json.len(), 7);
    assert_eq!(json[3], r#"Bookmark { version: "3000" }"#);
    assert_eq!(json[4], r#"InitialEnd { version: "3000" }"#);
    assert!(json[5].contains("Expired"), "{}", json[5]);

    let [_, lean] = facts_of(Lean, Body::Watch, body!("watch"));
    for (fact, start) in lean.iter().zip(["Added", "Modified", "Deleted"]) {
        assert!(fact.starts_with(start), "{fact}");
    }
}

#[test]
fn each_list_states_the_type_of_its_elements() {
    let mut decoder = Decoder::new(Lean);
    for (kind, is_table) in [
        ("PodList", false),
        ("TableList", true),
        ("Table2List", false),
    ] {
        let kind = [field(1, b"meta.k8s.io/v1", 0), field(2, kind.as_bytes(), 0)].concat();
        let element = field(2, &field(1, &field(1, b"a", 0), 0), 0);
        let items = field(2, &[&*element, &*element].concat(), 0);
        let list = [b"k8s\0".as_slice(), &field(1, &kind, 0), &items].concat();
        decoder.begin(Body::List, Encoding::Protobuf);
        let mut list = list.as_slice();
        for _ in 0..2 {
            let fact = decoder.decode(&mut list).unwrap();
            assert_eq!(matches!(fact, Fact::Rejected(_)), is_table, "{fact:?}");
        }
    }
}

#[test]
fn an_empty_list_ends() {
    let [json, protobuf] = facts_of(Lean, Body::List, body!("empty"));
    assert_eq!(json, protobuf);
    assert_eq!(json, [page_end(""), "Closed".to_owned()]);
}

#[test]
fn a_status_is_the_same_failure() {
    for (bodies, failure) in [
        (body!("expired"), Failure::Expired),
        (
            body!("throttled"),
            Failure::Throttled {
                retry_after: Some(Duration::from_secs(3)),
            },
        ),
        (body!("too_large"), Failure::VersionTooLarge),
    ] {
        let [json, protobuf] = bodies.map(|(_, bytes)| failure_of_answer(500, bytes, None));
        assert_eq!(json, protobuf);
        assert_eq!(json.0, failure);
    }
    let [json, protobuf] = facts_of(Lean, Body::List, body!("expired"));
    assert_eq!(json, protobuf, "a Status is not a list");
}

#[test]
fn a_form_that_does_not_read_protobuf_fails_once() {
    for body in [Body::List, Body::Watch] {
        let [_, protobuf] = facts_of(Dynamic, body, body!("pods"));
        assert_eq!(protobuf.len(), 2);
        assert!(protobuf[0].starts_with("Failed { failure: Undecodable"));
        assert!(protobuf[0].contains("ask for JSON"), "{}", protobuf[0]);
        assert_eq!(protobuf[1], "Closed");
    }
}

#[test]
fn one_decoder_reads_answers_of_both_encodings() {
    let mut decoder = Decoder::new(MetadataOnly);
    let mut all = Vec::new();
    for (encoding, bytes) in body!("pods").into_iter().chain(body!("pods")) {
        feed_in(encoding, &mut decoder, Body::List, bytes, &[50], |fact| {
            if let Fact::Item(object) = fact {
                all.push(object);
            }
        });
    }
    assert_eq!(all.len(), 16);
    assert_eq!(all[..8], all[8..]);
}
