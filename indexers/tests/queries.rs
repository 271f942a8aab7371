//! Compares queries through indices with a plain scan, on random stores.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};

use informer_core::decode::form::LeanBody;
use informer_core::decode::{Lean, decode_object};
use informer_core::indexer::{Cursor, IndexFn, Indexer, Write};
use informer_core::storage::{Fixed, Heap, Seed, Storage};
use informer_core::{Object, ObjectKey};
use informer_indexers::selector::{FieldSelector, LabelSelector};
use informer_indexers::{KeyFormat, Keyed, Plan, Query, by};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

type Pod = Object<LeanBody>;

/// The namespace, the name, the labels and the node of a pod.
#[derive(Clone, Debug)]
struct Facts {
    namespace: &'static str,
    name: u8,
    app: Option<&'static str>,
    tier: Option<&'static str>,
    node: Option<&'static str>,
    owners: u8,
}

impl Facts {
    fn pod(&self) -> Pod {
        let member =
            |name: &str, value: Option<&str>| value.map(|value| format!(r#""{name}":"{value}""#));
        let labels = [member("app", self.app), member("tier", self.tier)];
        let labels: Vec<_> = labels.into_iter().flatten().collect();
        let owners: Vec<_> = (0..self.owners)
            .map(|n| format!(r#"{{"uid":"o{n}"}}"#))
            .collect();
        let json = format!(
            r#"{{"metadata":{{"namespace":"{}","name":"p{}","labels":{{{}}},"ownerReferences":[{}],"annotations":{{"a.b/c":"{}"}}}},"spec":{{{}}}}}"#,
            self.namespace,
            self.name,
            labels.join(","),
            owners.join(","),
            self.name % 3,
            member("nodeName", self.node).unwrap_or_default(),
        );
        decode_object(&mut Lean, json.as_bytes()).unwrap()
    }

    fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace, &format!("p{}", self.name))
    }
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let one = |values: &'static [&'static str]| prop::sample::select(values);
    let maybe = move |values| proptest::option::of(one(values));
    (
        one(&["", "x", "y"]),
        0..12_u8,
        maybe(&["web", "db", ""]),
        maybe(&["front", "back"]),
        maybe(&["n1", "n2", "n3"]),
        0..3_u8,
    )
        .prop_map(|(namespace, name, app, tier, node, owners)| Facts {
            namespace,
            name,
            app,
            tier,
            node,
            owners,
        })
}

const SELECTORS: [&str; 12] = [
    "",
    "app",
    "!app",
    "app=web",
    "app==db,tier=front",
    "app in (web,db)",
    "app notin (web)",
    "app!=db,tier",
    "app=web,app=db",
    "tier in (back,front,middle)",
    "app=",
    "app > 3",
];

const FIELDS: [&str; 8] = [
    "",
    "spec.nodeName=n1",
    "spec.nodeName=",
    "spec.nodeName!=n1",
    "metadata.name=p3",
    "metadata.namespace=x",
    "spec.nodeName==n2,metadata.namespace!=x",
    "spec.nodeName=n1,spec.nodeName=n2",
];

/// The indices and their names.
fn indices() -> Vec<(&'static str, IndexFn<Pod>)> {
    vec![
        ("namespace", by::namespace()),
        ("app", by::label("app")),
        ("tier", by::label("tier").ordered()),
        ("pairs", by::label_pairs()),
        ("ordered pairs", by::label_pairs().ordered()),
        ("node", by::node_name()),
        ("name", by::field(".metadata.name".parse().unwrap())),
        ("key", by::key().ordered()),
    ]
}

fn keys<'a>(objects: impl IntoIterator<Item = &'a Pod>) -> Vec<String> {
    objects
        .into_iter()
        .map(|pod| pod.key().to_string())
        .collect()
}

/// The parts of a query, and the simplest implementation of it.
#[derive(Clone, Copy)]
struct Asked<'a> {
    labels: &'a LabelSelector,
    fields: &'a FieldSelector,
    namespace: Option<&'a str>,
}

impl Asked<'_> {
    fn wants(&self, pod: &Pod, json: &Value) -> bool {
        let field = |path: &str| {
            let members = path.split('.');
            let value = members.fold(json, |value, member| &value[member]);
            value.as_str().map(str::to_owned)
        };
        self.labels.matches_labels(pod.labels())
            && self.fields.matches(field)
            && self.namespace.is_none_or(|it| pod.key().namespace() == it)
    }

    fn query(&self) -> Query<'_, Pod> {
        let query = Query::new()
            .labels(self.labels)
            .fields(self.fields)
            .unwrap();
        match self.namespace {
            Some(namespace) => query.namespace(namespace),
            None => query,
        }
    }
}

fn check<S: Storage>(store: &Indexer<Pod, S>, all: &BTreeMap<String, Value>, asked: Asked<'_>) {
    let query = &asked.query();
    let wants = |pod: &&Pod| asked.wants(pod, &all[pod.key().as_str()]);
    let wanted = keys(store.iter().filter(wants));
    let selected = keys(query.select(store));
    assert_eq!(
        selected.len(),
        wanted.len(),
        "{query:?} {}",
        query.plan(store)
    );
    let as_set = |keys: &[String]| keys.iter().cloned().collect::<BTreeSet<_>>();
    assert_eq!(
        as_set(&selected),
        as_set(&wanted),
        "{query:?} {}",
        query.plan(store)
    );
    if let Plan::Index { candidates, .. } = query.plan(store) {
        assert!(candidates < store.len() && candidates >= wanted.len());
    }

    // Paging gives the same objects, in slot order and in key order.
    let (mut from, mut paged) = (Cursor::default(), Vec::new());
    loop {
        let page = query.page(store, from, 3);
        paged.extend(keys(page.objects.iter().copied()));
        let Some(next) = page.next else { break };
        assert_eq!(page.objects.len(), 3);
        from = next;
    }
    assert_eq!(paged, wanted);
    let (mut after, mut paged) = (None, Vec::new());
    loop {
        let page = match query.page_by_key(store, after.as_deref(), 2) {
            Ok(page) => page,
            Err(error) => {
                assert!(store.index("key").is_err(), "{error}");
                return;
            }
        };
        paged.extend(keys(page.objects.iter().copied()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let mut sorted = wanted;
    sorted.sort();
    assert_eq!(paged, sorted);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_index_gives_the_same_objects_as_a_scan(
        pods in vec((any_facts(), any::<bool>()), 0..40),
        have in vec(any::<bool>(), 8),
        late in any::<bool>(),
    ) {
        let mut store: Indexer<Pod, Heap> = Indexer::new(Seed::new(3));
        let mut small: Indexer<Pod, Fixed<128, 8, 64>> = Indexer::new(Seed::new(3));
        let chosen: Vec<_> = indices().into_iter().zip(have).filter(|(_, have)| *have).map(|(index, _)| index).collect();
        if !late {
            store.add_indices(&chosen).unwrap();
        }
        small.add_indices(&chosen).unwrap();
        for (facts, put) in &pods {
            if *put {
                store.put(facts.pod()).unwrap();
                small.put(facts.pod()).unwrap();
            } else {
                store.write_all([Write::Remove(facts.key())]).unwrap();
                small.remove(&facts.key());
            }
        }
        if late {
            store.add_indices(&chosen).unwrap();
        }
        let json = |pod: &Pod| (pod.key().to_string(), pod.decode().unwrap());
        let all: BTreeMap<String, Value> = store.iter().map(json).collect();
        for labels in SELECTORS {
            let labels: LabelSelector = labels.parse().unwrap();
            for fields in FIELDS {
                let fields: FieldSelector = fields.parse().unwrap();
                for namespace in [None, Some("x"), Some(""), Some("nowhere")] {
                    let asked = Asked { labels: &labels, fields: &fields, namespace };
                    check(&store, &all, asked);
                    check(&small, &all, asked);
                }
            }
        }
        let (labels, fields) = (LabelSelector::nothing(), FieldSelector::everything());
        check(&store, &all, Asked { labels: &labels, fields: &fields, namespace: None });
    }
}

fn filled() -> Indexer<Pod, Heap> {
    let mut store = Indexer::new(Seed::new(1));
    for name in 0..30 {
        let facts = Facts {
            namespace: if name % 10 == 0 { "rare" } else { "common" },
            name,
            app: Some(if name < 25 { "web" } else { "db" }),
            tier: (name == 7).then_some("front"),
            node: (name % 2 == 0).then_some("n1"),
            owners: name % 3,
        };
        store.put(facts.pod()).unwrap();
    }
    store
}

fn plan(store: &Indexer<Pod, Heap>, namespace: Option<&str>, labels: &str, fields: &str) -> String {
    let labels = labels.parse().unwrap();
    let fields = fields.parse().unwrap();
    let mut query = Query::new().labels(&labels).fields(&fields).unwrap();
    if let Some(namespace) = namespace {
        query = query.namespace(namespace);
    }
    query.plan(store).to_string()
}

#[test]
fn the_index_with_the_fewest_candidates_is_taken() {
    let mut store = filled();
    assert_eq!(
        plan(&store, Some("rare"), "app=db", ""),
        "scan of all 30 objects"
    );
    store.add_indices(&indices()).unwrap();
    for (namespace, labels, fields, expected) in [
        (
            Some("rare"),
            "app=web",
            "",
            r#"3 candidates from the index "namespace""#,
        ),
        (
            Some("common"),
            "app=db",
            "",
            r#"5 candidates from the index "app""#,
        ),
        (
            Some("common"),
            "app in (db,web)",
            "",
            r#"27 candidates from the index "namespace""#,
        ),
        (None, "tier", "", r#"1 candidate from the index "tier""#),
        (None, "tier notin (front)", "", "scan of all 30 objects"),
        (
            None,
            "",
            "spec.nodeName=n1",
            r#"15 candidates from the index "node""#,
        ),
        (None, "", "spec.nodeName=", "scan of all 30 objects"),
        (
            None,
            "",
            "metadata.namespace=rare",
            r#"3 candidates from the index "namespace""#,
        ),
        (
            None,
            "",
            "metadata.name=p4",
            r#"1 candidate from the index "name""#,
        ),
        (
            None,
            "app=nothing",
            "",
            r#"0 candidates from the index "app""#,
        ),
    ] {
        assert_eq!(
            plan(&store, namespace, labels, fields),
            expected,
            "{labels} {fields}"
        );
    }
    // Label pairs serve any label, but `exists` only if they are ordered.
    for index in ["app", "tier", "ordered pairs"] {
        store.remove_index(index).unwrap();
    }
    assert_eq!(
        plan(&store, None, "app=db", ""),
        r#"5 candidates from the index "pairs""#
    );
    assert_eq!(plan(&store, None, "tier", ""), "scan of all 30 objects");
    store
        .add_index("sorted", by::label_pairs().ordered())
        .unwrap();
    assert_eq!(
        plan(&store, None, "tier", ""),
        r#"1 candidate from the index "sorted""#
    );
    let nothing = LabelSelector::nothing();
    let plan = Query::new().labels(&nothing).plan(&store).to_string();
    assert_eq!(plan, "nothing can match");
}

#[test]
fn owners_and_annotations_are_filed_under_all_their_values() {
    let mut store = filled();
    let owner = store.add_index("owner", by::owner_uid()).unwrap();
    let note = store.add_index("note", by::annotation("a.b/c")).unwrap();
    let image = store
        .add_index(
            "image",
            by::field("spec.containers[*].image".parse().unwrap()),
        )
        .unwrap();
    assert_eq!(store.count(owner, "o0"), Ok(20));
    assert_eq!(store.count(owner, "o1"), Ok(10));
    assert_eq!(store.count(note, "2"), Ok(10));
    assert_eq!(store.index_values(image).unwrap().count(), 0);

    // A reference without a UID refers to nobody.
    let json =
        br#"{"metadata":{"name":"orphan","ownerReferences":[{"kind":"Node","controller":true}]}}"#;
    store.put(decode_object(&mut Lean, json).unwrap()).unwrap();
    let controller = store.add_index("controller", by::controller_uid()).unwrap();
    assert_eq!(store.count(owner, ""), Ok(0));
    assert_eq!(store.count(controller, ""), Ok(0));
}

#[test]
fn a_store_with_custom_keys_answers_the_same_queries() {
    let dashes = KeyFormat::new("---");
    let mut store: Indexer<Keyed<String, Pod>, Heap> = Indexer::new(Seed::new(1));
    for pod in filled().iter().cloned() {
        store.put(Keyed::by(|pod| dashes.key_of(pod), pod)).unwrap();
    }
    store.add_index("namespace", by::namespace()).unwrap();
    store.add_index("key", by::key().ordered()).unwrap();
    assert_eq!(
        store.get(&"rare---p0".to_owned()).unwrap().key().name(),
        "p0"
    );
    let node = "spec.nodeName=n1".parse().unwrap();
    let query = Query::new().namespace("rare").fields(&node).unwrap();
    assert_eq!(query.select(&store).count(), 3);
    let page = query.page_by_key(&store, Some("rare---p0"), 1).unwrap();
    assert_eq!(page.next.as_deref(), Some("rare---p10"));
    let parsed = dashes.parse(page.next.as_deref().unwrap()).unwrap();
    assert_eq!(parsed, ObjectKey::new("rare", "p10"));
}

#[test]
fn paging_with_a_limit_of_zero_ends() {
    let mut store = filled();
    store.add_index("key", by::key().ordered()).unwrap();
    let query = Query::new();
    let (mut turned, mut from) = (0, Some(Cursor::default()));
    while let Some(at) = from {
        from = query.page(&store, at, 0).next;
        turned += 1;
        assert!(turned <= store.len());
    }
    assert_eq!(turned, store.len());
    let page = query.page_by_key(&store, None, 0).unwrap();
    assert_eq!((page.objects.len(), page.next.is_some()), (1, true));
}

#[test]
fn a_field_that_is_not_a_path_is_refused() {
    let selector = "spec..x=1".parse().unwrap();
    let error = Query::<Pod>::new()
        .fields(&selector)
        .unwrap_err()
        .to_string();
    assert!(error.contains(r#""spec..x""#), "{error}");
}

#[test]
fn the_first_value_of_a_field_counts() {
    let json = br#"{"metadata":{"name":"a"},"spec":{"containers":[{"image":"x"},{"image":"y"}]}}"#;
    let pod = decode_object(&mut Lean, json).unwrap();
    for (selector, expected) in [("=x", true), ("=y", false), ("!=x", false), ("!=y", true)] {
        let selector = format!("spec.containers[*].image{selector}");
        let selector = selector.parse().unwrap();
        let query = Query::<Pod>::new().fields(&selector).unwrap();
        assert_eq!(query.matches(&pod), expected, "{selector}");
    }
}
