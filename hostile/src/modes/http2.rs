//! Rude and malformed HTTP/2 frames.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::time::sleep;

use crate::mode::{Limit, Mode, Over};
use crate::server::frames::{
    ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, OK, PUSH_PROMISE,
    RST_STREAM, SETTINGS, frame, header, settings,
};
use crate::server::line::{Acted, Line};

const NO_ERROR: [u8; 8] = [0; 8];
const REFUSED_STREAM: &[u8] = &[0, 0, 0, 7];
const INTERNAL_ERROR: &[u8] = &[0, 0, 0, 2];
const ENHANCE_YOUR_CALM: &[u8] = &[0, 0, 0, 11];
const MAX_STREAMS: u16 = 3;
const WINDOW: u16 = 4;
const FRAME_SIZE: u16 = 5;

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
        "h2-closes-at-once",
        "HTTP/2 connection is closed after the settings",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.stream.shutdown().await
            })
        },
    )
    .says("closed the connection")
    .quick(),
    mode(
        "h2-no-settings",
        "server never sends its settings",
        Limit::ConnectTimeout,
        |mut line| Box::pin(async move { line.hang().await }),
    )
    .quick(),
    mode(
        "h2-speaks-http1",
        "HTTP/1.1 to an HTTP/2 preface",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.say("HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")
                    .await?;
                line.hang().await
            })
        },
    )
    .says("closed the connection")
    .quick(),
    mode(
        "h2-goes-away",
        "GOAWAY before the first stream",
        Limit::RepeatedRequests,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.say(frame(GOAWAY, 0, 0, &NO_ERROR)).await?;
                line.hang().await
            })
        },
    )
    .quick(),
    mode(
        "h2-goes-away-on-requests",
        "GOAWAY in answer to each request",
        Limit::RepeatedRequests,
        |mut line| {
            Box::pin(async move { line.answer_all(|_| frame(GOAWAY, 0, 0, &NO_ERROR)).await })
        },
    )
    .says("did not answer")
    .quick(),
    mode(
        "h2-calm-down",
        "GOAWAY that says ENHANCE_YOUR_CALM",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.opened().await?;
                let debug = [
                    &[0, 0, 0, 1][..],
                    ENHANCE_YOUR_CALM,
                    b"too_many_pings\x1b[31m",
                ]
                .concat();
                line.say(frame(GOAWAY, 0, 0, &debug)).await?;
                line.stream.shutdown().await
            })
        },
    )
    .quick(),
    mode(
        "h2-refuses-streams",
        "REFUSED_STREAM for each request",
        Limit::RepeatedRequests,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| frame(RST_STREAM, 0, stream, REFUSED_STREAM))
                    .await
            })
        },
    )
    .says("refused stream")
    .quick(),
    mode(
        "h2-breaks-streams",
        "INTERNAL_ERROR for each request",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| frame(RST_STREAM, 0, stream, INTERNAL_ERROR))
                    .await
            })
        },
    )
    .says("did not answer")
    .quick(),
    mode(
        "h2-breaks-bodies",
        "stream is reset within the body",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| {
                    let piece = frame(DATA, 0, stream, b"{\"type\":\"ADD");
                    [
                        head(stream),
                        piece,
                        frame(RST_STREAM, 0, stream, INTERNAL_ERROR),
                    ]
                    .concat()
                })
                .await
            })
        },
    )
    .says("broke off")
    .quick(),
    mode(
        "h2-ends-bodies",
        "stream ends after the head",
        Limit::ShortWatches,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, OK))
                    .await
            })
        },
    )
    .quick(),
    mode(
        "h2-no-streams",
        "settings that allow no streams",
        Limit::StreamsAllowed,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 0)]).await?;
                line.opened().await?;
                line.hang().await
            })
        },
    )
    .quick(),
    mode(
        "h2-fewer-streams",
        "settings that take the streams back",
        Limit::StreamsAllowed,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 1)]).await?;
                let stream = line.opened().await?;
                line.say(frame(SETTINGS, 0, 0, &settings(&[(MAX_STREAMS, 0)])))
                    .await?;
                line.say(frame(RST_STREAM, 0, stream, REFUSED_STREAM))
                    .await?;
                line.opened().await?;
                line.hang().await
            })
        },
    )
    .says("refused stream")
    .quick(),
    mode(
        "h2-tiny-window",
        "window of no bytes, and frames of an odd size",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100), (WINDOW, 0), (FRAME_SIZE, 3)])
                    .await?;
                line.opened().await?;
                line.hang().await
            })
        },
    )
    .says("closed the connection")
    .quick(),
    mode(
        "h2-header-bomb",
        "one stored header, named a million times",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                let mut stored = header("x", &[b'x'; 3_000]);
                if let Some(first) = stored.first_mut() {
                    *first = 0x40;
                }
                let named = vec![0xbe; 12_000];
                line.say(frame(HEADERS, 0, stream, &[OK, &stored].concat()))
                    .await?;
                for _ in 0..80 {
                    line.say(frame(CONTINUATION, 0, stream, &named)).await?;
                }
                line.say(frame(CONTINUATION, END_HEADERS, stream, &[]))
                    .await?;
                line.hang().await
            })
        },
    ),
    mode(
        "h2-trailers",
        "trailers of 100 kB in place of a body",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| {
                    let many = header("x-trailer", &[b'x'; 1_000]);
                    let mut frames =
                        [head(stream), frame(HEADERS, END_STREAM, stream, &many)].concat();
                    for _ in 0..100 {
                        frames.extend(frame(CONTINUATION, 0, stream, &many));
                    }
                    frames.extend(frame(CONTINUATION, END_HEADERS, stream, &[]));
                    frames
                })
                .await
            })
        },
    )
    .says("broke off")
    .quick(),
    mode(
        "h2-pushes",
        "unrequested PUSH_PROMISE",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| {
                    let promise = [&[0, 0, 0, 2][..], OK].concat();
                    frame(PUSH_PROMISE, END_HEADERS, stream, &promise)
                })
                .await
            })
        },
    )
    .says("protocol error")
    .quick(),
    mode(
        "h2-frame-too-large",
        "frame of 16 MB",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                let stream = line.opened().await?;
                line.say(head(stream)).await?;
                let large = vec![b'x'; (1 << 24) - 1];
                line.say(frame(DATA, 0, stream, &large)).await?;
                line.hang().await
            })
        },
    ),
    mode(
        "h2-silent",
        "HTTP/2 peer that acknowledges nothing after its settings",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.greet(&[(MAX_STREAMS, 100)]).await?;
                line.say(frame(SETTINGS, ACK, 0, &[])).await?;
                // Even its keep-alive pings remain unread.
                loop {
                    sleep(Duration::from_secs(60)).await;
                }
            })
        },
    )
    .quick(),
    mode(
        "h2-no-status",
        "head without a status",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| frame(HEADERS, END_HEADERS, stream, &header("x", b"y")))
                    .await
            })
        },
    )
    .says("protocol error")
    .quick(),
    mode(
        "h2-bad-hpack",
        "head that is not HPACK",
        Limit::FrameRules,
        |mut line| {
            Box::pin(async move {
                line.answer_all(|stream| frame(HEADERS, END_HEADERS, stream, &[0xff; 40]))
                    .await
            })
        },
    )
    .says("protocol error")
    .quick(),
];
