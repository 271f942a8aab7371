//! Hostile discovery.

use crate::mode::{Limit, Mode, Over, Program};
use crate::server::ask::{Ask, Kind};
use crate::server::reply::{Reply, for_ever, hang, say, times};

const fn mode(
    name: &'static str,
    mechanism: &'static str,
    limit: Limit,
    answer: fn(&Ask) -> Option<Reply>,
) -> Mode {
    Mode::answers(name, mechanism, limit, answer).program(Program::ResolvesFirst)
}

/// A resource whose name is a path.
const PATHS: &str = concat!(
    r#"{"resources":[{"name":"../pods","kind":"Pods","namespaced":true,"#,
    r#""verbs":["list","watch"]}]}"#
);

fn on_discovery(ask: &Ask, reply: impl FnOnce() -> Reply) -> Option<Reply> {
    (ask.kind == Kind::Discovery).then(reply)
}

/// This many versions, none of which answers.
fn versions(ask: &Ask, count: usize) -> Reply {
    let versions: Vec<_> = (0..count).map(|n| format!("\"v{n}\"")).collect();
    match ask.path.as_str() {
        "/api" => Reply::ok(format!("{{\"versions\":[{}]}}", versions.join(","))),
        "/apis" => Reply::ok("{}"),
        _ => Reply::failure(503, "ServiceUnavailable", "down"),
    }
}

pub(super) const MODES: &[Mode] = &[
    mode(
        "discovery-huge-error",
        "error of 60 MB to a discovery request",
        Limit::ErrorBody,
        |ask| {
            on_discovery(ask, || {
                Reply::new(500, times(960, "error\x1b[31m ".repeat(6_000)))
            })
        },
    )
    .says("HTTP 500"),
    mode(
        "discovery-endless",
        "endless discovery document",
        Limit::WholeBody,
        |ask| on_discovery(ask, || Reply::new(200, for_ever(" ".repeat(16 << 10)))),
    )
    .says("is larger than"),
    mode(
        "discovery-wrong",
        "discovery document of another shape, 60 MB long",
        Limit::WholeBody,
        |ask| {
            on_discovery(ask, || {
                Reply::steps(
                    say("{\"versions\":\"")
                        .chain(times(3_800, vec![b'x'; 16 << 10]))
                        .chain(say("\"}")),
                )
            })
        },
    )
    .says("is larger than"),
    mode(
        "discovery-many",
        "100,000 versions to look up",
        Limit::Versions,
        |ask| on_discovery(ask, || versions(ask, 100_000)),
    )
    .says("more than 1000 versions")
    .over(Over::Http2),
    mode(
        "discovery-hundreds",
        "900 versions to look up, and none answers",
        Limit::Versions,
        |ask| on_discovery(ask, || versions(ask, 900)),
    )
    .says("no resource `pods`")
    // One for each version.
    .burst(910)
    .over(Over::Http2),
    mode(
        "discovery-html",
        "HTML in place of a discovery document",
        Limit::ContentType,
        |ask| {
            on_discovery(ask, || {
                Reply::ok("<html>\x1b[31m</html>").with("content-type", "text/html")
            })
        },
    )
    .says("neither JSON nor protobuf")
    .quick(),
    mode(
        "discovery-not-json",
        "discovery document that is not JSON",
        Limit::Json,
        |ask| on_discovery(ask, || Reply::ok("\x1b[31mno\x07")),
    )
    .says("is not a discovery document")
    .quick(),
    mode(
        "discovery-unknown",
        "discovery document without the resource",
        Limit::Nothing,
        |ask| on_discovery(ask, || Reply::ok("{}")),
    )
    .says("no resource `pods`")
    .quick(),
    mode(
        "discovery-hangs",
        "discovery document that never arrives",
        Limit::HeadTimeout,
        |ask| on_discovery(ask, || Reply::new(200, hang())),
    )
    .over(Over::Http2),
    mode(
        "discovery-paths",
        "versions and names that are paths",
        Limit::Nothing,
        |ask| {
            on_discovery(ask, || match ask.path.as_str() {
                "/api" => {
                    Reply::ok(r#"{"versions":["../../evil?x=","v1\r\nhost: evil","\u001b[31m"]}"#)
                }
                _ => Reply::ok(PATHS),
            })
        },
    )
    .says("is not a path")
    .quick(),
];
