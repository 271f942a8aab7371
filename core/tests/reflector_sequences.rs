//! Whole conversations of a reflector with a server: which requests follow which answers, and when.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use core::num::NonZeroU32;
use core::time::Duration;

use informer_core::Failure;
use informer_core::flow::{Change, Fact};
use informer_core::reflector::{
    AfterWait, BackoffConfig, FirstState, InvalidConfig, Phase, Reflector, ReflectorConfig,
};
use informer_core::storage::Heap;
use informer_core::transport::{Command, Request};

mod conversation;

use conversation::{Conversation, pod};

#[test]
fn a_version_that_expired_is_followed_by_the_newest_and_the_flag_stays_until_a_list_succeeds() {
    let mut talk = Conversation::listed();
    assert_eq!(talk.next(), "list 0 500 -");
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Expired);
    // The watch expired, the version may still be good for a list.
    assert_eq!(talk.next(), "list 10 0 -");
    talk.fail(Failure::Expired);
    // At once, and as unpaged as the list that it repeats.
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
fn a_second_refusal_of_the_same_list_waits() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.fail(Failure::VersionTooLarge);
    assert_eq!(talk.next(), "list  500 -");
    talk.fail(Failure::VersionTooLarge);
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
}

/// A server without a cache pages a list at 0; from then on every list is paged.
#[test]
fn paging_is_sticky_once_a_list_at_0_came_in_pages() {
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
    // Not by a list that asked for a version, or for the newest.
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

/// The full list that follows an expired token is final: if it fails too, the version is given up.
#[test]
fn an_expired_token_is_followed_by_one_full_list() {
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

/// A list that follows a version which the server does not have is repeated at the newest once,
/// however its pages fare meanwhile.
#[test]
fn a_list_in_one_piece_does_not_repeat_what_was_repeated() {
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

/// Four refusals cost four delays, and no list.
#[test]
fn throttling_and_refusal_do_not_relist() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.list("10", None);
    let mut waited = Vec::new();
    for failure in [
        Failure::Unreachable,
        Failure::Throttled { retry_after: None },
    ]
    .repeat(2)
    {
        assert_eq!(talk.next(), "watch 10 false");
        let before = talk.now;
        talk.fail(failure);
        assert!(talk.reflector.is_live());
        if let Phase::Waiting { until, .. } = talk.reflector.phase() {
            waited.push(until.since(before));
        }
    }
    assert_eq!(talk.next(), "watch 10 false");
    assert_eq!(waited.len(), 4);
    assert!(
        waited.windows(2).all(|pair| pair[0] < pair[1]),
        "{waited:?}"
    );
}

#[test]
fn a_server_may_ask_for_patience_within_reason() {
    for (asked, waits) in [(20, 20), (100_000, 300)] {
        let mut talk = Conversation::listed();
        talk.next();
        talk.fail(Failure::Throttled {
            retry_after: Some(Duration::from_secs(asked)),
        });
        let Phase::Waiting { until, .. } = talk.reflector.phase() else {
            panic!("{:?}", talk.reflector.phase());
        };
        assert_eq!(until.since(talk.now), Duration::from_secs(waits));
    }
}

#[test]
fn a_streamed_state_goes_on_as_a_watch_on_the_same_exchange() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    assert_eq!(talk.next(), "watch  true");
    assert_eq!(
        talk.say(Fact::Opened),
        Some(Change::ReplaceBegin { streamed: true })
    );
    talk.say(Fact::Added(pod("5")));
    assert_eq!(
        talk.reflector.version(),
        None,
        "nothing is adopted before the end"
    );
    assert_eq!(
        talk.say(Fact::InitialEnd { version: "9" }),
        Some(Change::ReplaceEnd)
    );
    assert_eq!(talk.next(), "nothing");
    assert_eq!(
        talk.say(Fact::Added(pod("12"))),
        Some(Change::Added(pod("12")))
    );
    talk.sleep(2);
    talk.say(Fact::Closed);
    assert_eq!(talk.next(), "watch 12 false");
    // Refused for good: the next attempt streams again, from what is known.
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "watch 12 true");
}

/// No version is something else than one that is not known yet: the list has been read, and its later
/// pages are not a first one.
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
    assert_eq!(talk.say(Fact::Opened), None, "it has begun before");
    assert_eq!(talk.fail(Failure::Expired), Some(Change::ReplaceAbandon));
    assert_eq!(talk.next(), "list 10 0 -", "the same list in one piece");
    assert_eq!(talk.list("", None), Some(Change::ReplaceEnd));
    assert_eq!(talk.reflector.version(), None);
    assert!(talk.reflector.is_live());
    assert_eq!(talk.next(), "watch  false");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "list 0 500 -");
}

/// Fallback is for one attempt; only a missing end bookmark is remembered.
#[test]
fn a_streamed_state_that_never_ends_is_given_up_for_good() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    talk.fail(Failure::Invalid);
    assert_eq!(talk.next(), "list 0 500 -");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "watch  true");
    talk.say(Fact::Opened);
    talk.sleep(20);
    talk.say(Fact::Added(pod("5")));
    talk.sleep(20);
    assert_eq!(talk.advance(), None, "an event came 20 s ago");
    talk.sleep(10);
    assert_eq!(talk.reflector.next_deadline(), Some(talk.now));
    assert_eq!(talk.advance(), Some(Change::ReplaceAbandon));
    let failure = talk.reflector.last_failure().unwrap();
    assert_eq!(failure.failure, Failure::NoEndBookmark);
    assert_eq!(talk.next(), "list 0 500 -");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "list 0 500 -");
}

/// Events that keep coming hide the missing bookmark until the server ends the watch.
#[test]
fn a_busy_stream_that_ends_without_its_bookmark_is_given_up_for_good() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    for round in 0..2 {
        // Once may be chance.
        assert_eq!(talk.next(), "watch  true", "round {round}");
        talk.say(Fact::Opened);
        for _ in 0..4 {
            talk.sleep(10);
            talk.say(Fact::Added(pod("5")));
            talk.advance();
        }
        talk.say(Fact::Closed);
    }
    assert_eq!(talk.next(), "list 0 500 -");
}

/// What a stream did before a full state was read says nothing about the streams after it.
#[test]
fn a_full_state_makes_up_for_a_stream_without_its_bookmark() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    let unannounced = |talk: &mut Conversation| {
        talk.say(Fact::Opened);
        for _ in 0..4 {
            talk.sleep(10);
            talk.say(Fact::Added(pod("5")));
        }
        talk.say(Fact::Closed);
    };
    assert_eq!(talk.next(), "watch  true");
    unannounced(&mut talk);
    assert_eq!(talk.next(), "watch  true");
    talk.say(Fact::Opened);
    talk.say(Fact::InitialEnd { version: "9" });
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "watch 9 true");
    unannounced(&mut talk);
    assert_eq!(talk.next(), "watch 9 true");
}

#[test]
fn client_go_waits_for_the_end_bookmark_and_for_bytes_for_ever() {
    let mut talk = Conversation::new(ReflectorConfig::client_go());
    talk.next();
    talk.say(Fact::Opened);
    assert_eq!(talk.reflector.next_deadline(), None);
    talk.say(Fact::InitialEnd { version: "9" });
    assert_eq!(talk.reflector.next_deadline(), None);
}

#[test]
fn a_silent_watch_is_opened_again_from_where_it_was() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    talk.say(Fact::Opened);
    talk.say(Fact::InitialEnd { version: "9" });
    talk.sleep(150);
    talk.reflector.hear(talk.exchange.unwrap(), talk.now);
    talk.sleep(199);
    assert_eq!(talk.advance(), None);
    assert_eq!(talk.reflector.failures(), 0, "it was heard of 199 s ago");
    talk.sleep(1);
    let dead = talk.exchange;
    assert_eq!(talk.advance(), None);
    let abort = talk.reflector.poll_command(talk.now);
    assert_eq!(abort, dead.map(Command::Abort));
    assert_eq!(talk.next(), "watch 9 false");
    assert!(talk.reflector.is_live());
}

/// A transport may hold lists back, so the clock of a list starts with its answer.
#[test]
fn a_silent_list_is_begun_again_but_not_before_it_was_answered() {
    let mut talk = Conversation::new(ReflectorConfig {
        first_state: FirstState::Listed,
        ..ReflectorConfig::new()
    });
    talk.next();
    assert_eq!(talk.reflector.next_deadline(), None);
    talk.say(Fact::Opened);
    talk.sleep(200);
    assert_eq!(talk.advance(), Some(Change::ReplaceAbandon));
    assert_eq!(
        talk.reflector.last_failure().unwrap().failure,
        Failure::Idle
    );
}

/// The same holds for streamed states, which are as much work for the server.
#[test]
fn a_stream_that_is_held_back_does_not_time_out() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    assert_eq!(talk.next(), "watch  true");
    assert_eq!(talk.reflector.next_deadline(), None);
    talk.sleep(10_000);
    assert_eq!(talk.advance(), None);
    assert_eq!(talk.reflector.failures(), 0);
    talk.say(Fact::Opened);
    talk.sleep(29);
    assert_eq!(talk.advance(), None);
    talk.sleep(1);
    assert_eq!(talk.advance(), Some(Change::ReplaceAbandon));
}

/// A server that ends streams early has not had the time that an announcement takes, however long the
/// request was held back.
#[test]
fn time_in_which_a_stream_was_held_back_is_not_held_against_the_server() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    for _ in 0..3 {
        assert_eq!(talk.next(), "watch  true");
        talk.sleep(40);
        talk.say(Fact::Opened);
        talk.say(Fact::Added(pod("1")));
        talk.sleep(1);
        talk.say(Fact::Closed);
        assert_eq!(
            talk.reflector.last_failure().unwrap().failure,
            Failure::Broken
        );
        talk.sleep(120);
        let _ = talk.advance();
    }
}

#[test]
fn an_untaken_command_never_times_out() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    assert_eq!(talk.reflector.next_deadline(), None);
    talk.sleep(10_000);
    assert_eq!(talk.advance(), None);
    assert_eq!(talk.next(), "watch  true");
    talk.say(Fact::Opened);
    assert_eq!(talk.advance(), None);
}

#[test]
fn internal_errors_are_retried_at_a_bearable_pace_while_the_window_is_open() {
    let mut talk = Conversation::new(ReflectorConfig {
        first_state: FirstState::Listed,
        internal_retry: Some(Duration::from_secs(30)),
        ..ReflectorConfig::client_go()
    });
    talk.next();
    talk.list("10", None);
    let mut retries = 0;
    loop {
        assert_eq!(talk.next(), "watch 10 false");
        talk.say(Fact::Opened);
        talk.fail(Failure::Internal);
        if matches!(
            talk.reflector.phase(),
            Phase::Waiting {
                then: AfterWait::FullState,
                ..
            }
        ) {
            break;
        }
        retries += 1;
        talk.sleep(1);
    }
    // The first few at once, then one every three seconds, for thirty seconds.
    assert_eq!(retries, 14);
}

/// The window is for watches that were answered.
#[test]
fn an_internal_error_instead_of_an_answer_is_not_retried() {
    let mut talk = Conversation::new(ReflectorConfig {
        first_state: FirstState::Listed,
        internal_retry: Some(Duration::from_secs(30)),
        ..ReflectorConfig::client_go()
    });
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "list 10 0 -");
}

/// A stream that breaks is opened again at once, once for each full state.
#[test]
fn a_full_state_that_was_read_makes_up_for_a_broken_stream() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    for version in ["10", "20"] {
        talk.say(Fact::Opened);
        talk.say(Fact::Added(pod("5")));
        talk.fail(Failure::Broken);
        assert!(matches!(talk.reflector.phase(), Phase::Streaming { .. }));
        talk.next();
        talk.say(Fact::Opened);
        talk.say(Fact::InitialEnd { version });
        // Later, so that there are tokens for what follows at once.
        talk.sleep(60);
        talk.fail(Failure::Expired);
        talk.next();
    }
}

/// The watch behind a streamed state begins where that ends, however long it took.
#[test]
fn a_watch_that_ends_right_behind_a_streamed_state_is_short() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    talk.say(Fact::Opened);
    talk.sleep(20);
    talk.say(Fact::InitialEnd { version: "9" });
    talk.say(Fact::Closed);
    let failure = talk.reflector.last_failure().unwrap();
    assert_eq!(failure.failure, Failure::ShortWatch);
    assert_eq!(talk.next(), "watch 9 true");
}

/// That a watch was short is said only where nothing better is known.
#[test]
fn a_watch_that_breaks_at_once_is_told_by_what_broke_it() {
    for (end, told) in [
        (Some(Failure::Broken), Failure::Broken),
        (Some(Failure::TimedOut), Failure::TimedOut),
        (None, Failure::ShortWatch),
    ] {
        let mut talk = Conversation::listed();
        talk.next();
        talk.list("10", None);
        assert_eq!(talk.next(), "watch 10 false");
        talk.say(Fact::Opened);
        match end {
            Some(failure) => talk.fail(failure),
            None => talk.say(Fact::Closed),
        };
        assert_eq!(talk.reflector.last_failure().unwrap().failure, told);
        assert_eq!(talk.next(), "list 10 0 -");
    }
}

/// A connection that has died says nothing about the version. Where watches never pass, the full state
/// is read from time to time all the same.
#[test]
fn an_unanswered_watch_is_asked_for_once_more() {
    let listed = |config| ReflectorConfig {
        first_state: FirstState::Listed,
        ..config
    };
    let mut talk = Conversation::new(listed(ReflectorConfig::new()));
    talk.next();
    talk.list("10", None);
    for _ in 0..2 {
        assert_eq!(talk.next(), "watch 10 false");
        talk.fail(Failure::Broken);
        assert_eq!(talk.next(), "watch 10 false");
        talk.say(Fact::Opened);
        talk.sleep(2);
        talk.fail(Failure::Broken);
    }
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Broken);
    assert_eq!(talk.next(), "watch 10 false");
    for _ in 0..2 {
        talk.fail(Failure::Broken);
        assert_eq!(talk.next(), "list 10 0 -");
        talk.list("10", None);
        assert_eq!(talk.next(), "watch 10 false");
    }
    // An answered stream is an answer, too.
    let mut talk = Conversation::new(ReflectorConfig::new());
    for request in ["watch  true", "watch 9 true"] {
        assert_eq!(talk.next(), request);
        talk.say(Fact::Opened);
        talk.say(Fact::InitialEnd { version: "9" });
        talk.sleep(2);
        talk.say(Fact::Closed);
        for _ in 0..2 {
            assert_eq!(talk.next(), "watch 9 false");
            talk.fail(Failure::Broken);
        }
    }
    // client-go does not ask again.
    let mut talk = Conversation::new(listed(ReflectorConfig::client_go()));
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Broken);
    assert_eq!(talk.next(), "list 10 0 -");
}

#[test]
fn stop_aborts_what_is_under_way_and_is_final() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.say(Fact::Opened);
    talk.reflector.stop(talk.now);
    assert_eq!(talk.next(), "abort");
    assert_eq!(talk.say(Fact::Item(pod("1"))), None);
    talk.reflector.start(talk.now);
    assert_eq!(talk.next(), "nothing");
    assert_eq!(talk.reflector.phase(), Phase::Stopped);
    // What was never taken need not be aborted.
    let mut talk = Conversation::listed();
    talk.reflector.stop(talk.now);
    assert_eq!(talk.next(), "nothing");
}

#[test]
fn bad_configurations_are_named() {
    let with = |change: fn(&mut ReflectorConfig)| {
        let mut config = ReflectorConfig::new();
        change(&mut config);
        Reflector::<Heap>::new(config, 1).map(|_| ()).unwrap_err()
    };
    assert_eq!(
        with(|config| config.idle = Some(Duration::ZERO)).to_string(),
        "`reflector.idle` must be at least a microsecond"
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

/// The server is asked to end watches at random times, of whole seconds.
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
        assert!(seen.len() > 100, "only {} different ones", seen.len());
    }
}

/// What was used of an interrupted state may be newer than what another server would list at the
/// version we know.
#[test]
fn a_state_that_was_used_in_part_is_followed_by_the_newest() {
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
