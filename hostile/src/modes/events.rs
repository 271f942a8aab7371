//! Misleading events.

use crate::mode::{Limit, Mode, Over, Program};
use crate::server::ask::Kind;
use crate::server::good::{bookmark, event, pod};
use crate::server::reply::{Reply, counting, for_ever, hang, say, status, times};

use super::on_watch;

/// A watch that sends this and stays open.
fn tells(text: impl Into<bytes::Bytes>) -> Reply {
    Reply::steps(say(text).chain(hang()))
}

/// A watch that sends a bookmark and ends, from a server that refuses unknown versions.
fn adopted(version: &str) -> Reply {
    Reply::ok(bookmark(version))
}

fn error(code: u16, reason: &str) -> Reply {
    Reply::ok(event("ERROR", &status(code, reason, "so it is")))
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "error-expired",
        "ERROR event: expired",
        Limit::Backoff,
        |ask| on_watch(ask, || error(410, "Expired")),
    )
    .says("expired")
    .quick(),
    Mode::answers(
        "error-internal",
        "ERROR event: internal",
        Limit::Backoff,
        |ask| on_watch(ask, || error(500, "InternalError")),
    )
    .says("internal error")
    .quick(),
    Mode::answers(
        "error-throttled",
        "ERROR event: throttled",
        Limit::Backoff,
        |ask| on_watch(ask, || error(429, "TooManyRequests")),
    )
    .over(Over::Http2)
    .says("slow down")
    .quick(),
    Mode::answers(
        "error-timeout",
        "ERROR event: too large a version",
        Limit::Backoff,
        |ask| on_watch(ask, || error(504, "Timeout")),
    )
    .quick(),
    Mode::answers(
        "error-forbidden",
        "ERROR event: forbidden",
        Limit::Backoff,
        |ask| on_watch(ask, || error(403, "Forbidden")),
    )
    .says("forbidden")
    .quick(),
    Mode::answers(
        "error-empty",
        "ERROR event without a Status",
        Limit::Backoff,
        |ask| on_watch(ask, || Reply::ok(event("ERROR", "{}"))),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers("error-null", "ERROR event of null", Limit::Backoff, |ask| {
        on_watch(ask, || Reply::ok(event("ERROR", "null")))
    })
    .quick(),
    Mode::answers(
        "error-flood",
        "ERROR events without end in one watch",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    for_ever(event("ERROR", &status(500, "InternalError", "no"))),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "error-huge",
        "ERROR event with a message of 10 MB",
        Limit::ErrorBody,
        |ask| {
            on_watch(ask, || {
                Reply::ok(event(
                    "ERROR",
                    &status(500, "InternalError", &"\u{1b}[31m".repeat(2_000_000)),
                ))
            })
        },
    )
    .says("larger than"),
    Mode::answers(
        "bookmark-garbage",
        "bookmark at a version that the server refuses",
        Limit::VersionRefused,
        |ask| match ask.kind {
            Kind::Watch if ask.version == "garbage" => Some(Reply::failure(
                400,
                "BadRequest",
                "Invalid value: \"garbage\"",
            )),
            _ => on_watch(ask, || adopted("garbage")),
        },
    )
    .quick(),
    Mode::answers(
        "bookmark-long",
        "bookmark at a version of 100 kB",
        Limit::VersionBytes,
        |ask| match ask.kind {
            Kind::Watch if ask.version.len() > 1_000 => Some(Reply::new(414, say("URI too long"))),
            _ => on_watch(ask, || adopted(&"9".repeat(100_000))),
        },
    )
    .quick(),
    Mode::answers(
        "event-long-version",
        "event at a version of 10 MB",
        Limit::VersionBytes,
        |ask| match ask.kind {
            Kind::Watch if ask.version.len() > 1_000 => Some(Reply::new(414, say("URI too long"))),
            _ => on_watch(ask, || {
                Reply::ok(event("MODIFIED", &pod("a", &"9".repeat(10_000_000))))
            }),
        },
    )
    .large_objects()
    .over(Over::Http2),
    Mode::answers(
        "bookmark-empty",
        "bookmark without a version",
        Limit::ShortWatches,
        |ask| on_watch(ask, || adopted("")),
    )
    .quick(),
    Mode::answers(
        "bookmark-back",
        "bookmark that goes back",
        Limit::ShortWatches,
        |ask| on_watch(ask, || adopted("7")),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "bookmark-controls",
        "bookmark at a version of control characters",
        Limit::VersionRefused,
        |ask| match ask.kind {
            Kind::Watch if ask.version.contains('%') => {
                Some(Reply::failure(400, "BadRequest", "Invalid value"))
            }
            _ => on_watch(ask, || adopted("\\r\\nhost: evil\\u0000&watch=false")),
        },
    )
    .quick(),
    Mode::answers(
        "bookmark-null",
        "bookmark of null",
        Limit::RejectedObjects,
        |ask| on_watch(ask, || tells(event("BOOKMARK", "null"))),
    )
    .quick(),
    Mode::answers(
        "bookmark-flood",
        "bookmarks without end",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                Reply::new(200, for_ever(bookmark("1003").repeat(100)))
            })
        },
    ),
    Mode::answers(
        "versions-back",
        "events whose versions go back",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                tells(
                    (0..100)
                        .map(|n| event("MODIFIED", &pod("a", &(1_000 - n).to_string())))
                        .collect::<String>(),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "versions-missing",
        "events without a version",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(event(
                    "MODIFIED",
                    r#"{"metadata":{"name":"a","namespace":"web"}}"#,
                ))
            })
        },
    )
    .quick(),
    Mode::answers(
        "added-known",
        "ADDED for known objects",
        Limit::Nothing,
        |ask| on_watch(ask, || tells(event("ADDED", &pod("a", "1004")).repeat(50))),
    )
    .quick(),
    Mode::answers(
        "deleted-unknown",
        "DELETED for unknown objects",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                tells(
                    (0..100)
                        .map(|n| event("DELETED", &pod(&format!("u{n}"), "1004")))
                        .collect::<String>(),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "deleted-nameless",
        "DELETED without a name",
        Limit::Backoff,
        |ask| on_watch(ask, || tells(event("DELETED", "{}"))),
    )
    .says("does not say which one")
    .quick(),
    Mode::answers(
        "deleted-nameless-flood",
        "DELETED without a name, without end",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::new(200, for_ever(event("DELETED", r#"{"metadata":{}}"#)))
            })
        },
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "modified-flood",
        "MODIFIED of one object at full speed",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    counting(|n| {
                        (0..100)
                            .map(|m| {
                                event("MODIFIED", &pod("a", &(10_000 + n * 100 + m).to_string()))
                            })
                            .collect()
                    }),
                )
            })
        },
    ),
    Mode::answers(
        "added-flood",
        "ADDED of new objects at full speed",
        Limit::StoreRoom,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    counting(|n| {
                        (0..100)
                            .map(|m| event("ADDED", &pod(&format!("n{n}-{m}"), "1004")))
                            .collect()
                    }),
                )
            })
        },
    )
    .program(Program::InformsWithinLimits),
    Mode::answers(
        "recreated-flood",
        "ADDED and DELETED of one object at full speed",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    for_ever(
                        [
                            event("ADDED", &pod("x", "1004")),
                            event("DELETED", &pod("x", "1005")),
                        ]
                        .concat()
                        .repeat(50),
                    ),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "unknown-flood",
        "unknown events at full speed",
        Limit::Reports,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    for_ever(event("SURPRISE", &pod("a", "1004")).repeat(100)),
                )
            })
        },
    ),
    Mode::answers(
        "rejected-flood",
        "unreadable events at full speed",
        Limit::Reports,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    for_ever(
                        event(
                            "MODIFIED",
                            r#"{"metadata":{"name":"a","namespace":"web"},"spec":1e400}"#,
                        )
                        .repeat(100),
                    ),
                )
            })
        },
    ),
    Mode::answers(
        "large-event-names",
        "unknown events with names of 15 MB",
        Limit::Reports,
        |ask| {
            on_watch(ask, || {
                let events = (0..100).flat_map(|n| {
                    let begin =
                        format!(r#"{{"type":"SURPRISE","object":{{"metadata":{{"name":"p{n}"#);
                    say(begin)
                        .chain(times(240, vec![b'x'; 64 << 10]))
                        .chain(say("\"}}}\n"))
                });
                Reply::steps(events.chain(hang()))
            })
        },
    )
    .large_objects(),
    Mode::answers(
        "type-number",
        "event whose type is a number",
        Limit::RejectedObjects,
        |ask| on_watch(ask, || tells("{\"type\":7,\"object\":{}}\n")),
    )
    .quick(),
    Mode::answers(
        "type-last",
        "event whose type comes after 10 MB of object",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                let begin = r#"{"object":{"metadata":{"name":"a","namespace":"web"},"data":""#;
                Reply::steps(
                    say(begin)
                        .chain(times(640, vec![b'x'; 16 << 10]))
                        .chain(say("\"},\"type\":\"MODIFIED\"}\n"))
                        .chain(hang()),
                )
            })
        },
    ),
    Mode::answers("type-twice", "event with two types", Limit::Json, |ask| {
        on_watch(ask, || {
            tells(event("MODIFIED\",\"type\":\"DELETED", &pod("a", "1004")))
        })
    })
    .quick(),
];
