//! Connections without an answer, and malformed heads.

use tokio::io::AsyncWriteExt as _;

use crate::mode::{Limit, Mode};

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

pub(super) const MODES: &[Mode] = &[
    Mode::connections(
        "closes-at-once",
        "connection is closed as it is accepted",
        Limit::Backoff,
        |line| {
            Box::pin(async move {
                drop(line);
                Ok(())
            })
        },
    )
    .says("did not answer")
    .quick(),
    Mode::connections(
        "never-answers",
        "request is read but not answered",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.hang().await
            })
        },
    )
    .says("has not answered")
    .quick(),
    Mode::connections(
        "resets-requests",
        "connection is reset after the request",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.reset()
            })
        },
    )
    .says("did not answer")
    .quick(),
    Mode::connections(
        "resets-bodies",
        "connection is reset within the body",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(format!("{HEAD}content-length: 900\r\n\r\n{{\"kind\":"))
                    .await?;
                line.reset()
            })
        },
    )
    .says("broke off")
    .quick(),
    Mode::connections(
        "half-a-head",
        "connection ends within the head",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(HEAD).await?;
                line.stream.shutdown().await
            })
        },
    )
    .says("did not answer")
    .quick(),
    Mode::connections(
        "half-closed",
        "server closes its sending side before the request and keeps reading",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.stream.shutdown().await?;
                line.hang().await
            })
        },
    )
    .says("did not answer")
    .quick(),
    Mode::connections(
        "slow-head",
        "one byte of the head per second",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(HEAD).await?;
                line.say("x: ").await?;
                line.drip("x").await
            })
        },
    )
    .says("has not answered")
    .quick(),
    Mode::connections(
        "endless-headers",
        "endless headers",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(HEAD).await?;
                line.flood("x-more: and more\r\n".repeat(1000)).await
            })
        },
    )
    .says("head is too large"),
    Mode::connections(
        "huge-header",
        "one endless header",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(HEAD).await?;
                line.say("x: ").await?;
                line.flood("x".repeat(16 << 10)).await
            })
        },
    )
    .says("head is too large"),
    Mode::connections(
        "many-headers",
        "5,000 short headers",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                let many = "a: b\r\n".repeat(5_000);
                line.say(format!("{HEAD}{many}content-length: 2\r\n\r\n{{}}"))
                    .await?;
                line.hang().await
            })
        },
    )
    .says("head is too large")
    .quick(),
    Mode::connections(
        "endless-reason",
        "endless reason phrase",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say("HTTP/1.1 200 ").await?;
                line.flood("fine ".repeat(4 << 10)).await
            })
        },
    )
    .says("head is too large"),
    Mode::connections(
        "continues-for-ever",
        "endless 100 Continue",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.flood("HTTP/1.1 100 Continue\r\n\r\n".repeat(500))
                    .await
            })
        },
    )
    .says("has not answered"),
    Mode::connections(
        "switches-protocols",
        "unrequested 101",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say("HTTP/1.1 101 Switching Protocols\r\n").await?;
                line.say("upgrade: spdy/3.1\r\nconnection: upgrade\r\n\r\n")
                    .await?;
                line.hang().await
            })
        },
    )
    .says("HTTP 101")
    .quick(),
    Mode::connections(
        "no-head",
        "body without a head",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(r#"{"kind":"PodList","items":[]}"#).await?;
                line.stream.shutdown().await
            })
        },
    )
    .says("invalid HTTP version")
    .quick(),
    Mode::connections(
        "http-seven",
        "answer in HTTP/7.3",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say("HTTP/7.3 200 OK\r\ncontent-length: 2\r\n\r\n{}")
                    .await?;
                line.hang().await
            })
        },
    )
    .says("invalid HTTP version")
    .quick(),
    Mode::connections(
        "garbage-first",
        "garbage before the head",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(b"\x00\xff\x1b[31m\x07SSH-2.0-OpenSSH_9\r\n")
                    .await?;
                line.say(format!("{HEAD}content-length: 2\r\n\r\n{{}}"))
                    .await?;
                line.hang().await
            })
        },
    )
    .says("invalid HTTP version")
    .quick(),
    Mode::connections(
        "endless-garbage",
        "endless line breaks before the head",
        Limit::HeadTimeout,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.flood("\r\n".repeat(8 << 10)).await
            })
        },
    )
    .says("head is too large"),
    Mode::connections(
        "speaks-http2",
        "HTTP/2 frames to an HTTP/1.1 request",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00").await?;
                line.hang().await
            })
        },
    )
    .says("invalid HTTP version")
    .quick(),
    Mode::connections(
        "answers-unasked",
        "answer before the request",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.say(format!("{HEAD}content-length: 2\r\n\r\n{{}}"))
                    .await?;
                line.hang().await
            })
        },
    )
    .quick(),
    Mode::connections(
        "answers-twice",
        "two answers to one request",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                loop {
                    line.ask().await?;
                    let answer = format!("{HEAD}content-length: 2\r\n\r\n{{}}");
                    line.say(answer.repeat(2)).await?;
                }
            })
        },
    )
    .says("not a list")
    .quick(),
];
