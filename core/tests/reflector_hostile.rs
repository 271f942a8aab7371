//! A reflector and a hostile or broken server. The reflector limits its pace of requests, and recovers as
//! soon as the server behaves again.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use core::time::Duration;
use std::collections::VecDeque;

use conversation::{Conversation, pod};
use informer_core::flow::{Change, Fact, Place, Rejected};
use informer_core::reflector::{AfterWait, FirstState, Phase, ReflectorConfig};
use informer_core::{Failure, Instant, MAX_VERSION};
use informer_test_support::Random;

/// The most requests in any minute: five at once, then one every three seconds.
const A_MINUTE: usize = 25;

/// Finds the minute with the most requests.
#[derive(Default)]
struct Minute {
    times: VecDeque<Instant>,
    most: usize,
}

impl Minute {
    fn request(&mut self, now: Instant) {
        self.times.push_back(now);
        while self.times[0].after(Duration::from_secs(60)) < now {
            self.times.pop_front();
        }
        self.most = self.most.max(self.times.len());
    }
}

/// A reflector that has listed version 10 and watches from there.
fn watching() -> Conversation {
    let mut talk = Conversation::new(ReflectorConfig {
        first_state: FirstState::Listed,
        ..ReflectorConfig::new()
    });
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.say(Fact::Opened);
    talk
}

fn unknown<'a>() -> Fact<'a, conversation::Pod> {
    Fact::Rejected(Rejected {
        place: Place::Unknown,
        key: None,
        uid: "",
        version: "",
        reason: "an event of an unknown type",
    })
}

/// Even watches with events are paced if they end at once.
#[test]
fn watches_that_end_at_once_are_paced() {
    let brings: [fn() -> Fact<'static, conversation::Pod>; 3] = [
        || Fact::Bookmark { version: "11" },
        || Fact::Modified(pod("11")),
        unknown,
    ];
    for bring in brings {
        for is_closed in [true, false] {
            let mut talk = watching();
            let mut minute = Minute::default();
            for nth in 0..100 {
                talk.say(bring());
                match is_closed {
                    true => talk.say(Fact::Closed),
                    false => talk.fail(Failure::Broken),
                };
                assert!(talk.reflector.is_live(), "a paced watch does not relist");
                if nth > 5 {
                    let Phase::Waiting { until, cause, then } = talk.reflector.phase() else {
                        panic!("{:?}", talk.reflector);
                    };
                    assert_eq!(until.since(talk.now), Duration::from_secs(3));
                    assert_eq!((cause, then), (Failure::TooFast, AfterWait::Watch));
                    assert_eq!(talk.reflector.next_deadline(), Some(until));
                }
                let request = talk.next();
                assert!(request.starts_with("watch 1"), "{request}");
                minute.request(talk.now);
                talk.say(Fact::Opened);
            }
            assert!((20..=A_MINUTE).contains(&minute.most), "{}", minute.most);
        }
    }
}

/// A request that is held back is returned when it is due, and once.
#[test]
fn a_request_that_is_held_back_is_returned_when_it_is_due() {
    let mut talk = watching();
    for _ in 0..4 {
        assert_eq!(talk.reflector.phase(), Phase::Watching);
        talk.next();
        talk.say(Fact::Opened);
        talk.say(Fact::Modified(pod("11")));
        talk.say(Fact::Closed);
    }
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
    let due = talk.reflector.next_deadline().unwrap();
    talk.now = Instant::from_micros(due.as_micros() - 1);
    talk.advance();
    assert_eq!(talk.reflector.poll_command(talk.now), None);
    // `advance` clears the deadline, and the command can be taken once.
    talk.now = due;
    talk.advance();
    assert_eq!(talk.reflector.next_deadline(), None);
    assert_eq!(talk.reflector.phase(), Phase::Watching);
    assert!(talk.reflector.poll_command(talk.now).is_some());
    assert_eq!(talk.reflector.poll_command(talk.now), None);
}

/// If full states keep failing, the phase shows their failure instead of `TooFast`.
#[test]
fn a_wait_for_a_full_state_names_the_failure() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    let mut held = 0;
    for _ in 0..40 {
        // A streamed state that fails leads to a list at once, and that to a list at the newest version.
        let failure = match talk.next().ends_with(" true") {
            true => Failure::Forbidden,
            false => Failure::Expired,
        };
        talk.fail(failure);
        if let Phase::Waiting { cause, .. } = talk.reflector.phase() {
            assert_eq!(cause, failure);
            held += usize::from(talk.reflector.request().is_some());
        }
    }
    assert!(held > 0, "no request was held back");
}

#[test]
fn watches_of_normal_length_are_not_paced() {
    let mut talk = watching();
    for _ in 0..50 {
        talk.sleep(3);
        talk.say(Fact::Closed);
        assert_eq!(talk.reflector.phase(), Phase::Watching);
        assert_eq!(talk.next(), "watch 10 false");
        talk.say(Fact::Opened);
    }
}

/// Sends one of the answers that a server can send.
fn say_something(talk: &mut Conversation, random: &mut Random, habit: u64) {
    let token = random.below(1_000).to_string();
    let token = [None, Some("t"), Some(&*token)][random.below(3) as usize];
    // A habit causes long runs of the same answer, which purely random answers would not.
    let what = match random.below(4) {
        0 => random.below(16),
        _ => habit,
    };
    talk.say(Fact::Opened);
    talk.now = talk.now.after(Duration::from_millis(random.below(400)));
    match what {
        0 => talk.list("12", None),
        1 => talk.list("12", token),
        2 => talk.say(Fact::InitialEnd { version: "12" }),
        3 => talk.say(Fact::InitialEnd { version: "" }),
        4 => {
            talk.say(Fact::Bookmark { version: "garbage" });
            talk.say(Fact::Closed)
        }
        5 => {
            talk.say(Fact::Added(pod("13")));
            talk.say(Fact::Closed)
        }
        6 => {
            talk.sleep(1 + random.below(3));
            talk.say(Fact::Closed)
        }
        7 => talk.fail(Failure::Expired),
        8 => talk.fail(Failure::VersionTooLarge),
        9 => talk.fail(Failure::Invalid),
        10 => talk.fail(Failure::Internal),
        11 => talk.fail(Failure::Broken),
        12 => talk.fail(Failure::TimedOut),
        13 => talk.fail(Failure::Undecodable),
        14 => talk.fail(Failure::NoEndBookmark),
        _ => talk.fail(Failure::Throttled { retry_after: None }),
    };
}

/// No sequence of answers avoids the pace, in either preset.
#[test]
fn no_server_gets_more_than_25_requests_in_a_minute() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let config = match seed % 2 {
            0 => ReflectorConfig::new(),
            _ => ReflectorConfig {
                internal_retry: Some(Duration::from_secs(30)),
                ..ReflectorConfig::client_go()
            },
        };
        let first_state = match seed % 3 {
            0 => FirstState::Listed,
            _ => FirstState::Streamed,
        };
        let mut talk = Conversation::new(ReflectorConfig {
            first_state,
            ..config
        });
        let mut minute = Minute::default();
        let mut habit = random.below(16);
        for _ in 0..500 {
            if talk.next() != "nothing" {
                minute.request(talk.now);
            }
            if random.below(50) == 0 {
                habit = random.below(16);
            }
            say_something(&mut talk, &mut random, habit);
        }
        assert!(minute.most <= A_MINUTE, "seed {seed}: {}", minute.most);
    }
}

fn last_failure(talk: &Conversation) -> (Failure, String) {
    let last = talk.reflector.last_failure().unwrap();
    (last.failure, last.message.clone())
}

#[test]
fn a_repeated_continue_token_is_an_error() {
    let mut talk = Conversation::listed();
    for _ in 0..3 {
        assert_eq!(talk.next(), "list 0 500 -");
        talk.list("10", Some("again"));
        assert_eq!(talk.next(), "list  500 again");
        assert_eq!(
            talk.list("10", Some("again")),
            Some(Change::ReplaceAbandon),
            "the pages so far are not a full state"
        );
        let (failure, message) = last_failure(&talk);
        assert_eq!(failure, Failure::Undecodable);
        assert!(
            message.contains("continue token of an earlier"),
            "{message}"
        );
        assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
    }
    // The server behaves again.
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
}

/// Answers lists with empty pages that never end, until a request asks for one piece. Returns the number of
/// pages.
fn pages_without_end(talk: &mut Conversation) -> usize {
    let mut pages = 0;
    let mut request = talk.next();
    while request.starts_with("list ") && !request.ends_with(" 0 -") && pages < 1_000 {
        talk.list("10", Some(&format!("t{pages}")));
        pages += 1;
        request = talk.next();
    }
    pages
}

/// Empty pages are paced and limited. Full pages are not paced.
#[test]
fn a_list_without_an_end_is_requested_in_one_piece() {
    let mut talk = Conversation::listed();
    let began = talk.now;
    assert_eq!(pages_without_end(&mut talk), 100);
    assert!(talk.now.since(began) > Duration::from_secs(250));
    assert_eq!(last_failure(&talk).0, Failure::Undecodable);
    // If the server sends pages again, that is an error, and the next list is in one piece as well.
    for _ in 0..3 {
        talk.list("10", Some("t"));
        let (failure, message) = last_failure(&talk);
        assert_eq!(failure, Failure::Undecodable);
        assert!(message.contains("does not end"), "{message}");
        assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
        assert_eq!(talk.next(), "list 0 0 -");
    }
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
}

#[test]
fn full_pages_are_not_paced() {
    let mut talk = Conversation::listed();
    talk.next();
    for page in 0..50 {
        talk.say(Fact::Opened);
        for _ in 0..250 {
            talk.say(Fact::Item(pod("1")));
        }
        talk.list("10", Some(&format!("t{page}")));
        assert!(matches!(talk.reflector.phase(), Phase::Listing { .. }));
        assert_eq!(talk.next(), format!("list  500 t{page}"));
    }
}

#[test]
fn a_version_that_the_server_rejects_is_forgotten() {
    let mut talk = watching();
    talk.say(Fact::Bookmark { version: "garbage" });
    talk.say(Fact::Closed);
    assert_eq!(talk.next(), "watch garbage false");
    talk.fail(Failure::Invalid);
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
    assert_eq!(talk.next(), "list  500 -");
    talk.list("12", None);
    assert_eq!(talk.next(), "watch 12 false");
    // The server rejects a list at the version.
    talk.say(Fact::Opened);
    talk.say(Fact::Bookmark { version: "garbage" });
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list garbage 0 -");
    talk.fail(Failure::Invalid);
    assert_eq!(talk.next(), "list  500 -");
}

/// The server may reject a streamed state because it is streamed, so a list at the same version decides.
#[test]
fn a_version_is_forgotten_after_the_stream_and_the_list_are_rejected() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    talk.next();
    talk.say(Fact::Opened);
    talk.say(Fact::InitialEnd { version: "garbage" });
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "watch garbage true");
    talk.fail(Failure::Invalid);
    assert_eq!(talk.next(), "list garbage 0 -");
    talk.fail(Failure::Invalid);
    assert_eq!(talk.next(), "watch  true");
}

/// A request without a version is not rejected because of one, so the cheap list stays.
#[test]
fn a_rejected_request_without_a_version_is_repeated_unchanged() {
    let mut talk = Conversation::listed();
    for _ in 0..3 {
        assert_eq!(talk.next(), "list 0 500 -");
        talk.fail(Failure::Invalid);
    }
}

/// After a rejected token, or one that is too long, the reflector lists in one piece.
#[test]
fn a_continue_token_that_the_server_rejects_is_forgotten() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.list("10", Some("t"));
    assert_eq!(talk.next(), "list  500 t");
    talk.fail(Failure::Invalid);
    assert_eq!(talk.next(), "list 0 0 -");
    talk.fail(Failure::Invalid);
    assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
    talk.next();
    talk.list("10", Some(&"t".repeat(4_097)));
    assert_eq!(talk.next(), "list 0 0 -");
}

#[test]
fn a_version_that_is_too_long_is_not_adopted() {
    let longest = "1".repeat(MAX_VERSION);
    let long = "1".repeat(MAX_VERSION + 1);
    let mut talk = watching();
    talk.say(Fact::Bookmark { version: &long });
    assert_eq!(talk.reflector.version(), Some("10"));
    talk.say(Fact::Modified(pod(&long)));
    talk.say(Fact::Added(pod(&long)));
    assert_eq!(talk.reflector.version(), Some("10"));
    talk.say(Fact::Bookmark { version: &longest });
    assert_eq!(talk.reflector.version(), Some(&*longest));

    // For a list it is an error.
    let mut talk = Conversation::listed();
    for _ in 0..3 {
        assert_eq!(talk.next(), "list 0 500 -");
        talk.list(&long, None);
        let (failure, message) = last_failure(&talk);
        assert_eq!(failure, Failure::Undecodable);
        assert!(message.contains("128 bytes"), "{message}");
        assert!(matches!(talk.reflector.phase(), Phase::Waiting { .. }));
    }
    talk.next();
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
}

/// Without a version there is nothing to watch from: the version known before is too old.
#[test]
fn a_streamed_state_whose_end_has_no_version_is_listed() {
    let long = "1".repeat(MAX_VERSION + 1);
    for version in ["", &long] {
        let mut talk = Conversation::new(ReflectorConfig::new());
        talk.next();
        talk.say(Fact::Opened);
        let end = talk.say(Fact::InitialEnd { version });
        assert_eq!(end, Some(Change::ReplaceAbandon));
        assert!(!talk.reflector.is_live());
        assert_eq!(talk.next(), "list 0 500 -");
        let (failure, message) = last_failure(&talk);
        assert_eq!(failure, Failure::Undecodable);
        assert!(message.contains("has no version"), "{message}");
    }
}

/// The reflector lists instead, and does not stream again.
#[test]
fn a_streamed_state_whose_events_never_end_is_given_up() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    assert_eq!(talk.next(), "watch  true");
    talk.say(Fact::Opened);
    let began = talk.now;
    // Half of the time a listener stalls the stream, which is not the server's fault.
    while talk.reflector.failures() == 0 && talk.now.since(began) < Duration::from_secs(3_600) {
        talk.reflector.hear(talk.exchange.unwrap(), talk.now);
        talk.say(Fact::Added(pod("1")));
        talk.sleep(10);
        let held_up = Duration::from_secs(5);
        talk.reflector.excuse_silence(held_up, talk.now);
        talk.advance();
    }
    assert_eq!(talk.now.since(began), Duration::from_secs(1_200));
    assert_eq!(last_failure(&talk).0, Failure::NoEndBookmark);
    assert_eq!(talk.next(), "list 0 500 -");
    talk.list("10", None);
    assert_eq!(talk.next(), "watch 10 false");
    talk.say(Fact::Opened);
    talk.fail(Failure::Expired);
    assert_eq!(talk.next(), "list 10 0 -");
}
