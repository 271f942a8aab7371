//! Messages for people are on one line and contain no control characters.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod hand;

use hand::{Hand, listed};
use informer_core::decode::answer::failure_of_answer;
use informer_core::decode::{Body, Decode as _, Decoder, Typed};
use informer_core::flow::Fact;
use informer_core::reflector::{AfterWait, Phase};
use informer_core::{Encoding, Failure, Instant};

/// Clears the screen, starts a new line, and reverses the direction of the text after it.
const NASTY: &str = "gone\u{1b}[2J\u{9b}31m\nnow\u{202e}\u{7f}";
const HARMLESS: &str = r"gone\u{1b}[2J\u{9b}31m now\u{202e}\u{7f}";

fn last_message(hand: &Hand) -> String {
    hand.informer.status().last_failure.unwrap().message.clone()
}

#[test]
fn the_message_of_an_unsuccessful_answer_is_printable() {
    let status = serde_json::json!({"kind": "Status", "code": 500, "message": NASTY}).to_string();
    assert_eq!(failure_of_answer(500, status.as_bytes(), None).1, HARMLESS);
    let (_, message) = failure_of_answer(502, NASTY.as_bytes(), None);
    assert_eq!(message, format!("HTTP 502: {HARMLESS}"));
}

#[test]
fn the_message_of_an_error_event_is_printable() {
    let mut hand = Hand::synced(listed(), &[]);
    let status = serde_json::json!({"kind": "Status", "code": 500, "message": NASTY}).to_string();
    hand.event("ERROR", &status);
    assert_eq!(last_message(&hand), HARMLESS);
}

#[test]
fn the_message_of_a_transport_is_printable_and_bounded() {
    let mut hand = Hand::synced(listed(), &[]);
    hand.fail(Failure::Broken, NASTY);
    assert_eq!(last_message(&hand), HARMLESS);
    hand.wait();
    hand.fail(Failure::Broken, &"\u{1b}".repeat(1000));
    assert!(last_message(&hand).len() <= 512);
}

#[test]
fn the_reason_of_a_rejected_object_is_printable() {
    #[derive(serde::Deserialize)]
    struct Door {
        #[serde(rename = "state")]
        _state: State,
    }
    #[derive(serde::Deserialize)]
    enum State {
        Open,
    }
    let object = serde_json::json!({"metadata": {"name": "a"}, "state": NASTY});
    let event = format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n");
    let mut decoder = Decoder::new(Typed::<Door>::new());
    decoder.begin(Body::Watch, Encoding::Json);
    let Some(Fact::Rejected(rejected)) = decoder.decode(&mut event.as_bytes()) else {
        panic!("there is no such state");
    };
    assert!(rejected.reason.contains(HARMLESS), "{:?}", rejected.reason);
}

#[test]
fn failures_do_not_claim_more_than_is_known() {
    // Names, proxies and certificates fail with this class too.
    assert_eq!(
        Failure::Unreachable.describe(),
        "the server could not be reached"
    );
    // Not every resource has a CRD, and other rights can be missing too.
    assert!(
        Failure::NotFound
            .describe()
            .contains("the CRD of a custom one")
    );
    assert!(Failure::Forbidden.describe().contains("usually"));
}

#[test]
fn a_phase_is_a_few_words() {
    let until = Instant::from_micros(3_871_670);
    let waiting = |then| Phase::Waiting {
        until,
        cause: Failure::Unreachable,
        then,
    };
    for (phase, words) in [
        (Phase::Idle, "not started"),
        (
            Phase::Listing {
                items: 500,
                remaining: None,
            },
            "listing, 500 received",
        ),
        (
            Phase::Listing {
                items: 500,
                remaining: Some(7),
            },
            "listing, 500 received, 7 to come",
        ),
        (
            Phase::Streaming { items: 3 },
            "streaming the state, 3 received",
        ),
        (Phase::Watching, "watching"),
        (
            waiting(AfterWait::Watch),
            "waiting to watch: the server could not be reached",
        ),
        (
            waiting(AfterWait::FullState),
            "waiting to read the state: the server could not be reached",
        ),
        (
            waiting(AfterWait::Stream),
            "waiting to stream the state: the server could not be reached",
        ),
        (Phase::Stopped, "stopped"),
    ] {
        assert_eq!(phase.to_string(), words);
    }
}
