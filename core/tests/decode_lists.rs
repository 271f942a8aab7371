//! Lists of any objects, in any order, style and pieces: the decoder finds what serde_json finds.
#![cfg(feature = "json")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

extern crate alloc;

mod decode_support;

use alloc::collections::BTreeMap;
use core::fmt::Debug;

use decode_support::*;
use informer_core::Object;
use informer_core::decode::{Body, Decoder, Dynamic, Form, Lean, MetadataOnly, Typed};
use informer_core::flow::{Fact, Place};
use proptest::prelude::*;
use serde_json::Value;

/// A type that accepts the members of any object.
type Anything = BTreeMap<String, Value>;

/// A list with any objects and metadata.
fn list() -> impl Strategy<Value = Json> {
    let metadata = (
        prop::option::of("[0-9]{1,8}"),
        prop::option::of(prop_oneof![string(), "[a-zA-Z0-9]{200}"]),
        prop::option::of(any::<u64>()),
        json(),
    );
    let metadata = metadata
        .prop_map(|(version, next, remaining, other)| {
            let version =
                version.map(|version| ("resourceVersion".to_owned(), Json::Text(version)));
            let next = next.map(|next| ("continue".to_owned(), Json::Text(next)));
            let remaining = remaining.map(|count| Json::Scalar(count.to_string()));
            let remaining = remaining.map(|count| ("remainingItemCount".to_owned(), count));
            let other = Some(("other".to_owned(), other));
            [version, next, remaining, other]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_map(Json::Object);
    let items = prop_oneof![
        9 => prop::collection::vec(object(), 0..6).prop_map(Json::Array),
        1 => Just(Json::Scalar("null".into())),
    ];
    let kind = prop::sample::select(vec!["PodList", "List", "Widgets", "TableList"]);
    (items, metadata, kind, json(), string())
        .prop_map(|(items, metadata, kind, other, name)| {
            let mut members = vec![
                ("items".to_owned(), items),
                ("metadata".to_owned(), metadata),
                ("kind".to_owned(), text(kind)),
                ("apiVersion".to_owned(), text("example.com/v1")),
            ];
            let known = ["items", "metadata", "kind", "apiVersion"];
            if !known.contains(&name.as_str()) {
                members.push((name, other));
            }
            members
        })
        .prop_shuffle()
        .prop_map(Json::Object)
}

/// Decodes `body` and checks everything that does not depend on the form.
fn decode<F: Form>(form: F, body: &[u8], pieces: &[usize]) -> Vec<Object<F::Body>> {
    let value: Value = serde_json::from_slice(body).unwrap();
    let mut objects = Vec::new();
    let mut ends = 0;
    feed(
        &mut Decoder::new(form),
        Body::List,
        body,
        pieces,
        |fact| match fact {
            Fact::Item(object) => {
                assert_eq!(ends, 0);
                objects.push(object);
            }
            Fact::PageEnd {
                version,
                next,
                remaining,
            } => {
                let token = value["metadata"]["continue"].as_str();
                assert_eq!(version, text_at(&value, "resourceVersion"));
                assert_eq!(next, token.filter(|token| !token.is_empty()));
                assert_eq!(remaining, value["metadata"]["remainingItemCount"].as_u64());
                ends += 1;
            }
            Fact::Closed => assert_eq!(ends, 1),
            _ => panic!("not a fact of this list"),
        },
    );
    let items = items_of(&value);
    assert_eq!(objects.len(), items.len());
    for (object, item) in objects.iter().zip(items) {
        assert_eq!(object.key().name(), text_at(item, "name"));
        assert_eq!(object.key().namespace(), text_at(item, "namespace"));
        assert_eq!(object.uid(), text_at(item, "uid"));
        assert_eq!(object.version(), text_at(item, "resourceVersion"));
        let labels: Vec<_> = object
            .labels()
            .iter()
            .map(|(a, b)| (a.into(), b.into()))
            .collect();
        assert_eq!(labels, labels_of(item));
    }
    objects
}

fn items_of(list: &Value) -> Vec<&Value> {
    list["items"].as_array().into_iter().flatten().collect()
}

/// A string member of the list, if it precedes the items. After them it is too late.
fn before_items(list: &Json, member: &str) -> Option<String> {
    let Json::Object(members) = list else {
        panic!("a list is an object")
    };
    let mut before = members.iter().take_while(|(name, _)| name != "items");
    before.find_map(|(name, value)| match value {
        Json::Text(text) if name == member => Some(text.clone()),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn every_form_finds_what_serde_json_finds(
        list in list(),
        style in style(),
        pieces in pieces(),
    ) {
        let body = list.render(style);
        let value: Value = serde_json::from_str(&body).unwrap();
        let items = items_of(&value);

        for (object, item) in decode(Typed::<Anything>::new(), body.as_bytes(), &pieces)
            .iter()
            .zip(&items)
        {
            let kept = serde_json::to_value(object.body()).unwrap();
            prop_assert_eq!(kept, without_managed_fields(item));
        }
        for (object, item) in decode(Lean, body.as_bytes(), &pieces).iter().zip(&items) {
            let kept: Value = serde_json::from_str(&object.json().unwrap()).unwrap();
            prop_assert_eq!(&kept, &without_managed_fields(item));
            prop_assert_eq!(object.decode::<Value>().unwrap(), kept);
        }
        for (object, item) in decode(MetadataOnly, body.as_bytes(), &pieces).iter().zip(&items) {
            let kept: Value = serde_json::from_str(&object.json().unwrap()).unwrap();
            prop_assert_eq!(&kept, &without_managed_fields(item)["metadata"]);
            for (name, value) in item["metadata"]["annotations"].as_object().into_iter().flatten() {
                let found = object.annotation(name);
                prop_assert_eq!(found.as_deref(), value.as_str());
            }
            prop_assert_eq!(object.annotation("there is no such annotation"), None);
        }
        for (object, item) in decode(Dynamic, body.as_bytes(), &pieces).iter().zip(&items) {
            let mut expected = without_managed_fields(item);
            if let Some(kind) = before_items(&list, "kind") {
                let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty());
                if let Some(kind) = kind {
                    expected["kind"] = kind.into();
                }
            }
            if let Some(version) = before_items(&list, "apiVersion") {
                expected["apiVersion"] = version.into();
            }
            prop_assert_eq!(object.body(), &expected);
        }
    }

    #[test]
    fn pieces_do_not_matter(
        list in list(),
        style in style(),
        first in pieces(),
        second in pieces(),
        cut in any::<prop::sample::Index>(),
    ) {
        fn check<F: Form<Body: Debug> + Copy>(form: F, body: &[u8], a: &[usize], b: &[usize]) {
            assert_eq!(facts(form, Body::List, body, a), facts(form, Body::List, body, b));
        }
        let body = list.render(style).into_bytes();
        check(Dynamic, &body, &first, &second);
        check(Lean, &body, &first, &second);
        check(MetadataOnly, &body, &first, &second);
        check(Typed::<Anything>::new(), &body, &first, &second);
        // The same for a cut list.
        check(Lean, &body[..cut.index(body.len())], &first, &second);
    }

    #[test]
    fn a_cut_list_is_never_complete(
        list in list(),
        style in style(),
        pieces in pieces(),
        cut in any::<prop::sample::Index>(),
    ) {
        let body = list.render(style).into_bytes();
        let cut = &body[..cut.index(body.len())];
        let all = facts(Lean, Body::List, cut, &pieces);
        let last = all.last().unwrap();
        let sentence = format!("the list ended at byte {}, before it was complete", cut.len());
        prop_assert_eq!(last, &format!("Failed {{ failure: Broken, message: {sentence:?} }}"));
        prop_assert!(all[..all.len() - 1].iter().all(|fact| fact.starts_with("Item")));
    }

    #[test]
    fn a_broken_object_does_not_affect_others(
        good in prop::collection::vec(object(), 1..4),
        bad in prop::sample::select(vec![
            r#"{"metadata":{"name":"bad","resourceVersion":"7"},"spec":{"x":01}}"#,
            r#"{"metadata":{"name":"bad","resourceVersion":"7"},"spec":"\ud800"}"#,
            r#"{"spec":{"x":[}},"metadata":{"resourceVersion":"7","name":"bad"}}"#,
            r#"{"metadata":{"resourceVersion":"7","name":"bad","uid":1}}"#,
            r#"{"metadata":{"resourceVersion":"7","name":"bad","labels":{"a":null}}}"#,
        ]),
        at in any::<prop::sample::Index>(),
        pieces in pieces(),
    ) {
        let style = Style { pretty: false, escape_everything: false };
        let mut items: Vec<String> = good.iter().map(|object| object.render(style)).collect();
        let at = at.index(items.len() + 1);
        items.insert(at, bad.into());
        let body = format!(r#"{{"items":[{}]}}"#, items.join(","));
        let mut count = 0;
        feed(&mut Decoder::new(Lean), Body::List, body.as_bytes(), &pieces, |fact| {
            match fact {
                Fact::Rejected(rejected) => {
                    assert_eq!(count, at);
                    assert_eq!(rejected.place, Place::Item);
                    assert_eq!(rejected.key.unwrap().as_str(), "bad");
                    assert_eq!(rejected.version, "7");
                    assert!(!rejected.reason.is_empty());
                }
                Fact::Item(_) => assert_ne!(count, at),
                Fact::PageEnd { .. } => assert_eq!(count, items.len()),
                Fact::Closed => {}
                other => panic!("{other:?}"),
            }
            count += 1;
        });
        prop_assert_eq!(count, items.len() + 2);
    }
}
