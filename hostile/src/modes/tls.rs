//! Certificates and handshakes.

use tokio::io::AsyncReadExt as _;

use crate::mode::{Limit, Mode, Over};
use crate::server::line::{Acted, Line};
use crate::server::tls::Shows;

/// A server that does this instead of a handshake.
const fn handshake(
    name: &'static str,
    mechanism: &'static str,
    limit: Limit,
    act: fn(Line) -> Acted,
) -> Mode {
    Mode::connections(name, mechanism, limit, act).over(Over::Tls(Shows::Good))
}

/// A server that shows this certificate.
const fn certificate(name: &'static str, mechanism: &'static str, shows: Shows) -> Mode {
    let mode = Mode::answers(name, mechanism, Limit::Trust, |_| None);
    mode.serves().over(Over::Tls(shows)).quick()
}

pub(super) const MODES: &[Mode] = &[
    certificate(
        "tls-other-authority",
        "certificate of another CA",
        Shows::OtherAuthority,
    )
    .says("is not signed by"),
    certificate(
        "tls-expired",
        "certificate that has expired",
        Shows::Expired,
    )
    .says("expired at"),
    certificate(
        "tls-not-yet",
        "certificate that is not valid yet",
        Shows::NotYetValid,
    )
    .says("is not valid yet"),
    certificate(
        "tls-other-name",
        "certificate for another name",
        Shows::OtherName,
    )
    .says("tls-server-name"),
    certificate(
        "tls-other-protocol",
        "protocol that was not offered",
        Shows::OtherProtocol,
    )
    .says("does not speak the version"),
    handshake(
        "tls-plain",
        "HTTP in place of TLS",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                let _ = line.stream.read_u8().await?;
                line.say("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\nno\n")
                    .await?;
                line.hang().await
            })
        },
    )
    .says("does not speak TLS")
    .quick(),
    handshake(
        "tls-hangs",
        "handshake that never ends",
        Limit::ConnectTimeout,
        |mut line| Box::pin(async move { line.hang().await }),
    )
    .says("has not answered")
    .quick(),
    handshake(
        "tls-drips",
        "handshake of one byte per second",
        Limit::ConnectTimeout,
        |mut line| {
            Box::pin(async move {
                line.say(b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc").await?;
                line.drip([0]).await
            })
        },
    )
    .says("has not answered")
    .quick(),
    handshake(
        "tls-alert",
        "handshake that is refused with an alert",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                let _ = line.stream.read_u8().await?;
                line.say(b"\x15\x03\x03\x00\x02\x02\x28").await?;
                line.hang().await
            })
        },
    )
    .says("rejected the TLS handshake")
    .quick(),
    handshake(
        "tls-garbage",
        "handshake of endless garbage",
        Limit::Backoff,
        |mut line| Box::pin(async move { line.flood(vec![0xa5; 16 << 10]).await }),
    )
    .says("does not speak TLS")
    .quick(),
    handshake(
        "tls-closes",
        "handshake that is cut",
        Limit::Backoff,
        |mut line| {
            Box::pin(async move {
                let _ = line.stream.read_u8().await?;
                line.reset()
            })
        },
    )
    .says("TLS with")
    .quick(),
    handshake(
        "tls-huge-handshake",
        "handshake message of 16 MB",
        Limit::Trust,
        |mut line| {
            Box::pin(async move {
                line.say(b"\x16\x03\x03\x40\x00\x02\xff\xff\xff").await?;
                line.say([0; (16 << 10) - 4]).await?;
                let record = [&b"\x16\x03\x03\x40\x00"[..], &[0; 16 << 10]].concat();
                line.flood(record).await
            })
        },
    ),
];
