//! Log events of elections. A program of its own: tests beside it that log nothing would hide events.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Log events.
#[path = "world/logged.rs"]
#[allow(
    unreachable_pub,
    dead_code,
    reason = "other tests use this module, too"
)]
mod logged;

// Replicas, their lines to the server, and time.
#[path = "election/place.rs"]
#[allow(dead_code, reason = "other tests use this module, too")]
mod place;

use std::time::Duration;

use logged::{logged, saying};
use place::{DEADLINE, DURATION, FORBIDDEN, Place, Way};

#[test]
fn leadership_is_logged_when_it_changes_and_a_failure_once() {
    let lines = logged(|| {
        let place = Place::new();
        let a = place.replica("a");
        place.pass(Duration::from_secs(60));
        a.line.set(Way::Writes(403, FORBIDDEN));
        place.pass(DEADLINE + DURATION);
        a.line.set(Way::Open);
        place.pass(DURATION);
        drop(a.election.stop());
        place.settle();
    });
    let count = |text| saying(&lines, text).len();
    assert_eq!(count("this replica leads"), 2, "{lines:?}");
    assert_eq!(count("leadership was lost"), 1, "{lines:?}");
    assert_eq!(count("this replica gives up leadership"), 1, "{lines:?}");
    assert_eq!(count("a request for the lease failed"), 1, "{lines:?}");
    for line in &lines {
        assert_eq!(line.get("lease"), Some("web/shop"), "{line:?}");
        assert_eq!(line.get("identity"), Some("a"), "{line:?}");
    }
}
