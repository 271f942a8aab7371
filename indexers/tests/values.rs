//! Encoded values sort like the values and can be decoded.
#![allow(clippy::unwrap_used, reason = "tests")]

use core::cmp::Ordering;
use core::fmt::Debug;

use informer_core::decode::{Lean, decode_object};
use informer_core::indexer::{Indexer, RangeError};
use informer_core::storage::{Heap, Seed};
use informer_indexers::value::{Encode, IndexValue};
use informer_indexers::{TypedIndex, by};
use proptest::prelude::*;

fn bytes(value: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    bytes
}

fn agree<V: IndexValue + Debug>(a: &V, b: &V, expected: Ordering) {
    assert_eq!(bytes(a).cmp(&bytes(b)), expected, "{a:?} {b:?}");
    for value in [a, b] {
        let decoded = V::decode(&bytes(value)).unwrap();
        assert_eq!(
            bytes(&decoded),
            bytes(value),
            "{value:?} became {decoded:?}"
        );
    }
}

fn agree_ord<V: IndexValue + Debug + Ord>(a: &V, b: &V) {
    agree(a, b, a.cmp(b));
    assert_eq!(V::decode(&bytes(a)).as_ref(), Some(a));
}

proptest! {
    #[test]
    fn bytes_sort_like_the_values(
        texts in any::<(String, String)>(), unsigned in any::<(u64, u64)>(), small in any::<(i8, i8)>(),
        signed in any::<(i64, i64)>(), floats in any::<(f64, f64)>(), bools in any::<(bool, bool)>(),
        wide in any::<(i128, u128, i128, u128)>(),
    ) {
        agree_ord(&texts.0, &texts.1);
        agree_ord(&unsigned.0, &unsigned.1);
        agree_ord(&small.0, &small.1);
        agree_ord(&signed.0, &signed.1);
        agree_ord(&bools.0, &bools.1);
        agree_ord(&(wide.0, wide.1), &(wide.2, wide.3));
        agree(&floats.0, &floats.1, floats.0.total_cmp(&floats.1));
    }

    /// Short alphabets give many common prefixes and zero bytes.
    #[test]
    fn pairs_sort_by_the_first_and_then_by_the_second(
        a in ("[\0a\u{ff}]{0,3}", 0..3_u16), b in ("[\0a\u{ff}]{0,3}", 0..3_u16),
    ) {
        agree_ord(&a, &b);
        agree_ord(&((a.1, a.0.clone()), a.1), &((b.1, b.0.clone()), b.1));
    }

    #[test]
    fn invalid_bytes_are_refused(noise in any::<Vec<u8>>()) {
        if let Some(pair) = <(String, u32)>::decode(&noise) {
            prop_assert_eq!(bytes(&pair), noise.clone());
        }
        if noise.len() != 8 {
            prop_assert_eq!(u64::decode(&noise), None);
        }
    }
}

#[test]
fn a_typed_index_finds_values_and_ranges() {
    let mut store = Indexer::<_, Heap>::new(Seed::new(1));
    for (name, priority, zone) in [
        ("a", -3, "x"),
        ("b", 10, "y"),
        ("c", 2, "x"),
        ("d", 10, "x"),
    ] {
        let json = format!(
            r#"{{"metadata":{{"name":"{name}","labels":{{"zone":"{zone}"}}}},"spec":{{"priority":{priority},"odd":1.5}}}}"#
        );
        store
            .put(decode_object(&mut Lean, json.as_bytes()).unwrap())
            .unwrap();
    }
    let priority = by::integer("spec.priority".parse().unwrap());
    let priority = priority.ordered().add_to(&mut store, "priority").unwrap();
    let names = |objects: &mut dyn Iterator<Item = &_>| -> Vec<String> {
        objects
            .map(
                |pod: &informer_core::Object<informer_core::decode::form::LeanBody>| {
                    pod.key().name().to_owned()
                },
            )
            .collect()
    };
    assert_eq!(
        names(&mut priority.range(&store, 0..).unwrap().objects()),
        ["c", "b", "d"]
    );
    assert_eq!(
        names(&mut priority.range(&store, ..=-3).unwrap().objects()),
        ["a"]
    );
    assert_eq!(names(&mut priority.get(&store, &10).unwrap()), ["b", "d"]);
    assert_eq!(
        priority.values(&store).unwrap().rev().collect::<Vec<_>>(),
        [10, 2, -3]
    );

    let odd = by::integer("spec.odd".parse().unwrap())
        .add_to(&mut store, "odd")
        .unwrap();
    assert_eq!(
        odd.values(&store).unwrap().count(),
        0,
        "1.5 is not an integer"
    );
    assert!(matches!(
        odd.range(&store, 0..),
        Err(RangeError::NotOrdered(_))
    ));

    // By zone, then by name.
    let zone = TypedIndex::of(
        |pod: &informer_core::Object<informer_core::decode::form::LeanBody>| {
            let zone = pod.labels().get("zone").map(str::to_owned);
            zone.map(|zone| (zone, pod.key().name().to_owned()))
        },
    );
    let zone = zone.ordered().add_to(&mut store, "zone").unwrap();
    let from = ("x".to_owned(), "c".to_owned());
    assert_eq!(
        names(&mut zone.range(&store, from..).unwrap().objects()),
        ["c", "d", "b"]
    );

    // A string is found by a `&str`, and by its bytes.
    let name = TypedIndex::of(
        |pod: &informer_core::Object<informer_core::decode::form::LeanBody>| {
            [pod.key().name().to_owned()]
        },
    );
    let name = name.add_to(&mut store, "name").unwrap();
    assert_eq!(name.get(&store, "c").unwrap().len(), 1);
    assert_eq!(store.count(name.id(), "c"), Ok(1));
}
