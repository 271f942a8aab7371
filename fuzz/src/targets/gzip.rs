//! Compressed bodies.
//!
//! The input is a recipe for a body: see `Kitchen`. What must hold: a body in any pieces unpacks to
//! what flate2 makes of the whole, or is refused if flate2 refuses it.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use informer_transport_hyper::{Client, Config};

use super::loopback::Loopback;
use crate::Target;
use crate::random::Random;

/// This target.
pub const TARGET: Target = Target {
    name: "gzip",
    run,
    words: &[
        "m\x05", "s\x05", "r\x40", "f\x05", "g\x04", "t\x01", "t\x08", "x\x03", "\0\0\0\0",
    ],
};

thread_local! {
    static SERVER: (Loopback, Client) = {
        let server = Loopback::plain();
        let client = server.client(Config::new(&server.url).unwrap());
        (server, client)
    };
}

/// Sends the body and compares.
pub fn run(input: &[u8]) {
    let packed = Kitchen::default().cook(input);
    let mut expected = Vec::new();
    let unpacked = MultiGzDecoder::new(&packed[..]).read_to_end(&mut expected);
    let expected = unpacked.is_ok().then_some(expected);
    let mut random = Random::of(input);
    for longest in [1 + random.below(20), usize::MAX >> 1] {
        let answer = chunked(&random.cut(&packed, longest));
        let (answer, _) = SERVER.with(|(server, client)| server.ask(client, answer));
        match (&answer, &expected) {
            (Ok(ours), Some(theirs)) => {
                assert!(ours == theirs, "unpacked to other bytes than flate2")
            }
            (Err(_), None) => {}
            // An empty body is not valid gzip, but harmless.
            (Ok(ours), None) if packed.is_empty() => assert!(ours.is_empty()),
            (Ok(ours), None) => panic!(
                "flate2 refuses a body that was unpacked to {} bytes",
                ours.len()
            ),
            (Err(error), Some(_)) => panic!("flate2 unpacks a body that was refused: {error}"),
        }
    }
}

/// An answer whose body arrives in these pieces.
fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\
        content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
        .to_vec();
    for piece in pieces {
        answer.extend(format!("{:x}\r\n", piece.len()).bytes());
        answer.extend_from_slice(piece);
        answer.extend(b"\r\n");
    }
    answer.extend(b"0\r\n\r\n");
    answer
}

/// Makes bodies from recipes, because random bytes are hardly ever gzip.
///
/// A recipe is a chain of steps, each a letter, a count and its data:
///
/// | letter | step |
/// | --- | --- |
///  `m` | a member with the next `count` bytes |
///  `s` | the same, stored without compression |
///  `f` | the same, flushed in the middle |
///  `r` | a member with `count` KiB of zeros |
///  `g` | the next `count` bytes as they are |
///  `t` | cuts off the last `count` bytes |
///  `x` | flips a bit of the `count`th byte from the end |
#[derive(Default)]
struct Kitchen {
    body: Vec<u8>,
}

impl Kitchen {
    fn cook(mut self, mut recipe: &[u8]) -> Vec<u8> {
        while let [letter, count, rest @ ..] = recipe {
            let count = usize::from(*count);
            let (next, behind) = rest.split_at(count.min(rest.len()));
            recipe = match letter {
                b'm' => self.member(&[next], Compression::default(), behind),
                b's' => self.member(&[next], Compression::none(), behind),
                b'f' => {
                    let (begin, end) = next.split_at(next.len() / 2);
                    self.member(&[begin, end], Compression::default(), behind)
                }
                b'r' => self.member(&[&vec![0; count << 10]], Compression::best(), rest),
                b'g' => {
                    self.body.extend_from_slice(next);
                    behind
                }
                b't' => {
                    self.body.truncate(self.body.len().saturating_sub(count));
                    rest
                }
                b'x' => {
                    if let Some(byte) = self.body.iter_mut().rev().nth(count) {
                        *byte ^= 4;
                    }
                    rest
                }
                _ => &recipe[1..],
            };
        }
        self.body
    }

    fn member<'a>(&mut self, parts: &[&[u8]], how: Compression, rest: &'a [u8]) -> &'a [u8] {
        let mut encoder = GzEncoder::new(&mut self.body, how);
        for part in parts {
            encoder.write_all(part).unwrap();
            encoder.flush().unwrap();
        }
        encoder.finish().unwrap();
        rest
    }
}
