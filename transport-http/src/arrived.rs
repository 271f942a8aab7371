//! An answer for tests, whose pieces are there already.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::response::{Builder, Parts};

use crate::failed::Failed;
use crate::sender::Answer;

/// What each poll of the answer returns.
type Piece = Poll<Option<Result<Bytes, Failed>>>;

/// Nothing more comes after the last piece.
pub(crate) struct Arrived {
    head: Parts,
    pieces: VecDeque<Piece>,
}

impl Arrived {
    pub(crate) fn new(response: Builder, pieces: impl IntoIterator<Item = Piece>) -> Self {
        let (head, ()) = response.body(()).unwrap().into_parts();
        let pieces = pieces.into_iter().collect();
        Self { head, pieces }
    }
}

impl Answer for Arrived {
    fn head(&self) -> &Parts {
        &self.head
    }

    fn poll_piece(&mut self, _: &mut Context<'_>) -> Piece {
        self.pieces.pop_front().unwrap_or(Poll::Pending)
    }
}

pub(crate) fn arrived(bytes: &[u8]) -> Piece {
    Poll::Ready(Some(Ok(Bytes::copy_from_slice(bytes))))
}
