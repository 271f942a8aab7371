//! Waiting until an HTTP/2 peer has said how much it allows.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::sync::Notify;

use super::error::find;

/// A connection that tells when what it has read has been dealt with.
///
/// The first thing an HTTP/2 server sends is its SETTINGS frame, and in it how many streams it allows;
/// streams opened before that may be refused, or wait unseen behind the limit. hyper tells nobody that
/// the frame has come. But a reader asks for more only when it is done with what it has: so the time
/// to look is whenever it asks.
pub(super) struct Settled<T> {
    inner: T,
    reading: Arc<Reading>,
}

/// What is known of the reader of a connection.
#[derive(Default)]
pub(super) struct Reading {
    /// Notified when the reader asks for more, and when the connection has ended.
    pub(super) asked: Notify,
    /// What TLS failed of. With TLS 1.3 a server looks at our certificate after the handshake, and
    /// on the way through HTTP/2 nothing of its answer would be left.
    refused: Mutex<Option<rustls::Error>>,
}

impl Reading {
    pub(super) fn refused(&self) -> Option<rustls::Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.clone()
    }
}

impl<T> Settled<T> {
    /// The wrapped connection, and what is known of its reader.
    pub(super) fn new(inner: T) -> (Self, Arc<Reading>) {
        let reading = Arc::new(Reading::default());
        let settled = Self {
            inner,
            reading: Arc::clone(&reading),
        };
        (settled, reading)
    }
}

impl<T: Read + Unpin> Read for Settled<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.reading.asked.notify_one();
        let read = Pin::new(&mut self.inner).poll_read(cx, buf);
        if let Poll::Ready(Err(error)) = &read
            && let Some(error) = find::<rustls::Error>(error)
        {
            let refused = &self.reading.refused;
            *refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
        }
        read
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
