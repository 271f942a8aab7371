//! An informer driven by hand. The test plays the server.
#![allow(dead_code, unreachable_pub, reason = "no test uses everything")]

use core::time::Duration;

use informer_core::decode::{Decoder, Dynamic};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId, Resync};
use informer_core::reflector::FirstState;
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, OwnedRequest, Request, Signal};
use informer_core::{
    Encoding, Failure, Informer, InformerConfig, Instant, Notification, Object, SourceId,
};
use informer_test_support::shown;

pub type Pod = Object<serde_json::Value>;

pub struct Hand {
    pub informer: Informer<Decoder<Dynamic>, Heap>,
    pub listener: ListenerId,
    /// The source that the test plays.
    pub source: SourceId,
    /// The watches of all other sources, which show nothing.
    pub others: Vec<ExchangeId>,
    pub exchange: Option<ExchangeId>,
    pub now: Instant,
}

/// An object as JSON.
pub fn pod(name: &str, uid: &str, version: u64) -> String {
    format!(
        r#"{{"metadata":{{"namespace":"a","name":"{name}","uid":"{uid}","resourceVersion":"{version}"}}}}"#
    )
}

/// Our default, but the first state comes from a list.
pub fn listed() -> InformerConfig {
    let mut config = InformerConfig::new();
    config.reflector.first_state = FirstState::Listed;
    config
}

pub const EVERYTHING: ListenerConfig = ListenerConfig {
    resync: Resync::Default,
    backlog: Backlog::Grow,
};

impl Hand {
    pub fn new(config: InformerConfig) -> Self {
        Self::with(Informer::new(Decoder::new(Dynamic), config, 1).unwrap())
    }

    pub fn with(mut informer: Informer<Decoder<Dynamic>, Heap>) -> Self {
        let now = Instant::from_micros(1);
        let listener = informer.add_listener(EVERYTHING, now).unwrap();
        informer.start(now);
        let source = informer.sources().next().unwrap();
        let mut hand = Self {
            source,
            others: Vec::new(),
            informer,
            listener,
            exchange: None,
            now,
        };
        hand.request();
        hand
    }

    /// As [`with`](Self::with), but there are two more sources. They show nothing, and the test need not care.
    pub fn among_others(mut informer: Informer<Decoder<Dynamic>, Heap>) -> Self {
        for _ in 0..2 {
            let decoder = Decoder::new(Dynamic);
            informer.add_source(decoder, Instant::default()).unwrap();
        }
        Self::with(informer)
    }

    /// An informer that has listed these objects at version 10, and watches.
    pub fn synced(config: InformerConfig, objects: &[String]) -> Self {
        Self::new(config).sync(objects)
    }

    /// Lists these objects at version 10, and watches.
    pub fn sync(mut self, objects: &[String]) -> Self {
        self.list(10, objects);
        self.request();
        self.signal(Signal::Opened(Encoding::Json));
        self.notes();
        self
    }

    /// Takes all commands and returns the last request.
    pub fn request(&mut self) -> Option<OwnedRequest<String>> {
        let mut last = None;
        while let Some(command) = self.informer.poll_command(self.now) {
            let Command::Open { exchange, request } = command else {
                continue;
            };
            if exchange.source() == self.source {
                self.exchange = Some(exchange);
                last = Some(request.to_owned());
            } else {
                let watches = matches!(request, Request::Watch { .. });
                self.answer_with_nothing(exchange, watches);
            }
        }
        last
    }

    /// Answers the request of another source.
    fn answer_with_nothing(&mut self, exchange: ExchangeId, watches: bool) {
        self.others
            .retain(|other| other.source() != exchange.source());
        self.others.push(exchange);
        let opened = Signal::Opened(Encoding::Json);
        let empty = br#"{"metadata":{"resourceVersion":"5"},"items":[]}"#;
        let signals: &[_] = if watches {
            &[opened]
        } else {
            &[opened, Signal::Bytes(empty), Signal::Closed]
        };
        for signal in signals {
            let _ = self.informer.signal(exchange, *signal, self.now);
        }
    }

    /// All other watches say that they are alive.
    pub fn others_are_alive(&mut self) {
        let bookmark = br#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6"}}}
"#;
        for other in &self.others {
            let signal = Signal::Bytes(bookmark);
            let _ = self.informer.signal(*other, signal, self.now);
        }
    }

    pub fn signal(&mut self, signal: Signal<'_>) -> Option<usize> {
        self.informer
            .signal(self.exchange.unwrap(), signal, self.now)
    }

    pub fn bytes(&mut self, text: &str) {
        assert_eq!(
            self.signal(Signal::Bytes(text.as_bytes())),
            Some(text.len())
        );
    }

    /// Answers a list.
    pub fn list(&mut self, version: u64, objects: &[String]) {
        self.bytes(&format!(
            r#"{{"kind":"PodList","apiVersion":"v1","metadata":{{"resourceVersion":"{version}"}},"items":[{}]}}"#,
            objects.join(",")
        ));
        self.signal(Signal::Closed);
    }

    pub fn event(&mut self, kind: &str, object: &str) {
        self.bytes(&format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"));
    }

    pub fn bookmark(&mut self, version: u64) {
        let object = format!(r#"{{"metadata":{{"resourceVersion":"{version}"}}}}"#);
        self.event("BOOKMARK", &object);
    }

    /// Lets the watch expire, and waits for the relist request.
    pub fn expire(&mut self) {
        self.event(
            "ERROR",
            r#"{"kind":"Status","code":410,"reason":"Expired"}"#,
        );
        self.wait();
    }

    pub fn fail(&mut self, failure: Failure, message: &str) {
        let _ = self.signal(Signal::Failed { failure, message });
    }

    /// Advances the time to the next deadline.
    pub fn wait(&mut self) -> Option<OwnedRequest<String>> {
        self.now = self.informer.next_deadline().unwrap();
        self.informer.advance(self.now);
        self.request()
    }

    pub fn sleep(&mut self, duration: Duration) {
        self.now = self.now.after(duration);
        self.informer.advance(self.now);
    }

    pub fn notes(&mut self) -> Vec<String> {
        self.notes_of(self.listener)
    }

    pub fn notes_of(&mut self, listener: ListenerId) -> Vec<String> {
        self.told(listener).iter().map(shown).collect()
    }

    /// Takes everything that waits for a listener.
    pub fn told(&mut self, listener: ListenerId) -> Vec<Notification<Pod>> {
        core::iter::from_fn(|| self.informer.poll_notification(listener)).collect()
    }

    pub fn store(&self) -> Vec<String> {
        let shown = |pod: &Pod| format!("{}@{}", pod.key().name(), pod.version());
        let mut store: Vec<_> = self.informer.store().iter().map(shown).collect();
        store.sort();
        store
    }
}
