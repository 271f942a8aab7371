//! What each listener gets, and when: late joiners, removal, sync, backlogs, resyncs.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;

use core::time::Duration;

use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::processor::{Backlog, ListenerConfig, Resync};
use informer_core::transport::Signal;
use informer_core::{Encoding, Informer};

/// It misses nothing and gets nothing twice.
#[test]
fn a_late_listener_gets_the_store_and_then_the_changes() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    assert!(!hand.informer.listener_status(late).unwrap().synced);
    assert_eq!(hand.informer.listener_status(late).unwrap().pending, 2);
    hand.event("MODIFIED", &pod("x", "u1", 11));
    hand.event("DELETED", &pod("y", "u2", 12));
    hand.event("ADDED", &pod("z", "u3", 13));
    assert_eq!(
        hand.notes_of(late),
        [
            "add x@1 initial Replay",
            "add y@2 initial Replay",
            "update x 1 to 11 Watch",
            "delete y@12 Observed Watch",
            "add z@13 Watch",
        ]
    );
    assert!(hand.informer.listener_status(late).unwrap().synced);
    assert_eq!(hand.notes().len(), 3);
}

/// A listener that only wants news.
#[test]
fn a_listener_that_skips_its_replay_gets_only_changes_and_is_synced() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    hand.informer.skip_replay(late);
    let status = hand.informer.listener_status(late).unwrap();
    assert_eq!((status.synced, status.pending), (true, 0));
    hand.event("MODIFIED", &pod("x", "u1", 11));
    assert_eq!(hand.notes_of(late), ["update x 1 to 11 Watch"]);
    // Another one that has begun its replay does not get the rest.
    let third = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    assert!(hand.informer.poll_notification(third).is_some());
    hand.informer.skip_replay(third);
    assert_eq!(hand.notes_of(third), Vec::<String>::new());
    assert!(hand.informer.listener_status(third).unwrap().synced);
    // One that is gone is no reason to do anything.
    hand.informer.remove_listener(third);
    hand.informer.skip_replay(third);
}

#[test]
fn a_removed_listener_gets_nothing_and_removal_is_idempotent() {
    let mut hand = Hand::synced(listed(), &[]);
    hand.event("ADDED", &pod("x", "u1", 11));
    assert!(hand.informer.remove_listener(hand.listener));
    assert!(!hand.informer.remove_listener(hand.listener));
    assert_eq!(hand.notes(), Vec::<String>::new());
    // Another listener gets its place, but not its id.
    let next = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    assert!(!hand.informer.remove_listener(hand.listener));
    assert_eq!(hand.notes_of(next), ["add x@11 initial Replay"]);
}

/// A listener is synced when it has handled its notifications, not when it has got them.
#[test]
fn a_listener_is_synced_when_it_polls_again_after_its_last_initial_object() {
    let mut hand = Hand::new(listed());
    let synced = |hand: &Hand| hand.informer.listener_status(hand.listener).unwrap().synced;
    hand.list(10, &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    assert!(hand.informer.is_synced() && !synced(&hand));
    let mut given = Vec::new();
    assert_eq!(
        hand.informer
            .poll_notifications(hand.listener, 64, |n| given.push(n)),
        2
    );
    assert!(!synced(&hand), "it may still be handling them");
    assert_eq!(hand.informer.poll_notification(hand.listener), None);
    assert!(synced(&hand));
    // An empty state needs no poll.
    let mut hand = Hand::new(listed());
    hand.list(10, &[]);
    assert!(synced(&hand));
}

#[test]
fn a_ready_listener_is_returned_once_until_it_has_more_news() {
    let mut hand = Hand::synced(listed(), &[]);
    while hand.informer.poll_ready_listener().is_some() {}
    assert_eq!(hand.informer.poll_ready_listener(), None);
    hand.event("ADDED", &pod("x", "u1", 11));
    assert_eq!(hand.informer.poll_ready_listener(), Some(hand.listener));
    assert_eq!(hand.informer.poll_ready_listener(), None);
    hand.event("MODIFIED", &pod("x", "u1", 12));
    assert_eq!(hand.informer.poll_ready_listener(), Some(hand.listener));
}

#[test]
fn a_stalling_listener_holds_up_the_bytes_and_nothing_is_lost() {
    let mut hand = Hand::synced(listed(), &[]);
    let slow = ListenerConfig {
        backlog: Backlog::Stall { at: 2 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(slow, hand.now).unwrap();
    let stream: String = (0..20)
        .map(|n| {
            format!(
                "{{\"type\":\"ADDED\",\"object\":{}}}\n",
                pod(&format!("p{n}"), "u", 11 + n)
            )
        })
        .collect();
    let mut rest = stream.as_bytes();
    let mut names = Vec::new();
    while !rest.is_empty() {
        match hand.signal(Signal::Bytes(rest)) {
            Some(used) => rest = &rest[used..],
            None => {
                assert!(hand.informer.status().stalled);
                assert!(hand.informer.listener_status(slow).unwrap().pending >= 2);
                let one = hand.informer.poll_notification(slow);
                names.extend(one.map(|n| n.key().name().to_owned()));
            }
        }
        assert!(hand.informer.listener_status(slow).unwrap().pending <= 3);
    }
    while let Some(notification) = hand.informer.poll_notification(slow) {
        names.push(notification.key().name().to_owned());
    }
    let all: Vec<_> = (0..20).map(|n| format!("p{n}")).collect();
    assert_eq!(names, all);
    assert_eq!(hand.notes().len(), 20);
    assert!(!hand.informer.status().stalled);
}

/// While a listener stalls, no bytes are read. Silence says nothing about the server then.
#[test]
fn a_stall_is_not_taken_for_a_dead_server() {
    let mut hand = Hand::synced(listed(), &[]);
    let stall = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let slow = hand.informer.add_listener(stall, hand.now).unwrap();
    hand.event("ADDED", &pod("x", "u1", 11));
    hand.event("ADDED", &pod("y", "u2", 12));
    for _ in 0..10 {
        hand.sleep(Duration::from_secs(199));
    }
    assert_eq!(hand.informer.status().counts.failures, 0);
    hand.notes_of(slow);
    hand.sleep(Duration::from_secs(1));
    hand.sleep(Duration::from_secs(200));
    assert_eq!(
        hand.informer.status().counts.failures,
        1,
        "now the server is silent"
    );
}

/// P-07: a listener that sleeps costs at most a few entries per object.
#[test]
fn a_sleeping_listener_gets_the_net_effect() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    let config = ListenerConfig {
        backlog: Backlog::Coalesce { above: 0 },
        ..EVERYTHING
    };
    let sleepy = hand.informer.add_listener(config, hand.now).unwrap();
    hand.notes_of(sleepy);
    for version in 11..111 {
        hand.event("MODIFIED", &pod("x", "u1", version));
        hand.event("ADDED", &pod("z", "u3", 1_000 + version));
        hand.event("DELETED", &pod("z", "u3", 2_000 + version));
    }
    hand.event("DELETED", &pod("y", "u2", 3_000));
    hand.event("ADDED", &pod("y", "u4", 3_001));
    let status = hand.informer.listener_status(sleepy).unwrap();
    assert_eq!((status.pending, status.coalesced), (3, 299));
    assert_eq!(
        hand.notes_of(sleepy),
        [
            "update x 1 to 110 Watch",
            "delete y@3000 Observed Watch",
            "add y@3001 Watch",
        ]
    );
}

#[test]
fn each_listener_has_its_own_resync_period() {
    let mut config = listed();
    config.resync = Some(Duration::from_secs(10));
    let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    let now = informer_core::Instant::from_micros(1);
    let mut add = |resync| {
        informer
            .add_listener(
                ListenerConfig {
                    resync,
                    ..EVERYTHING
                },
                now,
            )
            .unwrap()
    };
    let never = add(Resync::Never);
    let often = add(Resync::Every(Duration::from_secs(4)));
    let mut hand = Hand::with(informer);
    hand.list(10, &[pod("x", "u1", 1)]);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    for listener in [hand.listener, never, often] {
        hand.notes_of(listener);
    }
    let mut shown = [0, 0, 0];
    for _ in 0..6 {
        // Checks are as frequent as the shortest period requires.
        hand.sleep(Duration::from_secs(4));
        for (count, listener) in shown.iter_mut().zip([hand.listener, never, often]) {
            let notes = hand.notes_of(listener);
            assert!(
                notes.iter().all(|note| note == "update x 1 to 1 Resync"),
                "{notes:?}"
            );
            *count += notes.len();
        }
    }
    assert_eq!(shown, [2, 0, 6]);
}

#[test]
fn resyncs_stop_during_a_relist() {
    let mut config = listed();
    config.resync = Some(Duration::from_secs(10));
    config.reflector.idle = None;
    let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
    hand.event(
        "ERROR",
        r#"{"kind":"Status","code":410,"reason":"Expired"}"#,
    );
    hand.wait();
    assert_eq!(hand.informer.next_deadline(), None);
    hand.sleep(Duration::from_secs(60));
    assert_eq!(hand.notes(), Vec::<String>::new());
    hand.list(20, &[pod("x", "u1", 1)]);
    assert_eq!(
        hand.informer.next_deadline(),
        Some(hand.now.after(Duration::from_secs(10)))
    );
}
