//! The body of an answer, as the events of a transport.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};

use crate::budget::Mark;
use crate::exchange::{Body, Failed};
use crate::pace::{Pace, Party};
use crate::transport::Event;

/// How many bytes to gather. A server may send each event as a piece of its own, but each turn of the
/// informer has its price.
const GATHERED: usize = 128 << 10;

/// How many pieces to gather, in case they are tiny.
const PIECES: usize = 256;

/// A body that is being read.
pub(crate) struct Reading {
    body: Body,
    /// For a full state.
    pace: Option<Arc<Pace>>,
    /// For a streamed state.
    mark: Option<Mark>,
    /// Where pieces are put together.
    gathered: BytesMut,
    /// What came behind the last piece.
    end: Option<Event>,
}

impl Reading {
    pub(crate) fn watch(body: Body) -> Self {
        Self {
            body,
            pace: None,
            mark: None,
            gathered: BytesMut::new(),
            end: None,
        }
    }

    pub(crate) fn list(body: Body, pace: Pace) -> Self {
        Self {
            pace: Some(Arc::new(pace)),
            ..Self::watch(body)
        }
    }

    pub(crate) fn stream(body: Body, pace: Pace) -> Self {
        Self {
            mark: Some(Mark::default()),
            ..Self::list(body, pace)
        }
    }

    /// For the task that watches over it.
    pub(crate) fn pace(&self) -> Option<Weak<Pace>> {
        self.pace.as_ref().map(Arc::downgrade)
    }

    /// The next event: the end, or all bytes that have arrived, up to a limit.
    pub(crate) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        self.turn(Party::Server);
        let event = self.poll_body(cx);
        if event.is_ready() {
            // It does not matter whether it is taken and nobody asks for more, or not even taken.
            self.turn(Party::Informer);
        }
        event
    }

    /// Notes who is to act next.
    fn turn(&mut self, party: Party) {
        self.pace.take_if(|pace| !pace.turn(party));
    }

    fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        if let Some(end) = self.end.take() {
            return Poll::Ready(end);
        }
        if let Some(pace) = &self.pace
            && let Err(failed) = pace.check(cx.waker())
        {
            return Poll::Ready(Event::Failed(failed));
        }
        let first = match self.body.poll_next(cx) {
            Poll::Ready(Ok(Some(piece))) => piece,
            Poll::Ready(end) => return Poll::Ready(event_of(end)),
            Poll::Pending => return Poll::Pending,
        };
        let bytes = self.gather(first, cx);
        if self.mark.as_mut().is_some_and(|mark| mark.is_in(&bytes)) {
            // The state is complete; from here on it is a watch.
            self.mark = None;
            self.pace = None;
        }
        Poll::Ready(Event::Bytes(bytes))
    }

    /// Adds the pieces that have arrived behind the first one.
    fn gather(&mut self, first: Bytes, cx: &mut Context<'_>) -> Bytes {
        let mut length = first.len();
        let mut first = Some(first);
        for _ in 0..PIECES {
            if length >= GATHERED {
                break;
            }
            match self.body.poll_next(cx) {
                Poll::Ready(Ok(Some(piece))) => {
                    if let Some(first) = first.take() {
                        self.gathered.reserve(2 * GATHERED);
                        self.gathered.extend_from_slice(&first);
                    }
                    self.gathered.extend_from_slice(&piece);
                    length += piece.len();
                }
                Poll::Ready(end) => {
                    self.end = Some(event_of(end));
                    break;
                }
                Poll::Pending => break,
            }
        }
        first.unwrap_or_else(|| self.gathered.split().freeze())
    }
}

fn event_of(piece: Result<Option<Bytes>, Failed>) -> Event {
    match piece {
        Ok(Some(bytes)) => Event::Bytes(bytes),
        Ok(None) => Event::Closed,
        Err(failed) => Event::Failed(failed),
    }
}
