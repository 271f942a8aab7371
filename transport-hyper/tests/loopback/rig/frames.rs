//! A server that writes HTTP/2 frame by frame, so that it can break the rules.

use std::net::SocketAddr;

use informer_transport_hyper::{Client, Config, HttpVersion, Settings};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;

const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status: 200` in HPACK's static table.
const STATUS_200: u8 = 0x88;

/// A client that speaks HTTP/2 without TLS.
pub(crate) fn http2_client(address: SocketAddr) -> Client {
    let settings = Settings {
        http: HttpVersion::Http2,
        ..Settings::new()
    };
    let config = Config::new(&format!("http://{address}")).unwrap();
    Client::new(config.with_settings(settings)).unwrap()
}

/// The answer to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Said {
    /// 200 with an empty list.
    List,
    /// 200 with a list in one frame of this length.
    Frame(usize),
    /// REFUSED_STREAM: the request was not processed.
    Refused,
    /// GOAWAY: no request was processed.
    Away,
}

/// A server that answers request number `n`, from 1, with `answer(n)`. The channel yields the connection
/// number of each request, from 1.
pub(crate) async fn serve(
    answer: fn(usize) -> Said,
) -> (SocketAddr, mpsc::UnboundedReceiver<usize>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (heard, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut requests = 0;
        for connection in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            let _ = converse(stream, || {
                requests += 1;
                let _ = heard.send(connection);
                answer(requests)
            })
            .await;
        }
    });
    (address, requests)
}

/// Answers requests until the client or an answer closes the connection.
async fn converse(mut stream: TcpStream, mut answer: impl FnMut() -> Said) -> std::io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await?;
    // A hundred streams.
    write(&mut stream, SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
        let mut payload = vec![0; length];
        stream.read_exact(&mut payload).await?;
        let (kind, flags) = (head[3], head[4]);
        let id = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        match kind {
            SETTINGS if flags & ACK == 0 => write(&mut stream, SETTINGS, ACK, 0, &[]).await?,
            PING if flags & ACK == 0 => write(&mut stream, PING, ACK, 0, &payload).await?,
            HEADERS => match answer() {
                Said::List => {
                    write(&mut stream, HEADERS, END_HEADERS, id, &[STATUS_200]).await?;
                    write(&mut stream, DATA, END_STREAM, id, b"{}").await?;
                }
                Said::Frame(length) => {
                    write(&mut stream, HEADERS, END_HEADERS, id, &[STATUS_200]).await?;
                    write(&mut stream, DATA, END_STREAM, id, &vec![b' '; length]).await?;
                }
                Said::Refused => write(&mut stream, RST_STREAM, 0, id, &[0, 0, 0, 7]).await?,
                Said::Away => return write(&mut stream, GOAWAY, 0, 0, &[0; 8]).await,
            },
            _ => {}
        }
    }
}

async fn write(
    stream: &mut TcpStream,
    kind: u8,
    flags: u8,
    id: u32,
    payload: &[u8],
) -> std::io::Result<()> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(id.to_be_bytes());
    frame.extend(payload);
    stream.write_all(&frame).await
}
