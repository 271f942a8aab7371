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
        let unreadable = |error: std::io::Error| {
            let about = format_args!("the gzip data of the answer is corrupt: {error}");
            Failed::new(Failure::Undecodable, about)
        };
        loop {
            if let Some(gunzip) = &mut self.gunzip
                && let Some(piece) = gunzip.next().map_err(unreadable)?
            {
                return Poll::Ready(Ok(Some(piece)));
            }
            match (ready!(self.poll_chunk(cx))?, &mut self.gunzip) {
                (Some(chunk), None) => return Poll::Ready(Ok(Some(chunk))),
                (Some(chunk), Some(gunzip)) => gunzip.feed(chunk),
                (None, None) => return Poll::Ready(Ok(None)),
                (None, Some(gunzip)) => {
                    gunzip.end().map_err(|_| {
                        let about = "the answer ended in the middle of its gzip data";
                        Failed::new(Failure::Broken, about)
                    })?;
                    return Poll::Ready(Ok(None));
                }
            }
        }
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Bytes>, Failed>> {
        self.answer.poll_piece(cx).map(Option::transpose)
    }
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
