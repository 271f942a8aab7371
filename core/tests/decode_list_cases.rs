//! Lists of real servers and broken lists, whole and byte by byte.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod decode_support;

use decode_support::{failed, feed, lean, page_end, rejected};
use informer_core::decode::{Body, Decode, Decoder, Dynamic, Typed};
use informer_core::failure::MAX_MESSAGE;
use informer_core::flow::{Fact, Place};
use informer_core::{Encoding, Failure};

#[test]
fn a_page_of_a_real_server() {
    let body = r#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"20364","continue":"eyJ2","remainingItemCount":9999},"items":[{"metadata":{"name":"p-0","namespace":"ns-0","uid":"u-0","resourceVersion":"315","labels":{"app":"x"},"managedFields":[{"manager":"kubectl"}]},"spec":{"containers":null},"status":{}}]}
"#;
    let mut decoder = Decoder::new(Dynamic);
    let mut input = body.as_bytes();
    decoder.begin(Body::List, Encoding::Json);
    let Some(Fact::Item(pod)) = decoder.decode(&mut input) else {
        panic!()
    };
    assert_eq!(pod.key().as_str(), "ns-0/p-0");
    assert_eq!((pod.uid(), pod.version()), ("u-0", "315"));
    assert_eq!(pod.labels().get("app"), Some("x"));
    // Elements state neither, so these come from the list.
    assert_eq!(pod.body()["kind"], "Pod");
    assert_eq!(pod.body()["apiVersion"], "v1");
    let end = Fact::PageEnd {
        version: "20364",
        next: Some("eyJ2"),
        remaining: Some(9999),
    };
    assert_eq!(decoder.decode(&mut input), Some(end));
    assert_eq!(decoder.decode(&mut input), None);
    assert!(input.is_empty());
    assert_eq!(decoder.end(), Fact::Closed);
}

#[test]
fn the_kind_of_an_object_overrides_that_of_the_list() {
    let body = br#"{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"v2","metadata":{"name":"a"}}, {"metadata":{"name":"b"}}]}"#;
    let mut decoder = Decoder::new(Dynamic);
    let mut found = Vec::new();
    feed(&mut decoder, Body::List, body, &[5], |fact| {
        if let Fact::Item(object) = fact {
            found.push((
                object.body()["kind"].clone(),
                object.body()["apiVersion"].clone(),
            ));
        }
    });
    assert_eq!(found[0], ("Pod".into(), "v2".into()));
    // A plain `List` does not state the kind of its elements.
    assert_eq!(found[1], (serde_json::Value::Null, "v1".into()));
}

#[test]
fn empty_lists() {
    for body in [
        r#"{"items":[]}"#,
        r#"{"items":null}"#,
        " { \"items\" : [ ] } \n",
        r#"{"items":null,"metadata":null}"#,
        r#"{"metadata":{},"items":[],"kind":null}"#,
        r#"{"metadata":{"resourceVersion":null,"continue":null,"remainingItemCount":null},"items":[]}"#,
        r#"{"metadata":{"remainingItemCount":-1,"continue":""},"items":[]}"#,
    ] {
        assert_eq!(
            lean(Body::List, body),
            [page_end(""), "Closed".into()],
            "{body}"
        );
    }
}

#[test]
fn list_metadata_may_be_escaped_and_repeated() {
    let body = r#"{"metadata":{"resourceVersion":"1","continue":"x","remainingItemCount":4},"it\u0065ms":[],"m\u0065tadata":{"resourceVersion":"0","continue":"y","resourceVersion":"\u0037","continue":"a\"\ud83d\ude00","remainingItemCount":5}}"#;
    let end = r#"PageEnd { version: "7", next: Some("a\"😀"), remaining: Some(5) }"#;
    assert_eq!(lean(Body::List, body), [end, "Closed"]);
    // The last `metadata` replaces the first one as a whole.
    let body = r#"{"metadata":{"resourceVersion":"1","continue":"x"},"items":[],"metadata":{}}"#;
    assert_eq!(lean(Body::List, body), [page_end(""), "Closed".into()]);
}

#[test]
fn bytes_after_a_list_are_skipped() {
    let body = r#"{"items":[]}{"items":[{"metadata":{"name":"a"}}]} garbage"#;
    assert_eq!(lean(Body::List, body), [page_end(""), "Closed".into()]);
}

#[test]
fn bodies_that_are_not_lists_say_why() {
    let token = "x".repeat(70_000);
    for (body, message) in [
        (
            "<html>\n<body>502 Bad Gateway</body></html> and a great deal more of this",
            "the body is not a JSON object; it starts with: <html> <body>502 Bad Gateway</body></html> and a great deal ",
        ),
        (
            "oops",
            "the body is not a JSON object; it starts with: oops",
        ),
        (
            "[{}]",
            "the body is not a JSON object; it starts with: [{}]",
        ),
        (
            " \n\"x\"",
            "the body is not a JSON object; it starts with: \"x\"",
        ),
        (
            "k8s\0\n\u{1}",
            r"the body is not a JSON object; it starts with: k8s\u{0} \u{1}",
        ),
        (
            "{}",
            "the body is not a list: it has neither `kind` nor `items`",
        ),
        (
            r#"{"kind":"Pod","metadata":{"name":"a"}}"#,
            "the body is not a list: it has kind `Pod` and no `items`",
        ),
        (
            r#"{"kind":"Status","code":500,"metadata":{}}"#,
            "the body is a Status, not a list",
        ),
        (
            r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"rows":[]}"#,
            "the body is a Table of meta.k8s.io, not a list; ask for plain `application/json`",
        ),
        (
            r#"{"rows":[],"apiVersion":"meta.k8s.io/v1beta1","kind":"Table"}"#,
            "the body is a Table of meta.k8s.io, not a list; ask for plain `application/json`",
        ),
        (
            r#"{"kind":"Table","apiVersion":"furniture.example.com/v1"}"#,
            "the body is not a list: it has kind `Table` and no `items`",
        ),
        (
            r#"{"items":{"a":1}}"#,
            "`items` of the list is not an array but {\"a\":1}",
        ),
        (
            r#"{"items":"x"}"#,
            "`items` of the list is not an array but \"x\"",
        ),
        (
            r#"{"items":nil}"#,
            "`items` of the list is not an array but nil",
        ),
        (
            r#"{"items":[],"items":[]}"#,
            "the list contains `items` twice",
        ),
        (
            r#"{"items":[],}"#,
            "the list is not valid JSON: expected the name of a member at byte 12, found `}`",
        ),
        (
            r#"{items:[]}"#,
            "the list is not valid JSON: expected the name of a member at byte 1, found `i`",
        ),
        (
            r#"{"items" []}"#,
            "the list is not valid JSON: expected `:` at byte 9, found `[`",
        ),
        (
            r#"{"items":[,]}"#,
            "the list is not valid JSON: expected a value at byte 10, found `,`",
        ),
        (
            r#"{"a":}"#,
            "the list is not valid JSON: expected a value at byte 5, found `}`",
        ),
        (
            r#"{"items":[] "a":1}"#,
            "the list is not valid JSON: expected `,` or `}` at byte 12, found `\"`",
        ),
        (
            r#"{"a":tru}"#,
            "cannot read a value of the list: error at byte 5",
        ),
        (
            r#"{"kind":7,"items":[]}"#,
            "cannot read `kind` of the list: error at byte 8",
        ),
        (
            r#"{"kind":nullx,"items":[]}"#,
            "cannot read `kind` of the list: error at byte 12",
        ),
        (
            r#"{"metadata":{"continue":7},"items":[]}"#,
            "cannot read `metadata` of the list: error at byte 24",
        ),
        (
            r#"{"metadata":[],"items":[]}"#,
            "cannot read `metadata` of the list: error at byte 12",
        ),
        (
            &format!(r#"{{"metadata":{{"continue":"{token}"}},"items":[]}}"#),
            "`metadata` of the list is longer than 65536 bytes",
        ),
        (
            &format!(r#"{{"{token}":1,"items":[]}}"#),
            "the name of a member of the list is longer than 65536 bytes",
        ),
    ] {
        let expected = [failed(Failure::Undecodable, message), "Closed".into()];
        let short = !body.trim_start().starts_with('{') && body.len() < 60;
        let expected = if short { &expected[..1] } else { &expected[..] };
        assert_eq!(lean(Body::List, body), expected, "{:.80}", body);
    }
}

#[test]
fn objects_before_an_error_are_not_lost() {
    let body = r#"{"items":[{"metadata":{"name":"a"}} {"metadata":{"name":"b"}}]}"#;
    let found = lean(Body::List, body);
    assert_eq!(found.len(), 3);
    assert!(found[0].starts_with("Item"));
    let message = "the list is not valid JSON: expected `,` or `]` at byte 36, found `{`";
    assert_eq!(found[1], failed(Failure::Undecodable, message));
}

#[test]
fn a_list_that_ends_early_is_broken() {
    let broken = |bytes: usize| {
        let text = format!("the list ended at byte {bytes}, before it was complete");
        failed(Failure::Broken, &text)
    };
    assert_eq!(lean(Body::List, ""), [broken(0)]);
    assert_eq!(lean(Body::List, " \n"), [broken(2)]);
    assert_eq!(lean(Body::List, r#"{"items":["#), [broken(10)]);
    assert_eq!(lean(Body::List, r#"{"items":[]"#), [broken(11)]);
}

#[test]
fn elements_that_are_not_objects_are_rejected() {
    let body =
        r#"{"items":[null, 1,"x",[{}],{},{"metadata":{}},nonsense,{"metadata":{"name":"a"}}]}"#;
    let found = lean(Body::List, body);
    for element in [0, 1, 2, 3, 6] {
        let expected = rejected(Place::Item, None, "", "not a JSON object");
        assert_eq!(found[element], expected);
    }
    let metadata = "`metadata` is missing or not an object";
    assert_eq!(found[4], rejected(Place::Item, None, "", metadata));
    let name = "`metadata.name` is missing or empty";
    assert_eq!(found[5], rejected(Place::Item, None, "", name));
    assert!(found[7].starts_with("Item("));
    assert_eq!(found[8..], [page_end(""), "Closed".into()]);
}

#[test]
fn an_object_that_does_not_fit_its_type_is_rejected() {
    #[derive(serde::Deserialize, Debug)]
    struct Counter {
        count: u32,
    }
    let secret = "s3cret".repeat(200);
    let body = format!(
        r#"{{"items":[{{"metadata":{{"name":"a"}},"count":1}},{{"metadata":{{"name":"b","resourceVersion":"7"}},"count":"{secret}"}},{{"metadata":{{"name":"c"}},"count":3}}]}}"#
    );
    let mut seen = Vec::new();
    let mut decoder = Decoder::new(Typed::<Counter>::new());
    feed(
        &mut decoder,
        Body::List,
        body.as_bytes(),
        &[10],
        |fact| match fact {
            Fact::Item(object) => seen.push(format!("{} {}", object.key(), object.count)),
            Fact::Rejected(rejected) => {
                assert!(
                    rejected.reason.starts_with("count: invalid type: string"),
                    "{}",
                    rejected.reason
                );
                assert!(rejected.reason.len() <= MAX_MESSAGE);
                seen.push(format!("{} {}", rejected.key.unwrap(), rejected.version));
            }
            _ => {}
        },
    );
    assert_eq!(seen, ["a 1", "b 7", "c 3"]);
}
