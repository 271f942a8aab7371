//! Conversations of a reflector with a server: streamed full states.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use conversation::{Conversation, pod};
use informer_core::Failure;
use informer_core::flow::{Change, Fact};
use informer_core::reflector::{Phase, ReflectorConfig};

#[test]
fn a_streamed_state_continues_as_a_watch_on_the_same_exchange() {
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
        "no version is adopted before the end bookmark"
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
    // The watch fails. The next attempt streams again, from the known version.
    talk.fail(Failure::Internal);
    assert_eq!(talk.next(), "watch 12 true");
}

/// After other failures the next attempt streams again. Only a missing end bookmark is remembered.
#[test]
fn streaming_is_given_up_for_good_after_a_state_without_an_end_bookmark() {
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

/// While events keep arriving, the missing bookmark shows only when the server ends the stream.
#[test]
fn streaming_is_given_up_after_two_busy_streams_without_an_end_bookmark() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    for round in 0..2 {
        // One stream without its bookmark may be chance.
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

#[test]
fn a_full_state_resets_the_count_of_streams_without_an_end_bookmark() {
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
fn with_client_go_there_is_no_timeout_for_the_end_bookmark_or_for_bytes() {
    let mut talk = Conversation::new(ReflectorConfig::client_go());
    talk.next();
    talk.say(Fact::Opened);
    assert_eq!(talk.reflector.next_deadline(), None);
    talk.say(Fact::InitialEnd { version: "9" });
    assert_eq!(talk.reflector.next_deadline(), None);
}

/// The transport may hold a request back, so its timeouts start with the answer.
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

/// A server that ends streams early did not have the time to send the end bookmark, even if the transport
/// held the request back for long.
#[test]
fn the_time_before_the_answer_does_not_count_for_the_end_bookmark() {
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

/// A broken stream is opened again at once, one time per full state.
#[test]
fn a_full_state_resets_the_count_of_broken_streams() {
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
        // Wait for the pace, so that the next requests are immediate.
        talk.sleep(60);
        talk.fail(Failure::Expired);
        talk.next();
    }
}

/// The time of the watch starts at the end of the streamed state, even if that took long.
#[test]
fn a_watch_that_ends_right_after_a_streamed_state_is_short() {
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
