//! The body of an answer: known parts, then, for a watch, what happens.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;
use tokio::sync::mpsc;
use tokio::time::{Interval, Sleep, interval, sleep};

use crate::answers::bookmark;
use crate::parts::Parts;
use crate::state::World;

/// How often a watch gets a bookmark.
const BOOKMARKS: Duration = Duration::from_secs(60);

/// See the module.
pub(crate) struct Body {
    parts: Parts,
    gzip: Option<GzEncoder<Vec<u8>>>,
    live: Option<Live>,
}

/// A watch, after its first events.
struct Live {
    world: Arc<World>,
    events: mpsc::Receiver<Bytes>,
    bookmarks: Interval,
    end: Pin<Box<Sleep>>,
}

impl Body {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            parts,
            gzip: None,
            live: None,
        }
    }

    /// As API servers compress: fast rather than well.
    pub(crate) fn compressed(mut self) -> Self {
        self.gzip = Some(GzEncoder::new(Vec::new(), Compression::new(1)));
        self
    }

    /// Goes on with events until the time is over.
    pub(crate) fn followed_by(
        mut self,
        events: mpsc::Receiver<Bytes>,
        world: Arc<World>,
        limit: Duration,
    ) -> Self {
        let mut bookmarks = interval(BOOKMARKS);
        bookmarks.reset();
        let end = Box::pin(sleep(limit));
        self.live = Some(Live {
            world,
            events,
            bookmarks,
            end,
        });
        self
    }

    fn next_part(&mut self) -> Option<Bytes> {
        let Some(gzip) = &mut self.gzip else {
            return self.parts.next();
        };
        while let Some(part) = self.parts.next() {
            // Writing to memory cannot fail.
            let _ = gzip.write_all(&part);
            if !gzip.get_ref().is_empty() {
                return Some(std::mem::take(gzip.get_mut()).into());
            }
        }
        let rest = self.gzip.take()?.finish();
        rest.ok().filter(|rest| !rest.is_empty()).map(Bytes::from)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let data = |bytes| Poll::Ready(Some(Ok(Frame::data(bytes))));
        if let Some(part) = self.next_part() {
            return data(part);
        }
        let Some(live) = &mut self.live else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(event) = live.events.poll_recv(context) {
            return event.map_or(Poll::Ready(None), data);
        }
        if live.bookmarks.poll_tick(context).is_ready() {
            let version = live.world.state().version;
            return data(bookmark(version, false));
        }
        live.end.as_mut().poll(context).map(|()| None)
    }
}
