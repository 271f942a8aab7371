//! Watches with any events and bad lines, in any pieces.
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
use informer_core::Failure;
use informer_core::decode::{Body, Decoder, Dynamic, Form, Lean, MetadataOnly, Typed};
use informer_core::flow::{Fact, Place};
use proptest::prelude::*;
use serde_json::Value;

/// A line and the fact that it becomes.
#[derive(Clone, Debug)]
enum Line {
    Event(String, String),
    Bookmark(String, bool),
    Rejected(String, Place, Option<&'static str>),
    Blank(&'static str),
}

impl Line {
    fn text(&self) -> String {
        match self {
            Self::Event(text, _) | Self::Rejected(text, ..) => text.clone(),
            Self::Bookmark(version, end) => {
                let version = serde_json::to_string(version).unwrap();
                let annotations = if *end {
                    r#","annotations":{"k8s.io/initial-events-end":"true"}"#
                } else {
                    ""
                };
                format!(
                    r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","apiVersion":"v1","metadata":{{"resourceVersion":{version}{annotations}}},"spec":{{"containers":null}},"status":{{}}}}}}"#
                )
            }
            Self::Blank(text) => (*text).into(),
        }
    }
}

fn event() -> impl Strategy<Value = Line> {
    let kind = prop::sample::select(vec!["ADDED", "MODIFIED", "DELETED"]);
    (kind, object(), json(), line_style(), 0..4usize).prop_map(
        |(kind, object, more, style, shape)| {
            let line = match shape {
                // As servers write it. This shape can be guessed.
                0 | 1 => format!(r#"{{"type":"{kind}","object":{}}}"#, object.render(style)),
                2 => Json::Object(vec![
                    ("object".into(), object),
                    ("more".into(), more),
                    ("type".into(), text(kind)),
                ])
                .render(style),
                // This looks like the shape that can be guessed.
                _ => format!(
                    r#"{{"type":"{kind}","object":{},"more":{}}}"#,
                    object.render(style),
                    more.render(style)
                ),
            };
            Line::Event(line, kind.into())
        },
    )
}

fn line() -> impl Strategy<Value = Line> {
    let bad = |text: &str, place, key| Line::Rejected(text.into(), place, key);
    prop_oneof![
        6 => event(),
        2 => ("[0-9]{1,8}", any::<bool>()).prop_map(|(version, end)| Line::Bookmark(version, end)),
        1 => prop::sample::select(vec![Line::Blank(""), Line::Blank("\r")]),
        2 => prop::sample::select(vec![
            bad(r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"x":tru}}"#, Place::Upsert, Some("a")),
            bad(r#"{"type":"ADDED","object":{"metadata":{"namespace":"n","name":"a"}"#, Place::Upsert, Some("n/a")),
            bad(r#"{"type":"MODIFIED","object":{"metadata":{}}}"#, Place::Upsert, None),
            bad(r#"{"type":"MODIFIED","object":null}"#, Place::Upsert, None),
            bad(r#"{"type":"MODIFIED"}"#, Place::Upsert, None),
            bad(r#"{"type":"DELETED","object":{"metadata":{"name":"a","uid":7}}}"#, Place::Delete, Some("a")),
            bad(r#"{"type":"DELETED","object":{"metadata":{"name":"a"},"x":[1,]}}"#, Place::Delete, Some("a")),
            bad(r#"{"type":"PATCHED","object":{"metadata":{"name":"a"}}}"#, Place::Unknown, Some("a")),
            bad(r#"{"type":"BOOKMARK","object":{"metadata":{}}}"#, Place::Unknown, None),
            bad(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":""}}}"#, Place::Unknown, None),
            bad(r#"{"type":"BOOKMARK","object":7}"#, Place::Unknown, None),
        ]),
    ]
}

fn stream() -> impl Strategy<Value = (Vec<Line>, String)> {
    let end = prop::sample::select(vec!["\n", "\r\n"]);
    (prop::collection::vec(line(), 0..8), end).prop_map(|(lines, end)| {
        let text = lines.iter().map(|line| line.text() + end).collect();
        (lines, text)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_line_becomes_its_fact((lines, text) in stream(), pieces in pieces(), rest in "[^\n]{0,20}") {
        let mut expected = lines.iter().filter(|line| !matches!(line, Line::Blank(_)));
        let stream = text + &rest;
        feed(&mut Decoder::new(Dynamic), Body::Watch, stream.as_bytes(), &pieces, |fact| {
            let line = expected.next();
            let (kind, object) = match (fact, line) {
                (Fact::Closed, None) => return,
                (Fact::Bookmark { version }, Some(Line::Bookmark(expected, false)))
                | (Fact::InitialEnd { version }, Some(Line::Bookmark(expected, true))) => {
                    assert_eq!(version, expected);
                    return;
                }
                (Fact::Rejected(rejected), Some(Line::Rejected(_, place, key))) => {
                    assert_eq!(rejected.place, *place);
                    assert_eq!(rejected.key.as_ref().map(|key| key.as_str()), *key);
                    assert!(!rejected.reason.is_empty());
                    return;
                }
                (Fact::Added(object), Some(Line::Event(text, kind))) if kind == "ADDED" => {
                    (text, object)
                }
                (Fact::Modified(object), Some(Line::Event(text, kind))) if kind == "MODIFIED" => {
                    (text, object)
                }
                (Fact::Deleted(object), Some(Line::Event(text, kind))) if kind == "DELETED" => {
                    (text, object)
                }
                (fact, line) => panic!("{fact:?} for {line:?}"),
            };
            let line: Value = serde_json::from_str(kind).unwrap();
            let value = &line["object"];
            assert_eq!(*object.body(), without_managed_fields(value));
            assert_eq!(object.key().name(), text_at(value, "name"));
            assert_eq!(object.key().namespace(), text_at(value, "namespace"));
            assert_eq!(object.uid(), text_at(value, "uid"));
            assert_eq!(object.version(), text_at(value, "resourceVersion"));
            let labels: Vec<_> = object.labels().iter().map(|(a, b)| (a.into(), b.into())).collect();
            assert_eq!(labels, labels_of(value));
        });
        prop_assert!(expected.next().is_none());
    }

    #[test]
    fn pieces_do_not_matter((_, text) in stream(), first in pieces(), second in pieces()) {
        fn check<F: Form<Body: Debug> + Copy>(form: F, body: &[u8], a: &[usize], b: &[usize]) {
            assert_eq!(facts(form, Body::Watch, body, a), facts(form, Body::Watch, body, b));
        }
        check(Dynamic, text.as_bytes(), &first, &second);
        check(Lean, text.as_bytes(), &first, &second);
        check(MetadataOnly, text.as_bytes(), &first, &second);
        check(Typed::<Value>::new(), text.as_bytes(), &first, &second);
    }

    #[test]
    fn lean_and_metadata_bodies_drop_only_managed_fields(event in event(), pieces in pieces()) {
        let text = event.text() + "\n";
        let line: Value = serde_json::from_str(&text).unwrap();
        let expected = without_managed_fields(&line["object"]);
        feed(&mut Decoder::new(Lean), Body::Watch, text.as_bytes(), &pieces, |fact| {
            if let Fact::Added(object) | Fact::Modified(object) | Fact::Deleted(object) = fact {
                assert_eq!(object.decode::<Value>().unwrap(), expected);
            } else {
                assert_eq!(fact, Fact::Closed);
            }
        });
        feed(&mut Decoder::new(MetadataOnly), Body::Watch, text.as_bytes(), &pieces, |fact| {
            if let Fact::Added(object) | Fact::Modified(object) | Fact::Deleted(object) = fact {
                assert_eq!(object.decode::<Value>().unwrap(), expected["metadata"]);
            } else {
                assert_eq!(fact, Fact::Closed);
            }
        });
    }

    #[test]
    fn everything_after_an_invalid_line_is_skipped(
        (_, after) in stream(),
        line in prop::sample::select(vec![
            "<html>",
            "{}",
            "[]",
            "null",
            r#"{"type":7,"object":{"metadata":{"name":"a"}}}"#,
            r#"{"object":{"metadata":{"name":"a"}}}"#,
            r#"{"type":"ADDED","object":{"metadata":{"na"#,
            r#"{"type":"ADDED""#,
            r#"{"type":"BOOKMARK","object":{"#,
        ]),
        pieces in pieces(),
    ) {
        let stream = format!("{line}\n{after}");
        let mut count = 0;
        feed(&mut Decoder::new(Lean), Body::Watch, stream.as_bytes(), &pieces, |fact| {
            match (count, fact) {
                (0, Fact::Failed { failure: Failure::Undecodable, message }) => {
                    assert!(message.contains("watch") || message.contains("event"), "{message}");
                }
                (1, Fact::Closed) => {}
                (_, other) => panic!("{other:?}"),
            }
            count += 1;
        });
        prop_assert_eq!(count, 2);
    }
}
