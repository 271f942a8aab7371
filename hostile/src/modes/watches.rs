//! Watches that end too soon or stay silent.

use std::time::Duration;

use crate::mode::{Limit, Mode, Over};
use crate::server::good::{bookmark, event, pod};
use crate::server::reply::{Framing, Reply, Steps, every, for_ever, nothing, pause, say};

use super::on_watch;

fn after(seconds: f64, last: impl Into<bytes::Bytes>) -> Steps {
    Box::new(pause(seconds).chain(say(last)))
}

fn unknown() -> String {
    event("SURPRISE", &pod("a", "1004"))
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "ends-at-once",
        "watch ends at once with nothing",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::new(200, nothing())),
    )
    .quick(),
    Mode::answers(
        "ends-bookmark",
        "watch ends at once after a bookmark",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::ok(bookmark("1003"))),
    )
    .quick(),
    Mode::answers(
        "ends-new-bookmark",
        "watch ends at once after a new bookmark each time",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(bookmark(&(2_000_000 + ask.number).to_string()))
            })
        },
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "ends-unknown",
        "watch ends at once after an unknown event",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::ok(unknown())),
    )
    .quick(),
    Mode::answers(
        "ends-event",
        "watch ends at once after an event",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(event(
                    "MODIFIED",
                    &pod("a", &(3_000_000 + ask.number).to_string()),
                ))
            })
        },
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "ends-rejected",
        "watch ends at once after an unreadable event",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::ok(event("MODIFIED", "{}"))),
    )
    .quick(),
    Mode::answers(
        "ends-many",
        "watch ends at once after 1,000 events",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(
                    (0..1_000)
                        .map(|n| {
                            event(
                                "MODIFIED",
                                &pod("a", &(4_000_000 + ask.number * 1_000 + n).to_string()),
                            )
                        })
                        .collect::<String>(),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "breaks-event",
        "watch breaks off at once after an event",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(event(
                    "MODIFIED",
                    &pod("a", &(5_000_000 + ask.number).to_string()),
                ))
                .framed(Framing::Length(1 << 20))
            })
        },
    )
    .quick(),
    Mode::answers(
        "ends-soon",
        "watch ends after 0.9 s with nothing",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::new(200, pause(0.9))),
    ),
    Mode::answers(
        "ends-soon-event",
        "watch ends after 0.9 s with an event",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    after(
                        0.9,
                        event("MODIFIED", &pod("a", &(6_000_000 + ask.number).to_string())),
                    ),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "ends-late",
        "watch ends after 1.1 s with nothing",
        Limit::ShortWatches,
        |ask| on_watch(ask, || Reply::new(200, pause(1.1))),
    ),
    Mode::answers(
        "ends-late-event",
        "watch ends after 1.1 s with an event",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    after(
                        1.1,
                        event("MODIFIED", &pod("a", &(7_000_000 + ask.number).to_string())),
                    ),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "breaks-late",
        "watch breaks off after 1.1 s",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::new(200, pause(1.1)).framed(Framing::Length(1 << 20))
            })
        },
    ),
    Mode::answers(
        "ends-in-turns",
        "watches end at once and after 1.5 s in turns",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::new(
                    200,
                    if ask.number.is_multiple_of(2) {
                        pause(1.5)
                    } else {
                        nothing()
                    },
                )
            })
        },
    ),
    Mode::answers(
        "empty-lines",
        "empty lines without end",
        Limit::IdleDeadline,
        |ask| on_watch(ask, || Reply::new(200, for_ever("\n".repeat(8 << 10)))),
    ),
    Mode::answers(
        "slow-empty-lines",
        "an empty line per second",
        Limit::IdleDeadline,
        |ask| on_watch(ask, || Reply::new(200, every(Duration::from_secs(1), "\n"))),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "spaces",
        "spaces without a line break, without end",
        Limit::ObjectBytes,
        |ask| on_watch(ask, || Reply::new(200, for_ever(" ".repeat(16 << 10)))),
    )
    .says("does not end"),
    Mode::answers(
        "endless-line",
        "line of a watch without end",
        Limit::ObjectBytes,
        |ask| {
            on_watch(ask, || {
                Reply::steps(
                    say(r#"{"type":"ADDED","object":{"metadata":{"name":"x"},"data":""#)
                        .chain(for_ever("x".repeat(16 << 10))),
                )
            })
        },
    )
    .says("does not end"),
    Mode::answers(
        "endless-line-h2",
        "line of an unknown event without end",
        Limit::ObjectBytes,
        |ask| {
            on_watch(ask, || {
                Reply::steps(
                    say(r#"{"type":"SURPRISE","object":""#).chain(for_ever("x".repeat(16 << 10))),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "one-line",
        "events without a line break between them",
        Limit::Json,
        |ask| {
            on_watch(ask, || {
                Reply::ok(event("MODIFIED", &pod("a", "1004")).trim_end().repeat(3))
            })
        },
    )
    .quick(),
    Mode::answers(
        "drips",
        "one byte of an event per second",
        Limit::IdleDeadline,
        |ask| {
            on_watch(ask, || {
                let text = event("MODIFIED", &pod("a", "1004")).repeat(100);
                let drops = text
                    .into_bytes()
                    .into_iter()
                    .flat_map(|byte| after(1.0, vec![byte]));
                Reply::new(200, Box::new(drops))
            })
        },
    )
    .quick(),
    Mode::answers(
        "garbage-lines",
        "endless lines that are not JSON",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::new(200, for_ever("\x1b[31mnot json\x07\n".repeat(500)))
            })
        },
    )
    .says("not a JSON object"),
    Mode::answers(
        "html-watch",
        "HTML in place of a watch",
        Limit::ContentType,
        |ask| {
            on_watch(ask, || {
                Reply::ok("<html></html>").with("content-type", "text/html")
            })
        },
    )
    .says("neither JSON nor protobuf")
    .quick(),
    Mode::answers(
        "list-watch",
        "list in place of a watch",
        Limit::Json,
        |ask| {
            on_watch(ask, || {
                Reply::ok(crate::server::good::list("1003", "", &pod("a", "1")))
            })
        },
    )
    .quick(),
];
