//! An answer on its way to the reader: its pieces and its end.

use informer_core::transport::{ExchangeId, Signal};
use informer_core::{Encoding, Failure};

use crate::random::Random;

/// How an answer ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ending {
    /// The body is complete.
    Closed,
    /// The connection breaks.
    Broken,
    /// Nothing more arrives, but the connection stays open.
    Silent,
}

/// An answer that has arrived in part.
#[derive(Debug)]
pub(crate) struct Delivery {
    id: ExchangeId,
    /// A failure in place of an answer.
    failure: Option<(Failure, String)>,
    encoding: Encoding,
    is_open: bool,
    bytes: Vec<u8>,
    /// How many bytes the reader has taken.
    taken: usize,
    /// How many of the remaining bytes are shown; 0 if the next piece is not chosen yet.
    piece: usize,
    end: Option<Ending>,
}

impl Delivery {
    /// A successful answer.
    pub(crate) const fn new(id: ExchangeId, encoding: Encoding) -> Self {
        Self {
            id,
            failure: None,
            encoding,
            is_open: false,
            bytes: Vec::new(),
            taken: 0,
            piece: 0,
            end: None,
        }
    }

    /// A failure in place of an answer.
    pub(crate) fn failed(id: ExchangeId, failure: Failure, message: String) -> Self {
        Self {
            failure: Some((failure, message)),
            ..Self::new(id, Encoding::Json)
        }
    }

    pub(crate) const fn id(&self) -> ExchangeId {
        self.id
    }

    /// Whether it could show more bytes if they arrived.
    pub(crate) const fn is_hungry(&self) -> bool {
        self.is_open && self.taken == self.bytes.len() && self.end.is_none()
    }

    /// Whether nothing will ever arrive.
    pub(crate) const fn is_silent(&self) -> bool {
        self.taken == self.bytes.len() && matches!(self.end, Some(Ending::Silent))
    }

    /// Adds bytes that have arrived.
    pub(crate) fn arrive(&mut self, bytes: &[u8]) {
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Sets the end, after what has arrived.
    pub(crate) const fn end(&mut self, end: Ending) {
        self.end = Some(end);
    }

    /// Breaks the connection here: bytes not yet taken are lost.
    pub(crate) fn cut(&mut self) {
        self.bytes.truncate(self.taken);
        self.piece = 0;
        self.end = Some(Ending::Broken);
        if !self.is_open {
            self.failure = Some((Failure::Broken, RESET.to_owned()));
        }
    }

    /// The next signal. `random` decides the length of the piece.
    pub(crate) fn show(&mut self, random: &mut Random) -> Option<(ExchangeId, Signal<'_>)> {
        let rest = self.bytes.len() - self.taken;
        if self.is_open && rest > 0 && self.piece == 0 {
            self.piece = piece(random).min(rest);
        }
        let signal = match (&self.failure, self.is_open) {
            (Some((failure, message)), _) => Signal::Failed {
                failure: *failure,
                message,
            },
            (None, false) => Signal::Opened(self.encoding),
            (None, true) if rest > 0 => {
                let piece = self.bytes.get(self.taken..self.taken + self.piece);
                Signal::Bytes(piece.unwrap_or_default())
            }
            (None, true) => match self.end? {
                Ending::Closed => Signal::Closed,
                Ending::Broken => Signal::Failed {
                    failure: Failure::Broken,
                    message: RESET,
                },
                Ending::Silent => return None,
            },
        };
        Some((self.id, signal))
    }

    /// Marks the last signal as used, the first `n` of its bytes. Returns whether that was the end.
    pub(crate) fn consume(&mut self, n: usize) -> bool {
        if self.failure.is_some() {
            return true;
        }
        if !self.is_open {
            self.is_open = true;
            return false;
        }
        if self.taken < self.bytes.len() {
            let n = n.min(self.piece);
            self.taken += n;
            self.piece -= n;
            return false;
        }
        self.end.is_some()
    }
}

const RESET: &str = "connection reset by peer";

/// The length of a piece: mostly a network packet's, sometimes a few bytes.
fn piece(random: &mut Random) -> usize {
    let longest = if random.one_in(4) { 24 } else { 4096 };
    1 + random.index(longest)
}
