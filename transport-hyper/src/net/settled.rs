//! Waits for the settings of an HTTP/2 peer.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use informer_transport_http::find;
use tokio::sync::Notify;

use super::forward::forward_writes;

/// A connection that signals when hyper has processed what it has read.
///
/// An HTTP/2 server first sends a SETTINGS frame with the number of streams it allows. Streams opened
/// before that may be refused, or wait silently behind the limit. hyper does not report when the frame
/// arrives. But hyper reads more only after it has processed what it has, so every read is a good time
/// to look at the limit.
pub(super) struct Settled<T> {
    inner: T,
    reading: Arc<Reading>,
}

/// What is known about the reader of a connection.
#[derive(Default)]
pub(super) struct Reading {
    /// Notified when hyper reads more, and when the connection has ended.
    pub(super) asked: Notify,
    /// The TLS error of the connection. With TLS 1.3 the server checks our certificate after the
    /// handshake, and hyper's HTTP/2 errors do not contain its alert.
    refused: Mutex<Option<rustls::Error>>,
}

impl Reading {
    pub(super) fn refused(&self) -> Option<rustls::Error> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.clone()
    }
}

impl<T> Settled<T> {
    /// Wraps a connection, and returns it with what is known about its reader.
    pub(super) fn new(inner: T) -> (Self, Arc<Reading>) {
        let reading = Arc::new(Reading::default());
        let settled = Self {
            inner,
            reading: Arc::clone(&reading),
        };
        (settled, reading)
    }

    const fn inner(&self) -> &T {
        &self.inner
    }

    const fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
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

forward_writes!(Write for Settled<T: Sized>);
