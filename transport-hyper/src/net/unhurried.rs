//! Reads less often, and more at once, while a full state arrives. While the reader is behind, the runtime does not
//! watch the socket.
//!
//! A server sends each object of a streamed state on its own, and a list in pieces of a few KiB. A client
//! that reads each as it arrives is woken for each. That costs more than decoding it, and nobody waits for
//! one object of a state.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::coop;
use tokio::time::{Instant, Sleep, sleep};

use super::forward::forward_writes;
use super::socket::Deafen;

/// A read that brings this much shows that the reader is behind, or that the server is fast. It may be waiting for room
/// in the window of the connection, so a rest now would slow it down.
const MUCH: usize = 32 << 10;

/// How long to let bytes gather at first. Timers are no finer.
const REST: Duration = Duration::from_millis(1);

/// How long to let bytes gather at most.
const LONGEST_REST: Duration = Duration::from_millis(4);

/// A rest takes at most this part of the time for which states have been arriving: the last rest of a state is
/// time that it loses.
const PART: u32 = 64;

/// How many full states arrive over a connection.
#[derive(Clone, Default)]
pub(super) struct States(Arc<AtomicUsize>);

impl States {
    /// One more arrives, until the result is dropped.
    pub(super) fn arriving(&self) -> Arriving {
        self.0.fetch_add(1, Ordering::Relaxed);
        Arriving(self.clone())
    }

    fn is_any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

/// A full state that arrives.
pub(super) struct Arriving(States);

impl Drop for Arriving {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection that rests after a read that took all there was, while a full state arrives.
pub(super) struct Unhurried<T> {
    inner: T,
    states: States,
    rest: Pin<Box<Sleep>>,
    is_resting: bool,
    /// Whether the last read brought much.
    had_much: bool,
    /// When the first of the states began to arrive.
    since: Option<Instant>,
}

impl<T> Unhurried<T> {
    pub(super) fn new(inner: T, states: States) -> Self {
        Self {
            inner,
            states,
            rest: Box::pin(sleep(REST)),
            is_resting: false,
            had_much: false,
            since: None,
        }
    }

    /// Begins a rest after all there was has been taken, if a state arrives.
    fn begin_rest(&mut self)
    where
        T: Deafen,
    {
        if !self.states.is_any() {
            return;
        }
        let now = Instant::now();
        let since = *self.since.get_or_insert(now);
        let rest = (now.duration_since(since) / PART).clamp(REST, LONGEST_REST);
        self.rest.as_mut().reset(now + rest);
        self.is_resting = true;
        self.inner.deafen();
    }

    const fn inner(&self) -> &T {
        &self.inner
    }

    const fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T: AsyncRead + Deafen + Unpin> AsyncRead for Unhurried<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_resting && self.states.is_any() {
            ready!(self.rest.as_mut().poll(cx));
        }
        self.is_resting = false;
        if !self.states.is_any() {
            self.since = None;
        }
        // A task that only reads what is there lets others have their turn.
        let budget = ready!(coop::poll_proceed(cx));
        let before = buf.filled().len();
        let had_much = std::mem::take(&mut self.had_much);
        let is_more_likely = had_much && self.states.is_any();
        let read = is_more_likely.then(|| self.inner.read_deaf(buf));
        match read {
            Some(Some(read)) => read?,
            Some(None) => {
                self.begin_rest();
                ready!(self.rest.as_mut().poll(cx));
                ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
            }
            None => ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?,
        }
        budget.made_progress();
        let brought = buf.filled().len() - before;
        // Much may come in two reads.
        if brought >= MUCH || (had_much && brought > 0) {
            self.had_much = true;
            // Nobody needs to be told of more.
            self.inner.deafen();
        } else if brought > 0 && buf.remaining() > 0 {
            self.begin_rest();
        }
        Poll::Ready(Ok(()))
    }
}

forward_writes!(AsyncWrite for Unhurried<T: Sized>);

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex};

    /// A stream that counts how often it was told not to listen.
    struct Counting(DuplexStream, usize);

    impl AsyncRead for Counting {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, buf)
        }
    }

    impl Deafen for Counting {
        fn deafen(&mut self) {
            self.1 += 1;
        }

        fn read_deaf(&mut self, buf: &mut ReadBuf<'_>) -> Option<io::Result<()>> {
            let mut cx = Context::from_waker(std::task::Waker::noop());
            match Pin::new(&mut self.0).poll_read(&mut cx, buf) {
                Poll::Ready(read) => Some(read),
                Poll::Pending => None,
            }
        }
    }

    /// How many bytes one read brings, or `None` if it has to wait.
    async fn read(stream: &mut Unhurried<Counting>, most: usize) -> Option<usize> {
        let mut bytes = vec![0; most];
        poll_fn(|cx| {
            let mut buf = ReadBuf::new(&mut bytes);
            let read = Pin::new(&mut *stream).poll_read(cx, &mut buf);
            Poll::Ready(match read {
                Poll::Ready(result) => {
                    result.unwrap();
                    Some(buf.filled().len())
                }
                Poll::Pending => None,
            })
        })
        .await
    }

    #[tokio::test(start_paused = true)]
    async fn small_pieces_gather_while_a_state_arrives() {
        let (mut server, client) = duplex(1 << 20);
        let states = States::default();
        let mut stream = Unhurried::new(Counting(client, 0), states.clone());
        let state = states.arriving();
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, 100).await, Some(10), "the first at once");
        server.write_all(&[0; 10]).await.unwrap();
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, 100).await, None, "it rests");
        sleep(REST * 2).await;
        assert_eq!(read(&mut stream, 100).await, Some(20));
        // The state is complete: from here on, each event comes at once.
        drop(state);
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, 100).await, Some(10));
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, 100).await, Some(10));
    }

    #[tokio::test(start_paused = true)]
    async fn there_is_no_rest_while_there_is_more() {
        let (mut server, client) = duplex(1 << 20);
        let states = States::default();
        let mut stream = Unhurried::new(Counting(client, 0), states.clone());
        let _state = states.arriving();
        server.write_all(&[0; 30]).await.unwrap();
        assert_eq!(read(&mut stream, 20).await, Some(20));
        assert_eq!(read(&mut stream, 20).await, Some(10), "there was more");
        assert_eq!(read(&mut stream, 20).await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_told_of_bytes_while_the_reader_is_behind() {
        let (mut server, client) = duplex(1 << 20);
        let mut stream = Unhurried::new(Counting(client, 0), States::default());
        server.write_all(&[0; 3 * MUCH]).await.unwrap();
        assert_eq!(read(&mut stream, 100).await, Some(100));
        assert_eq!(stream.inner.1, 0, "a small piece");
        assert_eq!(read(&mut stream, 2 * MUCH).await, Some(2 * MUCH));
        assert_eq!(stream.inner.1, 1);
        assert_eq!(read(&mut stream, 4 * MUCH).await, Some(MUCH - 100));
        assert_eq!(stream.inner.1, 2, "what is left may be much, too");
        assert_eq!(read(&mut stream, MUCH).await, None);
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, MUCH).await, Some(10));
        assert_eq!(stream.inner.1, 2, "it has caught up");
    }

    /// A server cannot send more than the window of a connection until the client has read.
    #[tokio::test(start_paused = true)]
    async fn a_fast_server_behind_a_small_window_is_not_slowed_down() {
        use tokio::io::AsyncReadExt as _;
        const STATE: usize = 64 << 20;
        for (window, most) in [(MUCH, 8 * MUCH), (95 << 10, 64 << 10)] {
            let (mut server, client) = duplex(window);
            let states = States::default();
            let _state = states.arriving();
            let mut stream = Unhurried::new(Counting(client, 0), states);
            let began = Instant::now();
            let sending = async {
                let piece = [0; MUCH];
                for _ in 0..STATE / MUCH {
                    server.write_all(&piece).await.unwrap();
                }
            };
            let receiving = async {
                let mut room = vec![0; most];
                let mut received = 0;
                while received < STATE {
                    received += stream.read(&mut room).await.unwrap();
                    // The server sends more while this is decoded. The two take turns in changing order.
                    tokio::task::yield_now().await;
                    tokio::task::yield_now().await;
                }
            };
            tokio::join!(sending, receiving);
            assert!(began.elapsed() < LONGEST_REST, "{:?}", began.elapsed());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn much_and_then_nothing_is_followed_by_a_rest() {
        let (mut server, client) = duplex(1 << 20);
        let states = States::default();
        let mut stream = Unhurried::new(Counting(client, 0), states.clone());
        let _state = states.arriving();
        server.write_all(&[0; MUCH]).await.unwrap();
        assert_eq!(read(&mut stream, 2 * MUCH).await, Some(MUCH));
        assert_eq!(read(&mut stream, 2 * MUCH).await, None, "it rests");
        server.write_all(&[0; 10]).await.unwrap();
        assert_eq!(read(&mut stream, 2 * MUCH).await, None, "it still rests");
        sleep(REST * 2).await;
        assert_eq!(read(&mut stream, 2 * MUCH).await, Some(10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_state_that_takes_long_rests_longer() {
        use tokio::io::AsyncReadExt as _;
        let (mut server, client) = duplex(1 << 20);
        let states = States::default();
        let mut stream = Unhurried::new(Counting(client, 0), states.clone());
        let mut bytes = [0; 100];
        for round in 0..2 {
            let state = states.arriving();
            let began = Instant::now();
            let mut longest = Duration::ZERO;
            while began.elapsed() < LONGEST_REST * PART * 2 {
                server.write_all(b"object").await.unwrap();
                let asked = Instant::now();
                assert_eq!(stream.read(&mut bytes).await.unwrap(), 6);
                let rest = asked.elapsed();
                assert!(rest <= REST.max(began.elapsed() / PART) + REST, "{rest:?}");
                longest = longest.max(rest);
            }
            assert!((LONGEST_REST..=LONGEST_REST + REST).contains(&longest));
            // The next state starts with short rests.
            drop(state);
            server.write_all(b"event").await.unwrap();
            assert_eq!(stream.read(&mut bytes).await.unwrap(), 5, "{round}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_reader_is_woken_after_the_rest() {
        use tokio::io::AsyncReadExt as _;
        let (mut server, client) = duplex(1 << 20);
        let states = States::default();
        let mut stream = Unhurried::new(Counting(client, 0), states.clone());
        let _states = [states.arriving(), states.arriving()];
        server.write_all(b"first").await.unwrap();
        let mut bytes = [0; 100];
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 5);
        let began = Instant::now();
        server.write_all(b"second").await.unwrap();
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 6);
        assert!(began.elapsed() >= REST);
        drop(server);
        assert_eq!(stream.read(&mut bytes).await.unwrap(), 0, "the end");
    }
}
