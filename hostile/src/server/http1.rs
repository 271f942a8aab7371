//! HTTP/1.1, byte by byte.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::sleep;

use super::Scene;
use super::ask::Ask;
use super::line::Pace;
use super::reply::{Framing, Reply, Step};

/// No valid request is longer.
const LONGEST: usize = 256 << 10;

/// Answers all requests of a connection.
pub(crate) async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    scene: &Arc<Scene>,
) -> io::Result<()> {
    loop {
        let ask = ask(&mut stream, scene).await?;
        let reply = scene.answer(&ask);
        if !send(&mut stream, reply).await? {
            return stream.shutdown().await;
        }
    }
}

/// Reads the head of a request.
pub(crate) async fn ask(
    stream: &mut (impl AsyncRead + Unpin),
    scene: &Arc<Scene>,
) -> io::Result<Ask> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > LONGEST {
            return Err(io::Error::other("the request is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let target = head.split(' ').nth(1).unwrap_or_default();
    let headers = head.lines().filter_map(|line| line.split_once(':'));
    let mut accepts = headers.filter(|(name, _)| name.eq_ignore_ascii_case("accept"));
    Ok(scene.asked(target, accepts.next().unwrap_or_default().1))
}

/// Sends an answer. Returns whether another may follow.
async fn send(stream: &mut (impl AsyncWrite + Unpin), reply: Reply) -> io::Result<bool> {
    let Reply {
        status,
        headers,
        framing,
        steps,
    } = reply;
    let mut head = format!("HTTP/1.1 {status} So\r\n");
    for (name, value) in &headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&match framing {
        Framing::Chunked => "transfer-encoding: chunked\r\n\r\n".to_owned(),
        Framing::Length(length) => format!("content-length: {length}\r\n\r\n"),
        Framing::Close => "connection: close\r\n\r\n".to_owned(),
    });
    stream.write_all(head.as_bytes()).await?;
    let mut pace = Pace::default();
    let mut sent = 0;
    for step in steps {
        match step {
            Step::Pause(time) => {
                stream.flush().await?;
                sleep(time).await;
            }
            Step::Say(text) => {
                if framing == Framing::Chunked {
                    let size = format!("{:x}\r\n", text.len());
                    stream.write_all(size.as_bytes()).await?;
                }
                stream.write_all(&text).await?;
                if framing == Framing::Chunked {
                    stream.write_all(b"\r\n").await?;
                }
                sent += u64::try_from(text.len()).unwrap_or_default();
                pace.after(text.len()).await;
            }
        }
    }
    if framing == Framing::Chunked {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    stream.flush().await?;
    Ok(match framing {
        Framing::Chunked => true,
        Framing::Length(length) => length == sent,
        Framing::Close => false,
    })
}
