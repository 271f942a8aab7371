//! Bad headers and framing of otherwise good answers.

use crate::mode::{Limit, Mode, Over};
use crate::server::good::{list, pod};
use crate::server::reply::{Framing, Reply, for_ever, hang, nothing, say};

use super::{LOST, on_list, on_watch};

fn pods() -> String {
    list(LOST, "", &pod("a", "1001"))
}

/// Answers each request with raw bytes.
macro_rules! raw {
    ($name:literal, $mechanism:literal, $limit:expr, $text:expr) => {
        Mode::connections($name, $mechanism, $limit, |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say($text).await?;
                line.hang().await
            })
        })
    };
}

const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";

pub(super) const MODES: &[Mode] = &[
    Mode::answers(
        "short-body",
        "body shorter than its content-length",
        Limit::Backoff,
        |ask| on_list(ask, || Reply::ok(pods()).framed(Framing::Length(1_000_000))),
    )
    .quick(),
    Mode::answers(
        "long-body",
        "body longer than its content-length",
        Limit::Json,
        |ask| on_list(ask, || Reply::ok(pods()).framed(Framing::Length(50))),
    )
    .says("before it was complete")
    .quick(),
    raw!(
        "chunk-garbage",
        "chunk whose size is not a number",
        Limit::HttpParser,
        format!("{CHUNKED}zz\r\n{{}}\r\n")
    )
    .says("broke off")
    .quick(),
    raw!(
        "chunk-huge",
        "chunk of 2^64 bytes",
        Limit::HttpParser,
        format!("{CHUNKED}ffffffffffffffff1\r\n{{}}\r\n")
    )
    .says("broke off")
    .quick(),
    Mode::connections(
        "chunk-extension",
        "endless chunk extension",
        Limit::HttpParser,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(CHUNKED).await?;
                line.say("5;x=").await?;
                line.flood("x".repeat(16 << 10)).await
            })
        },
    )
    .says("broke off"),
    Mode::connections(
        "chunk-trailers",
        "endless trailers of a chunked body",
        Limit::HeaderBytes,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(CHUNKED).await?;
                line.say("2\r\n{}\r\n0\r\n").await?;
                line.flood("x-trailer: and more\r\n".repeat(500)).await
            })
        },
    ),
    Mode::connections(
        "chunk-cut",
        "connection ends within a chunk",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(format!("{CHUNKED}ff\r\n{{\"kind\":\"PodL")).await
            })
        },
    )
    .says("broke off")
    .quick(),
    Mode::connections(
        "one-byte-chunks",
        "endless list in chunks of one byte",
        Limit::ListHead,
        |mut line| {
            Box::pin(async move {
                line.ask().await?;
                line.say(format!("{CHUNKED}1\r\n{{\r\n")).await?;
                line.flood("1\r\n \r\n".repeat(2_000)).await
            })
        },
    ),
    raw!(
        "two-lengths",
        "two lengths that differ",
        Limit::HttpParser,
        "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}\n"
    )
    .says("invalid content-length")
    .quick(),
    raw!(
        "negative-length",
        "negative length",
        Limit::HttpParser,
        "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n{}"
    )
    .says("invalid content-length")
    .quick(),
    raw!(
        "length-and-chunks",
        "length and chunks at the same time",
        Limit::Json,
        format!(
            "{}content-length: 2\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n",
            CHUNKED.trim_end_matches("\r\n").to_owned() + "\r\n"
        )
    )
    .quick(),
    raw!(
        "status-zero",
        "status 000",
        Limit::HttpParser,
        "HTTP/1.1 000 Nothing\r\ncontent-length: 2\r\n\r\n{}"
    )
    .says("invalid HTTP status-code")
    .quick(),
    Mode::answers("html", "HTML with status 200", Limit::ContentType, |_| {
        Some(
            Reply::ok("<html><body>\x1b[31mPlease log in\x07</body></html>")
                .with("content-type", "text/html"),
        )
    })
    .quick(),
    Mode::answers(
        "type-with-escapes",
        "content type of 100 kB with raw bytes",
        Limit::ContentType,
        |_| {
            Some(Reply::ok("{}").with(
                "content-type",
                format!("text/\u{9b}31m{}", "x".repeat(100_000)),
            ))
        },
    )
    .says("neither JSON nor protobuf")
    .quick(),
    Mode::answers(
        "protobuf",
        "protobuf with status 200",
        Limit::ContentType,
        |_| Some(Reply::ok("k8s\0\n").with("content-type", "application/vnd.kubernetes.protobuf")),
    )
    .says("protobuf")
    .over(Over::Http2)
    .quick(),
    Mode::answers("no-type", "HTML without a type", Limit::Json, |_| {
        Some(Reply::ok("<html>Please log in</html>").without_type())
    })
    .quick(),
    Mode::answers("utf-16", "list in UTF-16", Limit::Json, |ask| {
        on_list(ask, || {
            let text: Vec<u8> = pods().encode_utf16().flat_map(u16::to_le_bytes).collect();
            Reply::ok(text).with("content-type", "application/json; charset=utf-16")
        })
    })
    .quick(),
    Mode::answers(
        "unknown-encoding",
        "list in an encoding that was not offered",
        Limit::Json,
        |ask| {
            on_list(ask, || {
                Reply::ok(vec![0x1b; 4_000]).with("content-encoding", "br")
            })
        },
    )
    .says("not a JSON object")
    .quick(),
    Mode::answers("empty-200", "status 200 and no body", Limit::Json, |ask| {
        on_list(ask, || Reply::new(200, nothing()))
    })
    .quick(),
    Mode::answers("no-content", "status 204", Limit::Backoff, |_| {
        Some(Reply::new(204, nothing()).framed(Framing::Close))
    })
    .quick(),
    Mode::answers(
        "partial-content",
        "status 206 and half a list",
        Limit::Backoff,
        |ask| {
            on_list(ask, || {
                Reply::new(206, say(r#"{"kind":"PodList","items":["#))
            })
        },
    )
    .says("HTTP 206")
    .quick(),
    Mode::answers(
        "redirects",
        "status 301 to another address",
        Limit::Redirect,
        |ask| {
            let to = format!("http://{}{}", ask.elsewhere, ask.path);
            Some(Reply::new(301, nothing()).with("location", to))
        },
    )
    .says("name the right server")
    .quick(),
    Mode::answers(
        "redirects-far",
        "status 302 to an address of 30 kB",
        Limit::Redirect,
        |_| {
            let to = format!("http://{}/", "x".repeat(30_000));
            Some(Reply::new(302, nothing()).with("location", to))
        },
    )
    .says("name the right server")
    .quick(),
    Mode::answers(
        "redirects-watches",
        "status 307 to another address, for watches over TLS",
        Limit::Redirect,
        |ask| {
            let to = format!("https://{}{}", ask.elsewhere, ask.path);
            on_watch(ask, || Reply::new(307, nothing()).with("location", to))
        },
    )
    .says("name the right server")
    .over(Over::Tls(crate::server::tls::Shows::Good))
    .quick(),
    Mode::answers(
        "redirect-circle",
        "status 308 to itself, with an endless body",
        Limit::Redirect,
        |ask| {
            Some(Reply::new(308, for_ever("x".repeat(8 << 10))).with("location", ask.path.clone()))
        },
    )
    .says("name the right server")
    .over(Over::Http2),
    Mode::answers(
        "silent-body",
        "head of a list, and then silence",
        Limit::IdleDeadline,
        |ask| on_list(ask, || Reply::new(200, hang())),
    )
    .quick(),
];
