//! Conversations of a reflector with a server: versions and pages of lists, configuration and stop.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use core::num::NonZeroU32;
use core::time::Duration;

use conversation::{Conversation, pod};
use informer_core::Failure;
use informer_core::flow::{Change, Fact};
use informer_core::reflector::{
    BackoffConfig, FirstState, InvalidConfig, Phase, Reflector, ReflectorConfig,
};
use informer_core::storage::Heap;
use informer_core::transport::Request;

#[test]
fn after_an_expired_version_lists_ask_for_the_newest_until_one_succeeds() {
    let mut talk = Conversation::listed();
    assert_eq!(talk.next(), "list 0 500 -");
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Expired);
    // The version expired for the watch, but may still be good for a list.
    assert_eq!(talk.next(), "list 10 0 -");
    talk.fail(Failure::Expired);
    // The retry is immediate, and has no pages either.
    assert!(matches!(talk.reflector.phase(), Phase::Listing { .. }));
    assert_eq!(talk.next(), "list  0 -");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "list  500 -");
    talk.list("20", None);
    assert_eq!(talk.next(), "watch 20 false");
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 20 0 -");
}

#[test]
fn a_second_rejection_of_the_same_list_backs_off() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.fail(Failure::VersionTooLarge);
    assert_eq!(talk.next(), "list  500 -");
    talk.fail(Failure::VersionTooLarge);
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
}

/// A server without a cache pages a list at version 0. From then on, every list asks for pages.
#[test]
fn paging_is_sticky_after_a_list_at_0_in_pages() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.list("10", Some("t1"));
    assert_eq!(talk.next(), "list  500 t1");
    talk.list("11", Some("t2"));
    assert_eq!(talk.next(), "list  500 t2");
    talk.list("12", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 10 500 -");
    // Pages of a list at another version do not count.
    let mut talk = Conversation::listed();
    talk.next();
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list  500 -");
    talk.list("10", Some("t"));
    talk.next();
    talk.list("10", None);
    talk.next();
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 10 0 -");
}

#[test]
fn an_explicit_page_size_is_always_used() {
    let mut talk = Conversation::new(ReflectorConfig {
        first_state: FirstState::Listed,
        page_size: NonZeroU32::new(3),
        ..ReflectorConfig::new()
    });
    assert_eq!(talk.next(), "list 0 3 -");
    talk.list("10", Some("t"));
    assert_eq!(talk.next(), "list  3 t");
    talk.list("10", None);
    talk.next();
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 10 3 -");
}

/// If the list without pages fails as well, the reflector gives up the version.
#[test]
fn an_expired_token_leads_to_one_list_without_pages() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.list("10", None);
    talk.next();
    talk.fail(Failure::Expired);
    talk.next();
    talk.list("12", Some("t"));
    assert_eq!(talk.next(), "list  0 t");
    assert_eq!(talk.fail(Failure::Expired), Some(Change::ReplaceAbandon));
    assert_eq!(talk.next(), "list 10 0 -");
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list  0 -");
    assert_eq!(
        talk.say(Fact::Opened),
        Some(Change::ReplaceBegin { streamed: false })
    );
}

/// The one retry at the newest version is used up, even if the list changes from pages to one piece.
#[test]
fn a_list_in_one_piece_does_not_repeat_the_retry_at_the_newest() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list  500 -");
    talk.list("12", Some("t"));
    assert_eq!(talk.next(), "list  500 t");
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list  0 -");
    talk.fail(Failure::Expired);
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
}

/// A list without a version is complete, and its later pages are not mistaken for a first page.
#[test]
fn a_list_without_a_version_leaves_none() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.reflector.version(), Some("10"));
    talk.next();
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 10 0 -");
    assert_eq!(talk.list("", Some("t1")), None);
    assert_eq!(talk.next(), "list  0 t1");
    assert_eq!(
        talk.say(Fact::Opened),
        None,
        "the full state has begun already"
    );
    assert_eq!(talk.fail(Failure::Expired), Some(Change::ReplaceAbandon));
    assert_eq!(talk.next(), "list 10 0 -", "the same list in one piece");
    assert_eq!(talk.list("", None), Some(Change::ReplaceEnd));
    assert_eq!(talk.reflector.version(), None);
    assert!(talk.reflector.is_live());
    assert_eq!(talk.next(), "watch  false");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "list 0 500 -");
}

#[test]
fn stop_aborts_the_current_request_and_is_final() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.say(Fact::Opened);
    talk.reflector.stop(talk.now);
    assert_eq!(talk.next(), "abort");
    assert_eq!(talk.say(Fact::Item(pod("1"))), None);
    talk.reflector.start(talk.now);
    assert_eq!(talk.next(), "nothing");
    assert_eq!(talk.reflector.phase(), Phase::Stopped);
    // A command that was never taken is not aborted.
    let mut talk = Conversation::listed();
    talk.reflector.stop(talk.now);
    assert_eq!(talk.next(), "nothing");
}

#[test]
fn errors_name_the_invalid_option() {
    let with = |change: fn(&mut ReflectorConfig)| {
        let mut config = ReflectorConfig::new();
        change(&mut config);
        Reflector::<Heap>::new(config, 1).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        with(|config| config.idle = Some(Duration::ZERO)).to_string(),
        "`reflector.idle` is too short: set at least one microsecond"
    );
    assert_eq!(
        with(|config| config.end_bookmark = Some(Duration::ZERO)),
        InvalidConfig::Zero("reflector.end_bookmark")
    );
    assert_eq!(
        with(|config| config.internal_retry = Some(Duration::ZERO)),
        InvalidConfig::Zero("reflector.internal_retry")
    );
    assert_eq!(
        with(|config| config.backoff.base = Duration::ZERO),
        InvalidConfig::Zero("reflector.backoff.base")
    );
    assert_eq!(
        with(|config| config.page_size = NonZeroU32::new(u32::MAX)),
        InvalidConfig::PageTooLarge
    );
    let inverted = with(|config| {
        config.backoff = BackoffConfig {
            cap: Duration::from_millis(1),
            ..BackoffConfig::new()
        };
    });
    assert!(
        inverted.to_string().contains("must not be below"),
        "{inverted}"
    );
}

/// Timeouts are random, and whole seconds.
#[test]
fn watch_timeouts_are_spread_over_the_configured_range() {
    for (configured, range) in [(300, 300..600), (1, 300..600), (1_800, 1_800..3_600)] {
        let mut talk = Conversation::new(ReflectorConfig {
            watch_timeout: Duration::from_secs(configured),
            ..ReflectorConfig::new()
        });
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..200 {
            talk.next();
            let Some((_, Request::Watch { timeout, .. })) = talk.reflector.request() else {
                panic!("{:?}", talk.reflector);
            };
            assert_eq!(timeout.subsec_nanos(), 0);
            assert!(range.contains(&timeout.as_secs()), "{timeout:?}");
            seen.insert(timeout.as_secs());
            talk.fail(Failure::Unreachable);
        }
        assert!(seen.len() > 100, "only {} different timeouts", seen.len());
    }
}

/// The used part of an interrupted state may be newer than the state that another server returns for the
/// known version.
#[test]
fn after_a_state_that_was_used_in_part_the_newest_is_requested() {
    let known = |talk: &mut Conversation| {
        talk.next();
        talk.list("10", None);
        talk.next();
        talk.fail(Failure::Expired);
        assert_eq!(talk.next(), "list 10 0 -");
        talk.say(Fact::Opened);
    };
    for (partial, items, retry) in [
        (true, true, "list  500 -"),
        (true, false, "list 10 0 -"),
        (false, true, "list 10 0 -"),
    ] {
        let mut talk = Conversation::listed();
        if partial {
            let config = ReflectorConfig {
                first_state: FirstState::Listed,
                ..ReflectorConfig::client_go()
            };
            talk.reflector = Reflector::new(config, 7).unwrap().with_partial_states();
            talk.reflector.start(talk.now);
        }
        known(&mut talk);
        if items {
            talk.say(Fact::Item(pod("12")));
        }
        talk.fail(Failure::Broken);
        assert_eq!(talk.next(), retry, "partial {partial}, items {items}");
    }
}
