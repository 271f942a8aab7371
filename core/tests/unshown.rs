//! Waiting for a write fails if the store does not show it.
#![allow(clippy::unwrap_used, reason = "tests")]

mod hand;

use core::task::Poll;

use hand::{Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::informer::{OnTransformError, WaitError};
use informer_core::queue::{QueueKind, Relist, Transform, TransformError};
use informer_core::reflector::FirstState;
use informer_core::transport::Signal;
use informer_core::{Encoding, Informer, InformerConfig};

/// Both queues, with staged and streamed relists.
fn ways() -> [InformerConfig; 3] {
    let config = listed();
    let (queue, relist) = (QueueKind::InOrder, Relist::Staged);
    [
        config,
        InformerConfig { relist, ..config },
        InformerConfig { queue, ..config },
    ]
}

/// An object with labels of the wrong type.
fn unreadable(name: &str, version: u64) -> String {
    let version = format!(r#""resourceVersion":"{version}""#);
    format!(r#"{{"metadata":{{"namespace":"a","name":"{name}",{version},"labels":7}}}}"#)
}

/// `pending`, `ready`, or the object whose write the store does not show.
fn asked(hand: &Hand, version: u64) -> String {
    match hand.informer.wait_for(&version.to_string()) {
        Ok(Poll::Pending) => "pending".to_owned(),
        Ok(Poll::Ready(())) => "ready".to_owned(),
        Err(WaitError::Rejected(object)) => match &object.key {
            Some(key) => format!(
                "{}@{}",
                key.name(),
                object.version.as_deref().unwrap_or("?")
            ),
            None => "unknown object".to_owned(),
        },
        Err(error) => error.to_string(),
    }
}

#[test]
fn an_unreadable_write_of_a_watch_is_never_reached() {
    for config in ways() {
        let mut hand = Hand::synced(config, &[pod("x", "", 1), pod("y", "", 2)]);
        assert_eq!(asked(&hand, 12), "pending");
        hand.event("MODIFIED", &unreadable("x", 12));
        hand.event("MODIFIED", &pod("y", "", 13));
        assert_eq!(asked(&hand, 12), "x@12");
        // All other writes are shown.
        for shown in [1, 11, 13] {
            assert_eq!(asked(&hand, shown), "ready", "{shown}");
        }
        let error = hand.informer.wait_for("12").unwrap_err().to_string();
        let said = r#"the object "a/x" at version 12 was left out: "#;
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn a_write_that_a_transform_refuses_is_never_reached() {
    for on_error in [
        OnTransformError::HarmOneObject,
        OnTransformError::LoseEvents,
    ] {
        let config = InformerConfig {
            on_transform_error: on_error,
            ..listed()
        };
        let refuse = Transform::new(|pod: &mut Pod| match pod.uid() {
            "refused" => Err(TransformError::new("no")),
            _ => Ok(()),
        });
        let informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
        let mut hand = Hand::with(informer.with_transform(refuse));
        hand.list(10, &[pod("x", "", 1), pod("y", "", 2)]);
        hand.request();
        hand.event("MODIFIED", &pod("x", "refused", 12));
        assert_eq!(asked(&hand, 12), "x@12");
        hand.event("DELETED", &pod("y", "refused", 13));
        let deleted = hand.store() == ["x@1"];
        assert_eq!(deleted, on_error == OnTransformError::HarmOneObject);
        assert_eq!(asked(&hand, 13), if deleted { "ready" } else { "y@13" });
    }
}

#[test]
fn a_write_is_forgotten_when_its_object_is_readable_again_or_gone() {
    for config in ways() {
        for (kind, object) in [
            ("MODIFIED", pod("x", "", 14)),
            ("DELETED", pod("x", "", 14)),
            ("DELETED", unreadable("x", 14)),
        ] {
            let mut hand = Hand::synced(config, &[pod("x", "", 1)]);
            hand.event("MODIFIED", &unreadable("x", 12));
            hand.event("MODIFIED", &unreadable("x", 13));
            assert_eq!(
                (asked(&hand, 12), asked(&hand, 13)),
                ("x@12".into(), "x@13".into())
            );
            hand.event(kind, &object);
            for version in [12, 13, 14] {
                assert_eq!(asked(&hand, version), "ready", "{kind} {object}");
            }
        }
    }
}

#[test]
fn a_full_state_hides_the_writes_before_the_newest_one() {
    for config in ways() {
        let mut hand = Hand::synced(config, &[pod("x", "", 1), pod("y", "", 2)]);
        hand.event("MODIFIED", &unreadable("x", 11));
        hand.event("MODIFIED", &pod("y", "", 12));
        hand.expire();
        hand.list(20, &[unreadable("x", 15), pod("y", "", 12)]);
        // Any version between may be a write of x, except 11 and 12, which the watch showed.
        let expected = [(10, "ready"), (11, "x@11"), (12, "ready"), (13, "x@15")];
        for (version, said) in expected.into_iter().chain([(15, "x@15"), (16, "ready")]) {
            assert_eq!(asked(&hand, version), said, "{version} {config:?}");
        }
        // The object is still there and still unreadable, so nothing changes.
        hand.request();
        hand.signal(Signal::Opened(Encoding::Json));
        hand.expire();
        hand.list(30, &[unreadable("x", 15), pod("y", "", 12)]);
        assert_eq!(
            (asked(&hand, 11), asked(&hand, 15)),
            ("x@11".into(), "x@15".into())
        );
        assert_eq!(asked(&hand, 30), "ready");
        // The next full state shows the object, but counts only when it is complete.
        hand.request();
        hand.signal(Signal::Opened(Encoding::Json));
        hand.expire();
        let begun = r#"{"metadata":{"resourceVersion":"40"},"items":["#;
        hand.bytes(&format!("{begun}{},", pod("x", "", 35)));
        assert_ne!(asked(&hand, 15), "ready");
        hand.bytes(&format!("{}]}}", pod("y", "", 12)));
        assert_eq!(
            (asked(&hand, 11), asked(&hand, 15)),
            ("ready".into(), "ready".into())
        );
    }
}

#[test]
fn an_object_that_is_missing_from_a_full_state_is_forgotten() {
    for config in ways() {
        let mut hand = Hand::synced(config, &[pod("x", "", 1)]);
        hand.event("MODIFIED", &unreadable("x", 11));
        hand.event("ADDED", r#"{"metadata":{"resourceVersion":"12"}}"#);
        assert_eq!(
            (asked(&hand, 11), asked(&hand, 12)),
            ("x@11".into(), "unknown object".into())
        );
        hand.expire();
        hand.list(20, &[]);
        assert_eq!(
            (asked(&hand, 11), asked(&hand, 12)),
            ("ready".into(), "ready".into())
        );
    }
}

#[test]
fn a_write_with_an_unreadable_version_is_older_than_the_next_event() {
    let mut hand = Hand::synced(listed(), &[pod("x", "", 1)]);
    hand.event("MODIFIED", r#"{"metadata":{"name":"n","labels":7}}"#);
    hand.event("MODIFIED", &pod("x", "", 15));
    let expected = [(10, "ready"), (11, "n@?"), (15, "n@?")];
    for (version, said) in expected {
        assert_eq!(asked(&hand, version), said, "{version}");
    }
    hand.event("MODIFIED", &pod("x", "", 16));
    assert_eq!(asked(&hand, 16), "ready");
}

#[test]
fn within_a_streamed_state_the_last_event_of_an_object_counts() {
    for config in ways() {
        let mut config = config;
        config.reflector.first_state = FirstState::Streamed;
        let mut hand = Hand::new(config);
        hand.signal(Signal::Opened(Encoding::Json));
        hand.event("ADDED", &unreadable("x", 5));
        hand.event("MODIFIED", &pod("x", "", 6));
        hand.event("ADDED", &pod("y", "", 7));
        hand.event("MODIFIED", &unreadable("y", 8));
        hand.event(
            "BOOKMARK",
            r#"{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}"#,
        );
        assert_eq!(
            (asked(&hand, 8), asked(&hand, 9)),
            ("y@8".into(), "ready".into())
        );
        hand.event("MODIFIED", &pod("y", "", 10));
        assert_eq!(
            (asked(&hand, 6), asked(&hand, 8)),
            ("ready".into(), "ready".into())
        );
    }
}

#[test]
fn too_many_writes_are_remembered_as_one_range_and_none_counts_as_shown() {
    let mut hand = Hand::synced(listed(), &[]);
    for version in 0..200 {
        // Every other write is readable.
        let name = format!("x{version}");
        hand.event("ADDED", &unreadable(&name, 1_000 + 2 * version));
        hand.event("ADDED", &pod("y", "", 1_001 + 2 * version));
    }
    for version in 0..200 {
        let said = asked(&hand, 1_000 + 2 * version);
        let expected = if version < 136 {
            "unknown object".to_owned()
        } else {
            format!("x{version}@{}", 1_000 + 2 * version)
        };
        assert_eq!(said, expected, "{version}");
    }
    assert_eq!(asked(&hand, 999), "ready");
    assert_eq!(asked(&hand, 1_399), "ready");
    // A full state without these objects ends it.
    hand.expire();
    hand.list(2_000, &[pod("y", "", 1_399)]);
    assert_eq!(asked(&hand, 1_000), "ready");
}
