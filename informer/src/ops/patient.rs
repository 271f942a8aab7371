//! A connection that breaks if its other side does not read.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a write may wait.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection on which a write may not wait for long.
pub(super) struct Patient<C> {
    connection: C,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<C> Patient<C> {
    pub(super) const fn new(connection: C) -> Self {
        Self {
            connection,
            waiting: None,
        }
    }
}

impl<C: AsyncWrite + Unpin> Patient<C> {
    fn write<T>(
        &mut self,
        cx: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut C>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let outcome = write(Pin::new(&mut self.connection), cx);
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        let over = waiting.as_mut().poll(cx);
        over.map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Patient<C> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().connection).poll_read(cx, to)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for Patient<C> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().write(cx, |to, cx| to.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut()
            .write(cx, |to, cx| to.poll_write_vectored(cx, pieces))
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(cx, |to, cx| to.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().write(cx, |to, cx| to.poll_shutdown(cx))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::ErrorKind;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_waits_for_a_slow_reader_but_not_for_ever() {
        let (near, mut far) = duplex(16);
        let mut near = Patient::new(near);
        near.write_all(&[0; 16]).await.unwrap();
        // A reader that reads in time is slow, not stuck. It reads again and again.
        let slow = tokio::spawn(async move {
            for _ in 0..4 {
                sleep(PATIENCE * 2 / 3).await;
                far.read_exact(&mut [0; 16]).await.unwrap();
            }
            far
        });
        near.write_all(&[0; 64]).await.unwrap();
        let _far = slow.await.unwrap();
        let error = near.write_all(&[0; 16]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
    }
}
