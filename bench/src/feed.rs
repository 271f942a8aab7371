//! An informer that is fed by hand with full states.

use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

use informer::informer_core::decode::{Decoder, Form};
use informer::informer_core::indexer::Indexer;
use informer::informer_core::processor::ListenerId;
use informer::informer_core::queue::Transform;
use informer::informer_core::storage::Heap;
use informer::informer_core::transport::{Command, ExchangeId, Request, Signal};
use informer::informer_core::{Encoding, Failure, Informer, Instant, Object};
use informer::{FirstState, IndexError, IndexFn, InformerConfig, ListenerConfig};

type Stored<F> = Object<<F as Form>::Body>;

/// An informer in the middle of a full state, with a handler that keeps nothing.
pub(crate) struct Feed<F: Form> {
    informer: Informer<Decoder<F>, Heap>,
    listener: ListenerId,
    exchange: Option<ExchangeId>,
    now: Instant,
}

impl<F: Form> Feed<F> {
    pub(crate) fn new(
        form: F,
        transform: Option<Transform<Stored<F>>>,
        first_state: FirstState,
    ) -> Result<Self, Box<dyn Error>> {
        let mut config = InformerConfig::new();
        config.reflector.first_state = first_state;
        let mut informer = Informer::new(Decoder::new(form), config, 1)?;
        if let Some(transform) = transform {
            informer = informer.with_transform(transform);
        }
        let now = Instant::from_micros(1);
        let listener = informer.add_listener(ListenerConfig::new(), now)?;
        informer.start(now);
        Ok(Self {
            informer,
            listener,
            exchange: None,
            now,
        })
    }

    pub(crate) fn index(&mut self, name: &str, by: IndexFn<Stored<F>>) -> Result<(), IndexError> {
        self.informer.add_index(name, by).map(drop)
    }

    /// Waits until the informer asks for a full state, and begins the answer. A watch is refused: its
    /// version has expired.
    pub(crate) fn begin(&mut self) -> Result<(), &'static str> {
        if let Some(exchange) = self.exchange.take() {
            self.refuse(exchange);
        }
        for _ in 0..100 {
            self.now = self.now.after(Duration::from_secs(60));
            self.informer.advance(self.now);
            let asked = match self.informer.poll_command(self.now) {
                Some(Command::Open { exchange, request }) => Some((exchange, is_watch(&request))),
                _ => None,
            };
            match asked {
                Some((exchange, true)) => self.refuse(exchange),
                Some((exchange, false)) => {
                    self.exchange = Some(exchange);
                    self.signal(Signal::Opened(Encoding::Json));
                    return Ok(());
                }
                None => {}
            }
        }
        Err("the informer does not ask for a full state")
    }

    /// The next piece of the answer.
    pub(crate) fn bytes(&mut self, mut piece: &[u8]) -> Result<(), &'static str> {
        while !piece.is_empty() {
            let taken = self.signal(Signal::Bytes(piece));
            let notified = self.hear();
            piece = match taken {
                Some(taken) if taken > 0 || notified => piece.get(taken..).unwrap_or_default(),
                None if notified => piece,
                _ => return Err("the informer takes nothing more"),
            };
        }
        Ok(())
    }

    /// The full state is complete.
    pub(crate) fn end(&mut self) -> Result<(), &'static str> {
        self.signal(Signal::Closed);
        self.exchange = None;
        while self.hear() || self.informer.next_deadline() == Some(self.now) {
            self.informer.advance(self.now);
        }
        let is_synced = self.informer.is_synced();
        is_synced
            .then_some(())
            .ok_or("the answer did not become a state")
    }

    pub(crate) const fn store(&self) -> &Indexer<Stored<F>, Heap> {
        self.informer.store()
    }

    fn signal(&mut self, signal: Signal<'_>) -> Option<usize> {
        self.informer.signal(self.exchange?, signal, self.now)
    }

    fn refuse(&mut self, exchange: ExchangeId) {
        let expired = Signal::Failed {
            failure: Failure::Expired,
            message: "too old resource version",
        };
        let _ = self.informer.signal(exchange, expired, self.now);
    }

    /// Takes what the listener is notified of. `false` if it was nothing.
    fn hear(&mut self) -> bool {
        let mut heard = false;
        let give = |notification| {
            heard = true;
            drop(black_box(notification));
        };
        self.informer
            .poll_notifications(self.listener, usize::MAX, give);
        heard
    }
}

/// Whether this follows changes from a known version.
const fn is_watch(request: &Request<'_>) -> bool {
    matches!(
        request,
        Request::Watch {
            initial_events: false,
            ..
        }
    )
}
