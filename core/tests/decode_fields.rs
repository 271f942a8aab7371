//! Fields by path: the same results from the text of an object and from its value.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use informer_core::decode::{
    As, Dynamic, FieldPath, Fields, Lean, MetadataOnly, Packed, Scalar, ToJson, Typed,
    decode_object,
};
use informer_core::{Object, ObjectKey};

const POD: &str = r#"{"metadata":{"name":"a","namespace":"n","annotations":{"example.com/team":"caf\u00e9","x":"1"}},
"spec":{"nodeName":"first","priority": 7 ,"hostNetwork":true,"nothing":null,"ratio":-1.5e3,
"containers":[{"image":"x","ports":[{"containerPort":80},{"containerPort":443}]},{"image":"y"},{"ports":[]}, 5],
"nodeName":"last","\u006eame":"escaped key"},"status":{}}"#;

fn found(fields: &impl Fields, path: &str) -> Vec<String> {
    let path: FieldPath = path.parse().unwrap();
    let mut found = Vec::new();
    fields.each_field(&path, &mut |scalar| {
        found.push(match scalar {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(bool) => format!("bool {bool}"),
            Scalar::Number(number) => format!("number {number}"),
            Scalar::Text(text) => format!("text {text}"),
        });
    });
    found
}

#[test]
fn every_form_that_has_a_field_finds_it() {
    let lean = decode_object(&mut Lean, POD.as_bytes()).unwrap();
    let dynamic = decode_object(&mut Dynamic, POD.as_bytes()).unwrap();
    let cases: [(&str, &[&str]); 16] = [
        ("metadata.name", &["text a"]),
        (".metadata.namespace", &["text n"]),
        ("metadata.annotations['example.com/team']", &["text café"]),
        ("spec.nodeName", &["text last"]),
        ("spec.priority", &["number 7"]),
        ("spec.hostNetwork", &["bool true"]),
        ("spec.nothing", &["null"]),
        ("spec.name", &["text escaped key"]),
        ("spec.containers[*].image", &["text x", "text y"]),
        (
            "spec.containers[*].ports[*].containerPort",
            &["number 80", "number 443"],
        ),
        ("spec.containers[*]", &["number 5"]),
        ("spec.containers", &[]),
        ("spec.containers.image", &[]),
        ("spec[*]", &[]),
        ("spec.absent.deeper", &[]),
        ("status", &[]),
    ];
    for (path, expected) in cases {
        assert_eq!(found(&lean, path), expected, "{path} in the text");
        assert_eq!(found(&dynamic, path), expected, "{path} in the value");
    }
    assert_eq!(
        found(&lean, "spec.ratio"),
        ["number -1.5e3"],
        "as it is written"
    );

    let metadata = decode_object(&mut MetadataOnly, POD.as_bytes()).unwrap();
    assert_eq!(found(&metadata, "metadata.annotations.x"), ["text 1"]);
    assert!(
        found(&metadata, "spec.nodeName").is_empty(),
        "it was not kept"
    );
    assert!(found(&metadata, "annotations.x").is_empty());
}

#[test]
fn an_invalid_path_is_refused_with_the_position() {
    for (text, place) in [
        ("", "\"\": expected"),
        (".", "\"\": expected"),
        ("spec..x", "\".x\": expected"),
        ("spec.", "\"\": expected"),
        ("spec[1]", "\"[1]\": expected"),
        ("spec['x", "\"['x\": expected"),
        ("spec]x", "\"]x\": expected"),
        ("spec[*]x", "\"x\": expected"),
    ] {
        let error = text.parse::<FieldPath>().unwrap_err().to_string();
        assert!(error.contains(place), "{text:?}: {error}");
    }
}

/// Uses what serde offers, so that every way through a value is taken.
#[derive(serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "camelCase")]
struct Everything {
    text: String,
    letter: char,
    yes: bool,
    small: i8,
    large: u64,
    ratio: f64,
    nothing: Option<u32>,
    something: Option<u32>,
    unit: (),
    pair: (u8, String),
    wrapped: Wrapped,
    named: std::collections::BTreeMap<String, u16>,
    numbered: std::collections::BTreeMap<u32, String>,
    inner: Vec<Inner>,
    #[serde(flatten)]
    flat: Inner,
}

#[derive(serde::Deserialize, serde::Serialize)]
struct Wrapped(String);

#[derive(serde::Deserialize, serde::Serialize)]
struct Inner {
    kind: Variant,
}

#[derive(serde::Deserialize, serde::Serialize)]
enum Variant {
    Unit,
    One(u8),
    Two(u8, u8),
    Named { name: String },
}

#[test]
fn a_typed_object_has_the_fields_that_it_serializes() {
    let json = r#"{"metadata":{"name":"a"},"text":"café","letter":"x","yes":true,"small":-3,"large":18446744073709551615,
        "ratio":2.5,"nothing":null,"something":4,"unit":null,"pair":[1,"two"],"wrapped":"w",
        "named":{"a.b":7,"c":8},"numbered":{"12":"twelve"},"kind":"Unit",
        "inner":[{"kind":"Unit"},{"kind":{"One":1}},{"kind":{"Two":[2,3]}},{"kind":{"Named":{"name":"n"}}}]}"#;
    let typed = decode_object(&mut Typed::<Everything>::new(), json.as_bytes()).unwrap();
    let value = decode_object(&mut Dynamic, json.as_bytes()).unwrap();
    let lean = decode_object(&mut Lean, json.as_bytes()).unwrap();
    for path in [
        "text",
        "letter",
        "yes",
        "small",
        "large",
        "ratio",
        "nothing",
        "something",
        "unit",
        "pair[*]",
        "wrapped",
        "named['a.b']",
        "named.c",
        "named.absent",
        "named[*]",
        "numbered.12",
        "kind",
        "inner[*].kind",
        "inner[*].kind.One",
        "inner[*].kind.Two[*]",
        "inner[*].kind.Two.name",
        "inner[*].kind.Named.name",
        "inner[*].kind.Named",
        "inner.kind",
        "text.more",
        "text[*]",
        "absent",
    ] {
        let expected = found(&lean, path);
        assert_eq!(found(&typed, path), expected, "{path} in the type");
        assert_eq!(found(&value, path), expected, "{path} in the value");
    }
    assert_eq!(found(&typed, "inner[*].kind.Two[*]").len(), 2);
}

/// A number as serde_json serializes it with its feature `arbitrary_precision`.
struct Precise(&'static str);

impl serde::Serialize for Precise {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let token = "$serde_json::private::Number";
        let mut number = serializer.serialize_struct(token, 1)?;
        number.serialize_field(token, self.0)?;
        number.end()
    }
}

#[test]
fn a_precise_number_is_a_number() {
    let body = std::collections::BTreeMap::from([("replicas", Precise("3"))]);
    let object = Object::builder(ObjectKey::new("web", "a")).body(body);
    assert_eq!(found(&object, "replicas"), ["number 3"]);
    assert!(found(&object, "replicas.more").is_empty());
}

#[test]
fn every_form_gives_the_json_that_it_keeps() {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Small {
        spec: serde_json::Value,
    }

    let json = br#"{"metadata":{"name":"a"},"spec":{"x":1}}"#;
    let whole = r#"{"metadata":{"name":"a"},"spec":{"x":1}}"#;
    let lean = decode_object(&mut Lean, json).unwrap();
    assert_eq!(lean.to_json().unwrap(), whole);
    let packed = decode_object(&mut As::<Packed, Small>::new(), json).unwrap();
    assert_eq!(packed.to_json().unwrap(), whole);
    let dynamic = decode_object(&mut Dynamic, json).unwrap();
    assert_eq!(dynamic.to_json().unwrap(), whole);
    let typed = decode_object(&mut Typed::<Small>::new(), json).unwrap();
    assert_eq!(typed.to_json().unwrap(), r#"{"spec":{"x":1}}"#);
    let metadata = decode_object(&mut MetadataOnly, json).unwrap();
    assert_eq!(metadata.to_json().unwrap(), r#"{"metadata":{"name":"a"}}"#);
}
