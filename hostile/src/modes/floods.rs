//! Endless HTTP/2 frames.

use crate::mode::{Limit, Mode, Over};
use crate::server::frames::{
    CONTINUATION, DATA, END_HEADERS, GOAWAY, HEADERS, OK, PING, RST_STREAM, SETTINGS,
    WINDOW_UPDATE, frame, header, settings,
};
use crate::server::line::{Acted, Line};

const REFUSED_STREAM: &[u8] = &[0, 0, 0, 7];
const MAX_STREAMS: u16 = 3;
const WINDOW: u16 = 4;

const fn mode(
    name: &'static str,
    mechanism: &'static str,
    limit: Limit,
    act: fn(Line) -> Acted,
) -> Mode {
    Mode::connections(name, mechanism, limit, act).over(Over::Http2)
}

/// The head of a successful answer without a body yet.
fn head(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, OK)
}

pub(super) const MODES: &[Mode] = &[
    mode(
        "h2-goaway-flood",
        "GOAWAY of one open stream, without end",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(head(stream)).await?;
                line.flood(frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0]).repeat(900))
                    .await
            })
        },
    ),
    mode(
        "h2-reset-flood",
        "RST_STREAM for one stream, without end",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.flood(frame(RST_STREAM, 0, stream, REFUSED_STREAM).repeat(900))
                    .await
            })
        },
    ),
    mode(
        "h2-settings-flood",
        "SETTINGS without end",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.opened().await?;
                line.flood(frame(SETTINGS, 0, 0, &settings(&[(WINDOW, 65_535)])).repeat(500))
                    .await
            })
        },
    ),
    mode(
        "h2-ping-flood",
        "PING without end",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.opened().await?;
                line.flood(frame(PING, 0, 0, &[7; 8]).repeat(500)).await
            })
        },
    ),
    mode(
        "h2-unread-pings",
        "PING without end, and no answer is read",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                // The answers fill the socket, then the client's buffers.
                line.flood(frame(PING, 0, 0, &[7; 8]).repeat(900)).await
            })
        },
    ),
    mode(
        "h2-window-flood",
        "WINDOW_UPDATE beyond the largest window",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.opened().await?;
                line.flood(frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]))
                    .await
            })
        },
    )
    .says("flow-control")
    .quick(),
    mode(
        "h2-empty-data",
        "DATA without a byte, without end",
        Limit::IdleDeadline,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(head(stream)).await?;
                line.flood(frame(DATA, 0, stream, &[]).repeat(900)).await
            })
        },
    ),
    mode(
        "h2-padding",
        "DATA of nothing but padding, without end",
        Limit::IdleDeadline,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(head(stream)).await?;
                let padding = [&[255][..], &[0; 255]].concat();
                line.flood(frame(DATA, 8, stream, &padding).repeat(50))
                    .await
            })
        },
    ),
    mode(
        "h2-beyond-window",
        "DATA beyond the window",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(head(stream)).await?;
                let line_break = vec![b'x'; 16 << 10];
                line.flood(frame(DATA, 0, stream, &line_break)).await
            })
        },
    ),
    mode(
        "h2-continuations",
        "CONTINUATION without end",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(frame(HEADERS, 0, stream, OK)).await?;
                let more = header("x-more", &[b'x'; 100]).repeat(100);
                line.flood(frame(CONTINUATION, 0, stream, &more)).await
            })
        },
    ),
    mode(
        "h2-empty-continuations",
        "CONTINUATION without a byte, without end",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(frame(HEADERS, 0, stream, OK)).await?;
                line.flood(frame(CONTINUATION, 0, stream, &[]).repeat(900))
                    .await
            })
        },
    ),
    mode(
        "h2-informs-for-ever",
        "103 Early Hints without end",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                let hints = [&b"\x08\x03103"[..], &header("link", &[b'x'; 200])].concat();
                line.flood(frame(HEADERS, END_HEADERS, stream, &hints).repeat(50))
                    .await
            })
        },
    ),
    mode(
        "h2-unknown-frames",
        "frames of an unknown kind, without end",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.opened().await?;
                line.flood(frame(0xee, 0xff, 0, &[b'x'; 8_000])).await
            })
        },
    ),
];
