//! Conversations of a reflector with a server: back-off, timeouts and retries of watches.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use core::time::Duration;

use conversation::Conversation;
use informer_core::Failure;
use informer_core::flow::{Change, Fact};
use informer_core::reflector::{AfterWait, FirstState, Phase, ReflectorConfig};
use informer_core::transport::Command;

/// Four failures lead to four growing delays, and no list.
#[test]
fn throttling_and_refused_connections_do_not_relist() {
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
fn retry_after_is_honoured_up_to_five_minutes() {
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
fn a_silent_watch_continues_at_the_last_version() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    talk.say(Fact::Opened);
    talk.say(Fact::InitialEnd { version: "9" });
    talk.sleep(150);
    talk.reflector.hear(talk.exchange.unwrap(), talk.now);
    talk.sleep(199);
    assert_eq!(talk.advance(), None);
    assert_eq!(
        talk.reflector.failures(),
        0,
        "the last byte arrived 199 s ago"
    );
    talk.sleep(1);
    let dead = talk.exchange;
    assert_eq!(talk.advance(), None);
    let abort = talk.reflector.poll_command(talk.now);
    assert_eq!(abort, dead.map(Command::Abort));
    assert_eq!(talk.next(), "watch 9 false");
    assert!(talk.reflector.is_live());
}

/// The transport may hold lists back, so the idle timeout of a list starts with its answer.
#[test]
fn a_silent_list_starts_again_but_not_before_its_answer() {
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
fn internal_errors_are_retried_with_a_pace_while_the_window_is_open() {
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
    // The first few are immediate, then there is one every three seconds, for thirty seconds.
    assert_eq!(retries, 14);
}

/// The retry window applies only to answered watches.
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

/// `ShortWatch` is reported only if there is no other failure.
#[test]
fn a_watch_that_breaks_at_once_reports_its_failure() {
    for (end, reported) in [
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
        assert_eq!(talk.reflector.last_failure().unwrap().failure, reported);
        assert_eq!(talk.next(), "list 10 0 -");
    }
}

/// A dead connection says nothing about the version. If watches never get an answer, the reflector still
/// relists from time to time.
#[test]
fn an_unanswered_watch_is_retried_once() {
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
    // A streamed state counts as an answered watch.
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
    // client-go does not retry.
    let mut talk = Conversation::new(listed(ReflectorConfig::client_go()));
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::Broken);
    assert_eq!(talk.next(), "list 10 0 -");
}
