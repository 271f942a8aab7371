//! A server that is faster than any client.

use std::task::{Context, Poll};

use informer::Transport;
use informer_core::transport::{Command, ExchangeId, Signal};

/// A server that has all its data ready, in one piece.
pub struct Flood {
    exchange: Option<ExchangeId>,
    text: Vec<u8>,
    at: usize,
}

impl Flood {
    pub fn new(text: &str) -> Self {
        Self {
            exchange: None,
            text: text.as_bytes().to_vec(),
            at: 0,
        }
    }
}

impl Transport for Flood {
    fn execute(&mut self, command: Command<'_>) {
        self.exchange = match command {
            Command::Open { exchange, .. } => Some(exchange),
            Command::Abort(_) => None,
        };
    }

    fn poll_signal(&mut self, _: &mut Context<'_>) -> Poll<(ExchangeId, Signal<'_>)> {
        let piece = &self.text[self.at..];
        match self.exchange {
            Some(exchange) if !piece.is_empty() => Poll::Ready((exchange, Signal::Bytes(piece))),
            _ => Poll::Pending,
        }
    }

    fn consume(&mut self, n: usize) {
        self.at += n;
    }
}
