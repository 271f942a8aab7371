//! Reads HTTP/2 frame by frame.
//!
//! h2 reads into a buffer of 8 KiB and hands out each frame as a part of it. The start of a frame that does not
//! fit behind the last one is copied into a new buffer. A server sends each event of a watch as a frame, often
//! of some KiB, so nearly half of all bytes would be copied. Here a read ends behind the head of a frame, and at
//! the end of the frame. So h2 makes room for a frame when it has nothing but its head.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf, Take};

use super::forward::forward_writes;

/// The length of a head.
const HEAD: usize = 9;

/// A connection whose reads end at the borders of frames.
pub(super) struct Frames<T> {
    /// Limited to what is left of the current part.
    inner: Take<T>,
    part: Part,
}

/// What is read next.
enum Part {
    /// A head. It starts with the length of what follows it, in three bytes.
    Head { read: usize, length: u64 },
    /// What follows a head.
    Payload,
}

impl Part {
    const FIRST: Self = Self::Head { read: 0, length: 0 };
}

impl<T: AsyncRead> Frames<T> {
    pub(super) fn new(inner: T) -> Self {
        Self {
            inner: inner.take(HEAD as u64),
            part: Part::FIRST,
        }
    }

    fn inner(&self) -> &T {
        self.inner.get_ref()
    }

    fn inner_mut(&mut self) -> &mut T {
        self.inner.get_mut()
    }

    /// Goes on to the next part if these bytes complete the current one.
    fn pass(&mut self, bytes: &[u8]) {
        if let Part::Head { read, length } = &mut self.part {
            for byte in bytes.iter().take(3_usize.saturating_sub(*read)) {
                *length = *length << 8 | u64::from(*byte);
            }
            *read += bytes.len();
        }
        if self.inner.limit() > 0 {
            return;
        }
        let (part, limit) = match self.part {
            Part::Head { length, .. } if length > 0 => (Part::Payload, length),
            Part::Head { .. } | Part::Payload => (Part::FIRST, HEAD as u64),
        };
        self.part = part;
        self.inner.set_limit(limit);
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Frames<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.pass(buf.filled().get(before..).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

forward_writes!(AsyncWrite for Frames<T: AsyncRead>);

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[0; 6], payload].concat()
    }

    /// The lengths of the reads of a stream, each of at most `most` bytes.
    async fn reads(bytes: &[u8], most: usize) -> Vec<usize> {
        let mut frames = Frames::new(bytes);
        let (mut read, mut lengths) = (Vec::new(), Vec::new());
        let mut buf = vec![0; most];
        loop {
            let length = frames.read(&mut buf).await.unwrap();
            if length == 0 {
                assert_eq!(read, bytes);
                return lengths;
            }
            read.extend_from_slice(buf.get(..length).unwrap());
            lengths.push(length);
        }
    }

    #[tokio::test]
    async fn a_read_ends_behind_a_head_and_at_the_end_of_a_frame() {
        let long = vec![7; 0x0001_0203];
        let bytes = [frame(b"first"), frame(b""), frame(&long), frame(b"x")].concat();
        let lengths = reads(&bytes, 1 << 20).await;
        assert_eq!(lengths, [9, 5, 9, 9, 0x0001_0203, 9, 1]);
    }

    #[tokio::test]
    async fn a_small_buffer_changes_nothing_but_the_pieces() {
        let bytes = [frame(b"first"), frame(b""), frame(b"second one")].concat();
        assert_eq!(
            reads(&bytes, 4).await,
            [4, 4, 1, 4, 1, 4, 4, 1, 4, 4, 1, 4, 4, 2]
        );
        for most in 1..20 {
            reads(&bytes, most).await;
        }
    }

    #[tokio::test]
    async fn a_stream_may_end_anywhere() {
        let bytes = [frame(b"first"), frame(b"second one")].concat();
        for end in 0..bytes.len() {
            reads(bytes.get(..end).unwrap(), 100).await;
        }
    }
}
