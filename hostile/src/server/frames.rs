//! HTTP/2 frame by frame: just enough to be hostile.

use std::io;

use tokio::io::AsyncReadExt as _;

use super::line::Line;

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PUSH_PROMISE: u8 = 5;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// The headers `:status: 200` and a JSON content type.
pub(crate) const OK: &[u8] = b"\x88\x0f\x10\x10application/json";

const PREFACE: usize = 24;

/// Encodes a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or_default();
    let [_, length @ ..] = length.to_be_bytes();
    let mut frame = length.to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The payload of SETTINGS.
pub(crate) fn settings(pairs: &[(u16, u32)]) -> Vec<u8> {
    let pair = |(name, value): &(u16, u32)| {
        let name = name.to_be_bytes().into_iter();
        name.chain(value.to_be_bytes()).collect::<Vec<_>>()
    };
    pairs.iter().flat_map(pair).collect()
}

/// A header that is not indexed.
pub(crate) fn header(name: &str, value: &[u8]) -> Vec<u8> {
    let mut header = vec![0];
    for text in [name.as_bytes(), value] {
        header.extend(integer(text.len()));
        header.extend(text);
    }
    header
}

/// An HPACK integer with a prefix of seven bits.
fn integer(mut value: usize) -> Vec<u8> {
    let low = |value: usize| u8::try_from(value & 127).unwrap_or_default();
    if value < 127 {
        return vec![low(value)];
    }
    let mut bytes = vec![127];
    value -= 127;
    while value >= 128 {
        bytes.push(low(value) | 128);
        value >>= 7;
    }
    bytes.push(low(value));
    bytes
}

impl Line {
    /// Reads the client's preface and sends our settings.
    pub(crate) async fn greet(&mut self, pairs: &[(u16, u32)]) -> io::Result<()> {
        let mut preface = [0; PREFACE];
        self.stream.read_exact(&mut preface).await?;
        self.say(frame(SETTINGS, 0, 0, &settings(pairs))).await
    }

    /// Waits for the next stream and returns its number. Answers all other frames.
    pub(crate) async fn opened(&mut self) -> io::Result<u32> {
        loop {
            let length = self.stream.read_u16().await?;
            let length = usize::from(length) << 8 | usize::from(self.stream.read_u8().await?);
            let kind = self.stream.read_u8().await?;
            let flags = self.stream.read_u8().await?;
            let stream = self.stream.read_u32().await?;
            let mut payload = vec![0; length];
            self.stream.read_exact(&mut payload).await?;
            match kind {
                HEADERS => {
                    self.scene.asked("/api/v1/pods", "");
                    return Ok(stream);
                }
                SETTINGS if flags & ACK == 0 => self.say(frame(SETTINGS, ACK, 0, &[])).await?,
                PING if flags & ACK == 0 => self.say(frame(PING, ACK, 0, &payload)).await?,
                _ => {}
            }
        }
    }

    /// Answers every request of a connection with these frames.
    pub(crate) async fn answer_all(&mut self, answer: impl Fn(u32) -> Vec<u8>) -> io::Result<()> {
        self.greet(&[(3, 100)]).await?;
        loop {
            let stream = self.opened().await?;
            self.say(answer(stream)).await?;
        }
    }
}
