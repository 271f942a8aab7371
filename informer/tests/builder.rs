//! The settings of a builder work in any order.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::time::Duration;

use informer::selector::{LabelSelector, SelectorError};
use informer::{BuildError, InformerBuilder, InformerConfig, QueueKind, SharedInformerFactory};
use serde_json::Value;
use world::{World, pods};

type Builder = InformerBuilder<Value>;
type Call = fn(Builder) -> Builder;

const CALLS: [Call; 7] = [
    |builder| builder.preset(InformerConfig::client_go(QueueKind::DeltaFifo)),
    |builder| builder.resync(Duration::from_secs(600)),
    |builder| builder.queue(QueueKind::InOrder),
    |builder| builder.page_size(7).max_objects(70),
    |builder| builder.max_bytes(7_000),
    |builder| builder.namespace("web").labels("app=shop"),
    |builder| builder.tweak(|target| target.labels.push_str(",!canary")),
];

/// Calls `each` with every order of the calls from `at` on.
fn permuted(calls: &mut [Call], at: usize, each: &mut dyn FnMut(&[Call])) {
    if at == calls.len() {
        return each(calls);
    }
    for other in at..calls.len() {
        calls.swap(at, other);
        permuted(calls, at + 1, each);
        calls.swap(at, other);
    }
}

#[test]
fn the_order_of_calls_does_not_matter() {
    let shown = |calls: &[Call]| {
        let builder = calls.iter().fold(pods(), |builder, call| call(builder));
        format!("{builder:?} {}", builder.target().unwrap())
    };
    let expected = shown(&CALLS);
    for said in [
        "resync: Some(600s)",
        "InOrder",
        "Some(7)",
        "Some(70)",
        "Some(7000)",
        "Staged",
    ] {
        assert!(expected.contains(said), "{said}: {expected}");
    }
    assert!(
        expected.ends_with("pods.v1 in web with labels app=shop,!canary"),
        "{expected}"
    );
    let mut orders = 0;
    permuted(&mut CALLS.clone(), 0, &mut |calls| {
        orders += 1;
        assert_eq!(shown(calls), expected);
    });
    assert_eq!(orders, 5_040);
}

#[test]
fn a_selector_can_be_a_string_or_a_selector() {
    let parsed: LabelSelector = "app in (shop, web)".parse().unwrap();
    let by_text = pods().labels("app in ( web,shop )").target().unwrap();
    assert_eq!(by_text, pods().labels(&parsed).target().unwrap());
    assert_eq!(by_text.labels, "app in (shop,web)");
    // So equal requests share an informer.
    let world = World::new();
    let factory = SharedInformerFactory::new(world.connect(), world.runtime.clone());
    let one = factory.informer(&pods().labels("app = shop")).unwrap();
    let same = factory.informer(&pods().labels("app=shop")).unwrap();
    assert!(one.is_same(&same));
}

#[test]
fn an_invalid_selector_is_rejected_with_the_reason() {
    let world = World::new();
    for builder in [
        pods().labels("app in shop"),
        pods().fields("spec.nodeName"),
        pods().tweak(|target| target.labels = "=".to_owned()),
    ] {
        let built = builder.build(&world.connect(), world.runtime.clone());
        let error = built.map(drop).unwrap_err();
        let BuildError::Selector { error: why, .. } = &error else {
            unreachable!("{error:?}");
        };
        assert!(matches!(why, SelectorError::Unexpected { .. }), "{why:?}");
    }
    let error = pods().labels("app in shop").target().unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"invalid selector "app in shop": found "shop" at byte 7 of the selector, expected `(`"#
    );
}
