//! Compares an informer with several sources with the union of what each source shows.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

use std::collections::{BTreeMap, BTreeSet};

use informer_core::decode::{Decoder, Lean};
use informer_core::processor::{ListenerConfig, ListenerId};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::FirstState;
use informer_core::storage::Heap;
use informer_core::transport::{Command, ExchangeId, Request, Signal};
use informer_core::{Informer, InformerConfig, Instant, Notification, SourceId};
use proptest::collection::vec;
use proptest::prelude::*;

const KEYS: usize = 5;

/// An object: its key, its uid, its version.
type Object = (usize, u8, u32);

#[derive(Clone, Debug)]
enum Op {
    AddSource,
    RemoveSource(usize),
    /// The source reads a full state.
    State(usize, Vec<Object>),
    Upsert(usize, Object),
    Delete(usize, Object),
    /// The source sends a list that breaks before its end.
    Broken(usize, Vec<Object>),
}

fn any_object() -> impl Strategy<Value = Object> {
    (0..KEYS, 0..2_u8, 1..30_u32)
}

fn any_op() -> impl Strategy<Value = Op> {
    let source = || 0..4_usize;
    prop_oneof![
        1 => Just(Op::AddSource),
        1 => source().prop_map(Op::RemoveSource),
        3 => (source(), vec(any_object(), 0..KEYS)).prop_map(|(at, all)| Op::State(at, all)),
        1 => (source(), vec(any_object(), 0..KEYS)).prop_map(|(at, all)| Op::Broken(at, all)),
        8 => (source(), any_object()).prop_map(|(at, object)| Op::Upsert(at, object)),
        4 => (source(), any_object()).prop_map(|(at, object)| Op::Delete(at, object)),
    ]
}

/// What the sources show, and what the store must hold.
#[derive(Default)]
struct Model {
    shown: BTreeMap<SourceId, BTreeSet<usize>>,
    /// The newest state under each key, and the source that brought it.
    stored: BTreeMap<usize, (u8, u32, Option<SourceId>)>,
}

impl Model {
    fn show(&mut self, source: SourceId, (key, uid, version): Object) {
        self.shown.entry(source).or_default().insert(key);
        let newer = match self.stored.get(&key) {
            None => true,
            Some(known) if (known.0, known.1) == (uid, version) => false,
            Some((_, known, writer)) => *writer == Some(source) || version >= *known,
        };
        if newer {
            self.stored.insert(key, (uid, version, Some(source)));
        }
    }

    fn hide(&mut self, source: SourceId, key: usize) {
        if !self
            .shown
            .get_mut(&source)
            .is_some_and(|it| it.remove(&key))
        {
            return;
        }
        if self.shown.values().any(|keys| keys.contains(&key)) {
            let stored = self.stored.get_mut(&key).unwrap();
            stored.2.take_if(|writer| *writer == source);
        } else {
            self.stored.remove(&key);
        }
    }

    fn keep_only(&mut self, source: SourceId, keys: &BTreeSet<usize>) {
        let shown = self.shown.get(&source).cloned().unwrap_or_default();
        for gone in shown.difference(keys) {
            self.hide(source, *gone);
        }
    }

    fn view(&self) -> BTreeMap<String, String> {
        let text = |(key, (uid, version, _)): (&usize, &(u8, u32, Option<SourceId>))| {
            (format!("p{key}"), format!("u{uid}@{version}"))
        };
        self.stored.iter().map(text).collect()
    }
}

struct World {
    informer: Informer<Decoder<Lean>, Heap>,
    listener: ListenerId,
    told: BTreeMap<String, String>,
    sources: Vec<(SourceId, Option<ExchangeId>)>,
    model: Model,
    now: Instant,
}

fn json((key, uid, version): Object) -> String {
    format!(r#"{{"metadata":{{"name":"p{key}","uid":"u{uid}","resourceVersion":"{version}"}}}}"#)
}

impl World {
    fn new(config: InformerConfig) -> Self {
        let now = Instant::from_micros(1);
        let mut informer = Informer::new(Decoder::new(Lean), config, 7).unwrap();
        let listener = informer.add_listener(ListenerConfig::new(), now).unwrap();
        informer.start(now);
        Self {
            sources: vec![(SourceId::FIRST, None)],
            informer,
            listener,
            told: BTreeMap::new(),
            model: Model::default(),
            now,
        }
    }

    /// Makes the source ask for what `wanted` accepts, and returns the exchange.
    fn ask(&mut self, at: usize, wanted: fn(Request<'_>) -> bool) -> ExchangeId {
        let (source, mut exchange) = self.sources[at];
        loop {
            let current = self.informer.reflector(source).unwrap().request();
            if let Some((id, request)) = current
                && exchange == Some(id)
            {
                if wanted(request) {
                    return id;
                }
                // An expired version ends a watch, and an empty list is followed by one.
                let (signal, end) = match request {
                    Request::Watch { .. } => {
                        let gone = r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#;
                        (format!("{gone}\n"), false)
                    }
                    Request::List { .. } => {
                        self.model.keep_only(source, &BTreeSet::new());
                        let empty = r#"{"metadata":{"resourceVersion":"1"},"items":[]}"#;
                        (empty.to_owned(), true)
                    }
                };
                self.bytes(id, &signal);
                if end {
                    assert!(self.informer.signal(id, Signal::Closed, self.now).is_some());
                }
            }
            self.informer.advance(self.now);
            match self.informer.poll_command_of(source, self.now) {
                Some(Command::Open { exchange: id, .. }) => {
                    exchange = Some(id);
                    self.sources[at].1 = exchange;
                }
                Some(Command::Abort(_)) => {}
                None => self.now = self.now.max(self.informer.next_deadline().unwrap()),
            }
        }
    }

    fn bytes(&mut self, exchange: ExchangeId, text: &str) {
        let used = self
            .informer
            .signal(exchange, Signal::Bytes(text.as_bytes()), self.now);
        assert_eq!(used, Some(text.len()));
    }

    fn event(&mut self, at: usize, kind: &str, object: Object) {
        let exchange = self.ask(at, |request| matches!(request, Request::Watch { .. }));
        let line = format!("{{\"type\":\"{kind}\",\"object\":{}}}\n", json(object));
        self.bytes(exchange, &line);
    }

    fn list(&mut self, at: usize, objects: &[Object], complete: bool) {
        let exchange = self.ask(at, |request| matches!(request, Request::List { .. }));
        let items: Vec<_> = objects.iter().map(|object| json(*object)).collect();
        let body = format!(
            r#"{{"metadata":{{"resourceVersion":"40"}},"items":[{}"#,
            items.join(",")
        );
        self.bytes(exchange, &body);
        let signal = if complete {
            self.bytes(exchange, "]}");
            Signal::Closed
        } else {
            Signal::Failed {
                failure: informer_core::Failure::Broken,
                message: "",
            }
        };
        assert!(self.informer.signal(exchange, signal, self.now).is_some());
    }

    fn apply(&mut self, op: Op, config: InformerConfig) {
        match op {
            Op::AddSource if self.sources.len() < 4 => {
                let added = self.informer.add_source(Decoder::new(Lean), self.now);
                self.sources.push((added.unwrap(), None));
            }
            Op::RemoveSource(at) if at < self.sources.len() => {
                let (source, _) = self.sources.remove(at);
                assert!(self.informer.remove_source(source, self.now));
                let _ = self.informer.poll_command_of(source, self.now);
                self.model.keep_only(source, &BTreeSet::new());
                self.model.shown.remove(&source);
            }
            Op::State(at, objects) if at < self.sources.len() => {
                self.list(at, &objects, true);
                let source = self.sources[at].0;
                let keys = objects.iter().map(|object| object.0).collect();
                // An in-order queue delivers the state in one step, which deletes first.
                if config.queue == QueueKind::InOrder {
                    self.model.keep_only(source, &keys);
                }
                for object in objects {
                    self.model.show(source, object);
                }
                self.model.keep_only(source, &keys);
            }
            Op::Broken(at, objects) if at < self.sources.len() => {
                self.list(at, &objects, false);
                let source = self.sources[at].0;
                for object in objects
                    .into_iter()
                    .filter(|_| config.relist == Relist::Streamed)
                {
                    self.model.show(source, object);
                }
            }
            Op::Upsert(at, object) if at < self.sources.len() => {
                self.event(at, "MODIFIED", object);
                self.model.show(self.sources[at].0, object);
            }
            Op::Delete(at, object) if at < self.sources.len() => {
                self.event(at, "DELETED", object);
                self.model.hide(self.sources[at].0, object.0);
            }
            _ => {}
        }
        self.check();
    }

    fn check(&mut self) {
        let informer = &mut self.informer;
        informer.advance(self.now);
        let mut notifications = Vec::new();
        informer.poll_notifications(self.listener, 1_000, |it| notifications.push(it));
        for notification in notifications {
            let key = notification.key().as_str().to_owned();
            let state = match &notification {
                Notification::Added { object, .. } | Notification::Updated { new: object, .. } => {
                    Some(format!("{}@{}", object.uid(), object.version()))
                }
                Notification::Deleted { .. } => None,
            };
            match state {
                Some(state) => self.told.insert(key, state),
                None => self.told.remove(&key),
            };
        }
        let expected = self.model.view();
        let store = self.informer.store();
        let stored: BTreeMap<_, _> = store
            .iter()
            .map(|it| {
                let state = format!("{}@{}", it.uid(), it.version());
                (it.key().as_str().to_owned(), state)
            })
            .collect();
        assert_eq!(stored, expected, "the store is the union of its sources");
        assert_eq!(self.told, expected, "listeners hear the same");
        for object in store.iter() {
            let sources: BTreeSet<_> = store.sources_of(object.key()).collect();
            let key: usize = object.key().name()[1..].parse().unwrap();
            let shows =
                |(id, keys): (&SourceId, &BTreeSet<usize>)| keys.contains(&key).then_some(*id);
            let right: BTreeSet<_> = self.model.shown.iter().filter_map(shows).collect();
            assert_eq!(sources, right, "the sources of {:?}", object.key());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_is_the_union_of_what_its_sources_show(
        ops in vec(any_op(), 1..40),
        (queue, relist) in prop_oneof![
            Just((QueueKind::DeltaFifo, Relist::Streamed)),
            Just((QueueKind::DeltaFifo, Relist::Staged)),
            Just((QueueKind::InOrder, Relist::Staged)),
        ],
    ) {
        let mut config = InformerConfig { queue, relist, ..InformerConfig::new() };
        config.reflector.first_state = FirstState::Listed;
        let mut world = World::new(config);
        for op in ops {
            world.apply(op, config);
        }
    }
}
