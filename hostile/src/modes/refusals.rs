//! Error statuses forever.

use std::time::Duration;

use crate::mode::{Limit, Mode, Over};
use crate::server::ask::Kind;
use crate::server::good::list;
use crate::server::reply::{Reply, every, for_ever, say, status, times};

use super::{on_list, on_watch};

/// A 429 with this `Retry-After`.
fn throttled(wait: &str) -> Reply {
    let message = "Too many requests, please try again later.";
    Reply::failure(429, "TooManyRequests", message).with("retry-after", wait)
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers("unauthorized", "401 forever", Limit::Backoff, |_| {
        Some(Reply::failure(401, "Unauthorized", "Unauthorized"))
    })
    .says("not authenticated")
    .quick(),
    Mode::answers("forbidden", "403 forever", Limit::Backoff, |_| {
        Some(Reply::failure(403, "Forbidden", "pods is forbidden"))
    })
    .says("forbidden")
    .quick(),
    Mode::answers(
        "forbidden-watches",
        "403 for watches",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::failure(403, "Forbidden", "pods is forbidden")
            })
        },
    )
    .says("forbidden")
    .quick(),
    Mode::answers(
        "forbidden-states",
        "403 for lists and streamed states",
        Limit::Backoff,
        |ask| (!ask.is_watch()).then(|| Reply::failure(403, "Forbidden", "pods is forbidden")),
    )
    .over(Over::Http2)
    .says("forbidden")
    .quick(),
    Mode::answers("not-found", "404 forever", Limit::Backoff, |_| {
        Some(Reply::new(404, say("404 page not found\n")).with("content-type", "text/plain"))
    })
    .says("does not serve this kind (404)")
    .quick(),
    Mode::answers(
        "not-found-watches",
        "404 for watches",
        Limit::Backoff,
        |ask| on_watch(ask, || Reply::failure(404, "NotFound", "gone")),
    )
    .over(Over::Http2)
    .says("does not serve this kind (404)")
    .quick(),
    Mode::answers("conflict", "409 forever", Limit::Backoff, |_| {
        Some(Reply::failure(409, "Conflict", "try again"))
    })
    .says("try again")
    .quick(),
    Mode::answers("expired", "410 for everything", Limit::Backoff, |_| {
        Some(Reply::failure(410, "Expired", "too old"))
    })
    .says("expired")
    .quick(),
    Mode::answers(
        "expired-watches",
        "410 for watches",
        Limit::Backoff,
        |ask| on_watch(ask, || Reply::failure(410, "Expired", "too old")),
    )
    .says("expired")
    .quick(),
    Mode::answers(
        "expired-pages",
        "410 for the second page",
        Limit::Backoff,
        |ask| match ask.kind {
            Kind::List if !ask.page.is_empty() => Some(Reply::failure(
                410,
                "Expired",
                "the continue token is too old",
            )),
            Kind::List => Some(Reply::ok(list("7", r#","continue":"t""#, ""))),
            Kind::Stream => Some(super::cannot_stream()),
            _ => None,
        },
    )
    .quick(),
    Mode::answers("invalid", "400 for everything", Limit::Backoff, |_| {
        Some(Reply::failure(400, "BadRequest", "no"))
    })
    .says("invalid")
    .quick(),
    Mode::answers(
        "invalid-watches",
        "400 for watches of every version",
        Limit::VersionRefused,
        |ask| {
            on_watch(ask, || {
                Reply::failure(400, "BadRequest", "invalid resourceVersion")
            })
        },
    )
    .says("invalid")
    .quick(),
    Mode::answers(
        "too-large-version",
        "504 that calls every version too large",
        Limit::Backoff,
        |ask| {
            on_watch(ask, || {
                Reply::failure(
                    504,
                    "Timeout",
                    "Too large resource version: 1003, current: 1",
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "retry-after-huge",
        "429 and a wait of centuries",
        Limit::RetryAfter,
        |_| Some(throttled("18446744073709551615")),
    )
    .says("slow down")
    .patient(),
    Mode::answers(
        "retry-after-year",
        "429 and a wait of a year, in the Status",
        Limit::RetryAfter,
        |_| {
            let details = r#"{"retryAfterSeconds":31536000}"#;
            let body = format!(r#"{{"kind":"Status","status":"Failure","details":{details}}}"#);
            Some(Reply::new(429, say(body)))
        },
    )
    .over(Over::Http2)
    .says("slow down")
    .patient(),
    Mode::answers(
        "retry-after-negative",
        "429 and a negative wait",
        Limit::Backoff,
        |_| Some(throttled("-1")),
    )
    .says("slow down")
    .quick(),
    Mode::answers(
        "retry-after-date",
        "429 and a date in some decades",
        Limit::RetryAfter,
        |_| Some(throttled("Thu, 31 Dec 2099 23:59:59 GMT")),
    )
    .says("slow down")
    .patient(),
    Mode::answers(
        "retry-after-garbage",
        "429 and a wait that is not a time",
        Limit::Backoff,
        |_| Some(throttled("soon")),
    )
    .says("slow down")
    .quick(),
    Mode::answers(
        "retry-after-float",
        "429 and 1e9 seconds",
        Limit::Backoff,
        |_| Some(throttled("1e9")),
    )
    .over(Over::Http2)
    .says("slow down")
    .quick(),
    Mode::answers(
        "retry-after-zero",
        "429 and no wait, for watches",
        Limit::Backoff,
        |ask| on_watch(ask, || throttled("0")),
    )
    .quick(),
    Mode::answers(
        "retry-after-503",
        "503 and a wait of centuries",
        Limit::RetryAfter,
        |_| {
            Some(
                Reply::failure(503, "ServiceUnavailable", "down")
                    .with("retry-after", "99999999999"),
            )
        },
    )
    .says("slow down")
    .patient(),
    Mode::answers("internal", "500 forever", Limit::Backoff, |_| {
        Some(Reply::failure(500, "InternalError", "etcd has no leader"))
    })
    .says("internal error")
    .quick(),
    Mode::answers(
        "internal-watches",
        "500 for watches",
        Limit::Backoff,
        |ask| on_watch(ask, || Reply::failure(500, "InternalError", "no")),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "bad-gateway",
        "502 with HTML and escape sequences",
        Limit::Backoff,
        |_| {
            let body = "<html>\x1b]0;owned\x07\x1b[2J<h1>502 Bad Gateway</h1></html>";
            Some(Reply::new(502, say(body)).with("content-type", "text/html"))
        },
    )
    .says("unavailable")
    .quick(),
    Mode::answers(
        "unavailable-lists",
        "503 for lists, without streamed lists",
        Limit::Backoff,
        |ask| on_list(ask, || Reply::failure(503, "ServiceUnavailable", "down")),
    )
    .says("unavailable")
    .quick(),
    Mode::answers("gateway-timeout", "504 forever", Limit::Backoff, |_| {
        Some(Reply::failure(504, "Timeout", "timed out"))
    })
    .over(Over::Http2)
    .says("timed out")
    .quick(),
    Mode::answers("teapot", "418 forever", Limit::Backoff, |_| {
        Some(Reply::new(418, say("short and stout")))
    })
    .quick(),
    Mode::answers(
        "huge-error",
        "500 with 60 MB of text",
        Limit::ErrorBody,
        |_| Some(Reply::new(500, times(960, "error ".repeat(11_000)))),
    )
    .says("internal error"),
    Mode::answers(
        "huge-message",
        "Status with a message of 10 MB",
        Limit::ErrorBody,
        |_| {
            Some(Reply::new(
                403,
                say(status(
                    403,
                    "Forbidden",
                    &"because \u{1b}[31m".repeat(700_000),
                )),
            ))
        },
    )
    .says("forbidden"),
    Mode::answers(
        "slow-error",
        "500 with one byte per second",
        Limit::ErrorBody,
        |_| Some(Reply::new(500, every(Duration::from_secs(1), "x"))),
    )
    .over(Over::Http2)
    .says("internal error"),
    Mode::answers(
        "endless-error-list",
        "404 without end, for lists",
        Limit::ErrorBody,
        |ask| on_list(ask, || Reply::new(404, for_ever("x".repeat(8 << 10)))),
    )
    .says("does not serve this kind (404)"),
    Mode::answers(
        "success-status",
        "Status with status 200 in place of a list",
        Limit::Json,
        |ask| {
            on_list(ask, || {
                Reply::ok(status(500, "InternalError", "it is no success"))
            })
        },
    )
    .says("is a Status")
    .quick(),
    Mode::answers(
        "success-status-watch",
        "Status with status 200 in place of a watch",
        Limit::ShortWatches,
        |ask| {
            on_watch(ask, || {
                Reply::ok(status(500, "InternalError", "it is no success"))
            })
        },
    )
    .quick(),
];
