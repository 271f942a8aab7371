#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{FIRST_VERSION, MARKER, Pods};

fn text(pods: &Pods, pod: usize) -> String {
    let mut out = String::new();
    pods.write(pod, &mut out);
    out
}

fn list(pods: &Pods, size: usize) -> Vec<u8> {
    let (mut pieces, mut piece, mut all) = (pods.list(size), Vec::new(), Vec::new());
    while pieces.next_into(&mut piece) {
        assert!(piece.len() <= size);
        all.extend_from_slice(&piece);
    }
    all
}

#[test]
fn the_seed_alone_decides() {
    for seed in 0..8 {
        let (one, other) = (Pods::new(seed, 50, 5), Pods::new(seed, 50, 5));
        for pod in [49, 0, 17, 17] {
            assert_eq!(text(&one, pod), text(&other, pod));
        }
        assert_ne!(text(&one, 3), text(&Pods::new(seed + 1, 50, 5), 3));
    }
}

#[test]
fn a_list_is_the_same_in_pieces_of_any_size() {
    let pods = Pods::new(3, 40, 7);
    let whole = list(&pods, usize::MAX);
    for size in [1, 1000, 4096, 100_000] {
        assert_eq!(list(&pods, size), whole);
    }
    let parsed: Value = serde_json::from_slice(&whole).unwrap();
    let items = parsed["items"].as_array().unwrap();
    assert_eq!(items.len(), 40);
    for (pod, item) in items.iter().enumerate() {
        assert_eq!(
            *item,
            serde_json::from_str::<Value>(&text(&pods, pod)).unwrap()
        );
    }
}

#[test]
fn keys_and_uids_are_unique_and_the_marker_is_last() {
    for seed in 0..3 {
        let pods = Pods::new(seed, 1_200, 20);
        let (mut keys, mut uids, mut namespaces) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for pod in 0..pods.len() {
            let object: Value = serde_json::from_str(&text(&pods, pod)).unwrap();
            let metadata = &object["metadata"];
            let name = metadata["name"].as_str().unwrap().to_owned();
            let namespace = metadata["namespace"].as_str().unwrap().to_owned();
            let number = pods.namespace_of(pod);
            assert_eq!(pods.namespaces().nth(number).as_ref(), Some(&namespace));
            assert_eq!(name == MARKER, pod + 1 == pods.len());
            if namespaces.last() != Some(&namespace) {
                namespaces.push(namespace.clone());
            }
            assert!(keys.insert((namespace, name)), "{metadata}");
            assert!(uids.insert(metadata["uid"].to_string()), "{metadata}");
        }
        assert!(pods.namespaces().eq(namespaces), "one after the other");
    }
}

#[test]
fn the_changing_digits_are_found() {
    for seed in 0..12 {
        let pods = Pods::new(seed, 10, 2);
        let text = text(&pods, 4);
        let digits = Pods::digits(&text).unwrap();
        let version = (FIRST_VERSION + 5).to_string();
        assert_eq!(&text[digits.version..digits.version + 10], version);
        assert_eq!(
            &text[digits.sent..digits.sent + 20],
            "0000000000000000000\""
        );
    }
}

#[test]
fn seeds_differ_in_order_and_size_within_bounds() {
    let (mut styles, mut orders) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..24 {
        let pods = Pods::new(seed, 60, 20);
        let mean = list(&pods, usize::MAX).len() / pods.len();
        assert!((4_000..9_000).contains(&mean), "seed {seed}: {mean} bytes");
        styles.insert(pods.style().to_string());
        let text = text(&pods, 0);
        let at = |name: &str| text.find(name).unwrap();
        let mut members = ["\"spec\":", "\"metadata\":", "\"uid\":", "\"labels\":"];
        members.sort_by_key(|name| at(name));
        orders.insert(members);
    }
    assert!(styles.len() > 20, "{styles:?}");
    assert!(orders.len() >= 3, "{orders:?}");
}
