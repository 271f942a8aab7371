//! Watches of real servers, broken watches, and what lists and watches share.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use decode_support::{failed, lean, lean_with, rejected};
use informer_core::decode::{Body, Decode, Decoder, Lean, Limits, MetadataOnly};
use informer_core::failure::MAX_MESSAGE;
use informer_core::flow::{Fact, Place};
use informer_core::{Encoding, Failure};

const SMALL: Limits = Limits {
    object_bytes: 100,
    depth: 128,
};

#[test]
fn an_object_that_is_too_large_is_rejected_with_its_key() {
    let filler = "x".repeat(2000);
    let large = format!(
        r#"{{"metadata":{{"name":"big","namespace":"n","resourceVersion":"7"}},"spec":"{filler}"}}"#
    );
    let small = r#"{"metadata":{"name":"a"}}"#;
    let reason = "larger than 100 bytes";

    let list = format!(r#"{{"items":[{small},{large},{small}]}}"#);
    let found = lean_with(SMALL, Body::List, &list);
    assert_eq!(found.len(), 5);
    assert_eq!(found[1], rejected(Place::Item, Some("n/big"), "7", reason));
    assert!(found[0].starts_with("Item") && found[2].starts_with("Item"));

    for (kind, place) in [
        ("ADDED", Place::Upsert),
        ("MODIFIED", Place::Upsert),
        ("DELETED", Place::Delete),
    ] {
        let line = |object: &str| format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n");
        let watch = [line(small), line(&large), line(small)].concat();
        let found = lean_with(SMALL, Body::Watch, &watch);
        assert_eq!(found.len(), 4);
        assert_eq!(found[1], rejected(place, Some("n/big"), "7", reason));
        assert!(!found[0].starts_with("Rejected") && !found[2].starts_with("Rejected"));
        // Too large for an object, but not for a line.
        let object = large.replace(&filler, &"x".repeat(200));
        let found = lean_with(SMALL, Body::Watch, &line(&object));
        assert_eq!(found[0], rejected(place, Some("n/big"), "7", reason));
    }
}

#[test]
fn the_limit_on_an_object_is_exact() {
    let object = |length: usize| {
        let rest = length - r#"{"metadata":{"name":"a"},"x":""}"#.len();
        format!(
            r#"{{"metadata":{{"name":"a"}},"x":"{}"}}"#,
            "x".repeat(rest)
        )
    };
    for (length, fits) in [(99, true), (100, true), (101, false)] {
        assert_eq!(object(length).len(), length);
        let list = format!(r#"{{"items":[{}]}}"#, object(length));
        assert_eq!(
            lean_with(SMALL, Body::List, &list)[0].starts_with("Item"),
            fits
        );
        let line = format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", object(length));
        assert_eq!(
            lean_with(SMALL, Body::Watch, &line)[0].starts_with("Added"),
            fits
        );
    }
}

#[test]
fn a_large_line_without_a_readable_key_is_a_failure() {
    let filler = "x".repeat(2000);
    let line =
        format!(r#"{{"type":"ADDED","object":{{"spec":"{filler}","metadata":{{"name":"a"}}}}}}"#);
    let message = "a line of the watch has no readable key: larger than 100 bytes";
    let expected = [failed(Failure::Undecodable, message), "Closed".into()];
    assert_eq!(
        lean_with(SMALL, Body::Watch, &format!("{line}\n{line}\n")),
        expected
    );

    let line =
        format!(r#"{{"object":{{"metadata":{{"name":"a"}},"spec":"{filler}"}},"type":"ADDED"}}"#);
    let found = lean_with(SMALL, Body::Watch, &format!("{line}\n"));
    assert!(
        found[0].starts_with("Failed { failure: Undecodable"),
        "{}",
        found[0]
    );
}

#[test]
fn a_line_without_an_end_is_given_up() {
    // The key is readable, so the line would only be rejected if it ended.
    let begun = r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"spec":"#;
    let line = format!("{begun}\"{}", "x".repeat(5000));
    let found = lean_with(SMALL, Body::Watch, &line);
    let message = "a line of the watch does not end; it starts with: ";
    assert!(
        found[0].starts_with("Failed { failure: Undecodable"),
        "{}",
        found[0]
    );
    assert!(found[0].contains(message), "{}", found[0]);
    // The result is the same if the line ends at last: it must not depend on the pieces.
    assert_eq!(
        lean_with(SMALL, Body::Watch, &format!("{line}\"}}}}\n")),
        found
    );
}

#[test]
fn an_object_that_is_too_deep_is_rejected_with_its_key() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let line = format!(
        "{{\"type\":\"DELETED\",\"object\":{{\"spec\":{deep},\"metadata\":{{\"name\":\"a\"}}}}}}\n"
    );
    let expected = rejected(
        Place::Delete,
        Some("a"),
        "",
        "nested too deeply at byte 134",
    );
    assert_eq!(lean(Body::Watch, &line), [expected, "Closed".into()]);
}

#[test]
fn a_watch_of_a_real_server() {
    let watch = r#"{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-0","namespace":"ns-0","resourceVersion":"315"}}}
{"type":"MODIFIED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-0","namespace":"ns-0","resourceVersion":"316"}}}
{"type":"DELETED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p-0","namespace":"ns-0","resourceVersion":"317"}}}
{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"642","annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}
{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"700"},"spec":{"containers":null},"status":{}}}
{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 1 (20362)","reason":"Expired","code":410}}
{"type":"ADDED","object":{"metadata":{"name":"too-late"}}}
"#;
    let found = lean(Body::Watch, watch);
    for (fact, beginning) in found.iter().zip(["Added(", "Modified(", "Deleted("]) {
        assert!(fact.starts_with(beginning), "{fact}");
        assert!(fact.contains("ns-0/p-0"), "{fact}");
    }
    assert_eq!(found[3], r#"InitialEnd { version: "642" }"#);
    assert_eq!(found[4], r#"Bookmark { version: "700" }"#);
    assert_eq!(
        found[5],
        failed(Failure::Expired, "too old resource version: 1 (20362)")
    );
    assert_eq!(found[6..], ["Closed"]);
}

#[test]
fn error_events_become_failures() {
    for (object, failure, message) in [
        (
            r#"{"kind":"Status","reason":"Gone"}"#,
            Failure::Expired,
            "Gone",
        ),
        (
            r#"{"kind":"Status","code":500}"#,
            Failure::Internal,
            "an ERROR event with code 500",
        ),
        (
            r#"{"metadata":{},"kind":"Status","message":"m\u0021","code":504,"details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#,
            Failure::VersionTooLarge,
            "m!",
        ),
        (
            r#"{"kind":"Pod"}"#,
            Failure::Other,
            r#"an ERROR event has no Status; it starts with: {"kind":"Pod"}"#,
        ),
        (
            "null",
            Failure::Other,
            "an ERROR event has no Status; it starts with: null",
        ),
    ] {
        let line = format!("{{\"type\":\"ERROR\",\"object\":{object}}}\n");
        let expected = [failed(failure, message), "Closed".into()];
        assert_eq!(lean(Body::Watch, &line), expected);
    }
    let line = "{\"type\":\"ERROR\"}\n";
    let message = "an ERROR event has no Status; it starts with: ";
    assert_eq!(lean(Body::Watch, line)[0], failed(Failure::Other, message));
    let cut = "{\"type\":\"ERROR\",\"object\":{\n";
    assert!(lean(Body::Watch, cut)[0].starts_with("Failed { failure: Undecodable"));
}

#[test]
fn a_table_in_a_watch_is_rejected() {
    let table =
        r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"}}"#;
    let line = format!("{{\"type\":\"ADDED\",\"object\":{table}}}\n");
    let reason = "a Table of meta.k8s.io, not an object";
    assert_eq!(
        lean(Body::Watch, &line)[0],
        rejected(Place::Upsert, None, "7", reason)
    );
    let bookmark = line.replace("ADDED", "BOOKMARK");
    let reason = "a bookmark with a Table of meta.k8s.io";
    assert_eq!(
        lean(Body::Watch, &bookmark)[0],
        rejected(Place::Unknown, None, "7", reason)
    );
}

#[test]
fn an_unknown_event_is_rejected_with_its_version() {
    let line = "{\"type\":\"PATCHED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"7\"}}}\n";
    let reason = "unknown event type `PATCHED`";
    assert_eq!(
        lean(Body::Watch, line)[0],
        rejected(Place::Unknown, Some("a"), "7", reason)
    );
    let long = line.replace("PATCHED", &"X".repeat(2000));
    let found = lean(Body::Watch, &long);
    assert!(found[0].starts_with("Rejected"));
    assert!(found[0].len() < MAX_MESSAGE + 200, "{}", found[0].len());
}

#[test]
fn a_line_that_is_not_an_event_is_quoted() {
    let message = "cannot read a line of the watch: not a JSON object; it starts with: <html>";
    assert_eq!(
        lean(Body::Watch, "<html>\n")[0],
        failed(Failure::Undecodable, message)
    );
    let message =
        "cannot read a line of the watch: `type` is missing or not a string; it starts with: {}";
    assert_eq!(
        lean(Body::Watch, "{}\n")[0],
        failed(Failure::Undecodable, message)
    );
}

#[test]
fn the_last_line_counts_only_if_it_is_complete() {
    let line = r#"{"type":"ADDED","object":{"metadata":{"name":"a"}}}"#;
    assert_eq!(lean(Body::Watch, line), ["Closed"]);
    assert_eq!(lean(Body::Watch, &format!("{line}\n{line}")).len(), 2);
    assert_eq!(lean(Body::Watch, ""), ["Closed"]);
    assert_eq!(lean(Body::Watch, "<html>"), ["Closed"]);
}

#[test]
fn a_new_body_drops_the_previous_one() {
    let mut decoder = Decoder::new(MetadataOnly);
    decoder.begin(Body::Watch, Encoding::Json);
    assert_eq!(decoder.decode(&mut &br#"{"type":"ADDED","obj"#[..]), None);
    decoder.begin(Body::List, Encoding::Json);
    let mut list = &br#"{"metadata":{"resourceVersion":"7"},"items":[{"metadata":"#[..];
    assert_eq!(decoder.decode(&mut list), None);
    decoder.begin(Body::List, Encoding::Json);
    let mut list = &br#"{"items":[]}"#[..];
    let end = Fact::PageEnd {
        version: "",
        next: None,
        remaining: None,
    };
    assert_eq!(decoder.decode(&mut list), Some(end));
    decoder.begin(Body::Watch, Encoding::Json);
    let mut line = &b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n"[..];
    assert!(matches!(decoder.decode(&mut line), Some(Fact::Added(_))));
    // Also after a failure.
    assert!(matches!(
        decoder.decode(&mut &b"x\n"[..]),
        Some(Fact::Failed { .. })
    ));
    assert_eq!(decoder.decode(&mut &b"x\n"[..]), None);
    decoder.begin(Body::Watch, Encoding::Json);
    assert!(matches!(
        decoder.decode(&mut &b"x\n"[..]),
        Some(Fact::Failed { .. })
    ));
}

#[test]
fn a_decoder_without_a_body_skips_everything() {
    let mut decoder = Decoder::new(Lean);
    let mut input = &b"anything"[..];
    assert_eq!(decoder.decode(&mut input), None);
    assert!(input.is_empty());
    assert_eq!(decoder.end(), Fact::Closed);
}

#[test]
fn lines_may_end_with_crlf_and_may_be_blank() {
    let line = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#;
    let watch = format!("\n\r\n{line}\r\n \n{line}\n");
    let mark = r#"Bookmark { version: "7" }"#;
    assert_eq!(lean(Body::Watch, &watch), [mark, mark, "Closed"]);
}
