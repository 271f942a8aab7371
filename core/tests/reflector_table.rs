//! Every phase × every fact, one row per cell.
//!
//! A row has a phase, a fact, and the result: the next phase, the change, the commands and the version.
//! The reflector knows version 10 in each phase, unless the name of the phase says otherwise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod conversation;

use conversation::pod;
use conversation::scene::{Scene, check, failed, page, rejected};
use informer_core::Failure;
use informer_core::flow::{Fact, Place};

const THROTTLED: Failure = Failure::Throttled { retry_after: None };

/// Phases without an exchange ignore every fact.
#[test]
fn idle_waiting_and_stopped_ignore_every_fact() {
    for (phase, stays) in [
        ("idle", "idle | - | - | "),
        ("waiting", "wait, then full state | - | - | 10"),
        ("stopped", "stopped | - | - | 10"),
    ] {
        check(
            phase,
            &[
                (Fact::Opened, stays),
                (Fact::Item(pod("12")), stays),
                (page("20", None), stays),
                (page("20", Some("t")), stays),
                (Fact::Added(pod("12")), stays),
                (Fact::Modified(pod("12")), stays),
                (Fact::Deleted(pod("12")), stays),
                (Fact::Bookmark { version: "12" }, stays),
                (Fact::InitialEnd { version: "12" }, stays),
                (rejected(Place::Item, true), stays),
                (rejected(Place::Upsert, true), stays),
                (rejected(Place::Delete, true), stays),
                (rejected(Place::Unknown, false), stays),
                (Fact::Closed, stays),
                (failed(Failure::Expired), stays),
                (failed(Failure::Internal), stays),
            ],
        );
    }
}

#[test]
fn a_list_that_was_asked_for() {
    let leave = "wait, then full state | - | - | ";
    let retry = "listing | - | list \"\" 500 | ";
    check(
        "asked for list",
        &[
            (Fact::Opened, "listing | begin streamed=false | - | "),
            (Fact::Closed, leave),
            (failed(Failure::Expired), retry),
            (failed(Failure::VersionTooLarge), retry),
            (failed(THROTTLED), leave),
            (failed(Failure::Unreachable), leave),
            (failed(Failure::Credentials), leave),
            (failed(Failure::Unauthorized), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::NotFound), leave),
            (failed(Failure::Invalid), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Unavailable), leave),
            (failed(Failure::TimedOut), leave),
            (failed(Failure::Broken), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::Other), leave),
        ],
    );
}

#[test]
fn a_list_on_its_first_page() {
    let leave = "wait, then full state | abandon | - | ";
    let retry = "listing | abandon | list \"\" 500 | ";
    let stays = "listing | - | - | ";
    check(
        "listing",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), "listing | item | - | "),
            (page("20", None), "watching | end | watch \"20\" | 20"),
            (
                page("20", Some("t")),
                "listing | - | list \"\" 500 page t | ",
            ),
            (Fact::Added(pod("12")), stays),
            (Fact::Modified(pod("12")), stays),
            (Fact::Deleted(pod("12")), stays),
            (Fact::Bookmark { version: "12" }, stays),
            (Fact::InitialEnd { version: "12" }, stays),
            (
                rejected(Place::Item, true),
                "listing | unreadable true | - | ",
            ),
            (
                rejected(Place::Item, false),
                "listing | unreadable false | - | ",
            ),
            (Fact::Closed, leave),
            (failed(Failure::Expired), retry),
            (failed(Failure::VersionTooLarge), retry),
            (failed(THROTTLED), leave),
            (failed(Failure::Broken), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::TransformFailed), leave),
        ],
    );
}

/// The first page has the version of the list. An expired token leads to one list without pages, at the
/// version of the first request.
#[test]
fn a_list_on_a_later_page() {
    let leave = "wait, then full state | abandon | - | ";
    check(
        "listing page 2",
        &[
            (Fact::Opened, "listing | - | - | "),
            (Fact::Item(pod("12")), "listing | item | - | "),
            (page("20", None), "watching | end | watch \"10\" | 10"),
            (
                page("20", Some("t")),
                "listing | - | list \"\" 500 page t | ",
            ),
            (
                failed(Failure::Expired),
                "listing | abandon | list \"0\" all | ",
            ),
            (
                failed(Failure::VersionTooLarge),
                "listing | abandon | list \"\" 500 | ",
            ),
            (failed(Failure::Forbidden), leave),
            (Fact::Closed, leave),
        ],
    );
}

#[test]
fn a_streamed_state() {
    let list = "listing | abandon | list \"0\" 500 | ";
    let stays = "streaming | - | - | ";
    check(
        "streaming",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), stays),
            (page("20", None), stays),
            (Fact::Added(pod("12")), "streaming | item | - | "),
            (Fact::Modified(pod("12")), "streaming | item | - | "),
            (Fact::Deleted(pod("12")), "streaming | remove | - | "),
            (Fact::Bookmark { version: "12" }, stays),
            (
                Fact::InitialEnd { version: "12" },
                "watching | end | - | 12",
            ),
            (
                rejected(Place::Upsert, true),
                "streaming | unreadable true | - | ",
            ),
            (
                rejected(Place::Upsert, false),
                "streaming | unreadable false | - | ",
            ),
            (
                rejected(Place::Delete, true),
                "streaming | deleted unreadable | - | ",
            ),
            (
                rejected(Place::Delete, false),
                "listing | abandon | abort, list \"0\" 500 | ",
            ),
            (rejected(Place::Unknown, false), stays),
            // The stream ends at once without events: the server does not support it.
            (Fact::Closed, list),
            (failed(Failure::Broken), list),
            (
                failed(Failure::Expired),
                "streaming | abandon | stream \"\" | ",
            ),
            (
                failed(Failure::VersionTooLarge),
                "streaming | abandon | stream \"\" | ",
            ),
            (failed(THROTTLED), "wait, then stream | abandon | - | "),
            (
                failed(Failure::Unreachable),
                "wait, then stream | abandon | - | ",
            ),
            (
                failed(Failure::Credentials),
                "wait, then stream | abandon | - | ",
            ),
            (failed(Failure::Invalid), list),
            (failed(Failure::Internal), list),
            (failed(Failure::Forbidden), list),
            (failed(Failure::Undecodable), list),
            (failed(Failure::NoEndBookmark), list),
            (failed(Failure::Idle), list),
        ],
    );
    // The stream ends later: open it again.
    let again = "streaming | abandon | stream \"\" | ";
    check(
        "streaming, later",
        &[
            (Fact::Closed, again),
            (failed(Failure::Broken), again),
            (failed(Failure::TimedOut), again),
        ],
    );
}

#[test]
fn a_watch_that_was_asked_for() {
    let leave = "wait, then full state | - | - | 10";
    let again = "wait, then watch | - | - | 10";
    check(
        "asked for watch",
        &[
            (Fact::Opened, "watching | - | - | 10"),
            (failed(Failure::Unreachable), again),
            (failed(Failure::Credentials), again),
            (failed(THROTTLED), again),
            (failed(Failure::Expired), leave),
            (failed(Failure::VersionTooLarge), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::NotFound), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Unavailable), leave),
            (failed(Failure::TimedOut), leave),
            (failed(Failure::Broken), again),
            (failed(Failure::Other), leave),
            (failed(Failure::Idle), "watching | - | watch \"10\" | 10"),
        ],
    );
}

#[test]
fn a_watch() {
    let leave = "wait, then full state | - | - | 10";
    let stays = "watching | - | - | 10";
    check(
        "watching",
        &[
            (Fact::Opened, stays),
            (Fact::Item(pod("12")), stays),
            (page("20", None), stays),
            (Fact::Added(pod("12")), "watching | added | - | 12"),
            (Fact::Modified(pod("9")), "watching | updated | - | 9"),
            (Fact::Deleted(pod("12")), "watching | deleted | - | 12"),
            // An empty version is not adopted.
            (Fact::Modified(pod("")), "watching | updated | - | 10"),
            (
                Fact::Bookmark { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (
                Fact::InitialEnd { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (rejected(Place::Upsert, true), "watching | - | - | 13"),
            (rejected(Place::Unknown, false), "watching | - | - | 13"),
            (
                rejected(Place::Delete, true),
                "watching | deleted unreadable | - | 13",
            ),
            // An object is gone, and only a full state can tell which one.
            (
                rejected(Place::Delete, false),
                "wait, then full state | - | abort | 10",
            ),
            // The watch ends at once without events.
            (Fact::Closed, leave),
            (failed(Failure::Broken), leave),
            // An expired watch does not make the version unavailable: the next list asks for version 10.
            (failed(Failure::Expired), leave),
            (failed(THROTTLED), "wait, then watch | - | - | 10"),
            // A server that has answered is not unreachable.
            (failed(Failure::Unreachable), leave),
            (failed(Failure::Invalid), leave),
            (failed(Failure::Internal), leave),
            (failed(Failure::Undecodable), leave),
            (failed(Failure::Forbidden), leave),
            (failed(Failure::Other), leave),
            (failed(Failure::Idle), "watching | - | watch \"10\" | 10"),
        ],
    );
    let on = "watching | - | watch \"10\" | 10";
    check(
        "watching, 2 s",
        &[
            (Fact::Closed, on),
            (failed(Failure::Broken), on),
            (failed(Failure::TimedOut), on),
        ],
    );
    let on = "watching | - | watch \"11\" | 11";
    check(
        "watching, 1 event",
        &[(Fact::Closed, on), (failed(Failure::Broken), on)],
    );
}

/// Such a watch begins with the current objects, in no order of versions.
#[test]
fn a_watch_without_a_version_adopts_none_of_its_first_adds() {
    check(
        "watching from 0",
        &[
            (Fact::Added(pod("12")), "watching | added | - | 0"),
            (Fact::Modified(pod("12")), "watching | updated | - | 12"),
            (Fact::Deleted(pod("12")), "watching | deleted | - | 12"),
            (
                Fact::Bookmark { version: "12" },
                "watching | bookmark | - | 12",
            ),
            (rejected(Place::Upsert, true), "watching | - | - | 0"),
        ],
    );
    let mut scene = Scene::phase("watching from 0");
    scene.fact(Fact::Bookmark { version: "12" });
    scene.fact(Fact::Added(pod("14")));
    assert_eq!(scene.reflector.version(), Some("14"));
}
