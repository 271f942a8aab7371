//! Objects that look like earlier ones are read as if nothing had come before them.
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
use informer_core::decode::{Body, Decoder, Dynamic, Form, Keep, Lean, MetadataOnly};
use proptest::prelude::*;
use proptest::sample::Index;

/// A change to an event: what it replaces, and with what.
type Change = (Index, usize, Vec<u8>);

/// The events of a streamed state of a real server: four pods and a bookmark.
fn events() -> impl Iterator<Item = &'static [u8]> {
    let stream = include_bytes!("protobuf_bodies/real/stream.json");
    stream.split_inclusive(|byte| *byte == b'\n')
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let words = [
        "\"", "\\", "\\\"", "{", "}", "[", "]", ",", ":", " ", "1", "-", "é", "\\u00e9", "\\ud800",
        "{}", ",\"a\":1", "\"\":", "\u{1f}", "\t", "null", "a",
    ];
    let word = prop::sample::select(words.map(|word| word.as_bytes().to_vec()).to_vec());
    let by = prop_oneof![3 => word, 1 => prop::collection::vec(any::<u8>(), 1..4), 1 => Just(Vec::new())];
    let change = (any::<Index>(), 0..4usize, by);
    prop::collection::vec(change, 1..4)
}

fn changed(event: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut event = event.strip_suffix(b"\n").unwrap().to_vec();
    for (at, length, by) in changes {
        let at = at.index(event.len());
        let end = event.len().min(at + length);
        event.splice(at..end, by.iter().copied());
    }
    // A line break would make two events of one.
    event.retain(|byte| *byte != b'\n');
    event.push(b'\n');
    event
}

/// The facts of an event that comes behind others, without the end of the body.
fn facts_behind<F>(form: F, before: &[u8], event: &[u8]) -> Vec<String>
where
    F: Form<Body: Debug> + Copy,
{
    let mut decoder = Decoder::new(form);
    let mut facts = Vec::new();
    feed(&mut decoder, Body::Watch, before, &[usize::MAX], |_| {});
    feed(&mut decoder, Body::Watch, event, &[usize::MAX], |fact| {
        facts.push(format!("{fact:?}"))
    });
    facts
}

fn check<F>(form: F, before: &[u8], event: &[u8])
where
    F: Form<Body: Debug> + Copy,
{
    assert_eq!(
        facts_behind(form, before, event),
        facts_behind(form, b"", event),
        "{}",
        event.escape_ascii()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_came_before_changes_no_fact(at in 0..4usize, changes in changes()) {
        let before = events().collect::<Vec<_>>().concat();
        let event = changed(events().nth(at).unwrap(), &changes);
        check(Lean, &before, &event);
        check(MetadataOnly, &before, &event);
        check(Dynamic, &before, &event);
        check(Keep::new(Dynamic).managed_fields(true), &before, &event);
    }

    #[test]
    fn what_came_before_changes_no_element_of_a_list(
        at in 0..4usize,
        changes in changes(),
        pieces in pieces(),
    ) {
        let object = |event: &[u8]| {
            let event = event.strip_prefix(br#"{"type":"ADDED","object":"#).unwrap();
            event.strip_suffix(b"}\n").unwrap().to_vec()
        };
        let before: Vec<Vec<u8>> = events().take(4).map(object).collect();
        let changed = changed(&[&before[at][..], b"\n"].concat(), &changes);
        let begin = br#"{"kind":"PodList","metadata":{"resourceVersion":"1"},"items":["#;
        let list = |objects: &[&[u8]]| [begin.as_slice(), &objects.join(&b","[..]), b"]}"].concat();
        let all: Vec<&[u8]> = before.iter().map(Vec::as_slice).chain([&changed[..]]).collect();
        let alone = facts(Lean, Body::List, &list(&[&changed]), &[usize::MAX]);
        let behind = facts(Lean, Body::List, &list(&all), &pieces);
        prop_assert_eq!(behind.len(), alone.len() + before.len());
        // The message of a failure says where in the list.
        let failed = alone.iter().position(|fact| fact.starts_with("Failed"));
        let end = failed.unwrap_or(alone.len());
        prop_assert_eq!(&behind[before.len()..][..end], &alone[..end]);
    }
}
