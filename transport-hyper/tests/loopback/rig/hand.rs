//! Drives a transport by hand.

use std::task::{Context, Poll};
use std::time::Duration;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::storage::Heap;
use informer_core::transport::{At, Command, ExchangeId, Request, Signal, Target, Transport};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Instant};
use informer_transport_hyper::{Client, HyperTransport};

use super::soon;

/// An owned signal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    Opened(Encoding),
    Bytes(Vec<u8>),
    Closed,
    Failed(Failure, String),
}

/// A transport that a test drives.
pub(crate) struct Hand {
    pub(crate) transport: HyperTransport,
}

pub(crate) fn pods() -> Target {
    Target::new("", "v1", "pods")
}

pub(crate) fn list() -> Request<'static> {
    Request::List {
        version: At::Any,
        limit: None,
        page: None,
    }
}

pub(crate) fn watch() -> Request<'static> {
    Request::Watch {
        version: At::Version("7"),
        timeout: Duration::from_secs(300),
        initial_events: false,
    }
}

pub(crate) fn stream() -> Request<'static> {
    Request::Watch {
        version: At::Latest,
        timeout: Duration::from_secs(300),
        initial_events: true,
    }
}

/// The id of the first exchange of an informer; only a core can create one.
pub(crate) fn exchange() -> ExchangeId {
    let now = Instant::default();
    let mut informer: Informer<_, Heap> =
        Informer::new(Decoder::new(Dynamic), InformerConfig::new(), 1).unwrap();
    informer.start(now);
    match informer.poll_command(now) {
        Some(Command::Open { exchange, .. }) => exchange,
        other => panic!("{other:?}"),
    }
}

impl Hand {
    pub(crate) fn new(client: &Client) -> Self {
        Self::of(client, &pods())
    }

    pub(crate) fn of(client: &Client, target: &Target) -> Self {
        Self {
            transport: client.transport(target).unwrap(),
        }
    }

    pub(crate) fn open(&mut self, request: Request<'static>) {
        let exchange = exchange();
        self.transport.execute(Command::Open { exchange, request });
    }

    pub(crate) fn abort(&mut self) {
        self.transport.execute(Command::Abort(exchange()));
    }

    /// The next signal, consumed.
    pub(crate) async fn next(&mut self) -> Seen {
        soon("a signal", std::future::poll_fn(|cx| self.poll(cx))).await
    }

    /// The next signal, consumed, if one is ready.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Seen> {
        let shown = self.transport.poll_signal(cx);
        let seen = shown.map(|(_, signal)| match signal {
            Signal::Opened(encoding) => Seen::Opened(encoding),
            Signal::Bytes(bytes) => Seen::Bytes(bytes.to_vec()),
            Signal::Closed => Seen::Closed,
            Signal::Failed { failure, message } => Seen::Failed(failure, message.to_owned()),
        });
        let used = match &seen {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Seen::Bytes(bytes)) => bytes.len(),
            Poll::Ready(_) => 0,
        };
        self.transport.consume(used);
        seen
    }

    /// Reads exactly `count` bytes.
    pub(crate) async fn bytes(&mut self, count: usize) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            match self.next().await {
                Seen::Bytes(more) => bytes.extend(more),
                other => panic!("{other:?} after {}", String::from_utf8_lossy(&bytes)),
            }
        }
        assert_eq!(bytes.len(), count);
        String::from_utf8(bytes).unwrap()
    }

    /// Expects exactly this text.
    pub(crate) async fn text(&mut self, text: &str) {
        assert_eq!(self.bytes(text.len()).await, text);
    }

    pub(crate) async fn opened(&mut self) {
        assert_eq!(self.next().await, Seen::Opened(Encoding::Json));
    }

    pub(crate) async fn closed(&mut self) {
        assert_eq!(self.next().await, Seen::Closed);
    }

    /// Expects this failure and returns its message.
    pub(crate) async fn failed(&mut self, expected: Failure) -> String {
        match self.next().await {
            Seen::Failed(failure, message) => {
                assert_eq!(failure, expected, "{message}");
                message
            }
            other => panic!("{other:?}"),
        }
    }
}
