//! Shared parts of the model tests: a small world of objects with colliding names.

#![allow(dead_code, unused_imports, reason = "each test uses a part of it")]

// `DeltaFifo` as a list of lists.
mod fifo;

// Streamed full states.
mod stream;

// The expected notifications of a change.
mod told;

use std::collections::BTreeMap;

use informer_core::flow::{Cause, Deletion};
use informer_core::indexer::{Indexer, Rules, View};
use informer_core::queue::TransformError;
use informer_core::storage::Heap;
use informer_core::{Labels, Notification, Object, ObjectKey};
use informer_test_support::{Fold, Strictness};
use proptest::prelude::*;

pub(crate) use fifo::*;
pub(crate) use stream::*;
pub(crate) use told::*;

/// An object. The index tests use its body as index values.
pub(crate) type Obj = Object<Vec<u16>>;
pub(crate) type Store = Indexer<Obj, Heap>;
pub(crate) type Told = Notification<Obj>;
/// A naive store: a sorted map.
pub(crate) type State = BTreeMap<ObjectKey, Obj>;

/// The number of keys in the small world.
pub(crate) const KEYS: usize = 6;

/// Returns key number `n`. Some keys share a namespace, some share a name, and every third has no
/// namespace.
pub(crate) fn key(n: usize) -> ObjectKey {
    match n % 3 {
        0 => ObjectKey::new("a", &format!("x{}", n / 3)),
        1 => ObjectKey::new("b", &format!("x{}", n / 3)),
        _ => ObjectKey::new("", &format!("x{}", n / 3)),
    }
}

/// Returns all keys of the small world.
pub(crate) fn keys() -> impl Iterator<Item = ObjectKey> {
    (0..KEYS).map(key)
}

/// Returns an object whose content depends only on the arguments: the same version has the same content.
/// The number 0 stands for "none".
pub(crate) fn object(key: ObjectKey, uid: u32, version: u32) -> Obj {
    let text = |prefix: &str, n: u32| match n {
        0 => String::new(),
        n => format!("{prefix}{n}"),
    };
    let labels = [("app", ["web", "db", "etcd"][version as usize % 3])];
    Object::builder(key)
        .uid(text("u", uid))
        .version(text("", version))
        .labels(labels.into_iter().take(version as usize % 2))
        .size(version as usize)
        .body(vec![])
}

pub(crate) fn any_key() -> impl Strategy<Value = ObjectKey> {
    (0..KEYS).prop_map(key)
}

/// Any of a few objects: 6 keys, 2 UIDs or none, 4 versions or none.
pub(crate) fn any_object() -> impl Strategy<Value = Obj> {
    (any_key(), 0..3_u32, 0..5_u32).prop_map(|(key, uid, version)| object(key, uid, version))
}

pub(crate) fn any_deletion() -> impl Strategy<Value = Deletion<Obj>> {
    prop_oneof![
        any_object().prop_map(Deletion::Observed),
        (any_key(), proptest::option::of(any_object()))
            .prop_map(|(key, last)| Deletion::Inferred { key, last }),
        any_key().prop_map(Deletion::Unreadable),
        any_key().prop_map(|key| Deletion::Displaced {
            key,
            cause: Cause::Watch
        }),
    ]
}

/// Objects whose labels and index values do not depend on the version.
pub(crate) fn any_filed_object(keys: usize) -> impl Strategy<Value = Obj> {
    let label = (0..3_usize, 0..3_usize)
        .prop_map(|(k, v)| (["app", "tier", "zone"][k], ["p", "q", "r"][v]));
    let values = prop_oneof![
        3 => Just(vec![]),
        6 => proptest::collection::vec(0..5_u16, 1..5),
        1 => (0..3_u16, 60..70_u16).prop_map(|(from, n)| (from..from + n).collect()),
    ];
    let labels = proptest::collection::vec(label, 0..4);
    ((0..keys).prop_map(key), 0..3_u32, 0..5_u32, labels, values).prop_map(
        |(key, uid, version, labels, values)| {
            let mut object = object(key, uid, version);
            object.set_labels(labels);
            object.edit(|body| *body = values.clone());
            object
        },
    )
}

/// Returns the contents of a view by iteration, and checks that it returns no object twice.
pub(crate) fn contents(view: &View<Obj, Heap>) -> State {
    let state: State = view.iter().map(|o| (o.key().clone(), o.clone())).collect();
    assert_eq!(
        state.len(),
        view.iter().count(),
        "the view returns an object twice"
    );
    state
}

/// Returns a listener without notifications. It keeps whole objects.
pub(crate) const fn listener() -> Fold<Obj> {
    Fold::new(Strictness::AddsUp)
}

pub(crate) fn any_rules() -> impl Strategy<Value = Rules> {
    prop_oneof![Just(Rules::default()), Just(Rules::client_go())]
}

/// The version that the transform refuses. It marks other objects in the body, once per pass.
pub(crate) const REFUSED: &str = "4";

pub(crate) fn transform(object: &mut Obj) -> Result<(), TransformError> {
    if object.version() == REFUSED {
        return Err(TransformError::new("refused"));
    }
    object.edit(|body| body.push(1));
    Ok(())
}

/// Runs this many cases and writes no files.
pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
