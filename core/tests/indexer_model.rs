//! Compares `Indexer` and its notifications with a sorted map that computes its indices anew for each
//! query.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::std_instead_of_alloc,
    clippy::std_instead_of_core,
    reason = "tests"
)]

mod model_support;

use core::ops::Bound::{Excluded, Included, Unbounded};
use core::ops::RangeBounds;
use std::collections::{BTreeMap, BTreeSet};

use informer_core::flow::{Cause, Deletion, Delta, Step};
use informer_core::indexer::{
    Cursor, IndexError, IndexFn, Notifications, RangeError, Rules, Subject, View, Write,
};
use informer_core::queue::{Epoch, FullState};
use informer_core::storage::{Heap, Seed};
use informer_core::{Notification, ObjectKey};
use model_support::{
    KEYS, Obj, State, Store, any_filed_object, any_rules, apply_delta, apply_full_state, cases,
    contents, key, listener, object,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// The names of the indices. They have one value; some, perhaps repeated; up to 69; or none. Two exist a
/// second time, ordered.
const INDICES: [&str; 6] = [
    "namespace",
    "label values",
    "body",
    "nothing",
    "ordered label values",
    "ordered body",
];

/// The values of one object in an index, including repetitions.
fn values(index: &str, object: &Obj) -> Vec<Vec<u8>> {
    match index.trim_start_matches("ordered ") {
        "namespace" => vec![object.key().namespace().into()],
        "label values" => object
            .labels()
            .iter()
            .map(|(_, value)| value.into())
            .collect(),
        "body" => {
            let value = |n: &u16| [b"\xff", n.to_string().as_bytes()].concat();
            object.body().iter().map(value).collect()
        }
        _ => vec![],
    }
}

fn function(index: &'static str) -> IndexFn<Obj> {
    let function = IndexFn::new(move |object: &Obj, file: &mut dyn FnMut(&[u8])| {
        for value in values(index, object) {
            file(&value);
        }
    });
    match index {
        // It follows from the key.
        "namespace" => function.about(Subject::Namespace),
        _ if index.starts_with("ordered ") => function.ordered(),
        _ => function,
    }
}

#[derive(Clone, Debug)]
enum Op {
    Put(Obj),
    Remove(ObjectKey),
    Replace(Vec<Obj>, u32),
    Transaction(Vec<Write<Obj>>),
    AddIndex(&'static str),
    AddIndices(Vec<&'static str>),
    RemoveIndex(&'static str),
    SetVersion(u32),
    Snapshot,
}

fn any_op(keys: usize) -> impl Strategy<Value = Op> {
    let index = || prop::sample::select(&INDICES[..]);
    let any_key = move || (0..keys).prop_map(key);
    let write = prop_oneof![
        any_filed_object(keys).prop_map(Write::Put),
        any_key().prop_map(Write::Remove),
    ];
    prop_oneof![
        8 => any_filed_object(keys).prop_map(Op::Put),
        4 => any_key().prop_map(Op::Remove),
        1 => (vec(any_filed_object(keys), 0..keys), 0..9_u32).prop_map(|(all, v)| Op::Replace(all, v)),
        2 => vec(write, 0..5).prop_map(Op::Transaction),
        2 => index().prop_map(Op::AddIndex),
        1 => vec(index(), 0..3).prop_map(Op::AddIndices),
        1 => index().prop_map(Op::RemoveIndex),
        1 => (0..9_u32).prop_map(Op::SetVersion),
        2 => Just(Op::Snapshot),
    ]
}

#[derive(Clone, Default)]
struct Model {
    objects: State,
    indices: Vec<&'static str>,
    version: String,
}

impl Model {
    fn put(&mut self, object: &Obj) -> Option<Obj> {
        self.version = object.version().to_string();
        self.objects.insert(object.key().clone(), object.clone())
    }

    /// The index, computed from the objects alone.
    fn index(&self, index: &str) -> BTreeMap<Vec<u8>, BTreeSet<ObjectKey>> {
        let mut filed: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
        for object in self.objects.values() {
            for value in values(index, object) {
                filed.entry(value).or_default().insert(object.key().clone());
            }
        }
        filed
    }

    /// The keys of the objects that share a value with `object`.
    fn matching(&self, index: &str, object: &Obj) -> BTreeSet<ObjectKey> {
        let wanted: BTreeSet<_> = values(index, object).into_iter().collect();
        let filed = self
            .index(index)
            .into_iter()
            .filter(|(value, _)| wanted.contains(value));
        filed.flat_map(|(_, keys)| keys).collect()
    }

    fn run(&mut self, store: &mut Store, op: Op) {
        match op {
            Op::Put(object) => assert_eq!(store.put(object.clone()), Ok(self.put(&object))),
            Op::Remove(key) => assert_eq!(store.remove(&key), self.objects.remove(&key)),
            Op::Replace(objects, version) => {
                self.objects = objects
                    .iter()
                    .map(|o| (o.key().clone(), o.clone()))
                    .collect();
                self.version = version.to_string();
                store.replace(objects, &self.version).unwrap();
            }
            Op::Transaction(writes) => {
                store.write_all(writes.clone()).unwrap();
                for write in writes {
                    match write {
                        Write::Put(object) => drop(self.put(&object)),
                        Write::Remove(key) => drop(self.objects.remove(&key)),
                    }
                }
            }
            Op::AddIndex(name) => {
                let added = store.add_index(name, function(name));
                if self.indices.contains(&name) {
                    assert!(matches!(added, Err(IndexError::NameTaken(_))), "{added:?}");
                } else {
                    assert_eq!(added.ok(), store.index(name).ok());
                    self.indices.push(name);
                }
            }
            Op::AddIndices(names) => {
                let given: Vec<_> = names.iter().map(|name| (*name, function(name))).collect();
                let distinct: BTreeSet<_> = names.iter().chain(&self.indices).collect();
                let fits = distinct.len() == names.len() + self.indices.len();
                assert_eq!(store.add_indices(&given).is_ok(), fits, "all or none");
                if fits {
                    self.indices.extend(names);
                }
            }
            Op::RemoveIndex(name) => {
                let id = store.index(name);
                assert_eq!(store.remove_index(name).is_ok(), id.is_ok());
                if let Ok(id) = id {
                    assert!(store.by_index(id, "p").is_err(), "its id is unknown now");
                    assert!(store.remove_index(id).is_err());
                    store.add_index("another", function("namespace")).unwrap();
                    assert!(store.count(id, "p").is_err(), "its id stays unknown");
                    store.remove_index("another").unwrap();
                }
                self.indices.retain(|index| *index != name);
            }
            Op::SetVersion(version) => {
                self.version = version.to_string();
                store.set_version(&self.version).unwrap();
            }
            Op::Snapshot => {}
        }
    }

    /// Checks every query of a view.
    fn check(&self, view: &View<Obj, Heap>, probe: &Obj) {
        assert_eq!(contents(view), self.objects, "iteration is complete");
        assert_eq!(view.len(), self.objects.len());
        assert_eq!(view.is_empty(), self.objects.is_empty());
        assert_eq!(view.version(), self.version);
        let sizes = self.objects.values().map(|object| object.size() as u64);
        assert_eq!(view.bytes(), sizes.sum::<u64>());
        let (mut paged, mut next) = (vec![], Cursor::default());
        while let Some((behind, object)) = view.iter_from(next).next() {
            paged.push(object);
            next = behind;
        }
        assert!(view.iter().eq(paged), "pages show the same objects");
        for key in (0..KEYS).map(key).chain(self.objects.keys().cloned()) {
            assert_eq!(view.get(&key), self.objects.get(&key));
        }
        for name in INDICES {
            if !self.indices.contains(&name) {
                assert!(view.index(name).is_err() && view.by_index(name, "p").is_err());
                assert!(view.table(name).is_err() && view.index_values(name).is_err());
                assert!(
                    view.count(name, "p").is_err() && view.matching(name, probe, |_| {}).is_err()
                );
                continue;
            }
            self.check_index(view, name);
            for object in self.objects.values().take(KEYS).chain([probe]) {
                let mut shown = vec![];
                view.matching(name, object, |other| shown.push(other.key().clone()))
                    .unwrap();
                assert_eq!(once(shown), self.matching(name, object));
            }
        }
    }

    fn check_index(&self, view: &View<Obj, Heap>, name: &str) {
        let filed = self.index(name);
        let id = view.index(name).unwrap();
        let used = view.index_values(name).unwrap().map(<[u8]>::to_vec);
        assert_eq!(once(used.collect()), filed.keys().cloned().collect());
        let foreign = (b"no such value".to_vec(), BTreeSet::new());
        for (value, keys) in filed.iter().chain([(&foreign.0, &foreign.1)]) {
            let objects = view.by_index(id, value).unwrap();
            for object in objects {
                assert_eq!(
                    Some(object),
                    self.objects.get(object.key()),
                    "as it is stored"
                );
            }
            let found = view
                .by_index(name, value)
                .unwrap()
                .map(|object| object.key().clone());
            assert_eq!(once(found.collect()), *keys);
            assert_eq!(view.count(name, value), Ok(keys.len()));
        }
        self.check_range(view, name);
        let table = view.table(name).unwrap();
        let row = |objects: Vec<&Obj>| once(objects.iter().map(|o| o.key().clone()).collect());
        let rows: BTreeMap<_, _> = table
            .rows()
            .map(|(v, all)| (v.to_vec(), row(all.collect())))
            .collect();
        assert_eq!(rows, filed);
        assert_eq!(table.to_string().lines().count(), filed.len());
    }
}

impl Model {
    /// Checks ranges that end at or beside a value, in both directions.
    fn check_range(&self, view: &View<Obj, Heap>, name: &str) {
        if !name.starts_with("ordered ") {
            assert!(matches!(
                view.range(name, ..),
                Err(RangeError::NotOrdered(_))
            ));
            return;
        }
        let filed = self.index(name);
        let used: Vec<_> = view.index_values(name).unwrap().collect();
        assert!(used.is_sorted());
        let step = filed.len() / 3 + 1;
        let some = || {
            filed
                .keys()
                .step_by(step)
                .map(Vec::as_slice)
                .chain([&b"\xff3"[..]])
        };
        let ends = || {
            some()
                .flat_map(|end| [Included(end), Excluded(end)])
                .chain([Unbounded])
        };
        for (from, to) in ends().flat_map(|from| ends().map(move |to| (from, to))) {
            let within = |value: &&[u8]| RangeBounds::<[u8]>::contains(&(from, to), *value);
            let expected: Vec<_> = used.iter().copied().filter(within).collect();
            let range = view.range(name, (from, to)).unwrap();
            let rows: Vec<_> = range.rows().map(|(value, _)| value).collect();
            assert_eq!(rows, expected, "{from:?} {to:?}");
            let mut back: Vec<_> = range.rows().rev().map(|(value, _)| value).collect();
            back.reverse();
            assert_eq!(back, expected);
            let count = expected
                .iter()
                .map(|value| filed[*value].len())
                .sum::<usize>();
            let mut objects: Vec<_> = range.objects().collect();
            assert_eq!(objects.len(), count);
            objects.reverse();
            assert!(range.objects().rev().eq(objects));
        }
        // From both ends at once, until they meet.
        let mut rows = view.range(name, ..).unwrap().rows();
        let mut met = 0;
        while rows.next().is_some() {
            met += 1 + usize::from(rows.next_back().is_some());
        }
        assert_eq!(met, used.len());
    }
}

/// Turns a list without repetitions into a set.
fn once<T: Ord + Clone + core::fmt::Debug>(list: Vec<T>) -> BTreeSet<T> {
    let set: BTreeSet<T> = list.iter().cloned().collect();
    assert_eq!(set.len(), list.len(), "shown twice: {list:?}");
    set
}

/// Everything that a view shows, in its order.
fn listing(view: &View<Obj, Heap>) -> Vec<String> {
    let objects = view.iter().map(|object| format!("{object:?}"));
    let tables = INDICES
        .into_iter()
        .filter_map(|name| Some(format!("{name} {}", view.table(name).ok()?)));
    objects
        .chain(tables)
        .chain([view.version().to_owned()])
        .collect()
}

fn stores_agree_with_the_model(ops: Vec<Op>, probe: &Obj) {
    // The first store is compared with the model, the others with the first.
    let mut stores = [5, 5, 77].map(|seed| Store::new(Seed::new(seed)));
    let mut model = Model::default();
    let mut snapshots = vec![];
    for op in ops {
        if matches!(op, Op::Snapshot) && snapshots.len() < 4 {
            let view = stores[0].snapshot();
            snapshots.push((listing(&view), view, model.clone()));
        }
        let [store, others @ ..] = &mut stores;
        for other in others.iter_mut() {
            model.clone().run(other, op.clone());
        }
        model.run(store, op);
        model.check(store, probe);
        for other in others {
            assert_eq!(
                listing(store),
                listing(other),
                "the order must not depend on hashes"
            );
        }
        for (before, view, model) in &snapshots {
            assert_eq!(*before, listing(view), "a snapshot must not change");
            model.check(view, probe);
        }
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn views_and_snapshots_agree_with_the_model(
        ops in vec(any_op(KEYS), 1..30), probe in any_filed_object(KEYS),
    ) {
        stores_agree_with_the_model(ops, &probe);
    }
}

proptest! {
    #![proptest_config(cases(4))]

    /// Enough objects to fill more than one page.
    #[test]
    fn many_objects_agree_with_the_model_too(
        first in vec(any_filed_object(200), 150),
        ops in vec(any_op(200), 1..12),
        probe in any_filed_object(200),
    ) {
        let filled = [Op::AddIndices(INDICES.into()), Op::Replace(first, 1)];
        stores_agree_with_the_model(filled.into_iter().chain(ops).collect(), &probe);
    }
}

#[test]
fn an_index_over_more_values_than_bits_follows_every_change() {
    let with = |values: core::ops::Range<u16>| {
        let mut object = object(key(0), 1, 1);
        object.edit(|body| body.extend(values));
        object
    };
    let sizes = [0, 1, 62, 63, 64, 65, 130];
    for (from, to) in sizes.iter().flat_map(|from| sizes.map(|to| (*from, to))) {
        let changes = [
            with(0..from),
            with(0..to),
            with(to.min(2)..to),
            with(1..to + 1),
            with(0..from),
            with(0..from),
        ];
        let ops = changes.map(Op::Put);
        stores_agree_with_the_model(
            [Op::AddIndex("body")].into_iter().chain(ops).collect(),
            &with(3..5),
        );
    }
}

#[derive(Clone, Debug)]
enum Change {
    Delta(Delta<Obj>),
    FullState(FullState<Obj>),
}

fn any_change() -> impl Strategy<Value = Change> {
    let any_key = || (0..KEYS).prop_map(key);
    let any_object = || any_filed_object(KEYS);
    let last = proptest::option::of(0..5_u32);
    let deletion = prop_oneof![
        any_object().prop_map(Deletion::Observed),
        any_key().prop_map(Deletion::Unreadable),
        any_key().prop_map(|key| Deletion::Displaced {
            key,
            cause: Cause::Relist
        }),
        (any_key(), last).prop_map(|(key, last)| {
            let last = last.map(|version| object(key.clone(), 1, version));
            Deletion::Inferred { key, last }
        }),
    ];
    let state = (
        vec(any_object(), 0..6),
        vec((any_key(), any::<bool>()), 0..4),
        prop::bool::weighted(0.8),
    );
    let state = state.prop_map(|(objects, others, complete)| {
        // A key is in one of the lists only: queues keep the last change of a key.
        let others: BTreeMap<_, _> = others.into_iter().collect();
        let others = others
            .into_iter()
            .filter(|(key, _)| objects.iter().all(|object| *object.key() != *key));
        let (gone, unreadable): (Vec<_>, Vec<_>) = others.partition(|(_, gone)| *gone);
        let keys = |named: Vec<(_, bool)>| named.into_iter().map(|(key, _)| key).collect();
        FullState {
            version: (objects.len() != 1).then(|| objects.len().to_string()),
            objects,
            unreadable: keys(unreadable),
            gone: keys(gone),
            complete,
        }
    });
    prop_oneof![
        2 => any_object().prop_map(Delta::Added).prop_map(Change::Delta),
        2 => any_object().prop_map(Delta::Updated).prop_map(Change::Delta),
        2 => any_object().prop_map(Delta::Replaced).prop_map(Change::Delta),
        1 => any_object().prop_map(Delta::Sync).prop_map(Change::Delta),
        2 => deletion.prop_map(Delta::Deleted).prop_map(Change::Delta),
        3 => state.prop_map(Change::FullState),
    ]
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn notifications_match_the_changes_of_the_store(
        rules in any_rules(), changes in vec((any_change(), any::<bool>()), 0..25),
    ) {
        let mut store = Store::new(Seed::new(9));
        store.add_indices(&INDICES.map(|name| (name, function(name)))).unwrap();
        let mut model = Model { indices: INDICES.into(), ..Model::default() };
        let mut told_so_far = listener();
        for (change, initial) in changes {
            let (told, expected) = match change {
                Change::Delta(delta) => {
                    let step = Step::Delta { delta: delta.clone(), initial, seen: Epoch::NEVER };
                    let applied = store.apply(step, rules);
                    prop_assert_eq!(applied.left_out, 0);
                    prop_assert_eq!(applied.unchanged, usize::from(applied.notifications.len() == 0));
                    let two = matches!(applied.notifications, Notifications::Two(..));
                    prop_assert!(!two || rules.split_recreated);
                    let told: Vec<_> = applied.notifications.collect();
                    (told, apply_delta(&mut model.objects, delta, initial, rules))
                }
                Change::FullState(full) => {
                    model.version = full.version.clone().unwrap_or(model.version);
                    let state = full.clone();
                    let applied = store.apply(Step::FullState { state: Box::new(state), initial }, rules);
                    prop_assert_eq!(applied.left_out, 0);
                    let mut told: Vec<_> = applied.notifications.collect();
                    // The order of the deletions depends on the store.
                    let deletions = told.iter().take_while(|n| {
                        matches!(n, Notification::Deleted { last: Some(last), .. } if !full.objects.iter().any(|o| o.key() == last.key()))
                    }).count();
                    told[..deletions].sort_by(|a, b| a.key().cmp(b.key()));
                    (told, apply_full_state(&mut model.objects, full, initial, rules))
                }
            };
            prop_assert_eq!(&told, &expected);
            model.check(&store, &object(key(0), 0, 0));
            if rules == Rules::default() {
                told.iter().for_each(|told| told_so_far.tell(told, Obj::clone).unwrap());
                prop_assert_eq!(told_so_far.known(), &model.objects);
            }
        }
    }
}
