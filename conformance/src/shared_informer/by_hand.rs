//! The informer of the core, driven by hand.

use alloc::collections::BTreeMap;
use core::task::{Context, Poll, Waker};

use informer_core::decode::{Decoder, Typed};
use informer_core::processor::{ListenerConfig, ListenerId};
use informer_core::reflector::Phase;
use informer_core::storage::Heap;
use informer_core::transport::{Signal, Transport};
use informer_core::{Informer, Instant};
use informer_transport_mock::VirtualClock;

use super::backend::{Backend, Seen, Setup};
use super::notes::Hear;
use super::scripted_server::ScriptedTransport;
use crate::vector::Payload;

pub(super) struct ByHand {
    informer: Informer<Decoder<Typed<Payload>>, Heap>,
    handlers: BTreeMap<String, (ListenerId, Hear)>,
    transport: ScriptedTransport,
    clock: VirtualClock,
}

impl Backend for ByHand {
    fn new(setup: Setup) -> Result<Self, String> {
        let decoder = Decoder::new(Typed::new());
        let informer = Informer::new(decoder, setup.config, setup.seed);
        let mut informer = informer.map_err(|error| error.to_string())?;
        if let Some(transform) = setup.transform.function() {
            informer = informer.with_transform(transform);
        }
        Ok(Self {
            informer,
            handlers: BTreeMap::new(),
            transport: setup.server.transport(),
            clock: setup.clock,
        })
    }

    fn start(&mut self) -> Result<(), String> {
        self.informer.start(self.clock.now());
        Ok(())
    }

    fn stop(&mut self) {
        self.informer.stop(self.clock.now());
    }

    fn add_handler(
        &mut self,
        name: &str,
        config: ListenerConfig,
        hear: Hear,
    ) -> Result<(), String> {
        let listener = self.informer.add_listener(config, self.clock.now());
        let listener = listener.map_err(|error| error.to_string())?;
        self.handlers.insert(name.to_owned(), (listener, hear));
        Ok(())
    }

    fn remove_handler(&mut self, name: &str) -> Result<(), String> {
        match self.handlers.remove(name) {
            Some((listener, _)) if self.informer.remove_listener(listener) => Ok(()),
            _ => Err(format!("there is no handler {name:?}")),
        }
    }

    fn settle(&mut self) -> Result<(), String> {
        self.informer.advance(self.clock.now());
        while self.exchange()? {}
        for (listener, hear) in self.handlers.values_mut() {
            while let Some(notification) = self.informer.poll_notification(*listener) {
                hear(notification);
            }
        }
        Ok(())
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.informer.next_deadline()
    }

    fn phase(&self) -> Phase {
        self.informer.status().phase
    }

    fn look(&self) -> Seen {
        let store = self.informer.store();
        let synced = |(name, (listener, _)): (&String, &(ListenerId, Hear))| {
            let status = self.informer.listener_status(*listener);
            (name.clone(), status.is_some_and(|status| status.synced))
        };
        Seen {
            version: self
                .informer
                .status()
                .version
                .unwrap_or_default()
                .to_owned(),
            store: store.iter().cloned().collect(),
            store_version: store.version().to_owned(),
            synced: self.informer.is_synced(),
            handlers: self.handlers.iter().map(synced).collect(),
        }
    }
}

impl ByHand {
    /// Passes on all commands and one signal. Returns whether there was one.
    fn exchange(&mut self) -> Result<bool, String> {
        let now = self.clock.now();
        while let Some(command) = self.informer.poll_command(now) {
            self.transport.execute(command);
        }
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready((exchange, signal)) = self.transport.poll_signal(&mut cx) else {
            return Ok(false);
        };
        match (self.informer.signal(exchange, signal, now), signal) {
            (Some(0), Signal::Bytes(_)) | (None, _) => {
                Err("the informer takes nothing, although no handler holds it back".to_owned())
            }
            (Some(used), _) => {
                self.transport.consume(used);
                Ok(true)
            }
        }
    }
}
