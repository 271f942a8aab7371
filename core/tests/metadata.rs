//! Owner references and annotations, on every form.
#![cfg(feature = "json")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use informer_core::decode::form::BodyError;
use informer_core::decode::{
    Dynamic, Form, Keep, Lean, MetadataOnly, Packed, Typed, decode_object,
};
use informer_core::pack::Packer;
use informer_core::{Metadata, Object, ObjectKey, OwnerReference};

const POD: &str = r#"{"metadata":{"namespace":"web","name":"a","generation":7,
    "creationTimestamp":"2026-11-17T10:00:00Z","deletionTimestamp":"2026-11-17T11:00:00Z",
    "annotations":{"team":"red","note":"caf\u00e9 \"1\"","team":"blue"},
    "managedFields":[{"manager":"kubelet"}],
    "ownerReferences":[
        {"apiVersion":"example.com/v1","kind":"Shop","name":"s\u0068op","uid":"u-1","blockOwnerDeletion":true},
        {"uid":"u-2","controller":true,"name":"rs","kind":"ReplicaSet","apiVersion":"apps/v1"},
        {"apiVersion":"v1","kind":"Node","name":"n1","uid":"u-3","controller":null}]},
    "spec":{"nodeName":"n1"}}"#;

/// Has none of the metadata.
#[derive(Clone, serde::Deserialize)]
struct Bare {}

/// Has annotations of its own.
#[derive(Clone, serde::Deserialize)]
struct Annotated {
    metadata: Annotations,
}

#[derive(Clone, serde::Deserialize)]
struct Annotations {
    annotations: BTreeMap<String, String>,
}

fn annotated() -> Typed<Annotated> {
    Typed::new().with_annotations(|pod: &Annotated, visit| {
        for (key, value) in &pod.metadata.annotations {
            visit(key, value);
        }
    })
}

fn read<F: Form>(mut form: F) -> Object<F::Body> {
    decode_object(&mut form, POD.as_bytes()).unwrap()
}

fn annotations(object: &impl Metadata) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    object.each_annotation(&mut |key, value| {
        found.insert(key.to_owned(), value.to_owned());
    });
    found
}

fn check<K>(form: &str, object: &Object<K>) {
    assert_eq!(object.generation(), 7, "{form}");
    assert_eq!(object.creation_time(), "2026-11-17T10:00:00Z", "{form}");
    assert_eq!(object.deletion_time(), "2026-11-17T11:00:00Z", "{form}");
    let owners = [
        OwnerReference::new("example.com/v1", "Shop", "shop", "u-1"),
        OwnerReference::new("apps/v1", "ReplicaSet", "rs", "u-2").controlling(),
        OwnerReference::new("v1", "Node", "n1", "u-3"),
    ];
    assert_eq!(object.owners(), owners, "{form}");
    assert_eq!(object.controller().as_ref(), owners.get(1), "{form}");
    let groups = object.owners();
    let groups: Vec<_> = groups.iter().map(OwnerReference::group).collect();
    assert_eq!(groups, ["example.com", "apps", ""], "{form}");
}

fn check_annotations<K>(form: &str, object: &Object<K>) {
    check(form, object);
    assert_eq!(object.annotation("team").unwrap(), "blue", "{form}");
    assert_eq!(object.annotation("note").unwrap(), "café \"1\"", "{form}");
    assert_eq!(object.annotation("absent"), None, "{form}");
    let all = [("note", "café \"1\""), ("team", "blue")];
    let all = all.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(annotations(object), BTreeMap::from(all), "{form}");
}

#[test]
fn every_form_has_owners_annotations_generation_and_times() {
    check_annotations("lean", &read(Lean));
    check_annotations("lean, full", &read(Keep::new(Lean).managed_fields(true)));
    check_annotations("metadata", &read(MetadataOnly));
    check_annotations("dynamic", &read(Dynamic));
    check_annotations("typed", &read(annotated()));
    check_annotations(
        "typed, kept twice",
        &read(Keep::new(annotated()).annotations(true)),
    );
    check_annotations(
        "typed, kept",
        &read(Keep::new(Typed::<Bare>::new()).annotations(true)),
    );
    let mut packer = Packer::new();
    let mut packed = read(Packed);
    for _ in 0..10 {
        packed = read(Packed);
        packer.pack(&mut packed);
    }
    assert!(packed.packed_size() < packed.json().unwrap().len() / 2);
    check_annotations("packed", &packed);
}

#[test]
fn a_type_without_annotations_keeps_none_unless_asked() {
    let bare = read(Typed::<Bare>::new());
    check("typed", &bare);
    assert_eq!(bare.annotation("team"), None);
    assert!(annotations(&bare).is_empty());
}

#[test]
fn a_copy_reads_annotations_as_the_first_object_does() {
    let first = read(annotated());
    let mut copy = first.clone();
    copy.set_labels([("app", "shop")]);
    check_annotations("copy", &copy);
    assert_eq!(copy.labels().get("app"), Some("shop"));
    assert_eq!(first.labels().get("app"), None);
    // A copy of the copy has the labels, too.
    let mut second = copy.clone();
    second.edit(|pod| pod.metadata.annotations.clear());
    assert_eq!(second.labels().get("app"), Some("shop"));
    assert!(annotations(&second).is_empty());
    check_annotations("copy", &copy);
}

#[test]
fn an_object_can_be_built_with_all_of_it() {
    let owner = OwnerReference::new("apps/v1", "ReplicaSet", "a \"b\"\n\u{1}", "u-2");
    let built = Object::builder(ObjectKey::new("web", "a"))
        .uid("u-9")
        .annotations([("a\\", "1\t"), ("b", "café")])
        .owners([owner.clone(), owner.clone().controlling()])
        .creation_time("2026-11-17T10:00:00Z")
        .deletion_time("2026-11-17T11:00:00Z")
        .body(5);
    assert_eq!(built.owners(), [owner.clone(), owner.clone().controlling()]);
    assert_eq!(built.controller(), Some(owner.controlling()));
    assert_eq!(built.annotation("a\\").unwrap(), "1\t");
    assert_eq!(built.annotation("b").unwrap(), "café");
    assert_eq!(built.creation_time(), "2026-11-17T10:00:00Z");
    assert_eq!(built.deletion_time(), "2026-11-17T11:00:00Z");
    assert_eq!((built.uid(), *built), ("u-9", 5));
    let none = Object::builder(ObjectKey::new("web", "a")).body(());
    assert!(none.owners().is_empty() && none.controller().is_none());
    assert!(annotations(&none).is_empty());
}

#[test]
fn metadata_of_another_shape_is_left_out() -> Result<(), BodyError> {
    for (owners, found) in [
        ("null", 0),
        ("{}", 0),
        ("\"x\"", 0),
        ("[]", 0),
        ("[1,null,[],\"x\"]", 0),
        ("[{}]", 1),
        (
            r#"[{"uid":{"uid":"no"},"controller":"true"},3,{"uid":"u"}]"#,
            2,
        ),
    ] {
        let json = format!(
            r#"{{"metadata":{{"name":"a","annotations":{owners},"ownerReferences":{owners}}}}}"#
        );
        let lean = decode_object(&mut Lean, json.as_bytes())?;
        let dynamic = decode_object(&mut Dynamic, json.as_bytes())?;
        let typed = decode_object(&mut Typed::<Bare>::new(), json.as_bytes())?;
        for object in [lean.owners(), dynamic.owners(), typed.owners()] {
            assert_eq!(object.len(), found, "{json}");
            assert!(object.iter().all(|owner| !owner.controller), "{json}");
        }
        assert!(annotations(&lean).is_empty(), "{json}");
        assert!(annotations(&dynamic).is_empty(), "{json}");
    }
    Ok(())
}

#[test]
fn a_form_around_a_form_keeps_what_either_keeps() {
    let inner = || Keep::new(Dynamic).annotations(true);
    for form in [
        Keep::new(inner()).managed_fields(true),
        Keep::new(inner().managed_fields(true)),
    ] {
        let object = read(form);
        assert_eq!(
            object.pointer("/metadata/managedFields/0/manager").unwrap(),
            "kubelet"
        );
    }
    assert!(
        read(Keep::new(inner()))
            .pointer("/metadata/managedFields")
            .is_none()
    );
}
