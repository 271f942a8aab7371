//! Readable lists with bad pages, versions or objects.

use crate::mode::{Limit, Mode, Over};
use crate::server::good::{list, pod};
use crate::server::reply::Reply;

use super::{LOST, on_list};

/// A page that announces another one.
fn page(token: &str, items: &str) -> Reply {
    Reply::ok(list(LOST, &format!(r#","continue":"{token}""#), items))
}

/// A list that announces this many further objects.
fn remaining(count: &str) -> Reply {
    let more = format!(r#","remainingItemCount":{count}"#);
    Reply::ok(list(LOST, &more, ""))
}

const NAMELESS: &str =
    r#"{"metadata":{"namespace":"web"}},{"metadata":{"name":""}},{"metadata":{"name":7}}"#;

/// A list at this version.
fn at(version: &str) -> Reply {
    Reply::ok(list(version, "", &pod("a", "1")))
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "token-repeats",
        "the same page token forever, without items",
        Limit::PageToken,
        |ask| on_list(ask, || page("again", "")),
    )
    .says("does not end")
    .quick(),
    Mode::answers(
        "token-repeats-items",
        "the same page token forever, with the same item",
        Limit::PageToken,
        |ask| on_list(ask, || page("again", &pod("a", "1"))),
    )
    .says("does not end")
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "tokens-alternate",
        "two page tokens in turns",
        Limit::Pages,
        |ask| {
            on_list(ask, || {
                page(if ask.page == "one" { "two" } else { "one" }, "")
            })
        },
    )
    .quick(),
    Mode::answers(
        "tokens-for-ever",
        "a new page token forever, without items",
        Limit::Pages,
        |ask| on_list(ask, || page(&format!("t{}", ask.number), "")),
    )
    .quick(),
    Mode::answers(
        "tokens-same-item",
        "a new page token forever, with the same item",
        Limit::Pages,
        |ask| on_list(ask, || page(&format!("t{}", ask.number), &pod("a", "1"))),
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "tokens-new-items",
        "a new page token forever, with a new item",
        Limit::Pages,
        |ask| {
            on_list(ask, || {
                page(
                    &format!("t{}", ask.number),
                    &pod(&format!("p{}", ask.number), "1"),
                )
            })
        },
    )
    .quick(),
    Mode::answers(
        "token-huge",
        "page token of 1 MB",
        Limit::PageToken,
        |ask| on_list(ask, || page(&"t".repeat(1 << 20), "")),
    )
    .says("longer than")
    .quick(),
    Mode::answers(
        "token-controls",
        "page token of control characters",
        Limit::PageToken,
        |ask| on_list(ask, || page("\\r\\nx: y\\u0000", "")),
    )
    .quick(),
    Mode::answers(
        "remaining-huge",
        "remainingItemCount beyond 64 bits",
        Limit::Nothing,
        |ask| on_list(ask, || remaining("99999999999999999999999")),
    )
    .quick(),
    Mode::answers(
        "remaining-negative",
        "negative remainingItemCount",
        Limit::Nothing,
        |ask| on_list(ask, || remaining("-5")),
    )
    .quick(),
    Mode::answers(
        "no-metadata",
        "list without metadata",
        Limit::VersionRefused,
        |ask| on_list(ask, || Reply::ok(r#"{"kind":"PodList","items":[]}"#)),
    )
    .quick(),
    Mode::answers(
        "no-version",
        "list without a version",
        Limit::VersionRefused,
        |ask| {
            on_list(ask, || {
                Reply::ok(r#"{"kind":"PodList","metadata":{},"items":[]}"#)
            })
        },
    )
    .over(Over::Http2)
    .quick(),
    Mode::answers(
        "version-number",
        "version of a list that is a number",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(list("", "", "").replace("\"\"", LOST))),
    )
    .says("metadata")
    .quick(),
    Mode::answers(
        "version-zero",
        "list at version 0",
        Limit::VersionRefused,
        |ask| on_list(ask, || at("0")),
    )
    .quick(),
    Mode::answers(
        "version-garbage",
        "list at a version that the server refuses",
        Limit::VersionRefused,
        |ask| on_list(ask, || at("garbage")),
    )
    .quick(),
    Mode::answers(
        "version-long",
        "list at a version of 100 kB",
        Limit::VersionBytes,
        |ask| on_list(ask, || at(&"9".repeat(100_000))),
    )
    .says("longer than")
    .quick(),
    Mode::answers(
        "version-endless",
        "list at a version of 30 MB",
        Limit::VersionBytes,
        |ask| on_list(ask, || at(&"9".repeat(30 << 20))),
    )
    .says("longer than"),
    Mode::answers(
        "version-back",
        "each list is older than the one before",
        Limit::ShortWatches,
        |ask| match ask.kind {
            crate::server::ask::Kind::Watch => Some(Reply::failure(410, "Expired", "too old")),
            _ => on_list(ask, || {
                at(&(1_000_000 - ask.number.min(900_000)).to_string())
            }),
        },
    )
    .quick(),
    Mode::answers(
        "duplicates",
        "one object three times in a list",
        Limit::Nothing,
        |ask| {
            on_list(ask, || {
                let pods = [pod("a", "1"), pod("a", "3"), pod("a", "2")];
                Reply::ok(list(LOST, "", &pods.join(",")))
            })
        },
    )
    .quick(),
    Mode::answers(
        "nameless",
        "objects without a name",
        Limit::RejectedObjects,
        |ask| on_list(ask, || Reply::ok(list(LOST, "", NAMELESS))),
    )
    .quick(),
    Mode::answers(
        "strange-names",
        "names with slashes and dots",
        Limit::RejectedObjects,
        |ask| {
            on_list(ask, || {
                let pods = [pod("a/b", "1"), pod("..", "2"), pod("web/a", "3")];
                Reply::ok(list(LOST, "", &pods.join(",")))
            })
        },
    )
    .quick(),
    Mode::answers(
        "uids-change",
        "another uid in each list, and watches expire",
        Limit::Backoff,
        |ask| match ask.kind {
            crate::server::ask::Kind::Watch => Some(Reply::failure(410, "Expired", "too old")),
            _ => on_list(ask, || {
                let uid = format!("\"uid\":\"{}\"", ask.number);
                let pod = pod("a", "1").replace("\"uid\":\"a\"", &uid);
                Reply::ok(list(&format!("{}", 10 + ask.number), "", &pod))
            }),
        },
    )
    .quick(),
    Mode::answers(
        "items-are-status",
        "Status objects in place of items",
        Limit::RejectedObjects,
        |ask| {
            on_list(ask, || {
                Reply::ok(list(
                    LOST,
                    "",
                    r#"{"kind":"Status","code":500},[],7,"x",true,null"#,
                ))
            })
        },
    )
    .quick(),
];
