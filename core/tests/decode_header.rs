//! The header of an object: what is read, what is cut out, what is refused.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeMap;

use informer_core::Object;
use informer_core::decode::form::{Form, LeanBody, MetadataBody};
use informer_core::decode::json::header::{Header, HeaderError};
use informer_core::decode::json::text::{JsonStr, TextError};
use informer_core::decode::{Dynamic, Keep, Lean, MetadataOnly, Packed, decode_object};
use informer_core::pack::Packer;
use serde_json::Value;

fn text(found: Option<JsonStr<'_>>) -> Option<String> {
    found.map(|text| text.to_cow().into_owned())
}

fn kept<F: Form>(mut form: F, json: &str) -> Object<F::Body> {
    decode_object(&mut form, json.as_bytes()).unwrap()
}

fn lean(json: &str) -> Object<LeanBody> {
    kept(Lean, json)
}

fn metadata(json: &str) -> Object<MetadataBody> {
    kept(MetadataOnly, json)
}

#[test]
fn all_fields_of_the_header_are_read() {
    let json =
        br#" {"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"pr\u006fd",
        "uid":"u-1","resourceVersion":"315","labels":{"app":"web","q\"":"\n"},"annotations":{}},
        "spec":{"containers":null}} "#;
    let header = Header::read(json, 128).unwrap();
    assert_eq!(text(header.kind).unwrap(), "Pod");
    assert_eq!(text(header.api_version).unwrap(), "v1");
    assert_eq!(text(header.name).unwrap(), "web-0");
    assert_eq!(text(header.namespace).unwrap(), "prod");
    assert_eq!(text(header.uid).unwrap(), "u-1");
    assert_eq!(text(header.version).unwrap(), "315");
    assert_eq!(header.key().unwrap().as_str(), "prod/web-0");
    let labels: Vec<_> = header
        .labels()
        .map(|(key, value)| (key.to_string(), value.to_string()))
        .collect();
    assert_eq!(
        labels,
        [
            ("app".into(), "web".into()),
            ("q\"".into(), "\n".to_owned())
        ]
    );
    assert!(!header.ends_initial_events());
    assert!(!header.is_table());
}

#[test]
fn the_last_of_repeated_members_counts() {
    let json = br#"{"metadata":{"name":"x","uid":"x"},"kind":"X","metadata":{"name":"y","name":"z",
        "labels":{"a":"1"},"labels":{"b":"2"}},"kind":"Y"}"#;
    let header = Header::read(json, 128).unwrap();
    assert_eq!(text(header.name).unwrap(), "z");
    assert_eq!(text(header.uid), None);
    assert_eq!(text(header.kind).unwrap(), "Y");
    assert!(header.labels().all(|(key, _)| key.eq_str("b")));
    let gone = br#"{"metadata":{"name":"x"},"metadata":null}"#;
    assert_eq!(Header::read(gone, 128).err(), Some(HeaderError::NoMetadata));
}

#[test]
fn names_of_members_may_be_escaped() {
    let json = br#"{"\u006detadata":{"n\u0061me":"x","managed\u0046ields":[1],"uid":"u"}}"#;
    let header = Header::read(json, 128).unwrap();
    assert_eq!(text(header.name).unwrap(), "x");
    let json = core::str::from_utf8(json).unwrap();
    assert_eq!(
        lean(json).json().unwrap(),
        r#"{"\u006detadata":{"n\u0061me":"x","uid":"u"}}"#
    );
}

#[test]
fn an_object_without_a_namespace_is_cluster_scoped() {
    for json in [
        r#"{"metadata":{"name":"n"}}"#,
        r#"{"metadata":{"name":"n","namespace":""}}"#,
        r#"{"metadata":{"name":"n","namespace":null}}"#,
    ] {
        let key = Header::read(json.as_bytes(), 128).unwrap().key().unwrap();
        assert_eq!((key.namespace(), key.as_str()), ("", "n"));
    }
}

#[test]
fn managed_fields_are_removed_from_any_position() {
    for (json, expected) in [
        (
            r#"{"metadata":{"managedFields":[{"a":1}],"name":"n"}}"#,
            r#"{"metadata":{"name":"n"}}"#,
        ),
        (
            r#"{"metadata":{"name":"n","managedFields":[],"uid":"u"},"x":1}"#,
            r#"{"metadata":{"name":"n","uid":"u"},"x":1}"#,
        ),
        (
            r#"{"metadata":{"name":"n","managedFields":["],}"]}}"#,
            r#"{"metadata":{"name":"n"}}"#,
        ),
        (
            r#"{"metadata":{"managedFields":null,"name":"n"}}"#,
            r#"{"metadata":{"name":"n"}}"#,
        ),
        (
            "{ \"metadata\" : { \"name\" : \"n\" ,\n \"managedFields\" : [ ] \n } }",
            "{ \"metadata\" : { \"name\" : \"n\"  \n } }",
        ),
        (
            "{ \"metadata\" : { \"managedFields\" : [ ] , \"name\" : \"n\" } }",
            "{ \"metadata\" : { \"name\" : \"n\" } }",
        ),
        (
            "{\"metadata\":{ \"managedFields\" : [ ] ,\"name\":\"n\" }}",
            "{\"metadata\":{\"name\":\"n\" }}",
        ),
        // Members of this name elsewhere stay.
        (
            r#"{"spec":{"managedFields":[1]},"metadata":{"name":"n","x":{"managedFields":1}}}"#,
            r#"{"spec":{"managedFields":[1]},"metadata":{"name":"n","x":{"managedFields":1}}}"#,
        ),
    ] {
        let body = lean(json);
        assert_eq!(body.json().unwrap(), expected);
        let whole: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(body.decode::<Value>().unwrap(), whole);
        assert_eq!(metadata(json).decode::<Value>().unwrap(), whole["metadata"]);
        assert_eq!(*kept(Dynamic, json), whole);
        let full: Value = serde_json::from_str(json).unwrap();
        assert_eq!(*kept(Keep::new(Dynamic).managed_fields(true), json), full);
        assert_eq!(
            kept(Keep::new(Lean).managed_fields(true), json)
                .json()
                .unwrap(),
            json
        );
        assert_eq!(
            kept(Keep::new(MetadataOnly).managed_fields(true), json)
                .decode::<Value>()
                .unwrap(),
            full["metadata"]
        );
    }
}

#[test]
fn metadata_only_keeps_only_metadata() {
    let body = metadata(
        r#"{"kind":"PartialObjectMetadata","metadata":{"name":"n","managedFields":[],"annotations":{"a":"1","b":"\"","a":"2"}},"spec":{}}"#,
    );
    assert_eq!(
        body.json().unwrap(),
        r#"{"name":"n","annotations":{"a":"1","b":"\"","a":"2"}}"#
    );
    assert_eq!(body.annotation("a").unwrap(), "2");
    assert_eq!(body.annotation("b").unwrap(), "\"");
    assert_eq!(body.annotation("c"), None);
    let count = |object: &Object<MetadataBody>| {
        let mut count = 0;
        object.each_annotation(&mut |_, _| count += 1);
        count
    };
    assert_eq!(count(&body), 3);
    let none = metadata(r#"{"metadata":{"name":"n","annotations":null}}"#);
    assert_eq!(count(&none), 0);
}

#[test]
fn only_the_annotation_true_marks_the_end_of_initial_events() {
    for (annotations, expected) in [
        (r#"{"k8s.io/initial-events-end":"true"}"#, true),
        (
            r#"{"a":"b","k8s.io\/initial-events\u002dend":"tru\u0065","c":{}}"#,
            true,
        ),
        (r#"{"k8s.io/initial-events-end":"True"}"#, false),
        (r#"{"k8s.io/initial-events-end":true}"#, false),
        (
            r#"{"k8s.io/initial-events-end":"true","k8s.io/initial-events-end":"false"}"#,
            false,
        ),
        (
            r#"{"k8s.io/initial-events-end":"true","k8s.io/initial-events-end":null}"#,
            false,
        ),
        (r#"{"initial-events-end":"true"}"#, false),
        ("{}", false),
        ("null", false),
        (r#""k8s.io/initial-events-end""#, false),
    ] {
        let json = format!(r#"{{"metadata":{{"annotations":{annotations}}}}}"#);
        let header = Header::read(json.as_bytes(), 128).unwrap();
        assert_eq!(header.ends_initial_events(), expected, "{annotations}");
    }
}

#[test]
fn an_unusable_object_says_why() {
    let not_text = |field| HeaderError::NotText { field };
    for (json, error, words) in [
        ("[]", HeaderError::NotAnObject, "not a JSON object"),
        ("", HeaderError::NotAnObject, "not a JSON object"),
        (
            "{}",
            HeaderError::NoMetadata,
            "`metadata` is missing or not an object",
        ),
        (
            r#"{"metadata":[]}"#,
            HeaderError::NoMetadata,
            "`metadata` is missing or not an object",
        ),
        (
            r#"{"metadata":{}},"#,
            HeaderError::Text(TextError::Syntax { at: 15 }),
            "invalid JSON at byte 15",
        ),
        (
            r#"{"metadata":{"name":5}}"#,
            not_text("metadata.name"),
            "`metadata.name` is not a string",
        ),
        (
            r#"{"metadata":{"resourceVersion":{}}}"#,
            not_text("metadata.resourceVersion"),
            "`metadata.resourceVersion` is not a string",
        ),
        (
            r#"{"metadata":{"labels":{"a":1}}}"#,
            not_text("metadata.labels"),
            "a value in `metadata.labels` is not a string",
        ),
        (
            r#"{"metadata":{"labels":[]}}"#,
            not_text("metadata.labels"),
            "a value in `metadata.labels` is not a string",
        ),
    ] {
        let found = Header::read(json.as_bytes(), 128).unwrap_err();
        assert_eq!(found, error, "{json}");
        assert_eq!(found.to_string(), words);
    }
    for json in [r#"{"metadata":{}}"#, r#"{"metadata":{"name":""}}"#] {
        let header = Header::read(json.as_bytes(), 128).unwrap();
        assert_eq!(header.key(), Err(HeaderError::NoName));
    }
}

#[test]
fn nesting_is_counted_from_the_object() {
    // Under `spec`, in `metadata`, and in its annotations: always like serde_json.
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for (json, outside) in [
        (r#"{"metadata":{"name":"n"},"spec":@}"#, 1),
        (r#"{"metadata":{"name":"n","x":@}}"#, 2),
        (r#"{"metadata":{"name":"n","managedFields":@}}"#, 2),
        (r#"{"metadata":{"name":"n","annotations":{"x":@}}}"#, 3),
    ] {
        for (inside, fits) in [(127 - outside, true), (128 - outside, false)] {
            let json = json.replace('@', &nested(inside));
            assert_eq!(serde_json::from_str::<Value>(&json).is_ok(), fits);
            match Header::read(json.as_bytes(), 128) {
                Ok(_) => assert!(fits),
                Err(HeaderError::Text(TextError::TooDeep { .. })) => assert!(!fits),
                Err(error) => panic!("{error}"),
            }
        }
    }
    for depth in 0..3 {
        let found = Header::read(br#"{"metadata":{"name":"n"}}"#, depth);
        assert!(matches!(
            found,
            Err(HeaderError::Text(TextError::TooDeep { .. }))
        ));
    }
    assert!(Header::read(br#"{"metadata":{"name":"n"}}"#, 3).is_ok());
}

#[test]
fn the_key_of_a_broken_object_is_readable() {
    for json in [
        r#"{"metadata":{"namespace":"a","name":"b","resourceVersion":"7"},"spec":{"#,
        r#"{"metadata":{"namespace":"a","name":"b","resourceVersion":"7","labels":{"x"#,
        r#"{"spec":{"x":01,"y":"\ud800"},"metadata":{"namespace":"a","name":"b","resourceVersion":"7"}"#,
        r#"{"metadata":{"uid":7,"labels":[],"annotations":"\x","namespace":"a","name":"b","resourceVersion":"7"}}"#,
        r#"{"kind":{},"metadata":{"uid":"\ud800","namespace":"a","name":"b","resourceVersion":"7"},}"#,
    ] {
        assert!(Header::read(json.as_bytes(), 128).is_err());
        let header = Header::from_prefix(json.as_bytes());
        assert_eq!(header.key().unwrap().as_str(), "a/b", "{json}");
        assert_eq!(text(header.version).unwrap(), "7");
    }
    let deep = format!(
        r#"{{"spec":{}{},"metadata":{{"name":"b"}}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    assert!(Header::read(deep.as_bytes(), 128).is_err());
    assert_eq!(
        Header::from_prefix(deep.as_bytes()).key().unwrap().as_str(),
        "b"
    );
}

#[test]
fn a_table_is_recognised_by_kind_and_group() {
    for (kind, version, expected) in [
        ("Table", "meta.k8s.io/v1", true),
        ("Table", "meta.k8s.io/v1beta1", true),
        ("Table", "furniture.example.com/v1", false),
        ("Table", "meta.k8s.io", false),
        ("Pod", "meta.k8s.io/v1", false),
    ] {
        let json = format!(r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{}}}}"#);
        let header = Header::read(json.as_bytes(), 128).unwrap();
        assert_eq!(header.is_table(), expected, "{kind} {version}");
    }
}

/// Labels as servers write them are read from the kept text; others get a table. Both must say the same.
#[test]
fn labels_are_the_same_however_they_are_written() {
    let mut random = 11_u32;
    let mut next = move |n: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (random >> 8) % n
    };
    let mut packer = Packer::new();
    for round in 0..20_000 {
        let mut expected = BTreeMap::new();
        let unusual = next(3) == 0;
        let mut labels = String::new();
        for at in 0..next(5) {
            let key = if unusual { next(4) } else { at };
            let key = ["", "app", "apple", "zone"][key.min(3) as usize];
            let value = ["", "web", "ä", "{,}", ":"][next(5) as usize];
            expected.insert(key, value);
            let text = |text: &str, way: u32| match way {
                0 if unusual && !text.is_empty() => {
                    let (first, rest) = text.split_at(text.chars().next().unwrap().len_utf8());
                    let code = u32::from(first.chars().next().unwrap());
                    format!("\"\\u{code:04x}{rest}\"")
                }
                _ => format!("\"{text}\""),
            };
            let white = if unusual && next(6) == 0 { " " } else { "" };
            let (key, value) = (text(key, next(6)), text(value, next(6)));
            let comma = if labels.is_empty() { "" } else { "," };
            labels += &format!("{comma}{key}:{white}{value}");
        }
        let managed = ["", r#""managedFields":[{}],"#][next(2) as usize];
        let json = format!(r#"{{"metadata":{{{managed}"labels":{{{labels}}},"name":"a"}},"x":1}}"#);
        let mut packed = decode_object(&mut Packed, json.as_bytes()).unwrap();
        packer.pack(&mut packed);
        let (lean, metadata) = (lean(&json), metadata(&json));
        let typed = kept(Dynamic, &json);
        let mut other = lean.clone();
        other.set_json(r#"{"metadata":{}}"#).unwrap();
        for labels in [
            lean.labels(),
            metadata.labels(),
            packed.labels(),
            typed.labels(),
            other.labels(),
        ] {
            assert!(
                labels.iter().eq(expected.iter().map(|(k, v)| (*k, *v))),
                "{round}: {labels:?} in {json}"
            );
            assert_eq!(labels.is_empty(), expected.is_empty(), "{round}: {json}");
            assert_eq!(labels.get("apple"), expected.get("apple").copied());
        }
    }
}
