//! An HTTP/1.1 connection is driven by whoever reads from it.
//!
//! hyper hands over one chunk of a body at a time. If another task drove the connection, each chunk would
//! take two wake-ups: one for the reader, and one for the next chunk. A server sends each event as a chunk.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use hyper::body::{Body as _, Frame, Incoming};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;

use super::dial::Stream;
use super::pool::Content;

type Connection = http1::Connection<TokioIo<Box<dyn Stream>>, Content>;

/// How often to try again because the connection was woken while it was polled. It may wake itself to
/// yield to other tasks, so not forever.
const ROUNDS: usize = 4;

/// A connection that a task of its own drives while nobody reads from it.
pub(super) struct Http1(Mutex<State>);

struct State {
    /// `None` after its end.
    connection: Option<Connection>,
    is_lent: bool,
    /// The task that drives it while it is not lent.
    task: Option<Waker>,
}

impl Http1 {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(State {
            connection: Some(connection),
            is_lent: false,
            task: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drives the connection to its end, except while it is lent.
    pub(super) async fn run(self: Arc<Self>) {
        let end = poll_fn(|cx| {
            let mut state = self.lock();
            state.task = Some(cx.waker().clone());
            if state.is_lent {
                return Poll::Pending;
            }
            state.poll(cx)
        });
        end.await;
    }

    /// Lends it to the reader of an answer.
    pub(super) fn lend(self: Arc<Self>) -> Lent {
        self.lock().is_lent = true;
        let relay = Arc::new(Relay::default());
        Lent {
            waker: Waker::from(Arc::clone(&relay)),
            relay,
            connection: self,
        }
    }
}

impl State {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let running = self.connection.as_mut();
        if running.is_some_and(|running| Pin::new(running).poll(cx).is_pending()) {
            return Poll::Pending;
        }
        // Senders notice the end only when the connection is dropped.
        self.connection = None;
        Poll::Ready(())
    }
}

/// A connection that the reader of an answer drives. On drop, its own task does so again.
pub(super) struct Lent {
    connection: Arc<Http1>,
    relay: Arc<Relay>,
    /// Wakes the relay.
    waker: Waker,
}

impl Lent {
    /// The next frame of the body that comes over this connection.
    pub(super) fn poll_frame(
        &self,
        body: &mut Incoming,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let mut inside = Context::from_waker(&self.waker);
        for _ in 0..ROUNDS {
            self.relay.enter(cx.waker());
            let mut frame = Pin::new(&mut *body).poll_frame(&mut inside);
            if frame.is_pending() {
                let _ = self.connection.lock().poll(&mut inside);
                frame = Pin::new(&mut *body).poll_frame(&mut inside);
            }
            let was_woken = self.relay.leave();
            if frame.is_ready() || !was_woken {
                return frame;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut state = self.connection.lock();
        state.is_lent = false;
        let task = state.task.take();
        drop(state);
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// Passes wake-ups on to the reader, except those that the reader causes itself while it polls.
#[derive(Default)]
struct Relay(Mutex<Waking>);

#[derive(Default)]
struct Waking {
    reader: Option<Waker>,
    is_inside: bool,
    was_woken: bool,
}

impl Relay {
    fn lock(&self) -> MutexGuard<'_, Waking> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reader polls from here on.
    fn enter(&self, reader: &Waker) {
        let mut waking = self.lock();
        waking.is_inside = true;
        waking.was_woken = false;
        match &mut waking.reader {
            Some(waker) => waker.clone_from(reader),
            None => waking.reader = Some(reader.clone()),
        }
    }

    /// The reader has polled. Returns whether it was woken meanwhile.
    fn leave(&self) -> bool {
        let mut waking = self.lock();
        waking.is_inside = false;
        waking.was_woken
    }
}

impl Wake for Relay {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut waking = self.lock();
        waking.was_woken = true;
        let reader = waking.reader.as_ref().filter(|_| !waking.is_inside);
        let reader = reader.cloned();
        drop(waking);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Reader(AtomicUsize);

    impl Wake for Reader {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_wake_up_while_the_reader_polls_is_noted_and_any_other_is_passed_on() {
        let reader = Arc::new(Reader::default());
        let times = || reader.0.load(Ordering::Relaxed);
        let relay = Arc::new(Relay::default());
        let waker = Waker::from(Arc::clone(&relay));
        waker.wake_by_ref();
        relay.enter(&Waker::from(Arc::clone(&reader)));
        assert!(!relay.leave(), "an earlier wake-up");
        waker.wake_by_ref();
        assert_eq!(times(), 1);
        relay.enter(&Waker::from(Arc::clone(&reader)));
        waker.wake_by_ref();
        assert_eq!(times(), 1, "it polls, so it need not be woken");
        assert!(relay.leave());
        // Whoever polls last is woken.
        let other = Arc::new(Reader::default());
        relay.enter(&Waker::from(Arc::clone(&other)));
        assert!(!relay.leave());
        waker.wake();
        assert_eq!((times(), other.0.load(Ordering::Relaxed)), (1, 1));
    }
}
