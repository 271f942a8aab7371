//! The version whose state the store shows, no more and no less.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod hand;

use core::time::Duration;

use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::indexer::StoreLimits;
use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::queue::{QueueKind, Relist};
use informer_core::transport::Signal;
use informer_core::{Encoding, Failure, InformerConfig};

fn exact(hand: &Hand) -> Option<&str> {
    hand.informer.exact_version()
}

fn left_out(hand: &Hand) -> Vec<String> {
    let objects = hand.informer.left_out();
    objects.map(ToString::to_string).collect()
}

fn stalling() -> ListenerConfig {
    ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    }
}

#[test]
fn it_follows_events_and_bookmarks_in_every_queue() {
    let config = listed();
    let (queue, relist) = (QueueKind::InOrder, Relist::Staged);
    for config in [
        config,
        InformerConfig { relist, ..config },
        InformerConfig { queue, ..config },
        // The store itself need not have a version.
        InformerConfig {
            store_version: false,
            ..config
        },
    ] {
        let mut hand = Hand::new(config);
        assert_eq!(exact(&hand), None);
        hand.list(10, &[pod("x", "", 1)]);
        assert_eq!(exact(&hand), Some("10"));
        hand.request();
        hand.signal(Signal::Opened(Encoding::Json));
        for (kind, version) in [("ADDED", 11), ("MODIFIED", 12), ("DELETED", 13)] {
            hand.event(kind, &pod("y", "", version));
            assert_eq!(exact(&hand), Some(&*version.to_string()));
        }
        hand.bookmark(20);
        assert_eq!(exact(&hand), Some("20"));
        hand.informer.stop(hand.now);
        assert_eq!(exact(&hand), None);
    }
}

#[test]
fn an_outage_changes_nothing_but_a_lost_watch_does() {
    let mut hand = Hand::synced(listed(), &[pod("x", "", 1)]);
    hand.sleep(Duration::from_secs(60));
    hand.signal(Signal::Closed);
    hand.request();
    hand.fail(Failure::Unreachable, "connection refused");
    assert_eq!(
        exact(&hand),
        Some("10"),
        "the next watch goes on from there"
    );
    hand.wait();
    hand.signal(Signal::Opened(Encoding::Json));
    hand.expire();
    assert_eq!(exact(&hand), None, "a relist is needed");
    hand.bytes(r#"{"metadata":{"resourceVersion":"20"},"items":[{"metadata":{"name":"z"}},"#);
    assert_eq!(
        exact(&hand),
        None,
        "the store shows a part of the new state"
    );
    hand.fail(Failure::Broken, "reset");
    hand.wait();
    assert_eq!(exact(&hand), None, "the store still shows that part");
    hand.list(30, &[pod("x", "", 1)]);
    assert_eq!(exact(&hand), Some("30"));
}

#[test]
fn a_sweep_and_a_full_listener_must_end_first() {
    let mut hand = Hand::synced(listed(), &[pod("x", "", 1), pod("y", "", 2)]);
    let slow = hand.informer.add_listener(stalling(), hand.now).unwrap();
    while !hand.notes_of(slow).is_empty() {}
    hand.expire();
    hand.list(20, &[]);
    assert_eq!(exact(&hand), None, "a deletion waits for the listener");
    while !hand.notes_of(slow).is_empty() {
        hand.sleep(Duration::ZERO);
    }
    assert_eq!((exact(&hand), hand.store()), (Some("20"), vec![]));
}

#[test]
fn a_resync_must_end_first() {
    let config = InformerConfig {
        resync: Some(Duration::from_secs(60)),
        ..listed()
    };
    let mut hand = Hand::synced(config, &[pod("x", "", 1), pod("y", "", 2), pod("z", "", 3)]);
    let resynced = ListenerConfig {
        resync: Resync::Default,
        ..stalling()
    };
    let slow = hand.informer.add_listener(resynced, hand.now).unwrap();
    while !hand.notes_of(slow).is_empty() {}
    hand.sleep(Duration::from_secs(70));
    hand.sleep(Duration::from_secs(70));
    assert_eq!(exact(&hand), None);
    while !hand.notes_of(slow).is_empty() {
        hand.sleep(Duration::ZERO);
    }
    assert_eq!(exact(&hand), Some("10"));
}

#[test]
fn a_store_without_room_shows_no_state() {
    let mut config = listed();
    config.limits = StoreLimits {
        objects: Some(1),
        ..StoreLimits::NONE
    };
    let mut hand = Hand::new(config);
    hand.list(10, &[pod("x", "", 1), pod("y", "", 2)]);
    assert_eq!(exact(&hand), None);
}

#[test]
fn objects_that_are_left_out_are_named_until_they_are_readable() {
    let mut hand = Hand::synced(listed(), &[pod("x", "", 1)]);
    assert!(left_out(&hand).is_empty());
    let unreadable =
        r#"{"metadata":{"namespace":"a","name":"x","resourceVersion":"12","labels":7}}"#;
    hand.event("MODIFIED", unreadable);
    assert_eq!(exact(&hand), Some("12"));
    assert_eq!(hand.store(), ["x@1"]);
    let said = left_out(&hand);
    assert_eq!(said.len(), 1);
    assert!(
        said.iter()
            .all(|it| it.starts_with(r#"the object "a/x" at version 12"#))
    );
    hand.event("MODIFIED", &pod("x", "", 13));
    assert!(left_out(&hand).is_empty());
}
