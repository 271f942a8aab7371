//! A complete informer over a transport. Its clock belongs to the test, so back-off takes no time.

use std::collections::BTreeMap;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::reflector::Phase;
use informer_core::storage::Heap;
use informer_core::transport::{Signal, Target, Transport};
use informer_core::{Informer, InformerConfig, Instant};
use informer_transport_hyper::{Client, HyperTransport};

use super::soon;

pub(crate) type Core = Informer<Decoder<Dynamic>, Heap>;

pub(crate) struct Driver {
    pub(crate) informer: Core,
    transport: HyperTransport,
    now: Instant,
}

impl Driver {
    pub(crate) fn new(client: &Client, target: &Target) -> Self {
        let decoder = Decoder::new(Dynamic);
        let mut informer = Informer::new(decoder, InformerConfig::new(), 1).unwrap();
        let now = Instant::from_micros(1);
        informer.start(now);
        Self {
            informer,
            transport: client.transport(target).unwrap(),
            now,
        }
    }

    /// Drives the informer until `wanted` holds.
    pub(crate) async fn until(&mut self, what: &str, wanted: impl Fn(&Core) -> bool) {
        soon(what, async {
            while !wanted(&self.informer) {
                self.step().await;
            }
        })
        .await;
    }

    async fn step(&mut self) {
        if let Phase::Waiting { .. } = self.informer.status().phase {
            self.now = self.informer.next_deadline().unwrap();
        }
        self.informer.advance(self.now);
        while let Some(command) = self.informer.poll_command(self.now) {
            self.transport.execute(command);
        }
        if let Phase::Waiting { .. } = self.informer.status().phase {
            return;
        }
        let (informer, transport, now) = (&mut self.informer, &mut self.transport, self.now);
        let used = std::future::poll_fn(|cx| {
            transport.poll_signal(cx).map(|(exchange, signal)| {
                let used = informer.signal(exchange, signal, now).unwrap();
                match signal {
                    Signal::Bytes(_) => used,
                    _ => 0,
                }
            })
        });
        let used = used.await;
        transport.consume(used);
    }

    /// The keys and versions of the store.
    pub(crate) fn store(&self) -> BTreeMap<String, String> {
        let objects = self.informer.store().iter();
        objects
            .map(|object| (object.key().to_string(), object.version().to_owned()))
            .collect()
    }
}
