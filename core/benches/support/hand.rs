//! An informer driven by hand, with input in pieces as from a connection.

use std::hint::black_box;

use informer_core::decode::{Decode, Decoder, Form};
use informer_core::processor::{ListenerConfig, ListenerId};
use informer_core::reflector::FirstState;
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Signal};
use informer_core::{Encoding, Informer, InformerConfig, Instant};

use super::pods::Pods;

/// The size of a piece. It cuts about every third object in two.
const PIECE: usize = 16 << 10;

pub struct Hand<F: Form> {
    pub informer: Informer<Decoder<F>, Heap>,
    listeners: Vec<ListenerId>,
    exchange: ExchangeId,
    /// Bytes that do not fill a piece yet.
    waiting: Vec<u8>,
    now: Instant,
}

impl<F: Form> Hand<F>
where
    Decoder<F>: Decode,
{
    /// An informer with this many listeners, at the start of its list.
    pub fn listing(form: F, listeners: usize) -> Self {
        let now = Instant::from_micros(1);
        let mut config = InformerConfig::new();
        config.reflector.first_state = FirstState::Listed;
        let mut informer = Informer::new(Decoder::new(form), config, 42).unwrap();
        let listeners = (0..listeners)
            .map(|_| informer.add_listener(ListenerConfig::new(), now).unwrap())
            .collect();
        informer.start(now);
        let exchange = open(&mut informer, now);
        let mut hand = Self {
            informer,
            listeners,
            exchange,
            waiting: Vec::with_capacity(4 * PIECE),
            now,
        };
        hand.feed(br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"100"},"items":[{"metadata":{"name":"first"},"spec":{},"status":{}}"#);
        hand
    }

    /// Feeds one more object of the list.
    pub fn item(&mut self, pods: &Pods, pod: usize) {
        self.waiting.push(b',');
        pods.write(pod, 1, &mut self.waiting);
        self.flush(PIECE);
    }

    /// Ends the list and starts the watch.
    pub fn end_list(&mut self) {
        self.feed(b"]}");
        self.flush(1);
        self.exchange = open(&mut self.informer, self.now);
        assert!(self.informer.is_synced());
        let _ = self
            .informer
            .signal(self.exchange, Signal::Opened(Encoding::Json), self.now);
        self.poll();
    }

    /// An informer that has listed `n` pods and is watching.
    pub fn watching(form: F, listeners: usize, pods: &Pods, n: usize) -> Self {
        let mut hand = Self::listing(form, listeners);
        for pod in 0..n {
            hand.item(pods, pod);
        }
        hand.end_list();
        assert_eq!(hand.informer.store().len(), n + 1);
        hand
    }

    /// Feeds bytes of the current answer.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.waiting.extend_from_slice(bytes);
        self.flush(PIECE);
    }

    /// Feeds one watch event in one piece, then polls the listeners that are ready.
    pub fn event(&mut self, line: &[u8]) {
        let signal = Signal::Bytes(line);
        let used = self.informer.signal(self.exchange, signal, self.now);
        assert_eq!(used, Some(line.len()));
        while let Some(listener) = self.informer.poll_ready_listener() {
            let give = |notification| drop(black_box(notification));
            self.informer.poll_notifications(listener, 64, give);
        }
    }

    /// Feeds the pending bytes while there are at least `least`, and polls all listeners.
    fn flush(&mut self, least: usize) {
        while self.waiting.len() >= least {
            let piece = &self.waiting[..self.waiting.len().min(PIECE)];
            let used = self
                .informer
                .signal(self.exchange, Signal::Bytes(piece), self.now);
            self.waiting.drain(..used.unwrap());
            self.poll();
        }
    }

    fn poll(&mut self) {
        for listener in &self.listeners {
            let give = |notification| drop(black_box(notification));
            self.informer
                .poll_notifications(*listener, usize::MAX, give);
        }
    }
}

fn open<D: Decode>(informer: &mut Informer<D, Heap>, now: Instant) -> ExchangeId {
    loop {
        if let Command::Open { exchange, .. } = informer.poll_command(now).unwrap() {
            return exchange;
        }
    }
}
