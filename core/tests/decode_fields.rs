//! Fields by path: the same results from the text of an object and from its value.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use informer_core::decode::{
    Dynamic, FieldPath, Fields, Lean, MetadataOnly, Scalar, decode_object,
};

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
