//! Packed objects say what lean ones say, in a fraction of the memory.
#![cfg(feature = "json")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use informer_core::Object;
use informer_core::decode::form::{LeanBody, PackedBody};
use informer_core::decode::{
    As, FieldPath, Fields, Keep, Lean, MetadataOnly, Packed, decode_object,
};
use informer_core::pack::Packer;
use serde_json::{Value, json};

/// A pod of one of some apps. `salt` changes what is different between pods of one app.
fn pod(number: usize, salt: usize) -> Value {
    let app = format!("app-{}", number % 7);
    let hash = |n: usize| format!("{:016x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    json!({
        "metadata": {
            "name": format!("{app}-{}", hash(number)),
            "namespace": format!("team-{}", number % 3),
            "uid": format!("{}-{}", hash(number), hash(number + 7)),
            "resourceVersion": (1000 + salt).to_string(),
            "generation": salt,
            "creationTimestamp": "2026-11-17T10:00:00Z",
            "labels": {"app.kubernetes.io/name": app, "team": format!("team-{}", number % 3), "x": ""},
            "annotations": {"note": format!("café {number}"), "checksum": hash(salt)},
            "managedFields": [{"manager": "kubelet", "operation": "Update"}],
        },
        "spec": {
            "nodeName": format!("node-{}", number % 50),
            "containers": [{"name": app, "image": format!("example.com/{app}:1.{}", salt % 10), "ports": [80, 443]}],
            "tolerations": [{"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists"}],
        },
        "status": {"phase": "Running", "podIP": format!("10.0.{}.{}", number % 256, salt % 256)},
    })
}

fn lean(pod: &Value) -> Object<LeanBody> {
    decode_object(&mut Lean, pod.to_string().as_bytes()).unwrap()
}

fn packed(pod: &Value, packer: &mut Packer) -> Object<PackedBody> {
    let mut object = decode_object(&mut Packed, pod.to_string().as_bytes()).unwrap();
    packer.pack(&mut object);
    object
}

#[test]
fn a_packed_object_says_what_a_lean_one_says() {
    let mut packer = Packer::new();
    let paths = [
        "spec.containers[*].image",
        "metadata.annotations.note",
        "status.podIP",
    ];
    let paths = paths.map(|path| path.parse::<FieldPath>().unwrap());
    let (mut kept, mut of_text) = (0, 0);
    for number in 0..600 {
        let pod = pod(number, number / 3);
        let (lean, packed) = (lean(&pod), packed(&pod, &mut packer));
        assert_eq!(lean.json().unwrap(), packed.json().unwrap());
        assert_eq!(lean.labels(), packed.labels());
        assert_eq!(lean.labels().get("team"), packed.labels().get("team"));
        assert_eq!(
            (lean.key(), lean.uid(), lean.version(), lean.size()),
            (packed.key(), packed.uid(), packed.version(), packed.size())
        );
        assert_eq!(lean.generation(), (number / 3) as u64);
        assert_eq!(packed.generation(), lean.generation());
        assert_eq!(packed.creation_time(), "2026-11-17T10:00:00Z");
        assert_eq!((packed.deletion_time(), lean.deletion_time()), ("", ""));
        let note = format!("café {number}");
        assert_eq!(packed.annotation("note").unwrap(), note);
        assert_eq!(lean.annotation("note").unwrap(), note);
        assert_eq!(
            lean.decode::<Value>().unwrap(),
            packed.decode::<Value>().unwrap()
        );
        for path in &paths {
            let fields = |object: &dyn Fields| {
                let mut found = Vec::new();
                object.each_field(path, &mut |field| found.push(format!("{field:?}")));
                assert_eq!(found.len(), 1);
                found
            };
            assert_eq!(fields(&lean), fields(&packed));
        }
        kept += packed.packed_size();
        of_text += lean.json().unwrap().len();
    }
    assert!(kept * 4 < of_text, "{kept} of {of_text} bytes");
}

#[test]
fn objects_are_equal_whatever_they_were_packed_with() {
    let mut packers = [Packer::new(), Packer::new()];
    for number in 0..100 {
        packed(&pod(number, 1), &mut packers[0]);
        packed(
            &json!({"metadata": {"name": "x"}, "data": {"number": number}}),
            &mut packers[1],
        );
    }
    let [first, second] = &mut packers;
    let (one, same) = (packed(&pod(7, 7), first), packed(&pod(7, 7), first));
    let other_dictionary = packed(&pod(7, 7), second);
    let not_packed: Object<PackedBody> =
        decode_object(&mut Packed, pod(7, 7).to_string().as_bytes()).unwrap();
    assert!(!one.is_same(&same));
    assert_eq!(one, same);
    assert_eq!(one, other_dictionary);
    assert_eq!(not_packed, one);
    let mut changed = pod(7, 7);
    changed["spec"]["nodeName"] = "node-8".into();
    assert_ne!(packed(&changed, first), one);
    // Packing again changes nothing.
    let mut again = one.clone();
    second.pack(&mut again);
    assert!(again.is_same(&one));
}

/// Objects of ever new kinds want ever new dictionaries, but they are bounded, and go with their objects.
#[test]
fn dictionaries_are_bounded_and_freed() {
    let mut packer = Packer::new();
    let mut objects = Vec::new();
    let mut most = 0;
    for kind in 0..60_u64 {
        for number in 0..700_u64 {
            let word =
                |n: u64| format!("{:x}", (kind * 31 + n).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let members: serde_json::Map<_, _> =
                (0..20).map(|n| (word(n), json!(word(n + 99)))).collect();
            let object =
                json!({"metadata": {"name": format!("k{kind}-{number}")}, "spec": members});
            objects.push(packed(&object, &mut packer));
        }
        most = most.max(packer.dictionaries());
    }
    assert!((4..=16).contains(&most), "{most} dictionaries");
    for object in &objects {
        assert!(object.json().unwrap().contains(object.key().name()));
    }
    drop(objects);
    assert_eq!(packer.dictionaries(), 1, "only the current one");
}

#[test]
fn a_packed_object_knows_its_type() {
    #[derive(serde::Deserialize)]
    struct Pod {
        spec: Spec,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Spec {
        node_name: String,
    }
    let mut packer = Packer::new();
    for number in 0..20 {
        let json = pod(number, 0).to_string();
        let mut object = decode_object(&mut As::<Packed, Pod>::new(), json.as_bytes()).unwrap();
        packer.pack(&mut object);
        let pod = object.decode().unwrap();
        assert_eq!(pod.spec.node_name, format!("node-{number}"));
        let status: Value = object.decode_as::<Value>().unwrap()["status"].take();
        assert_eq!(status["phase"], "Running");
        let wrong = object.decode_as::<Vec<u8>>().map(drop).unwrap_err();
        assert!(
            wrong.to_string().starts_with("invalid type: map"),
            "{wrong}"
        );
    }
}

/// Labels that need more than an extent: escaped, unsorted, repeated, empty.
#[test]
fn odd_labels_are_the_same_in_every_form() {
    let labels = r#"{"z":"1","a\u0062":"\"q\"","m":"","z":"2","caf\u00e9":"\n"}"#;
    let json = format!(r#"{{"metadata":{{"name":"n","uid":"\u0075-1","labels":{labels}}}}}"#);
    let expected = [("ab", "\"q\""), ("café", "\n"), ("m", ""), ("z", "2")];
    let mut packed = decode_object(&mut Packed, json.as_bytes()).unwrap();
    let mut packer = Packer::new();
    for number in 0..30 {
        let mut other = decode_object(&mut Packed, pod(number, 0).to_string().as_bytes()).unwrap();
        packer.pack(&mut other);
    }
    packer.pack(&mut packed);
    let lean = decode_object(&mut Lean, json.as_bytes()).unwrap();
    let metadata = decode_object(&mut MetadataOnly, json.as_bytes()).unwrap();
    let full = decode_object(&mut Keep::new(Lean).managed_fields(true), json.as_bytes()).unwrap();
    for labels in [
        packed.labels(),
        lean.labels(),
        metadata.labels(),
        full.labels(),
    ] {
        assert!(labels.iter().eq(expected), "{labels:?}");
        assert_eq!(labels.len(), 4);
    }
    assert_eq!([packed.uid(), lean.uid(), metadata.uid()], ["u-1"; 3]);
}

#[test]
fn a_transform_can_replace_the_text() {
    let mut packer = Packer::new();
    for number in 0..30 {
        packed(&pod(number, 0), &mut packer);
    }
    let mut object = decode_object(&mut Packed, pod(3, 3).to_string().as_bytes()).unwrap();
    let before = (object.uid().to_owned(), object.version().to_owned());
    let text = r#"{"spec":{"x":1},"metadata":{"annotations":{"note":"new"},"name":"ignored"}}"#;
    object.set_json(text).unwrap();
    object.set_labels([("only", "this")]);
    packer.pack(&mut object);
    assert_eq!(object.json().unwrap(), text);
    assert_eq!(object.annotation("note").unwrap(), "new");
    assert_eq!((object.uid(), object.version()), (&*before.0, &*before.1));
    assert!(object.labels().iter().eq([("only", "this")]));
    for broken in ["", "[]", "{", "1"] {
        assert!(object.set_json(broken).is_err(), "{broken:?}");
    }
    assert_eq!(object.json().unwrap(), text);
    // A shared object is copied, not changed.
    let shared = object.clone();
    object.set_labels([("other", "label")]);
    assert!(shared.labels().iter().eq([("only", "this")]));
    assert!(object.get_mut().is_some() && object.labels().get("other").is_some());
}
