//! The body of an answer.

use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header;
use http_body::Frame;
use informer_core::Failure;
use tokio::task::consume_budget;

use crate::failed::Failed;
use crate::gzip::Gunzip;
use crate::sender::Answer;

/// The decompressed body of an answer.
pub(crate) struct Body<A> {
    answer: A,
    gunzip: Option<Gunzip>,
    /// What came behind the compressed bytes: the end, or a failure.
    behind: Option<Result<Option<Bytes>, Failed>>,
    /// How many bytes there may still be after decompression, if they are limited. Time alone is no limit
    /// when bytes arrive faster than they are read: a few MB of gzip could last for hours.
    left: Option<u64>,
}

impl<A: Answer> Body<A> {
    /// The body of `answer`, of at most `largest` bytes.
    pub(crate) fn new(answer: A, largest: Option<u64>) -> Self {
        let encoding = answer.head().headers.get(header::CONTENT_ENCODING);
        let is_gzip = encoding.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"gzip"));
        Self {
            answer,
            gunzip: is_gzip.then(Gunzip::new),
            behind: None,
            left: largest,
        }
    }

    /// Lets bytes gather for a moment before they are read: this is a full state.
    pub(crate) fn rest(&mut self) {
        self.answer.rest();
    }

    /// Reads bytes as they arrive: the state is complete.
    pub(crate) fn hurry(&mut self) {
        self.answer.hurry();
    }

    /// The next piece; `None` at the end.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failed> {
        // Pieces that are always ready must not keep the task from yielding to its deadline.
        consume_budget().await;
        poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The same, for polling.
    pub(crate) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Failed>> {
        let piece = ready!(self.poll_piece(cx))?;
        if let Some(left) = &mut self.left {
            let bytes = piece.as_ref().map_or(0, Bytes::len);
            let Some(less) = left.checked_sub(bytes as u64) else {
                return Poll::Ready(Err(Failed::new(
                    Failure::Undecodable,
                    "the decompressed list is larger than `max_list_bytes` allows; raise the limit if \
                     the list is really that large",
                )));
            };
            *left = less;
        }
        Poll::Ready(Ok(piece))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Failed>> {
        let Some(gunzip) = &mut self.gunzip else {
            return poll_chunk(&mut self.answer, cx);
        };
        // A server may compress each few KiB on their own. What has arrived makes one piece, up to a limit, because
        // an object that crosses the border of two pieces is read twice.
        loop {
            let mut waits = false;
            while !waits && self.behind.is_none() && gunzip.is_hungry() {
                match poll_chunk(&mut self.answer, cx) {
                    Poll::Ready(Ok(Some(chunk))) => gunzip.feed(chunk),
                    Poll::Ready(end) => self.behind = Some(end),
                    Poll::Pending => waits = true,
                }
            }
            let piece = gunzip.piece().map_err(|error| {
                let about = format_args!("the gzip data of the answer is corrupt: {error}");
                Failed::new(Failure::Undecodable, about)
            })?;
            if piece.is_some() {
                return Poll::Ready(Ok(piece));
            }
            if let Some(end) = self.behind.take() {
                end?;
                gunzip.end().map_err(|_| {
                    let about = "the answer ended in the middle of its gzip data";
                    Failed::new(Failure::Broken, about)
                })?;
                return Poll::Ready(Ok(None));
            }
            if waits {
                return Poll::Pending;
            }
        }
    }
}

fn poll_chunk<A: Answer>(
    answer: &mut A,
    cx: &mut Context<'_>,
) -> Poll<Result<Option<Bytes>, Failed>> {
    answer.poll_piece(cx).map(Option::transpose)
}

/// How many empty frames of a body to skip in one go.
const EMPTY_FRAMES: usize = 32;

/// The next piece of a body that comes in frames; `None` at its end.
pub fn poll_data<E>(
    cx: &mut Context<'_>,
    mut poll_frame: impl FnMut(&mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, E>>>,
) -> Poll<Option<Result<Bytes, E>>> {
    for _ in 0..EMPTY_FRAMES {
        let Some(frame) = ready!(poll_frame(cx)) else {
            return Poll::Ready(None);
        };
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) if data.is_empty() => {}
            Ok(Ok(data)) => return Poll::Ready(Some(Ok(data))),
            // Ignore trailers.
            Ok(Err(_)) => {}
            Err(error) => return Poll::Ready(Some(Err(error))),
        }
    }
    // A flood of empty frames must not keep the task from yielding to its deadline.
    cx.waker().wake_by_ref();
    Poll::Pending
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::task::Waker;

    use super::*;
    use crate::arrived::{Arrived, arrived};
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn body(
        pieces: impl IntoIterator<Item = Poll<Option<Result<Bytes, Failed>>>>,
    ) -> Body<Arrived> {
        let response = http::Response::builder().header(header::CONTENT_ENCODING, "gzip");
        Body::new(Arrived::new(response, pieces), None)
    }

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn poll(body: &mut Body<Arrived>) -> Poll<Result<Option<Bytes>, Failure>> {
        let piece = body.poll_next(&mut Context::from_waker(Waker::noop()));
        piece.map_err(|failed| failed.failure)
    }

    #[test]
    fn all_that_has_arrived_is_one_piece() {
        let text: Vec<u8> = (0..30_000_u32).flat_map(u32::to_le_bytes).collect();
        let packed = packed(&text);
        let (first, second) = packed.split_at(packed.len() / 2);
        let pieces = first.chunks(100).map(arrived).collect::<Vec<_>>();
        let waits = [Poll::Pending];
        let rest = second.chunks(100).map(arrived).chain([Poll::Ready(None)]);
        let mut body = body(pieces.into_iter().chain(waits).chain(rest));
        let mut found = Vec::new();
        for _ in 0..2 {
            let Poll::Ready(Ok(Some(piece))) = poll(&mut body) else {
                panic!("a piece is there");
            };
            assert!(piece.len() > text.len() / 4, "{} bytes", piece.len());
            found.extend(piece);
        }
        assert_eq!(found, text);
        assert_eq!(poll(&mut body), Poll::Ready(Ok(None)));
    }

    #[test]
    fn what_comes_behind_the_bytes_comes_after_them() {
        let packed = packed(b"something");
        let failed = || Poll::Ready(Some(Err(Failed::new(Failure::Broken, "cut"))));
        let mut broken = body([arrived(&packed), failed()]);
        let something = Poll::Ready(Ok(Some(Bytes::from_static(b"something"))));
        assert_eq!(poll(&mut broken), something);
        assert_eq!(poll(&mut broken), Poll::Ready(Err(Failure::Broken)));

        let cut = packed.get(..packed.len() - 1).unwrap();
        let mut ended = body([arrived(cut), Poll::Ready(None)]);
        assert_eq!(poll(&mut ended), something);
        assert_eq!(poll(&mut ended), Poll::Ready(Err(Failure::Broken)));

        let mut waits = body([Poll::Pending, arrived(&packed)]);
        assert_eq!(poll(&mut waits), Poll::Pending);
        assert_eq!(poll(&mut waits), something);
        assert_eq!(poll(&mut waits), Poll::Pending);
    }
}
