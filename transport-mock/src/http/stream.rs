//! A watch on its way to a client.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use informer_core::Instant;
use tokio::sync::mpsc::Sender;

use super::body::Cut;
use super::faults::Mishap;
use super::front::Front;
use super::gzip;
use crate::watch::{Polled, Watch, WatchEnd, WatchEventType, WatchFrame};

/// Several lines are sent together, up to about this size.
const PIECE: usize = 64 * 1024;

/// A watch and the channel for its lines.
///
/// It buffers nothing for a slow reader. It waits, then continues in the server's history, or fails
/// if the history no longer reaches back that far.
pub(super) struct Stream {
    front: Arc<Front>,
    watch: Box<Watch>,
    pieces: Sender<Result<Bytes, Cut>>,
    is_compressed: bool,
    /// A frame that a fault delays.
    late: Option<WatchFrame>,
}

/// What follows a piece.
enum Next {
    More,
    Wait(Instant),
    Late(Duration),
    Silence,
    End,
    Cut,
}

impl Stream {
    pub(super) const fn new(
        front: Arc<Front>,
        watch: Box<Watch>,
        pieces: Sender<Result<Bytes, Cut>>,
        is_compressed: bool,
    ) -> Self {
        Self {
            front,
            watch,
            pieces,
            is_compressed,
            late: None,
        }
    }

    /// Sends until the watch ends or the reader is gone.
    pub(super) async fn run(mut self) {
        let front = Arc::clone(&self.front);
        loop {
            // Registered before the poll, so that no write in between is missed.
            let changed = front.server().changed();
            let (piece, next) = self.collect();
            if !piece.is_empty() {
                let piece = match self.is_compressed {
                    true => gzip::member(&piece),
                    false => piece,
                };
                if self.pieces.send(Ok(piece.into())).await.is_err() {
                    return;
                }
            }
            match next {
                Next::More => {}
                Next::Wait(until) => tokio::select! {
                    () = changed => {}
                    () = tokio::time::sleep_until(front.server().at(until)) => {}
                    () = self.pieces.closed() => return,
                },
                Next::Late(time) => tokio::time::sleep(time).await,
                Next::Silence => return self.pieces.closed().await,
                Next::End => return,
                Next::Cut => {
                    // If the reader is gone, there is nothing to cut.
                    let _ = self.pieces.send(Err(Cut)).await;
                    return;
                }
            }
        }
    }

    /// Takes what the watch can send now.
    fn collect(&mut self) -> (Vec<u8>, Next) {
        let mut piece = Vec::new();
        if let Some(frame) = self.late.take() {
            frame.write_to(&mut piece);
        }
        let now = self.front.server().now();
        let mut server = self.front.server().lock();
        let mut trouble = self.front.trouble();
        while piece.len() < PIECE {
            let frame = match self.watch.poll(&server, now) {
                Polled::Frame(frame) => frame,
                Polled::Idle(until) => return (piece, Next::Wait(until)),
                Polled::Ended(WatchEnd::Cut) => return (piece, Next::Cut),
                Polled::Ended(_) => return (piece, Next::End),
            };
            if frame.event() == WatchEventType::Bookmark && trouble.drops_bookmarks {
                continue;
            }
            let mishap = trouble.mishap();
            if trouble.count_event(&mut server) {
                self.front.server().wake();
            }
            match mishap {
                None => frame.write_to(&mut piece),
                Some(Mishap::Reset) => {
                    let line = frame.to_bytes();
                    piece.extend(line.iter().take(line.len() / 2));
                    return (piece, Next::Cut);
                }
                Some(Mishap::Stall) => return (piece, Next::Silence),
                Some(Mishap::Delay(time)) => {
                    self.late = Some(frame);
                    return (piece, Next::Late(time));
                }
            }
        }
        (piece, Next::More)
    }
}
