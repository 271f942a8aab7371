//! Watches that should begin with the whole state.

use crate::mode::{Limit, Mode, Over, Program};
use crate::server::ask::Kind;
use crate::server::good::{self, State, bookmark, end_bookmark, event, pod};
use crate::server::reply::{Reply, counting, for_ever, hang, nothing, say};

use super::{LOST, on_stream};

fn added(name: &str) -> String {
    event("ADDED", &pod(name, "1001"))
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "stream-no-end",
        "streamed list without an end",
        Limit::EndOfState,
        |ask| on_stream(ask, || Reply::steps(say(added("a")).chain(hang()))),
    )
    .quick(),
    Mode::answers(
        "stream-bookmarks",
        "streamed list of bookmarks that are not its end",
        Limit::EndOfState,
        |ask| {
            on_stream(ask, || {
                Reply::new(
                    200,
                    crate::server::reply::every(std::time::Duration::from_secs(1), bookmark(LOST)),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "stream-empty-lines",
        "streamed list of empty lines",
        Limit::EndOfState,
        |ask| on_stream(ask, || Reply::new(200, for_ever("\n".repeat(8 << 10)))),
    ),
    Mode::answers(
        "stream-ends-at-once",
        "streamed list ends at once",
        Limit::Backoff,
        |ask| on_stream(ask, || Reply::new(200, nothing())),
    )
    .quick(),
    Mode::answers(
        "stream-state-only",
        "streamed list without a watch behind it",
        Limit::ShortWatches,
        |ask| on_stream(ask, || good::only_state(State::Before)),
    )
    .quick(),
    Mode::answers(
        "stream-half",
        "streamed list ends after one object",
        Limit::Backoff,
        |ask| on_stream(ask, || Reply::ok(added("a"))),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "stream-end-first",
        "end of a streamed list at once, and its objects later",
        Limit::Nothing,
        |ask| {
            on_stream(ask, || {
                Reply::steps(say([end_bookmark(LOST), added("a")].concat()).chain(hang()))
            })
        },
    )
    .quick(),
    Mode::answers(
        "stream-end-twice",
        "end of a streamed list twice",
        Limit::Nothing,
        |ask| {
            on_stream(ask, || {
                Reply::steps(
                    say([added("a"), end_bookmark(LOST), end_bookmark(LOST)].concat())
                        .chain(hang()),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "stream-end-garbage",
        "end of a streamed list at a version that the server refuses",
        Limit::VersionRefused,
        |ask| match ask.kind {
            Kind::Stream => Some(Reply::ok(end_bookmark("garbage"))),
            Kind::Watch => Some(Reply::failure(400, "BadRequest", "Invalid value")),
            _ => None,
        },
    )
    .quick(),
    Mode::answers(
        "stream-end-long",
        "end of a streamed list at a version of 100 kB",
        Limit::VersionBytes,
        |ask| on_stream(ask, || Reply::ok(end_bookmark(&"9".repeat(100_000)))),
    )
    .quick(),
    Mode::answers(
        "stream-end-no-version",
        "end of a streamed list without a version",
        Limit::VersionRefused,
        |ask| on_stream(ask, || Reply::ok(end_bookmark(""))),
    )
    .quick(),
    Mode::answers(
        "stream-added-flood",
        "streamed list of objects without end",
        Limit::StoreRoom,
        |ask| {
            on_stream(ask, || {
                Reply::new(
                    200,
                    counting(|n| (0..100).map(|m| added(&format!("s{n}-{m}"))).collect()),
                )
            })
        },
    )
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "stream-same-flood",
        "streamed list of one object without end",
        Limit::EndOfState,
        |ask| on_stream(ask, || Reply::new(200, for_ever(added("a").repeat(100)))),
    )
    .over(Over::Http2),
    Mode::answers(
        "stream-error",
        "ERROR event in a streamed list",
        Limit::Backoff,
        |ask| {
            on_stream(ask, || {
                Reply::ok(
                    [
                        added("a"),
                        event(
                            "ERROR",
                            &crate::server::reply::status(500, "InternalError", "no"),
                        ),
                    ]
                    .concat(),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "stream-deletes",
        "DELETED in a streamed list, without a name",
        Limit::Backoff,
        |ask| {
            on_stream(ask, || {
                Reply::ok([added("a"), event("DELETED", "{}"), end_bookmark(LOST)].concat())
            })
        },
    )
    .quick(),
    Mode::answers(
        "stream-is-list",
        "list in place of a streamed list",
        Limit::Json,
        |ask| on_stream(ask, || Reply::ok(good::list(LOST, "", &pod("a", "1")))),
    )
    .quick(),
    Mode::answers(
        "stream-and-list",
        "streamed list without an end, and lists that never begin",
        Limit::HeadTimeout,
        |ask| match ask.kind {
            Kind::Stream | Kind::List => Some(Reply::new(200, hang())),
            _ => None,
        },
    ),
];
