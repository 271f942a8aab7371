//! Waiting until an HTTP/2 peer has said how much it allows.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::sync::Notify;

/// A connection that tells when what it has read has been dealt with.
///
/// The first thing an HTTP/2 server sends is its SETTINGS frame, and in it how many streams it allows;
/// streams opened before that may be refused, or wait unseen behind the limit. hyper tells nobody that
/// the frame has come. But a reader asks for more only when it is done with what it has: so the time
/// to look is whenever it asks.
pub(super) struct Settled<T> {
    inner: T,
    asked: Arc<Notify>,
}

impl<T> Settled<T> {
    /// The wrapped connection, and what is notified when its reader asks for more.
    pub(super) fn new(inner: T) -> (Self, Arc<Notify>) {
        let asked = Arc::new(Notify::new());
        let settled = Self {
            inner,
            asked: asked.clone(),
        };
        (settled, asked)
    }
}

impl<T: Read + Unpin> Read for Settled<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.asked.notify_one();
        Pin::new(&mut self.inner).poll_read(cx, buf)
    }
}

impl<T: Write + Unpin> Write for Settled<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
