//! An informer that is fed by hand with the body of a list.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;

use informer::informer_core::decode::{Decoder, Form};
use informer::informer_core::indexer::Indexer;
use informer::informer_core::processor::ListenerId;
use informer::informer_core::storage::Heap;
use informer::informer_core::transport::{Command, ExchangeId, Signal};
use informer::informer_core::{Encoding, Informer, Instant, Object};
use informer::{FirstState, IndexError, IndexFn, InformerConfig, ListenerConfig};

type Stored<F> = Arc<Object<<F as Form>::Body>>;

/// An informer in the middle of its list, with a handler that keeps nothing.
pub(crate) struct Feed<F: Form> {
    informer: Informer<Decoder<F>, Heap>,
    listener: ListenerId,
    exchange: ExchangeId,
}

/// It stands still: nothing here waits.
const NOW: Instant = Instant::from_micros(1);

impl<F: Form> Feed<F> {
    pub(crate) fn new(form: F) -> Result<Self, Box<dyn Error>> {
        let mut config = InformerConfig::new();
        config.reflector.first_state = FirstState::Listed;
        let mut informer = Informer::new(Decoder::new(form), config, 1)?;
        let listener = informer.add_listener(ListenerConfig::new(), NOW)?;
        informer.start(NOW);
        let exchange = loop {
            match informer.poll_command(NOW) {
                Some(Command::Open { exchange, .. }) => break exchange,
                Some(_) => {}
                None => return Err("the informer asks for nothing".into()),
            }
        };
        let _ = informer.signal(exchange, Signal::Opened(Encoding::Json), NOW);
        Ok(Self {
            informer,
            listener,
            exchange,
        })
    }

    pub(crate) fn index(&mut self, name: &str, by: IndexFn<Stored<F>>) -> Result<(), IndexError> {
        self.informer.add_index(name, by).map(drop)
    }

    /// The next piece of the list.
    pub(crate) fn bytes(&mut self, mut piece: &[u8]) -> Result<(), String> {
        while !piece.is_empty() {
            let taken = self
                .informer
                .signal(self.exchange, Signal::Bytes(piece), NOW);
            let notified = self.hear();
            piece = match taken {
                Some(taken) if taken > 0 || notified => piece.get(taken..).unwrap_or_default(),
                None if notified => piece,
                _ => return Err("the informer takes nothing more".to_owned()),
            };
        }
        Ok(())
    }

    /// The list is over.
    pub(crate) fn end(&mut self) -> Result<(), &'static str> {
        let _ = self.informer.signal(self.exchange, Signal::Closed, NOW);
        while self.hear() || self.informer.next_deadline() == Some(NOW) {
            self.informer.advance(NOW);
        }
        let is_synced = self.informer.is_synced();
        is_synced
            .then_some(())
            .ok_or("the list did not become a state")
    }

    pub(crate) const fn store(&self) -> &Indexer<Stored<F>, Heap> {
        self.informer.store()
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
