//! Objects whose numbers do not fit into two bytes say the same as all others, and so do those at the border.
#![cfg(feature = "json")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use informer_core::decode::form::{LeanBody, PackedBody};
use informer_core::decode::{
    Dynamic, Form, Keep, Lean, MetadataOnly, Packed, decode_object, protobuf,
};
use informer_core::pack::Packer;
use informer_core::{Object, ObjectKey};
use serde_json::{Value, json};

/// Lengths around every border of a record.
const LENGTHS: [usize; 16] = [
    0, 1, 19, 20, 21, 255, 256, 257, 32_766, 32_767, 32_768, 65_534, 65_535, 65_536, 65_537,
    200_000,
];

fn text(length: usize) -> String {
    "abcdefghijklmnopqrstuvwxyz"
        .chars()
        .cycle()
        .take(length)
        .collect()
}

fn ordinary() -> Value {
    json!({"metadata": {
        "name": "a", "namespace": "web", "uid": "5a1c", "resourceVersion": "7", "generation": 3,
        "creationTimestamp": "2026-11-17T10:00:00Z", "deletionTimestamp": "2026-11-18T10:00:00Z",
        "labels": {"app": "shop", "tier": "db"},
        "annotations": {"note": "n", "other": "o"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "u-1"}],
    }, "spec": {"nodeName": "node-1"}})
}

/// Objects with one unusual length or number each.
fn unusual() -> impl Iterator<Item = (String, Value)> {
    let texts = [
        "/metadata/uid",
        "/metadata/resourceVersion",
        "/metadata/creationTimestamp",
        "/metadata/deletionTimestamp",
        "/metadata/labels/app",
        "/metadata/annotations/note",
        "/metadata/ownerReferences/0/uid",
        "/spec/nodeName",
    ];
    let long = texts.into_iter().flat_map(|place| {
        LENGTHS.map(|length| {
            let mut object = ordinary();
            *object.pointer_mut(place).unwrap() = text(length).into();
            (format!("{place} of {length} bytes"), object)
        })
    });
    let numbers = [
        0,
        255,
        256,
        65_535,
        65_536,
        u32::MAX.into(),
        i64::MAX as u64,
    ];
    let generations = numbers.map(|generation| {
        let mut object = ordinary();
        object["metadata"]["generation"] = generation.into();
        (format!("generation {generation}"), object)
    });
    long.chain(generations)
}

/// The text that brings the whole object to this length, before or behind what is read of `metadata`.
fn of_length(length: usize, behind: bool) -> String {
    let mut object = ordinary();
    let name = if behind { "zzz" } else { "aaa" };
    object[name] = "".into();
    let missing = length - object.to_string().len();
    object[name] = text(missing).into();
    let json = object.to_string();
    assert_eq!(json.len(), length);
    json
}

fn check<K>(object: &Object<K>, json: &Value, what: &str) {
    let metadata = &json["metadata"];
    let expected = |name: &str| metadata[name].as_str().unwrap_or_default();
    assert_eq!(object.key(), &ObjectKey::new("web", "a"), "{what}");
    assert_eq!(object.uid(), expected("uid"), "{what}");
    assert_eq!(object.version(), expected("resourceVersion"), "{what}");
    assert_eq!(
        object.creation_time(),
        expected("creationTimestamp"),
        "{what}"
    );
    assert_eq!(
        object.deletion_time(),
        expected("deletionTimestamp"),
        "{what}"
    );
    assert_eq!(
        Some(object.generation()),
        metadata["generation"].as_u64(),
        "{what}"
    );
    let labels = metadata["labels"].as_object().unwrap();
    let labels = labels
        .iter()
        .map(|(key, value)| (&**key, value.as_str().unwrap()));
    assert!(object.labels().iter().eq(labels), "{what}");
}

/// What [`check`] does not look at, of an object that keeps its metadata.
fn check_metadata<K>(object: &Object<K>, json: &Value, what: &str)
where
    Object<K>: Says,
{
    let metadata = &json["metadata"];
    for name in ["note", "other"] {
        let expected = metadata["annotations"][name].as_str().map(str::to_owned);
        assert_eq!(object.says_annotation(name), expected, "{what}");
    }
    let uid = metadata["ownerReferences"][0]["uid"]
        .as_str()
        .map(str::to_owned);
    assert_eq!(object.says_owner(), uid, "{what}");
}

/// An object with annotations and owner references.
trait Says {
    fn says_annotation(&self, name: &str) -> Option<String>;
    fn says_owner(&self) -> Option<String>;
}

macro_rules! says {
    ($($body:ty),*) => {$(
        impl Says for Object<$body> {
            fn says_annotation(&self, name: &str) -> Option<String> {
                self.annotation(name).map(Into::into)
            }

            fn says_owner(&self) -> Option<String> {
                self.owners().first().map(|owner| owner.uid.clone().into())
            }
        }
    )*};
}

says!(
    LeanBody,
    PackedBody,
    informer_core::decode::form::MetadataBody,
    Value
);

fn read<F: Form>(mut form: F, json: &Value) -> Object<F::Body> {
    decode_object(&mut form, json.to_string().as_bytes()).unwrap()
}

/// A packer that has learned what these objects look like.
fn packer() -> Packer {
    let mut packer = Packer::new();
    for _ in 0..30 {
        packer.pack(&mut read(Packed, &ordinary()));
    }
    packer
}

#[test]
fn nothing_is_lost_however_long_it_is() {
    let mut packer = packer();
    for (what, json) in unusual() {
        let what = &*what;
        let lean = read(Lean, &json);
        check(&lean, &json, what);
        check_metadata(&lean, &json, what);
        assert_eq!(lean.json().unwrap(), json.to_string(), "{what}");
        assert_eq!(lean.size(), json.to_string().len(), "{what}");
        let metadata = read(MetadataOnly, &json);
        check(&metadata, &json, what);
        check_metadata(&metadata, &json, what);
        let dynamic = read(Dynamic, &json);
        check(&dynamic, &json, what);
        check_metadata(&dynamic, &json, what);
        assert_eq!(*dynamic.body(), json, "{what}");
        let unpacked = read(Packed, &json);
        let mut packed = unpacked.clone();
        packer.pack(&mut packed);
        assert!(packed.packed_size() < json.to_string().len(), "{what}");
        check(&packed, &json, what);
        check_metadata(&packed, &json, what);
        assert_eq!(packed.json().unwrap(), json.to_string(), "{what}");
        assert_eq!(packed.size(), json.to_string().len(), "{what}");
        assert_eq!(packed, unpacked, "{what}");
        // Labels of its own, beside what it is packed with.
        let before = packed.clone();
        packed.set_labels([("only", "this")]);
        assert!(packed.labels().iter().eq([("only", "this")]), "{what}");
        assert_eq!(packed.json(), before.json(), "{what}");
        assert_eq!(
            [packed.uid(), packed.version()],
            [before.uid(), before.version()]
        );
        check_metadata(&packed, &json, what);
        check(&before, &json, what);
    }
}

#[test]
fn texts_and_their_parts_may_stand_anywhere() {
    for length in [
        32_766, 32_767, 32_768, 65_534, 65_535, 65_536, 65_537, 300_000,
    ] {
        for (behind, at) in [(true, 0), (false, 0), (false, 300), (false, 700)] {
            let what = format!("{length} + {at}, {behind}");
            let text = of_length(length + at, behind);
            let json: Value = serde_json::from_str(&text).unwrap();
            let lean = decode_object(&mut Lean, text.as_bytes()).unwrap();
            check(&lean, &json, &what);
            check_metadata(&lean, &json, &what);
            assert_eq!(lean.json().unwrap(), text);
            assert_eq!(lean.size(), text.len());
        }
    }
}

/// Where the times stand is written in another way than all other places.
#[test]
fn times_may_stand_anywhere() {
    for start in 65_400..65_700 {
        let text = format!(
            r#"{{"a":"{}","metadata":{{"name":"n","creationTimestamp":"2026-11-17T10:00:00Z"}}}}"#,
            text(start - 100),
        );
        let object = decode_object(&mut MetadataOnly, text.as_bytes()).unwrap();
        assert_eq!(object.creation_time(), "2026-11-17T10:00:00Z");
        let text = text.replace("00Z", "00.5Z");
        let object = decode_object(&mut Lean, text.as_bytes()).unwrap();
        assert_eq!(object.creation_time(), "2026-11-17T10:00:00.5Z");
    }
    // The place of a time that is as far behind as a narrow head can say, and one further.
    for length in 65_480..65_560 {
        let uid = text(length);
        let object = Object::builder(ObjectKey::new("", "a"))
            .version(uid)
            .creation_time("2026-11-17T10:00:00Z")
            .deletion_time("2026-11-18T10:00:00Z")
            .body(());
        assert_eq!(object.creation_time(), "2026-11-17T10:00:00Z");
        assert_eq!(object.deletion_time(), "2026-11-18T10:00:00Z");
    }
}

#[test]
fn messages_of_protobuf_are_as_long_as_they_like() {
    let mut packer = packer();
    for (what, json) in unusual() {
        // Times are numbers in protobuf.
        if what.contains("Timestamp") {
            continue;
        }
        let message = informer_test_support::protobuf::object(&json);
        let bytes = informer_test_support::protobuf::enveloped("v1", "Pod", &message);
        let lean = protobuf::decode_object(&mut Lean, &bytes).unwrap();
        check(&lean, &json, &what);
        check_metadata(&lean, &json, &what);
        assert_eq!(lean.size(), message.len());
        let metadata = protobuf::decode_object(&mut MetadataOnly, &bytes).unwrap();
        check(&metadata, &json, &what);
        check_metadata(&metadata, &json, &what);
        let mut packed = protobuf::decode_object(&mut Packed, &bytes).unwrap();
        packer.pack(&mut packed);
        check(&packed, &json, &what);
        check_metadata(&packed, &json, &what);
        assert_eq!(packed.protobuf(), lean.protobuf(), "{what}");
    }
}

/// An object grows beyond the border and comes back, in a transform.
#[test]
fn an_object_can_change_its_size() {
    let mut packer = packer();
    let (small, large) = (of_length(1_000, true), of_length(100_000, true));
    let json = ordinary();
    let mut object = decode_object(&mut Packed, small.as_bytes()).unwrap();
    for text in [&large, &small, &large, &small] {
        object.set_json(text).unwrap();
        assert_eq!(object.json().unwrap(), **text);
        check(&object, &json, "changed");
        check_metadata(&object, &json, "changed");
        let mut packed = object.clone();
        packer.pack(&mut packed);
        assert_eq!(packed.json().unwrap(), **text);
        assert_eq!(packed, object);
        check(&packed, &json, "packed");
        let mut changed = packed.clone();
        let other = if text.len() == small.len() {
            &large
        } else {
            &small
        };
        changed.set_json(other).unwrap();
        assert_eq!(changed.json().unwrap(), **other);
        assert_eq!(packed.json().unwrap(), **text);
        // A shared one is copied, with everything that it has.
        let shared = packed.clone();
        packed.edit(|_| ());
        assert!(!packed.is_same(&shared));
        assert_eq!(packed, shared);
        packed.set_labels([("only", "this")]);
        packed.set_labels([("a", text), ("b", text)]);
        assert!(packed.labels().iter().eq([("a", &**text), ("b", &**text)]));
        let shared = packed.clone();
        packed.edit(|_| ());
        assert_eq!(packed, shared);
        assert!(packed.labels().iter().eq(shared.labels()));
    }
}

#[test]
fn a_size_that_is_not_kept_makes_no_difference() {
    let (mut few, mut many) = (ordinary(), ordinary());
    few["metadata"]["managedFields"] = json!([{"manager": "x"}]);
    many["metadata"]["managedFields"] = json!([{"manager": text(100_000)}]);
    let (one, two) = (read(Lean, &few), read(Lean, &many));
    assert_eq!(one.size(), few.to_string().len());
    assert_eq!(two.size(), many.to_string().len());
    assert_eq!(one, two);
    assert_ne!(one, read(Keep::new(Lean).managed_fields(true), &many));
    let mut packer = packer();
    let [one, two] = [&few, &many].map(|json| {
        let mut object = read(Packed, json);
        packer.pack(&mut object);
        object
    });
    assert_eq!(one, two);
}
