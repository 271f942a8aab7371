//! One object, against serde_json.
//!
//! The input is the text of an object. What must hold:
//!
//! * Our JSON parser accepts exactly the texts that serde_json accepts.
//! * It reads the header exactly if serde_json finds a Kubernetes object. Key, uid, version, labels
//!   and kind are then equal. Only an object that repeats a member may be refused.
//! * The body equals what serde_json reads, in every form; without `managedFields` where the form
//!   says so.
//! * The same objects are accepted in a list, in a watch and alone.
//! * What is read from a prefix agrees with the whole.
//! * What a decoder has read before changes nothing.

use informer_core::Encoding;
use informer_core::decode::json::envelope::Envelope;
use informer_core::decode::json::header::Header;
use informer_core::decode::json::text::{JsonStr, validate};
use informer_core::decode::{
    Body, Decode, Decoder, Dynamic, Form, Keep, Lean, MetadataOnly, decode_object,
};
use informer_core::flow::Fact;
use serde_json::Value;

use super::repeated::has_repeated_members;
use crate::Target;

/// The depth limit of serde_json.
const DEPTH: usize = 128;

/// Objects of a real server.
const EARLIER: &[u8] = include_bytes!("../../../core/tests/protobuf_bodies/real/stream.json");

/// This target.
pub const TARGET: Target = Target {
    name: "acceptance",
    run,
    words: &[
        "{\"metadata\":{\"name\":\"a\"}}",
        "\"metadata\":{",
        "\"metadata\":null",
        "\"managedFields\":[],",
        ",\"managedFields\":[{\"a\":1}]",
        "\"name\":",
        "\"namespace\":\"b\",",
        "\"labels\":{\"a\":\"b\"}",
        "\"labels\":[]",
        "\"labels\":{\"a\":1},",
        "\"uid\":5,",
        "\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}",
        "\"kind\":\"Table\",",
        "\"apiVersion\":\"meta.k8s.io/v1\",",
        "\"type\":\"DELETED\"",
        "\"object\":",
        "null",
        "true",
        "tru",
        "1e400",
        "-0.0e-0",
        "123456789012345678901234567890",
        "\\u0041",
        "\\ud83d\\ude00",
        "\\ud800",
        "\\",
        "\u{e9}",
        "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
        "},{",
        "}\n{",
        "\n",
        ",",
    ],
};

/// Reads the object in every possible way.
pub fn run(input: &[u8]) {
    behind_another(input);
    let value: Option<Value> = serde_json::from_slice(input).ok();
    let valid = validate(input, DEPTH);
    assert_eq!(
        valid.is_ok(),
        value.is_some(),
        "{valid:?}, and serde_json: {value:?}"
    );

    let expected = value.as_ref().and_then(Expected::of);
    let header = Header::read(input, DEPTH);
    let found = header.as_ref().ok().map(Expected::found);
    if has_repeated_members(input) {
        // The last one counts, but we may refuse an object for an earlier one.
        assert!(
            found.is_none() || found == expected,
            "{found:?}, expected {expected:?}"
        );
        return;
    }
    assert_eq!(found, expected, "{header:?}");
    prefix(input, header.as_ref().ok());

    let expected = expected.filter(Expected::is_object);
    let value = value.unwrap_or_default();
    let lean = decode_object(&mut Lean, input).map(|object| object.decode::<Value>().unwrap());
    let metadata =
        decode_object(&mut MetadataOnly, input).map(|object| object.decode::<Value>().unwrap());
    let dynamic = decode_object(&mut Dynamic, input).map(|object| object.body().clone());
    let full = decode_object(&mut Keep::new(Dynamic).managed_fields(true), input)
        .map(|object| object.body().clone());
    let accepted = [
        lean.is_ok(),
        metadata.is_ok(),
        dynamic.is_ok(),
        full.is_ok(),
    ];
    assert_eq!(
        accepted,
        [expected.is_some(); 4],
        "lean, metadata, dynamic, full"
    );
    if expected.is_some() {
        let cut = without_managed_fields(&value);
        assert_eq!(full, Ok(value));
        assert_eq!(metadata.as_ref().ok(), cut.get("metadata"));
        assert_eq!(lean.as_ref(), Ok(&cut));
        assert_eq!(dynamic.as_ref(), Ok(&cut));
    }
    together(input, expected.is_some());
}

/// What is read from a prefix agrees with the whole.
fn prefix(input: &[u8], whole: Option<&Header<'_>>) {
    let Some(whole) = whole else {
        return;
    };
    let found = Header::from_prefix(input);
    assert_eq!(
        found.name, whole.name,
        "everything in a valid object is read"
    );
    assert_eq!(found.version, whole.version);
    let part = Header::from_prefix(&input[..input.len() / 2]);
    assert!(part.name.is_none() || part.name == whole.name);
}

/// An object is accepted alone exactly if it is accepted in a list and in a watch.
fn together(input: &[u8], accepted: bool) {
    let list = [
        br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":["#,
        input,
        b"]}",
    ]
    .concat();
    if let Ok(Value::Object(whole)) = serde_json::from_slice(&list)
        && let Some([_]) = whole
            .get("items")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        && whole.len() == 4
    {
        let said = [if accepted { "item" } else { "rejected" }, "end"];
        assert_eq!(said_of(Lean, Body::List, &list), said);
        assert_eq!(said_of(Dynamic, Body::List, &list), said);
    }
    let line = [br#"{"type":"ADDED","object":"#, input, b"}\n"].concat();
    if let Some(guess) = Envelope::guess(&line)
        && Header::read(guess.object, DEPTH).is_ok()
    {
        let read = Envelope::read(&line);
        assert_eq!(Ok(guess), read, "a plausible guess must be right");
    }
    if !input.contains(&b'\n')
        && let Ok(Value::Object(whole)) = serde_json::from_slice(&line)
        && whole.len() == 2
        && whole.get("type").is_some_and(|kind| kind == "ADDED")
        && serde_json::from_slice::<Value>(input).is_ok()
    {
        let said = [if accepted { "added" } else { "rejected" }];
        assert_eq!(said_of(MetadataOnly, Body::Watch, &line), said);
        assert_eq!(said_of(Dynamic, Body::Watch, &line), said);
    }
}

/// An object that comes behind another one is read as if it came first.
fn behind_another(input: &[u8]) {
    let line = |object: &[u8]| [br#"{"type":"ADDED","object":"#, object, b"}\n"].concat();
    let facts = |before: &[u8]| {
        let mut decoder = Decoder::new(Lean);
        let _ = facts_of(&mut decoder, before);
        facts_of(&mut decoder, &line(input))
    };
    assert_eq!(
        facts(EARLIER),
        facts(b""),
        "an earlier object changes the facts"
    );
}

fn facts_of(decoder: &mut Decoder<Lean>, mut bytes: &[u8]) -> Vec<String> {
    decoder.begin(Body::Watch, Encoding::Json);
    let mut facts = Vec::new();
    while let Some(fact) = decoder.decode(&mut bytes) {
        facts.push(format!("{fact:?}"));
    }
    facts
}

/// The facts of a body, one word each. They do not depend on the pieces.
fn said_of<F: Form + Copy>(form: F, body: Body, bytes: &[u8]) -> Vec<&'static str> {
    let said = |longest| {
        let mut decoder = Decoder::new(form);
        decoder.begin(body, Encoding::Json);
        let mut said = Vec::new();
        for mut piece in bytes.chunks(longest) {
            while let Some(fact) = decoder.decode(&mut piece) {
                said.push(match fact {
                    Fact::Item(_) => "item",
                    Fact::Added(_) => "added",
                    Fact::Rejected(_) => "rejected",
                    Fact::PageEnd { .. } => "end",
                    Fact::Failed { .. } => "failed",
                    _ => "other",
                });
            }
        }
        said
    };
    let whole = said(usize::MAX);
    assert_eq!(whole, said(1), "the pieces change the facts");
    whole
}

/// What a header should contain.
#[derive(PartialEq, Debug)]
struct Expected {
    /// Namespace, name, uid, version, kind and apiVersion; null and missing are the same.
    texts: [Option<String>; 6],
    labels: Vec<(String, String)>,
}

impl Expected {
    fn of(value: &Value) -> Option<Self> {
        let metadata = value.get("metadata")?.as_object()?;
        let text = |value: Option<&Value>| match value {
            None | Some(Value::Null) => Some(None),
            Some(value) => value.as_str().map(|text| Some(text.to_owned())),
        };
        let labels = match metadata.get("labels") {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(labels) => labels
                .as_object()?
                .iter()
                .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect(),
        };
        Some(Self {
            texts: [
                text(metadata.get("namespace"))?,
                text(metadata.get("name"))?,
                text(metadata.get("uid"))?,
                text(metadata.get("resourceVersion"))?,
                text(value.get("kind"))?,
                text(value.get("apiVersion"))?,
            ],
            labels: labels?,
        })
    }

    fn found(header: &Header<'_>) -> Self {
        let text = |text: Option<JsonStr<'_>>| text.map(|text| text.to_cow().into_owned());
        let pairs = header.labels();
        let pairs = pairs.map(|(key, value)| (key.to_cow().into(), value.to_cow().into()));
        // Sorted; the last of repeated ones counts.
        let labels: std::collections::BTreeMap<String, String> = pairs.collect();
        Self {
            texts: [
                text(header.namespace),
                text(header.name),
                text(header.uid),
                text(header.version),
                text(header.kind),
                text(header.api_version),
            ],
            labels: labels.into_iter().collect(),
        }
    }

    /// Whether it has a name and is not a Table.
    fn is_object(&self) -> bool {
        let [_, name, _, _, kind, version] = &self.texts;
        let is_meta = |version: &String| version.starts_with("meta.k8s.io/");
        let is_table = kind.as_ref().is_some_and(|kind| kind == "Table")
            && version.as_ref().is_some_and(is_meta);
        name.as_ref().is_some_and(|name| !name.is_empty()) && !is_table
    }
}

fn without_managed_fields(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    value
}
