//! Any bytes in any pieces: no panic, no endless loop, the same facts.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use decode_support::*;
use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::json::envelope::Envelope;
use informer_core::decode::json::header::Header;
use informer_core::decode::json::status::ApiStatus;
use informer_core::decode::{Body, Decoder, Dynamic, Lean, Limits, MetadataOnly, json};
use informer_core::failure::MAX_MESSAGE;
use informer_core::flow::Fact;
use proptest::prelude::*;
use serde_json::Value;

/// Bytes that a decoder accepts for a while before they become invalid.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let fragment = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        "\"",
        ",",
        ":",
        "\\",
        "\n",
        "\r\n",
        " ",
        "0",
        "1e9",
        "-",
        "null",
        "true",
        "\"items\":[",
        "\"items\":",
        "\"kind\":\"PodList\",",
        "\"kind\":\"Table\",",
        "\"kind\"",
        "\"apiVersion\":\"meta.k8s.io/v1\",",
        "\"metadata\":{",
        "\"resourceVersion\":\"7\"",
        "\"continue\":\"",
        "{\"type\":\"ADDED\",\"object\":{",
        "{\"type\":\"BOOKMARK\",\"object\":",
        "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410}}\n",
        "\"name\":\"a\"",
        "{\"metadata\":{\"name\":\"a\"}}",
        "{\"metadata\":{\"name\":\"b\",\"managedFields\":[]}},",
        "\\ud83d",
        "\\u0041",
        "\u{e9}",
        "\"labels\":{\"a\":\"b\"}",
        "<html>",
    ]);
    prop_oneof![
        1 => prop::collection::vec(any::<u8>(), 0..200),
        4 => prop::collection::vec(fragment, 0..40).prop_map(|all| all.concat().into_bytes()),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    prop::sample::select(vec![Body::List, Body::Watch])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn noise_in_any_pieces_gives_the_same_facts(
        bytes in noise(),
        body in body(),
        first in pieces(),
        second in pieces(),
        object_bytes in prop_oneof![1..200usize, Just(1 << 20)],
    ) {
        let limits = Limits { object_bytes, depth: 16 };
        let facts = facts_with(Lean, limits, body, &bytes, &first);
        prop_assert_eq!(&facts, &facts_with(Lean, limits, body, &bytes, &second));
        let count = |of: &str| facts.iter().filter(|fact| fact.starts_with(of)).count();
        prop_assert!(count("Failed") + count("PageEnd") <= 1);
        prop_assert_eq!(count("Closed"), usize::from(!facts.last().unwrap().starts_with("Failed")));
    }

    #[test]
    fn messages_are_bounded(bytes in noise(), tail in "[a-z]{600}", body in body()) {
        let bytes = [&bytes[..], tail.as_bytes(), b"\n"].concat();
        let mut decoder = Decoder::new(Dynamic);
        feed(&mut decoder, body, &bytes, &[usize::MAX], |fact| match fact {
            Fact::Failed { message: text, .. } => assert!(text.len() <= MAX_MESSAGE),
            Fact::Rejected(rejected) => assert!(rejected.reason.len() <= MAX_MESSAGE),
            _ => {}
        });
        prop_assert!(failure_of_answer(500, &bytes, None).1.len() <= MAX_MESSAGE);
    }

    #[test]
    fn readers_accept_any_bytes(bytes in noise()) {
        let strict = Header::read(&bytes, 128);
        let lenient = Header::from_prefix(&bytes);
        if let Ok(strict) = strict {
            // The strict reader reads a valid object in the same way.
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
            prop_assert_eq!(strict.name, lenient.name);
            prop_assert_eq!(strict.version, lenient.version);
            prop_assert_eq!(strict.labels().count(), lenient.labels().count());
        }
        if let Some(guess) = Envelope::guess(&bytes) && Header::read(guess.object, 128).is_ok() {
            prop_assert_eq!(Ok(guess), Envelope::read(&bytes));
        }
        if let Ok(envelope) = Envelope::read(&bytes) {
            prop_assert_eq!(Some(envelope), Envelope::from_prefix(&bytes));
        }
        if ApiStatus::read(&bytes).is_some() {
            prop_assert!(json::text::validate(&bytes, 128).is_ok());
        }
    }

    #[test]
    fn an_object_is_accepted_exactly_if_serde_json_parses_it(
        object in object(),
        style in style(),
        at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), prop::sample::select(b"{}[]\",:\\0 ".to_vec())],
    ) {
        let mut text = object.render(style).into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        let theirs = serde_json::from_slice::<Value>(&text);
        match Header::read(&text, 128) {
            Ok(_) => prop_assert!(theirs.is_ok()),
            Err(json::header::HeaderError::Text(_)) => prop_assert!(theirs.is_err()),
            // Valid JSON, but no longer a Kubernetes object.
            Err(_) => {}
        }
    }

    #[test]
    fn a_cut_object_never_gives_wrong_fields(
        object in object(),
        style in style(),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = object.render(style).into_bytes();
        let whole = Header::read(&text, 128).unwrap();
        let part = Header::from_prefix(&text[..cut.index(text.len() + 1)]);
        prop_assert!(part.name.is_none() || part.name == whole.name);
        prop_assert!(part.namespace.is_none() || part.namespace == whole.namespace);
        prop_assert!(part.uid.is_none() || part.uid == whole.uid);
        prop_assert!(part.version.is_none() || part.version == whole.version);
    }
}

#[test]
fn single_bytes_take_linear_time() {
    // If every byte were compared with all bytes before it, this would take hours.
    let filler = "x\\\"[{".repeat(200_000);
    let item = format!(r#"{{"metadata":{{"name":"a"}},"spec":"{filler}"}}"#);
    let list = format!(r#"{{"skipped":["{filler}"],"items":[{item}]}}"#);
    let facts_of_list = facts(MetadataOnly, Body::List, list.as_bytes(), &[1]);
    assert_eq!(facts_of_list.len(), 3);
    assert!(facts_of_list[0].starts_with("Item"));

    let watch = format!("{{\"type\":\"ADDED\",\"object\":{item}}}\n");
    let facts_of_watch = facts(MetadataOnly, Body::Watch, watch.as_bytes(), &[1]);
    assert_eq!(facts_of_watch.len(), 2);
    assert!(facts_of_watch[0].starts_with("Added"));
}
