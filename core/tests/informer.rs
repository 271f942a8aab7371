//! Whole informers, driven by the bytes of a server: their notifications and their store.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;

use core::task::Poll;
use core::time::Duration;

use hand::{EVERYTHING, Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::informer::{AddListenerError, WaitError};
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::{QueueKind, Relist, Transform, TransformError};
use informer_core::reflector::{AfterWait, FirstState, InvalidConfig, Phase};
use informer_core::storage::Heap;
use informer_core::transport::{OwnedAt, OwnedRequest, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Object};

fn client_go(queue: QueueKind) -> InformerConfig {
    let mut config = InformerConfig::client_go(queue);
    config.reflector.first_state = FirstState::Listed;
    config
}

fn in_order() -> InformerConfig {
    InformerConfig {
        queue: QueueKind::InOrder,
        ..listed()
    }
}

/// P-01: a deletion and re-creation that no watch showed.
#[test]
fn another_uid_is_a_deletion_and_an_add_by_default_and_an_update_for_client_go() {
    for (config, expected) in [
        (
            listed(),
            vec!["delete x@1 Inferred Relist", "add x@15 Relist"],
        ),
        (
            in_order(),
            vec!["delete x@1 Inferred Relist", "add x@15 Relist"],
        ),
        (
            client_go(QueueKind::DeltaFifo),
            vec!["update x 1 to 15 Relist"],
        ),
        (
            client_go(QueueKind::InOrder),
            vec!["update x 1 to 15 Relist"],
        ),
    ] {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
        hand.expire();
        hand.list(20, &[pod("x", "u2", 15)]);
        assert_eq!(hand.notes(), expected, "{config:?}");
        assert_eq!(hand.store(), ["x@15"]);
    }
}

/// P-13: objects that a relist finds unchanged make no notifications.
#[test]
fn an_unchanged_object_of_a_relist_is_suppressed_by_default_and_an_update_for_client_go() {
    for (config, expected, suppressed) in [
        (listed(), vec![], 1),
        (
            client_go(QueueKind::DeltaFifo),
            vec!["update x 1 to 1 Relist"],
            0,
        ),
        (
            client_go(QueueKind::InOrder),
            vec!["update x 1 to 1 Relist"],
            0,
        ),
    ] {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
        hand.expire();
        hand.list(20, &[pod("x", "u1", 1)]);
        assert_eq!(hand.notes(), expected);
        assert_eq!(hand.informer.status().counts.suppressed, suppressed);
        assert_eq!(hand.informer.status().counts.full_states, 2);
    }
    let mut hand = Hand::synced(in_order(), &[pod("x", "u1", 1)]);
    hand.expire();
    hand.list(20, &[pod("x", "u1", 1)]);
    assert_eq!(hand.notes(), Vec::<String>::new());
}

#[test]
fn objects_that_a_relist_lacks_are_deleted_as_inferred() {
    for config in [listed(), in_order()] {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1), pod("y", "u2", 2)]);
        hand.expire();
        hand.list(20, &[pod("y", "u2", 12)]);
        let mut notes = hand.notes();
        notes.sort();
        assert_eq!(
            notes,
            ["delete x@1 Inferred Relist", "update y 2 to 12 Relist"]
        );
        hand.request();
        hand.event("DELETED", &pod("y", "u2", 21));
        assert_eq!(hand.notes(), ["delete y@21 Observed Watch"]);
        assert_eq!(hand.store(), Vec::<String>::new());
        // The store does not have this object, so there is no notification.
        hand.event("DELETED", &pod("z", "u3", 22));
        assert_eq!(hand.notes(), Vec::<String>::new());
    }
}

#[test]
fn a_list_that_breaks_half_way_deletes_nothing_and_the_next_one_asks_for_the_latest() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    hand.expire();
    let begun = format!(
        r#"{{"metadata":{{"resourceVersion":"20"}},"items":[{},"#,
        pod("z", "u3", 15)
    );
    hand.bytes(&begun);
    hand.fail(Failure::Broken, "reset by peer");
    // The objects before the break are used.
    assert_eq!(hand.notes(), ["add z@15 Relist"]);
    assert_eq!(hand.store(), ["x@1", "y@2", "z@15"]);
    let request = hand.wait();
    assert!(
        matches!(
            request,
            Some(OwnedRequest::List {
                version: OwnedAt::Latest,
                ..
            })
        ),
        "{request:?}"
    );
    hand.list(30, &[pod("z", "u3", 15)]);
    assert_eq!(
        hand.notes(),
        ["delete x@1 Inferred Relist", "delete y@2 Inferred Relist"]
    );
}

/// The client-go preset delivers a full state completely or not at all.
#[test]
fn a_staged_list_that_breaks_half_way_is_discarded() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let mut hand = Hand::synced(client_go(queue), &[pod("x", "u1", 1)]);
        hand.expire();
        hand.bytes(&format!(
            r#"{{"metadata":{{"resourceVersion":"20"}},"items":[{},"#,
            pod("z", "u3", 15)
        ));
        hand.signal(Signal::Closed);
        assert_eq!(hand.notes(), Vec::<String>::new());
        let request = hand.wait();
        assert!(
            matches!(request, Some(OwnedRequest::List { version: OwnedAt::Version(v), .. }) if v == "10")
        );
        hand.list(20, &[]);
        assert_eq!(hand.notes(), ["delete x@1 Inferred Relist"]);
    }
}

#[test]
fn a_streamed_state_may_change_while_it_is_streamed() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        for config in [
            InformerConfig {
                queue,
                ..InformerConfig::new()
            },
            InformerConfig::client_go(queue),
        ] {
            let mut hand = Hand::new(config);
            hand.event("ADDED", &pod("x", "u1", 1));
            hand.event("ADDED", &pod("y", "u2", 2));
            hand.event("MODIFIED", &pod("x", "u1", 3));
            hand.event("DELETED", &pod("y", "u2", 4));
            assert!(!hand.informer.is_synced());
            hand.event(
                "BOOKMARK",
                r#"{"metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}"#,
            );
            assert!(hand.informer.is_synced());
            assert_eq!(hand.store(), ["x@3"]);
            let notes = hand.notes();
            if config.relist == Relist::Staged || queue == QueueKind::InOrder {
                assert_eq!(
                    notes,
                    ["add x@3 initial Relist"],
                    "only what is left at the end"
                );
            } else {
                assert_eq!(notes.len(), 4, "every event in order");
            }
            assert!(hand.informer.listener_status(hand.listener).unwrap().synced);
            hand.event("ADDED", &pod("z", "u3", 6));
            assert_eq!(hand.notes(), ["add z@6 Watch"]);
        }
    }
}

#[test]
fn a_rejected_object_harms_only_itself() {
    let broken = |name: &str| {
        format!(
            r#"{{"metadata":{{"namespace":"a","name":"{name}","resourceVersion":"13"}},"bad":tru}}"#
        )
    };
    for config in [listed(), in_order()] {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1), pod("y", "u2", 2)]);
        hand.expire();
        // x is unreadable, so its old state stays. y is gone.
        hand.list(20, &[broken("x"), pod("z", "u3", 14)]);
        assert_eq!(hand.store(), ["x@1", "z@14"]);
        let report = hand.informer.poll_rejected().unwrap();
        assert_eq!(report.key.unwrap().as_str(), "a/x");
        assert_eq!(report.version.as_deref(), Some("13"));
        assert!(!report.reason.is_empty());
        assert_eq!(hand.informer.poll_rejected(), None);
        hand.request();
        hand.notes();
        // An unreadable update keeps the old state. An unreadable deletion deletes.
        hand.event("MODIFIED", &broken("z"));
        assert_eq!(hand.notes(), Vec::<String>::new());
        hand.event("DELETED", &broken("z"));
        assert_eq!(hand.notes(), ["delete z@14 Observed Watch"]);
        assert_eq!(hand.informer.status().counts.rejected, 3);
        assert_eq!(
            hand.informer.status().version,
            Some("13"),
            "the event was handled"
        );
    }
}

#[test]
fn an_object_without_a_readable_key_prevents_the_deletions_of_its_list() {
    for config in [listed(), in_order()] {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
        hand.expire();
        hand.list(20, &[r#"{"metadata":{}}"#.into()]);
        assert_eq!(hand.store(), ["x@1"], "it may be the object without a key");
        assert!(hand.informer.status().unswept);
        hand.request();
        hand.signal(Signal::Opened(Encoding::Json));
        hand.expire();
        hand.list(30, &[]);
        assert!(!hand.informer.status().unswept);
        assert_eq!(hand.notes(), ["delete x@1 Inferred Relist"]);
    }
}

#[test]
fn a_deletion_without_a_name_causes_a_relist() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1)]);
    hand.event("DELETED", r#"{"metadata":{"resourceVersion":"11"}}"#);
    assert_eq!(hand.store(), ["x@1"]);
    let request = hand.wait();
    assert!(
        matches!(request, Some(OwnedRequest::List { .. })),
        "{request:?}"
    );
    hand.list(20, &[]);
    assert_eq!(hand.notes(), ["delete x@1 Inferred Relist"]);
}

fn refusing_13(config: InformerConfig) -> Hand {
    let refuse = Transform::new(|pod: &mut Pod| {
        if pod.version() == "13" {
            Err(TransformError::new("unlucky"))
        } else {
            Ok(())
        }
    });
    let informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    Hand::with(informer.with_transform(refuse))
}

#[test]
fn an_object_that_a_transform_refuses_is_reported_and_left_out() {
    let mut hand = refusing_13(listed());
    hand.list(10, &[pod("x", "u1", 13), pod("y", "u2", 2)]);
    assert!(hand.informer.is_synced());
    assert_eq!(hand.notes(), ["add y@2 initial Relist"]);
    let report = hand.informer.poll_rejected().unwrap();
    assert_eq!(report.reason, "refused by the transform: unlucky");
    hand.request();
    hand.event("MODIFIED", &pod("y", "u2", 13));
    assert_eq!(hand.store(), ["y@2"]);
    // A deletion is never lost.
    hand.event("DELETED", &pod("y", "u2", 13));
    assert_eq!(hand.notes(), ["delete y@2 Observed Watch"]);
}

#[test]
fn an_object_that_a_transform_refuses_fails_the_list_for_client_go() {
    let mut hand = refusing_13(client_go(QueueKind::DeltaFifo));
    let list = format!(
        r#"{{"metadata":{{"resourceVersion":"10"}},"items":[{},{}]}}"#,
        pod("y", "u2", 2),
        pod("x", "u1", 13)
    );
    hand.bytes(&list);
    let status = hand.informer.status();
    let failure = status.last_failure.unwrap();
    assert_eq!(failure.failure, Failure::TransformFailed);
    assert!(failure.message.contains("a/x") && failure.message.contains("unlucky"));
    assert!(matches!(
        status.phase,
        Phase::Waiting {
            then: AfterWait::FullState,
            ..
        }
    ));
    assert_eq!(hand.store(), Vec::<String>::new());
    assert!(!hand.informer.is_synced());
    // In a watch the event is lost, even a deletion.
    hand.wait();
    hand.list(10, &[pod("y", "u2", 2)]);
    hand.request();
    hand.event("DELETED", &pod("y", "u2", 13));
    assert_eq!(hand.store(), ["y@2"]);
    assert_eq!(hand.informer.status().counts.rejected, 2);
}

#[test]
fn a_transform_must_not_change_the_key() {
    let rename = Transform::new(|pod: &mut Pod| {
        *pod = Object::builder("other".parse().unwrap()).body(pod.body().clone());
        Ok(())
    });
    let informer = Informer::new(Decoder::new(Dynamic), listed(), 1).unwrap();
    let mut hand = Hand::with(informer.with_transform(rename));
    hand.list(10, &[pod("x", "u1", 1)]);
    assert_eq!(hand.store(), Vec::<String>::new());
    let report = hand.informer.poll_rejected().unwrap();
    assert_eq!(report.reason, "the transform changed the key of the object");
}

#[test]
fn status_says_why_nothing_happens() {
    let mut hand = Hand::new(listed());
    let phase = |hand: &Hand| hand.informer.status().phase;
    assert_eq!(
        phase(&hand),
        Phase::Listing {
            items: 0,
            remaining: None
        }
    );
    hand.fail(
        Failure::Forbidden,
        "pods is forbidden: User \"me\" cannot list resource \"pods\"",
    );
    let Phase::Waiting { cause, then, .. } = phase(&hand) else {
        panic!("{:?}", phase(&hand));
    };
    assert_eq!((cause, then), (Failure::Forbidden, AfterWait::FullState));
    let status = hand.informer.status();
    assert!(
        status
            .last_failure
            .unwrap()
            .message
            .contains("cannot list resource")
    );
    assert_eq!(status.counts.failures, 1);
    hand.wait();
    hand.bytes(
        r#"{"metadata":{"resourceVersion":"10","continue":"t","remainingItemCount":7},"items":["#,
    );
    hand.bytes(&format!("{},{}", pod("x", "u", 1), pod("y", "u", 2)));
    assert_eq!(
        phase(&hand),
        Phase::Listing {
            items: 2,
            remaining: None
        }
    );
    hand.bytes("]}");
    assert_eq!(
        phase(&hand),
        Phase::Listing {
            items: 2,
            remaining: Some(7)
        }
    );
}

#[test]
fn a_version_is_reached_when_the_store_shows_it() {
    let mut hand = Hand::new(listed());
    assert_eq!(hand.informer.wait_for("10"), Ok(Poll::Pending));
    assert_eq!(hand.informer.wait_for("abc"), Err(WaitError::NotComparable));
    hand.list(10, &[]);
    assert_eq!(hand.informer.wait_for("9"), Ok(Poll::Ready(())));
    assert_eq!(hand.informer.wait_for("10"), Ok(Poll::Ready(())));
    assert_eq!(hand.informer.wait_for("11"), Ok(Poll::Pending));
    hand.request();
    hand.bookmark(100);
    assert_eq!(hand.informer.wait_for("11"), Ok(Poll::Ready(())));
    assert_eq!(hand.informer.store().version(), "100");
    // Queued changes are not in the store yet.
    let stall = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(stall, hand.now).unwrap();
    hand.event("ADDED", &pod("x", "u1", 101));
    assert_eq!(hand.informer.wait_for("101"), Ok(Poll::Ready(())));
    hand.event("ADDED", &pod("y", "u2", 102));
    assert!(hand.informer.status().stalled);
    assert_eq!(hand.informer.wait_for("102"), Ok(Poll::Pending));
    hand.notes_of(slow);
    assert_eq!(hand.informer.wait_for("102"), Ok(Poll::Ready(())));
}

#[test]
fn a_stopped_informer_does_nothing_and_stays_readable() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1)]);
    hand.event("MODIFIED", &pod("x", "u1", 11));
    hand.informer.stop(hand.now);
    assert!(hand.informer.is_stopped());
    assert_eq!(
        hand.notes(),
        Vec::<String>::new(),
        "waiting notifications are dropped"
    );
    assert_eq!(hand.store(), ["x@11"]);
    hand.event("MODIFIED", &pod("x", "u1", 12));
    assert_eq!(hand.store(), ["x@11"]);
    assert_eq!(hand.informer.next_deadline(), None);
    let late = hand.informer.add_listener(EVERYTHING, hand.now);
    assert_eq!(late, Err(AddListenerError::Stopped));
    hand.informer.start(hand.now);
    assert_eq!(hand.informer.status().phase, Phase::Stopped);
}

#[test]
fn an_object_that_is_too_large_is_reported_with_its_key() {
    let limits = informer_core::decode::Limits {
        object_bytes: 300,
        ..informer_core::decode::Limits::new()
    };
    let decoder = Decoder::with_limits(Dynamic, limits).unwrap();
    let mut hand = Hand::with(Informer::<_, Heap>::new(decoder, listed(), 1).unwrap());
    let large =
        pod("big", "u1", 1).replace("}}", &format!("}},\"data\":\"{}\"}}", "x".repeat(400)));
    hand.list(10, &[large, pod("x", "u2", 2)]);
    assert_eq!(hand.store(), ["x@2"]);
    let report = hand.informer.poll_rejected().unwrap();
    assert_eq!(report.key.unwrap().name(), "big");
}

#[test]
fn reports_are_bounded_and_losses_are_counted() {
    let mut hand = Hand::synced(listed(), &[]);
    for _ in 0..100 {
        hand.event("MODIFIED", r#"{"metadata":{}}"#);
    }
    let kept = core::iter::from_fn(|| hand.informer.poll_rejected()).count();
    let counts = hand.informer.status().counts;
    assert_eq!((kept, counts.reports_lost, counts.rejected), (64, 36, 100));
}

#[test]
fn a_resync_period_below_a_second_is_refused() {
    let made = |period| {
        let mut config = listed();
        config.resync = Some(period);
        Informer::<_, Heap>::new(Decoder::new(Dynamic), config, 1).map(|_| ())
    };
    for period in [Duration::ZERO, Duration::from_micros(100)] {
        assert_eq!(made(period), Err(InvalidConfig::ResyncTooShort(period)));
    }
    assert_eq!(made(Duration::from_secs(1)), Ok(()));
}
