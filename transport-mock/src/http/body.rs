//! The body of an answer, for hyper.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;

/// The connection breaks here, in the middle of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut;

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the connection is cut")
    }
}

impl Error for Cut {}

/// A complete body, or one that arrives in pieces.
#[derive(Debug)]
pub(super) enum HttpBody {
    Complete(Bytes),
    Pieces(mpsc::Receiver<Result<Bytes, Cut>>),
    /// Everything before the cut has been handed over.
    Cutting,
}

impl HttpBody {
    pub(super) fn complete(bytes: impl Into<Bytes>) -> Self {
        Self::Complete(bytes.into())
    }

    /// A body in pieces. The channel holds one, so the writer waits for the reader.
    pub(super) fn pieces() -> (mpsc::Sender<Result<Bytes, Cut>>, Self) {
        let (sender, receiver) = mpsc::channel(1);
        (sender, Self::Pieces(receiver))
    }

    /// A body that breaks after these bytes.
    pub(super) fn cut_after(bytes: Bytes) -> Self {
        let (sender, receiver) = mpsc::channel(2);
        // The channel has room for both, and its receiver is still here.
        let _ = sender.try_send(Ok(bytes));
        let _ = sender.try_send(Err(Cut));
        Self::Pieces(receiver)
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        match &mut *self {
            Self::Complete(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Complete(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Pieces(receiver) => match receiver.poll_recv(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(None) => Poll::Ready(None),
                Poll::Ready(Some(Ok(bytes))) => Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Poll::Ready(Some(Err(Cut))) => {
                    // When a body fails, hyper drops what it has not flushed. It flushes when a
                    // body is pending.
                    *self = Self::Cutting;
                    cx.waker().wake_by_ref();
                    Poll::Pending
                }
            },
            Self::Cutting => Poll::Ready(Some(Err(Cut))),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Complete(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Complete(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Pieces(_) | Self::Cutting => SizeHint::default(),
        }
    }
}
