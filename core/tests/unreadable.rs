//! Unreadable and refused objects: the store and the notifications.
#![allow(clippy::unwrap_used, reason = "tests")]

mod hand;

use hand::{Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::queue::{QueueKind, Relist, Transform, TransformError};
use informer_core::reflector::FirstState;
use informer_core::transport::Signal;
use informer_core::{Encoding, Informer, InformerConfig};
use informer_test_support::{Fold, Strictness, stamp, view};
use proptest::prelude::*;

/// All ways to deliver a full state: streamed, staged, and with an in-order queue.
fn ways(first_state: FirstState) -> [InformerConfig; 3] {
    let mut config = listed();
    config.reflector.first_state = first_state;
    let queue = QueueKind::InOrder;
    let relist = Relist::Staged;
    [
        config,
        InformerConfig { relist, ..config },
        InformerConfig { queue, ..config },
    ]
}

/// An object with invalid labels.
fn unreadable(name: &str, uid: &str, version: u64) -> String {
    format!(
        r#"{{"metadata":{{"namespace":"a","name":"{name}","uid":"{uid}","resourceVersion":"{version}","labels":7}}}}"#
    )
}

/// An informer whose transform refuses objects with the uid `refused`.
fn refusing(config: InformerConfig) -> Hand {
    let refuse = Transform::new(|pod: &mut Pod| match pod.uid() {
        "refused" => Err(TransformError::new("no")),
        _ => Ok(()),
    });
    let informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    Hand::with(informer.with_transform(refuse))
}

fn watching(config: InformerConfig, objects: &[String]) -> Hand {
    let mut hand = refusing(config);
    hand.list(10, objects);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    hand.notes();
    hand
}

fn end_of_state(hand: &mut Hand, version: u64) {
    hand.event(
        "BOOKMARK",
        &format!(
            r#"{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}"#
        ),
    );
}

#[test]
fn an_object_replaced_by_an_unreadable_one_is_deleted_by_a_relist() {
    for config in ways(FirstState::Listed) {
        for other in [unreadable("x", "u2", 15), pod("x", "refused", 15)] {
            let mut hand = watching(config, &[pod("x", "u1", 1), pod("y", "u", 2)]);
            hand.expire();
            hand.list(20, &[other, pod("y", "u", 2)]);
            assert_eq!(hand.notes(), ["delete x@1 Inferred Relist"], "{config:?}");
            assert_eq!(hand.store(), ["y@2"]);
        }
    }
}

#[test]
fn it_is_deleted_even_if_the_state_contains_an_object_without_a_name() {
    for config in ways(FirstState::Listed) {
        let mut hand = watching(config, &[pod("x", "u1", 1), pod("y", "u", 2)]);
        hand.expire();
        hand.list(20, &[unreadable("x", "u2", 15), "{}".into()]);
        assert_eq!(hand.notes(), ["delete x@1 Inferred Relist"], "{config:?}");
        assert_eq!(hand.store(), ["y@2"]);
    }
}

#[test]
fn an_object_replaced_by_an_unreadable_one_is_deleted_by_a_watch() {
    for config in ways(FirstState::Listed) {
        for other in [unreadable("x", "u2", 15), pod("x", "refused", 15)] {
            for kind in ["ADDED", "MODIFIED"] {
                let mut hand = watching(config, &[pod("x", "u1", 1), pod("y", "u", 2)]);
                hand.event(kind, &other);
                assert_eq!(hand.notes(), ["delete x@1 Inferred Watch"], "{config:?}");
                assert_eq!(hand.store(), ["y@2"]);
                hand.event("MODIFIED", &pod("x", "u2", 16));
                assert_eq!(hand.notes(), ["add x@16 Watch"]);
            }
        }
    }
}

#[test]
fn the_last_readable_version_of_the_same_object_stays() {
    for config in ways(FirstState::Listed) {
        for unreadable in [unreadable("x", "u1", 15), unreadable("x", "", 15)] {
            let mut hand = watching(config, &[pod("x", "u1", 1)]);
            hand.event("MODIFIED", &unreadable);
            assert_eq!(hand.store(), ["x@1"]);
            hand.expire();
            hand.list(20, &[unreadable]);
            assert_eq!(hand.notes(), Vec::<String>::new(), "{config:?}");
            assert_eq!(hand.store(), ["x@1"]);
        }
    }
}

#[test]
fn a_streamed_state_keeps_the_last_readable_version_in_every_mode() {
    for config in ways(FirstState::Streamed) {
        let mut hand = refusing(config);
        hand.signal(Signal::Opened(Encoding::Json));
        hand.event("ADDED", &pod("x", "u1", 11));
        hand.event("MODIFIED", &unreadable("x", "u1", 12));
        end_of_state(&mut hand, 12);
        assert_eq!(hand.store(), ["x@11"], "{config:?}");
    }
}

/// What a server may send about an object.
#[derive(Clone, Copy, Debug)]
enum Said {
    Readable,
    Unreadable,
    Nameless,
    Deleted,
    UnreadablyDeleted,
}

fn any_event() -> impl Strategy<Value = (Said, usize, usize)> {
    let said = prop_oneof![
        6 => Just(Said::Readable),
        4 => Just(Said::Unreadable),
        1 => Just(Said::Nameless),
        2 => Just(Said::Deleted),
        1 => Just(Said::UnreadablyDeleted),
    ];
    (said, 0..4_usize, 0..4_usize)
}

fn say(hand: &mut Hand, (said, name, uid): (Said, usize, usize), version: u64) {
    let name = ["w", "x", "y", "z"].get(name).copied().unwrap();
    // One object in four has no uid, and the transform refuses one in four.
    let uid = ["u1", "u2", "refused", ""].get(uid).copied().unwrap();
    match said {
        Said::Readable => hand.event("ADDED", &pod(name, uid, version)),
        Said::Unreadable => hand.event("MODIFIED", &unreadable(name, uid, version)),
        Said::Nameless => hand.event("ADDED", r#"{"metadata":{}}"#),
        Said::Deleted => hand.event("DELETED", &pod(name, uid, version)),
        Said::UnreadablyDeleted => hand.event("DELETED", &unreadable(name, uid, version)),
    }
}

/// Checks that the listener knows the same objects as the store.
fn compare(hand: &mut Hand, knows: &mut Fold<String>) {
    for told in hand.told(hand.listener) {
        knows.tell(&told, stamp).unwrap();
    }
    assert_eq!(knows.view(), view(hand.informer.store().iter()));
}

proptest! {
    /// A complete full state leads to the same store whether it is streamed, staged or applied in one
    /// step. The listener knows the same objects.
    #[test]
    fn staged_and_streamed_states_end_in_the_same_store(
        states in prop::collection::vec(
            (prop::collection::vec(any_event(), 0..12), prop::collection::vec(any_event(), 0..6)),
            1..4,
        ),
    ) {
        let mut hands = ways(FirstState::Streamed).map(refusing);
        let mut folds = [const { Fold::new(Strictness::AddsUp) }; 3];
        let mut version = 1;
        for (state, live) in states {
            for hand in &mut hands {
                hand.signal(Signal::Opened(Encoding::Json));
            }
            for (nth, event) in state.iter().chain(&live).enumerate() {
                version += 1;
                for hand in &mut hands {
                    if nth == state.len() {
                        end_of_state(hand, version);
                    }
                    say(hand, *event, version);
                }
            }
            version += 1;
            for (hand, knows) in hands.iter_mut().zip(&mut folds) {
                if live.is_empty() {
                    end_of_state(hand, version);
                }
                compare(hand, knows);
            }
            let [streamed, staged, in_order] = &mut hands;
            prop_assert_eq!(streamed.store(), staged.store());
            prop_assert_eq!(streamed.store(), in_order.store());
            for hand in &mut hands {
                hand.expire();
            }
        }
    }

    /// The same for lists, in which a broken server may name an object twice.
    #[test]
    fn staged_and_streamed_lists_end_in_the_same_store(
        states in prop::collection::vec(prop::collection::vec(any_event(), 0..10), 1..5),
    ) {
        let mut hands = ways(FirstState::Listed).map(refusing);
        let mut folds = [const { Fold::new(Strictness::AddsUp) }; 3];
        let mut version = 1;
        for state in states {
            let mut items = Vec::new();
            for (said, name, uid) in state {
                version += 1;
                let name = ["w", "x", "y", "z"].get(name).copied().unwrap();
                let uid = ["u1", "u2", "refused", ""].get(uid).copied().unwrap();
                items.push(match said {
                    Said::Nameless => "{}".to_owned(),
                    Said::Readable | Said::Deleted => pod(name, uid, version),
                    Said::Unreadable | Said::UnreadablyDeleted => unreadable(name, uid, version),
                });
            }
            version += 1;
            for (hand, knows) in hands.iter_mut().zip(&mut folds) {
                hand.list(version, &items);
                hand.request();
                hand.signal(Signal::Opened(Encoding::Json));
                compare(hand, knows);
                hand.expire();
            }
            let [streamed, staged, in_order] = &hands;
            prop_assert_eq!(streamed.store(), staged.store());
            prop_assert_eq!(streamed.store(), in_order.store());
        }
    }
}

#[test]
fn reports_are_small_even_for_long_names() {
    let mut hand = Hand::new(listed());
    let long = "n".repeat(100_000);
    let items: Vec<_> = (0..100)
        .map(|n| pod(&format!("{long}{n}"), &long, n))
        .chain([
            unreadable("x", &long, 100),
            pod(&"y".repeat(4_096), "u", 101),
        ])
        .collect();
    hand.list(200, &items);
    let mut kept = 0;
    while let Some(report) = hand.informer.poll_rejected() {
        let key = report.key.map_or(0, |key| key.as_str().len());
        let texts = [report.uid, report.version, Some(report.reason)];
        kept += key + texts.iter().flatten().map(String::len).sum::<usize>();
    }
    assert!(kept < 64 * 1_600, "{kept} bytes");
    // The store keeps the name that is not too long. Objects without a name prevent the sweep.
    assert_eq!(hand.store(), [format!("{}@101", "y".repeat(4_096))]);
    assert!(hand.informer.status().unswept);
}
