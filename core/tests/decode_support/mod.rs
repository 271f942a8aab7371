//! Generators of JSON, and helpers that feed it to a decoder.
#![allow(dead_code, reason = "every test file uses a part of this")]

// The same body in both encodings.
pub(crate) mod encodings;

use core::fmt::Debug;

use informer_core::decode::{Body, Decode, Decoder, Form, Lean, Limits};
use informer_core::flow::{Fact, Place, Rejected};
use informer_core::{Encoding, Failure, ObjectKey};
use proptest::prelude::*;
use serde_json::Value;

/// A JSON value with ordered members.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    Scalar(String),
    Text(String),
    Array(Vec<Self>),
    Object(Vec<(String, Self)>),
}

/// How to write JSON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) pretty: bool,
    pub(crate) escape_everything: bool,
}

pub(crate) fn text(text: &str) -> Json {
    Json::Text(text.into())
}

impl Json {
    pub(crate) fn render(&self, style: Style) -> String {
        let mut out = String::new();
        self.write(style, 0, &mut out);
        out
    }

    fn write(&self, style: Style, depth: usize, out: &mut String) {
        match self {
            Self::Scalar(text) => out.push_str(text),
            Self::Text(text) => write_text(text, style, out),
            Self::Array(elements) => {
                out.push('[');
                for (at, element) in elements.iter().enumerate() {
                    write_gap(at, style, depth, out);
                    element.write(style, depth + 1, out);
                }
                write_close(elements.is_empty(), ']', style, depth, out);
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    write_gap(at, style, depth, out);
                    write_text(name, style, out);
                    out.push_str(if style.pretty { ": " } else { ":" });
                    value.write(style, depth + 1, out);
                }
                write_close(members.is_empty(), '}', style, depth, out);
            }
        }
    }
}

fn write_gap(at: usize, style: Style, depth: usize, out: &mut String) {
    if at > 0 {
        out.push(',');
    }
    if style.pretty {
        out.push('\n');
        out.push_str(&"  ".repeat(depth + 1));
    }
}

fn write_close(empty: bool, close: char, style: Style, depth: usize, out: &mut String) {
    if style.pretty && !empty {
        out.push_str("\r\n");
        out.push_str(&"\t".repeat(depth));
    }
    out.push(close);
}

fn write_text(text: &str, style: Style, out: &mut String) {
    if style.escape_everything {
        out.push('"');
        for unit in text.encode_utf16() {
            out.push_str(&format!("\\u{unit:04x}"));
        }
        out.push('"');
    } else {
        out.push_str(&serde_json::to_string(text).unwrap());
    }
}

pub(crate) fn style() -> impl Strategy<Value = Style> {
    (any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(pretty, escape_everything)| Style {
        pretty,
        escape_everything,
    })
}

/// A style without line breaks.
pub(crate) fn line_style() -> impl Strategy<Value = Style> {
    style().prop_map(|style| Style {
        pretty: false,
        ..style
    })
}

/// Strings with all special characters.
pub(crate) fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z0-9./-]{0,30}",
        1 => "[ -~]{0,20}",
        1 => "\\PC{0,10}",
        1 => any::<String>(),
        1 => "[\"\\\\{}\\[\\],:\n\t\u{0}\u{1f}é😀\u{10ffff}]{0,8}",
    ]
}

/// Any JSON value.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let number = "-?(0|[1-9][0-9]{0,18})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?";
    let leaf = prop_oneof![
        prop::sample::select(vec!["null", "true", "false"])
            .prop_map(|literal| Json::Scalar(literal.into())),
        number.prop_map(Json::Scalar),
        string().prop_map(Json::Text),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::Array),
            prop::collection::vec((string(), inner), 0..5).prop_map(Json::Object),
        ]
    })
}

fn string_map() -> impl Strategy<Value = Json> {
    let pair = (string(), string().prop_map(Json::Text));
    prop::collection::vec(pair, 0..4).prop_map(Json::Object)
}

fn maybe<S>(name: &'static str, value: S) -> impl Strategy<Value = Option<(String, Json)>>
where
    S: Strategy<Value = Json>,
{
    prop::option::weighted(0.8, value).prop_map(move |value| Some((name.into(), value?)))
}

/// A Kubernetes object without kind and apiVersion, with its members in any order.
pub(crate) fn object() -> impl Strategy<Value = Json> {
    let name = string().prop_filter("names are not empty", |name| !name.is_empty());
    let metadata = (
        name.prop_map(|name| Some(("name".to_owned(), Json::Text(name)))),
        maybe("namespace", string().prop_map(Json::Text)),
        maybe("uid", "[0-9a-f-]{36}".prop_map(Json::Text)),
        maybe("resourceVersion", "[0-9]{1,10}".prop_map(Json::Text)),
        maybe("labels", string_map()),
        maybe("annotations", string_map()),
        maybe("managedFields", json()),
        maybe("finalizers", json()),
    );
    let metadata = metadata
        .prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h])
        .prop_map(|members| members.into_iter().flatten().collect::<Vec<_>>())
        .prop_shuffle()
        .prop_map(Json::Object);
    (metadata, json(), json(), maybe("data", string_map()))
        .prop_map(|(metadata, spec, status, data)| {
            let mut members = vec![
                ("metadata".to_owned(), metadata),
                ("spec".to_owned(), spec),
                ("status".to_owned(), status),
            ];
            members.extend(data);
            members
        })
        .prop_shuffle()
        .prop_map(Json::Object)
}

/// Lengths of pieces, used in rotation.
pub(crate) fn pieces() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        Just(vec![usize::MAX]),
        prop::collection::vec(1..64usize, 1..8),
        prop::collection::vec(1..2000usize, 1..8),
    ]
}

/// Feeds JSON in pieces of these lengths: see [`feed_in`].
pub(crate) fn feed<F: Form>(
    decoder: &mut Decoder<F>,
    body: Body,
    bytes: &[u8],
    pieces: &[usize],
    visit: impl FnMut(Fact<'_, <Decoder<F> as Decode>::Object>),
) {
    feed_in(Encoding::Json, decoder, body, bytes, pieces, visit);
}

/// Feeds `bytes` in pieces of these lengths and calls `visit` with every fact, including the last
/// one. Panics if the decoder breaks its contract.
pub(crate) fn feed_in<F: Form>(
    encoding: Encoding,
    decoder: &mut Decoder<F>,
    body: Body,
    bytes: &[u8],
    pieces: &[usize],
    mut visit: impl FnMut(Fact<'_, <Decoder<F> as Decode>::Object>),
) {
    decoder.begin(body, encoding);
    let mut rest = bytes;
    let mut lengths = pieces.iter().cycle();
    while !rest.is_empty() {
        let length = (*lengths.next().unwrap()).min(rest.len());
        let (mut piece, after) = rest.split_at(length);
        rest = after;
        let mut idle = 0;
        loop {
            let before = piece.len();
            match decoder.decode(&mut piece) {
                Some(fact) => visit(fact),
                None => {
                    assert!(piece.is_empty(), "`None` means that all input was taken");
                    break;
                }
            }
            // Only a number ends without a byte of its own, where the next token starts.
            idle += usize::from(piece.len() == before);
            assert!(idle <= 1, "facts take bytes");
        }
    }
    visit(decoder.end());
}

/// The debug output of every fact.
pub(crate) fn facts_with<F>(
    form: F,
    limits: Limits,
    body: Body,
    bytes: &[u8],
    pieces: &[usize],
) -> Vec<String>
where
    F: Form<Body: Debug>,
{
    let mut decoder = Decoder::with_limits(form, limits).unwrap();
    let mut facts = Vec::new();
    feed(&mut decoder, body, bytes, pieces, |fact| {
        facts.push(format!("{fact:?}"))
    });
    facts
}

/// The debug output of every fact, with the default limits.
pub(crate) fn facts<F: Form<Body: Debug>>(
    form: F,
    body: Body,
    bytes: &[u8],
    pieces: &[usize],
) -> Vec<String> {
    facts_with(form, Limits::new(), body, bytes, pieces)
}

/// `value` without `metadata.managedFields`.
pub(crate) fn without_managed_fields(value: &Value) -> Value {
    let mut value = value.clone();
    value["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    value
}

/// The labels that serde_json finds, sorted.
pub(crate) fn labels_of(value: &Value) -> Vec<(String, String)> {
    let labels = value["metadata"]["labels"].as_object();
    let labels = labels.into_iter().flatten();
    labels
        .map(|(key, value)| (key.clone(), value.as_str().unwrap().to_owned()))
        .collect()
}

/// The string that serde_json finds in `metadata`; empty if there is none.
pub(crate) fn text_at<'a>(value: &'a Value, name: &str) -> &'a str {
    value["metadata"][name].as_str().unwrap_or_default()
}

/// The facts of a body. Checks that they do not depend on the pieces.
pub(crate) fn lean(body: Body, bytes: &str) -> Vec<String> {
    lean_with(Limits::new(), body, bytes)
}

/// The same with limits.
pub(crate) fn lean_with(limits: Limits, body: Body, bytes: &str) -> Vec<String> {
    let whole = facts_with(Lean, limits, body, bytes.as_bytes(), &[usize::MAX]);
    for length in [1, 2, 7] {
        let pieces = facts_with(Lean, limits, body, bytes.as_bytes(), &[length]);
        assert_eq!(whole, pieces, "in pieces of {length}");
    }
    whole
}

/// The debug output of a failure.
pub(crate) fn failed(failure: Failure, message: &str) -> String {
    format!("Failed {{ failure: {failure:?}, message: {message:?} }}")
}

/// The debug output of a rejected object.
pub(crate) fn rejected(place: Place, key: Option<&str>, version: &str, reason: &str) -> String {
    let key: Option<ObjectKey> = key.map(|key| key.parse().unwrap());
    let rejected = Rejected {
        place,
        key,
        uid: "",
        version,
        reason,
    };
    format!("Rejected({rejected:?})")
}

/// The debug output of the end of a page without a token.
pub(crate) fn page_end(version: &str) -> String {
    format!("PageEnd {{ version: {version:?}, next: None, remaining: None }}")
}
