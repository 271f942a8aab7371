//! Compressed bodies.

use std::io::Write as _;
use std::sync::OnceLock;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::mode::{Limit, Mode, Over};
use crate::server::ask::Kind;
use crate::server::good::{bookmark, list, pod};
use crate::server::reply::{Reply, Step, for_ever, hang, pause, say, times};

use super::{LOST, on_list, on_watch};

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = encoder.write_all(text);
    encoder.finish().unwrap_or_default()
}

/// 64 MB of spaces in 64 kB, as one member.
fn spaces() -> Bytes {
    static SPACES: OnceLock<Bytes> = OnceLock::new();
    SPACES
        .get_or_init(|| packed(&vec![b' '; 64 << 20]).into())
        .clone()
}

fn gzip(steps: impl Iterator<Item = Step> + Send + 'static) -> Reply {
    Reply::steps(steps).with("content-encoding", "gzip")
}

fn pods() -> String {
    list(LOST, "", &pod("a", "1001"))
}

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "gzip-bomb-list",
        "list that unpacks to 17 GB of spaces",
        Limit::Unpacked,
        |ask| {
            on_list(ask, || {
                gzip(say(packed(b"{\"kind\":\"PodList\",")).chain(times(270, spaces())))
            })
        },
    ),
    Mode::answers(
        "gzip-bomb-items",
        "gzip of spaces between two items, without end",
        Limit::Unpacked,
        |ask| {
            let head = r#"{"kind":"PodList","metadata":{"resourceVersion":"900"},"items":["#;
            on_list(ask, || {
                gzip(
                    say(packed(format!("{head}{},", pod("a", "1")).as_bytes()))
                        .chain(for_ever(spaces())),
                )
            })
        },
    )
    .over(Over::Http2),
    Mode::answers(
        "gzip-bomb-watch",
        "watch that unpacks to one line without end",
        Limit::ObjectBytes,
        |ask| {
            on_watch(ask, || {
                let bytes: Bytes = packed(&vec![b'x'; 64 << 20]).into();
                gzip(for_ever(bytes))
            })
        },
    ),
    Mode::answers(
        "gzip-bomb-error",
        "error that unpacks without end",
        Limit::ErrorBody,
        |_| {
            let reply = gzip(for_ever(spaces()));
            Some(Reply {
                status: 500,
                ..reply
            })
        },
    ),
    Mode::answers(
        "gzip-bomb-discovery",
        "discovery that unpacks without end",
        Limit::WholeBody,
        |ask| (ask.kind == Kind::Discovery).then(|| gzip(for_ever(spaces()))),
    )
    .says("is larger than")
    .program(crate::mode::Program::ResolvesFirst),
    Mode::answers("gzip-twice", "gzip within gzip", Limit::Json, |ask| {
        on_list(ask, || gzip(say(packed(&packed(pods().as_bytes())))))
    })
    .quick(),
    Mode::answers("gzip-cut", "gzip that ends too soon", Limit::Gzip, |ask| {
        on_list(ask, || {
            let mut packed = packed(pods().as_bytes());
            packed.truncate(packed.len() / 2);
            gzip(say(packed))
        })
    })
    .quick(),
    Mode::answers(
        "gzip-garbage-after",
        "garbage after the gzip",
        Limit::Gzip,
        |ask| {
            on_list(ask, || {
                gzip(say(packed(pods().as_bytes())).chain(for_ever("garbage ".repeat(1000))))
            })
        },
    )
    .quick(),
    Mode::answers(
        "gzip-not",
        "plain text that is called gzip",
        Limit::Gzip,
        |ask| on_list(ask, || gzip(say(pods()))),
    )
    .says("gzip")
    .quick(),
    Mode::answers(
        "gzip-checksum",
        "gzip with a wrong checksum",
        Limit::Gzip,
        |ask| {
            on_list(ask, || {
                let mut packed = packed(pods().as_bytes());
                if let Some(byte) = packed.iter_mut().rev().nth(5) {
                    *byte ^= 1;
                }
                gzip(say(packed))
            })
        },
    )
    .quick(),
    Mode::answers(
        "gzip-name",
        "gzip whose file name has no end",
        Limit::Gzip,
        |ask| {
            on_list(ask, || {
                gzip(
                    say(&b"\x1f\x8b\x08\x08\0\0\0\0\0\xff"[..])
                        .chain(for_ever("x".repeat(16 << 10))),
                )
            })
        },
    ),
    Mode::answers(
        "gzip-empty-members",
        "empty gzip members without end",
        Limit::ListTimeout,
        |ask| on_list(ask, || gzip(for_ever(packed(b"").repeat(300)))),
    ),
    Mode::answers(
        "gzip-watch-members",
        "watch in gzip members, each cut in two",
        Limit::Nothing,
        |ask| {
            on_watch(ask, || {
                let member = packed(bookmark(LOST).as_bytes());
                let (one, two) = member.split_at(member.len() / 2);
                gzip(
                    say(one.to_vec())
                        .chain(pause(1.0))
                        .chain(say(two.to_vec()))
                        .chain(hang()),
                )
            })
        },
    )
    .quick(),
];
