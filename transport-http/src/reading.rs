//! The body of an answer, as the events of a transport.

use std::sync::{Arc, Weak};
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};

use crate::body::Body;
use crate::budget::Mark;
use crate::failed::Failed;
use crate::pace::{Pace, Party};
use crate::sender::Answer;
use crate::transport::Event;

/// How many bytes to gather. A server may send each event as a piece of its own, but each turn of the
/// informer has its price.
const GATHERED: usize = 128 << 10;

/// A piece of this length is worth a turn, and not worth copying.
const LARGE: usize = 16 << 10;

/// How many pieces to gather, in case they are tiny.
const PIECES: usize = 256;

/// A body that is being read.
pub(crate) struct Reading<A> {
    body: Body<A>,
    /// For a full state.
    pace: Option<Arc<Pace>>,
    /// For a streamed state.
    mark: Option<Mark>,
    /// Where pieces are put together.
    gathered: BytesMut,
    /// What came behind the gathered pieces: the end, or a large piece.
    behind: Option<Event>,
}

impl<A: Answer> Reading<A> {
    pub(crate) fn watch(body: Body<A>) -> Self {
        Self {
            body,
            pace: None,
            mark: None,
            gathered: BytesMut::new(),
            behind: None,
        }
    }

    pub(crate) fn list(mut body: Body<A>, pace: Pace) -> Self {
        body.rest();
        Self {
            pace: Some(Arc::new(pace)),
            ..Self::watch(body)
        }
    }

    pub(crate) fn stream(body: Body<A>, pace: Pace) -> Self {
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
        if let Some(pace) = &self.pace
            && let Err(failed) = pace.check(cx.waker())
        {
            return Poll::Ready(Event::Failed(failed));
        }
        let next = match self.behind.take() {
            Some(event) => event,
            None => event_of(ready!(self.body.poll_next(cx))),
        };
        let Event::Bytes(first) = next else {
            return Poll::Ready(next);
        };
        let bytes = self.gather(first, cx);
        if self.mark.as_mut().is_some_and(|mark| mark.is_in(&bytes)) {
            // The state is complete; from here on it is a watch, which rarely needs as much room.
            self.mark = None;
            self.pace = None;
            self.body.hurry();
            self.gathered = BytesMut::new();
        }
        Poll::Ready(Event::Bytes(bytes))
    }

    /// Adds the small pieces that have arrived behind the first one, if that is small, too.
    fn gather(&mut self, first: Bytes, cx: &mut Context<'_>) -> Bytes {
        if first.len() >= LARGE {
            return first;
        }
        for _ in 0..PIECES {
            let Poll::Ready(next) = self.body.poll_next(cx) else {
                break;
            };
            match event_of(next) {
                Event::Bytes(piece) if piece.len() < LARGE => {
                    if self.gathered.is_empty() {
                        self.gathered.reserve(GATHERED + LARGE);
                        self.gathered.extend_from_slice(&first);
                    }
                    self.gathered.extend_from_slice(&piece);
                }
                other => {
                    self.behind = Some(other);
                    break;
                }
            }
            if self.gathered.len() >= GATHERED {
                break;
            }
        }
        if self.gathered.is_empty() {
            return first;
        }
        self.gathered.split().freeze()
    }
}

fn event_of(piece: Result<Option<Bytes>, Failed>) -> Event {
    match piece {
        Ok(Some(bytes)) => Event::Bytes(bytes),
        Ok(None) => Event::Closed,
        Err(failed) => Event::Failed(failed),
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use super::*;
    use crate::arrived::{Arrived, arrived};

    #[tokio::test]
    async fn room_for_pieces_is_kept_until_the_state_is_complete() {
        let end = r#""k8s.io/initial-events-end":"true""#;
        let turns = [["a", "b"], ["c", end], ["d", "e"]];
        let pieces = turns.iter().flat_map(|turn| {
            let pieces = turn.map(|piece| arrived(piece.as_bytes()));
            pieces.into_iter().chain([Poll::Pending])
        });
        let answer = Arrived::new(http::Response::builder(), pieces);
        let mut reading = Reading::stream(Body::new(answer, None), Pace::stream(None));
        let rooms = turns.map(|turn| {
            let event = reading.poll_event(&mut Context::from_waker(Waker::noop()));
            let Poll::Ready(Event::Bytes(bytes)) = event else {
                panic!("there are pieces");
            };
            assert_eq!(bytes, turn.concat());
            reading.gathered.capacity()
        });
        assert!(rooms[0] >= GATHERED && rooms[2] >= GATHERED, "{rooms:?}");
        assert_eq!(rooms[1], 0, "memory is given back");
    }
}
