//! Answers of a real kube-apiserver, which `e2e/record` asked for in JSON and in protobuf. serde_json says what is right.
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
use core::time::Duration;

use decode_support::encodings::{Bodies, body, facts_of, objects_of, said};
use decode_support::*;
use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::protobuf::status::ApiStatus;
use informer_core::decode::{Body, Decoder, Form, Keep, Lean, MetadataOnly, Packed};
use informer_core::{Encoding, Failure, Object, OwnerReference};
use serde_json::Value;

const LISTS: [(Bodies, usize); 8] = [
    (body!("real/pods"), 4),
    (body!("real/page"), 1),
    (body!("real/configmaps"), 2),
    (body!("real/secrets"), 2),
    (body!("real/nodes"), 2),
    (body!("real/events"), 2),
    (body!("real/leases"), 2),
    (body!("real/metadata"), 4),
];
const WATCHES: [(Bodies, usize); 3] = [
    (body!("real/stream"), 4),
    (body!("real/metadata_stream"), 4),
    (body!("real/watch"), 4),
];
const FAILURES: [(u16, Bodies, Failure); 4] = [
    (410, body!("real/expired"), Failure::Expired),
    (404, body!("real/not_found"), Failure::NotFound),
    (403, body!("real/forbidden"), Failure::Forbidden),
    (504, body!("real/too_large"), Failure::VersionTooLarge),
];

/// Every body with objects, and how many it has.
fn with_objects() -> impl Iterator<Item = (Body, Bodies, usize)> {
    let lists = LISTS.map(|(bodies, count)| (Body::List, bodies, count));
    let watches = WATCHES.map(|(bodies, count)| (Body::Watch, bodies, count));
    lists.into_iter().chain(watches)
}

/// The objects that serde_json finds in a body.
fn right(body: Body, bodies: Bodies) -> Vec<Value> {
    let text = bodies[0].1;
    if body == Body::List {
        let mut list: Value = serde_json::from_slice(text).unwrap();
        return serde_json::from_value(list["items"].take()).unwrap();
    }
    let events = serde_json::Deserializer::from_slice(text).into_iter();
    let events = events.map(|event: Result<Value, _>| event.unwrap());
    let events = events.filter(|event| event["type"] != "BOOKMARK");
    events.map(|mut event| event["object"].take()).collect()
}

fn check<K>(object: &Object<K>, right: &Value) {
    let metadata = &right["metadata"];
    assert_eq!(object.key().namespace(), text_at(right, "namespace"));
    assert_eq!(object.key().name(), text_at(right, "name"));
    assert_eq!(object.uid().to_string(), text_at(right, "uid"));
    assert_eq!(
        object.version().to_string(),
        text_at(right, "resourceVersion")
    );
    assert_eq!(
        object.generation(),
        metadata["generation"].as_u64().unwrap_or(0)
    );
    assert_eq!(object.creation_time(), text_at(right, "creationTimestamp"));
    assert_eq!(object.deletion_time(), text_at(right, "deletionTimestamp"));
    let labels = object.labels();
    let mut labels: Vec<_> = labels.iter().map(|(k, v)| (k.into(), v.into())).collect();
    labels.sort_unstable();
    assert_eq!(labels, labels_of(right));
    let mut annotations = Vec::new();
    object.each_annotation(&mut |key, value| annotations.push((key.to_owned(), value.into())));
    let all = metadata["annotations"].as_object().into_iter().flatten();
    let all: Vec<_> = all
        .map(|(k, v): (_, &Value)| (k.clone(), v.clone()))
        .collect();
    assert_eq!(annotations, all);
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let owners: Vec<_> = owners.map(owner).collect();
    assert_eq!(object.owners(), owners);
}

fn owner(right: &Value) -> OwnerReference<'_> {
    let text = |name: &str| right[name].as_str().unwrap();
    let mut owner =
        OwnerReference::new(text("apiVersion"), text("kind"), text("name"), text("uid"));
    owner.controller = right["controller"] == true;
    owner
}

#[test]
fn every_object_is_the_same_in_both_encodings() {
    for (body, bodies, count) in with_objects() {
        let right = right(body, bodies);
        assert_eq!(right.len(), count);
        let lean = objects_of(Lean, body, bodies);
        let packed = objects_of(Packed, body, bodies);
        let metadata = objects_of(MetadataOnly, body, bodies);
        let mut compared = 0;
        for (((lean, packed), metadata), right) in lean.zip(packed).zip(metadata).zip(&right) {
            check(&lean.0, right);
            check(&lean.1, right);
            check(&metadata.1, right);
            assert_eq!(said(&lean.0), said(&lean.1));
            assert_eq!(said(&packed.0), said(&packed.1));
            assert_eq!(said(&metadata.0), said(&metadata.1));
            assert_eq!(lean.1.encoding(), Encoding::Protobuf);
            compared += 1;
        }
        assert_eq!(compared, count);
    }
}

#[test]
fn metadata_is_what_the_server_says_in_json() {
    for (body, bodies, _) in with_objects() {
        let right = right(body, bodies);
        let short = objects_of(MetadataOnly, body, bodies);
        let full = objects_of(Keep::new(MetadataOnly).managed_fields(true), body, bodies);
        for ((short, full), right) in short.zip(full).zip(&right) {
            assert_eq!(short.0.json(), short.1.json());
            assert_eq!(full.0.json(), full.1.json());
            let without = &without_managed_fields(right)["metadata"];
            assert_eq!(&short.1.decode::<Value>().unwrap(), without);
            assert_eq!(full.1.decode::<Value>().unwrap(), right["metadata"]);
            assert!(right["metadata"]["managedFields"].is_array());
        }
    }
}

#[test]
fn a_watch_has_events_bookmarks_and_the_end_of_the_state() {
    let streamed = "Added Added Added Added InitialEnd Closed";
    let watched = "Added Modified Modified Deleted Bookmark Closed";
    for ((bodies, _), kinds) in WATCHES.into_iter().zip([streamed, streamed, watched]) {
        let [json, protobuf] = facts_of(MetadataOnly, Body::Watch, bodies);
        assert_eq!(json, protobuf);
        for facts in facts_of(Lean, Body::Watch, bodies) {
            let kind = |fact: &String| fact.split(['(', ' ']).next().unwrap().to_owned();
            let found: Vec<_> = facts.iter().map(kind).collect();
            assert_eq!(found.join(" "), kinds);
        }
    }
    let [json, protobuf] = facts_of(Lean, Body::Watch, body!("real/watch_expired"));
    assert_eq!(json, protobuf);
    let failed = "Failed { failure: Expired, message: \"too old resource version: 1";
    assert!(json[0].starts_with(failed), "{}", json[0]);
}

#[test]
fn a_list_ends_with_its_version_and_its_next_page() {
    for (bodies, count) in LISTS.into_iter().chain([(body!("real/empty"), 0)]) {
        let list: Value = serde_json::from_slice(bodies[0].1).unwrap();
        let end = format!(
            "PageEnd {{ version: {:?}, next: {:?}, remaining: {:?} }}",
            text_at(&list, "resourceVersion"),
            list["metadata"]["continue"].as_str(),
            list["metadata"]["remainingItemCount"].as_u64(),
        );
        for facts in facts_of(Lean, Body::List, bodies) {
            assert_eq!(facts.len(), count + 2);
            assert_eq!(facts[count..], [end.clone(), "Closed".to_owned()]);
        }
    }
    let page: Value = serde_json::from_slice(LISTS[1].0[0].1).unwrap();
    assert_eq!(page["metadata"]["remainingItemCount"], 3);
}

#[test]
fn a_failure_is_the_same_in_both_encodings() {
    for (code, bodies, failure) in FAILURES {
        let [json, protobuf] = bodies.map(|(_, bytes)| failure_of_answer(code, bytes, None));
        assert_eq!(json, protobuf);
        assert_eq!(json.0, failure);
        let right: Value = serde_json::from_slice(bodies[0].1).unwrap();
        assert_eq!(json.1, right["message"].as_str().unwrap());
        let status = ApiStatus::read(bodies[1].1).unwrap();
        assert_eq!(status.reason, right["reason"].as_str());
        assert_eq!(status.code, u32::from(code));
        let wait = right["details"]["retryAfterSeconds"].as_u64();
        assert_eq!(status.retry_after, wait.map(Duration::from_secs));
        // What the Status says counts, whatever HTTP says.
        let (failure, _) = failure_of_answer(500, bodies[1].1, None);
        assert_eq!(failure, json.0);
    }
}

/// Cuts a body in protobuf in two at each place.
fn check_every_cut<F: Form<Body: Debug> + Copy>(form: F, body: Body, bodies: Bodies) {
    let [_, whole] = facts_of(form, body, bodies);
    let [_, (encoding, bytes)] = bodies;
    for cut in 1..bytes.len() {
        let mut facts = Vec::new();
        let decoder = &mut Decoder::new(form);
        feed_in(encoding, decoder, body, bytes, &[cut, usize::MAX], |fact| {
            facts.push(format!("{fact:?}"));
        });
        assert_eq!(facts, whole, "cut at {cut}");
    }
}

#[test]
fn it_does_not_matter_where_a_body_is_cut() {
    for bodies in [body!("real/page"), body!("real/leases")] {
        check_every_cut(MetadataOnly, Body::List, bodies);
        check_every_cut(Lean, Body::List, bodies);
    }
    for bodies in [body!("real/watch"), body!("real/watch_expired")] {
        check_every_cut(Lean, Body::Watch, bodies);
    }
}
