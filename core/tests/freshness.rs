//! When the store counts as fresh, and everything that ends freshness.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod hand;

use core::time::Duration;

use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::transport::Signal;
use informer_core::{Encoding, Failure, InformerConfig};

const MINUTE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(1_000_000);

const EXPIRED: &str = r#"{"kind":"Status","code":410,"reason":"Expired"}"#;
const THROTTLED: &str = r#"{"kind":"Status","code":429,"reason":"TooManyRequests"}"#;

fn fresh(hand: &Hand) -> bool {
    hand.informer.is_fresh(LONG, hand.now)
}

/// The current watch ends regularly, after a while.
fn end_of_watch(hand: &mut Hand) {
    hand.sleep(MINUTE);
    hand.bookmark(11);
    hand.sleep(MINUTE);
    hand.signal(Signal::Closed);
}

#[test]
fn a_listed_state_is_fresh_when_its_watch_is_answered() {
    let mut hand = Hand::new(listed());
    assert!(!fresh(&hand), "nothing is known");
    hand.list(10, &[]);
    assert!(hand.informer.is_synced());
    assert!(!fresh(&hand), "there is no watch yet");
    hand.request();
    assert!(!fresh(&hand), "the watch is not answered");
    hand.signal(Signal::Opened(Encoding::Json));
    assert!(fresh(&hand));
    assert!(hand.informer.status().following);
}

#[test]
fn a_streamed_state_is_fresh_at_its_end() {
    let mut hand = Hand::new(InformerConfig::new());
    hand.signal(Signal::Opened(Encoding::Json));
    hand.event("ADDED", &pod("x", "u", 1));
    assert!(!fresh(&hand), "the state is not complete");
    hand.event(
        "BOOKMARK",
        r#"{"metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}"#,
    );
    assert!(fresh(&hand));
}

#[test]
fn freshness_depends_on_when_the_server_last_sent_something() {
    let mut hand = Hand::synced(listed(), &[]);
    let within_a_minute = |hand: &Hand| hand.informer.is_fresh(MINUTE, hand.now);
    hand.sleep(MINUTE);
    assert!(within_a_minute(&hand));
    hand.sleep(Duration::from_secs(1));
    assert!(!within_a_minute(&hand));
    hand.bookmark(11);
    assert!(within_a_minute(&hand));
    assert_eq!(hand.informer.status().last_bookmark, Some(hand.now));
    // The answer to a watch request counts, even without events.
    hand.sleep(MINUTE * 2);
    hand.signal(Signal::Closed);
    assert!(!within_a_minute(&hand));
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    assert!(within_a_minute(&hand));
}

#[test]
fn an_outage_ends_freshness_until_a_watch_is_answered() {
    let mut hand = Hand::synced(listed(), &[]);
    end_of_watch(&mut hand);
    hand.request();
    hand.fail(Failure::Unreachable, "connection refused");
    assert!(!fresh(&hand), "it waits");
    hand.wait();
    assert!(!fresh(&hand), "it asks again");
    hand.fail(Failure::Unreachable, "connection refused");
    hand.wait();
    hand.signal(Signal::Opened(Encoding::Json));
    assert!(fresh(&hand));
}

#[test]
fn every_failure_ends_freshness_at_once() {
    type Step = fn(&mut Hand);
    let failures: [(&str, Step); 6] = [
        ("broken", |hand| hand.fail(Failure::Broken, "reset")),
        ("timed out", |hand| hand.fail(Failure::TimedOut, "504")),
        ("throttled", |hand| hand.event("ERROR", THROTTLED)),
        ("expired", |hand| hand.event("ERROR", EXPIRED)),
        ("silent", |hand| hand.sleep(Duration::from_secs(200))),
        ("ended at once", |hand| {
            hand.signal(Signal::Closed);
            hand.request();
            hand.signal(Signal::Opened(Encoding::Json));
            hand.signal(Signal::Closed);
        }),
    ];
    for (name, fail) in failures {
        let mut hand = Hand::synced(listed(), &[]);
        hand.sleep(MINUTE);
        assert!(fresh(&hand), "{name}");
        fail(&mut hand);
        assert!(!fresh(&hand), "{name}");
        assert!(!hand.informer.status().following, "{name}");
    }
}

#[test]
fn the_regular_end_of_a_watch_keeps_freshness() {
    let mut hand = Hand::synced(listed(), &[]);
    for _ in 0..3 {
        end_of_watch(&mut hand);
        assert!(fresh(&hand), "between two watches");
        hand.request();
        assert!(fresh(&hand), "the next watch is requested");
        hand.signal(Signal::Opened(Encoding::Json));
        assert!(fresh(&hand));
    }
}

#[test]
fn after_an_expired_version_the_store_is_fresh_only_with_a_new_watch() {
    let mut hand = Hand::synced(listed(), &[]);
    hand.expire();
    assert!(!fresh(&hand));
    hand.list(20, &[]);
    assert!(!fresh(&hand));
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    assert!(fresh(&hand));
}

#[test]
fn a_stalled_informer_is_not_fresh() {
    let mut hand = Hand::synced(listed(), &[]);
    let stalls = ListenerConfig {
        backlog: Backlog::Stall { at: 2 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(stalls, hand.now).unwrap();
    for version in 11..20 {
        let event = format!(
            "{{\"type\":\"MODIFIED\",\"object\":{}}}\n",
            pod("x", "u", version)
        );
        let _ = hand.signal(Signal::Bytes(event.as_bytes()));
    }
    assert!(hand.informer.is_stalled());
    assert!(hand.informer.status().following);
    assert!(!fresh(&hand));
    while !hand.notes_of(slow).is_empty() {}
    assert!(!hand.informer.is_stalled());
    assert!(fresh(&hand));
}

#[test]
fn a_stopped_informer_is_not_fresh() {
    let mut hand = Hand::synced(listed(), &[]);
    hand.informer.stop(hand.now);
    assert!(!fresh(&hand));
    assert!(!hand.informer.status().following);
}
