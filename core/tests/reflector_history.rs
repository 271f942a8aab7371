//! What a reflector remembers of its requests and failures.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use core::time::Duration;

use conversation::{Conversation, pod};
use informer_core::Failure;
use informer_core::flow::Fact;

/// The first full state is no relist, and failures on the way to a full state are not its cause.
#[test]
fn a_relist_is_counted_by_what_made_it_necessary() {
    let mut talk = Conversation::listed();
    talk.next();
    talk.fail(Failure::Unreachable);
    talk.next();
    talk.sleep(2);
    talk.say(Fact::Opened);
    talk.say(Fact::Item(pod("7")));
    talk.list("8", None);
    let history = *talk.reflector.history();
    assert_eq!((history.lists, history.watches), (2, 0));
    assert_eq!(history.relists.iter().count(), 0);
    let state = history.full_state.unwrap();
    assert_eq!((state.items, state.took), (1, Duration::from_secs(2)));

    for failure in [Failure::Expired, Failure::Unavailable, Failure::Unavailable] {
        talk.next();
        talk.fail(failure);
    }
    talk.next();
    let relists = talk.reflector.history().relists;
    assert_eq!(relists.iter().count(), 0, "it is not complete");
    talk.list("9", None);
    let history = *talk.reflector.history();
    assert!(history.relists.iter().eq([(Failure::Expired, 1)]));
    assert!(history.failures.iter().eq([
        (Failure::Expired, 1),
        (Failure::Unreachable, 1),
        (Failure::Unavailable, 2)
    ]));
    assert_eq!((history.lists, history.watches), (5, 1));
}
