//! Mistakes that were made once where bounds are hit, each with the smallest case that shows it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;

use core::task::Poll;
use core::time::Duration;

use hand::{EVERYTHING, Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::indexer::{IndexError, IndexFn, Indexer};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::{InvalidConfig, Phase};
use informer_core::storage::{Fixed, Full, Seed, Storage};
use informer_core::transport::{Command, ExchangeId, OwnedRequest, Signal};
use informer_core::{
    Encoding, Failure, Informer, InformerConfig, Instant, Labels, Object, ObjectKey,
};
use informer_test_support::shown;

/// An informer in a storage of fixed size, with an index over the values of labels.
struct Small<S: Storage> {
    informer: Informer<Decoder<Dynamic>, S>,
    listener: ListenerId,
    exchange: Option<ExchangeId>,
    now: Instant,
    opened: usize,
}

fn by_label(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    pod.labels
        .iter()
        .for_each(|(_, value)| file(value.as_bytes()));
}

fn labelled(name: &str, version: u64, labels: usize) -> String {
    let labels: Vec<_> = (0..labels)
        .map(|n| format!(r#""k{n}":"{name}{n}""#))
        .collect();
    format!(
        r#"{{"metadata":{{"namespace":"a","name":"{name}","uid":"u","resourceVersion":"{version}","labels":{{{}}}}}}}"#,
        labels.join(",")
    )
}

impl<S: Storage> Small<S> {
    fn new() -> Self {
        let mut informer = Informer::new(Decoder::new(Dynamic), listed(), 1).unwrap();
        informer
            .add_index("label", IndexFn::plain(by_label))
            .unwrap();
        let now = Instant::from_micros(1);
        let listener = informer.add_listener(EVERYTHING, now).unwrap();
        informer.start(now);
        let mut small = Self {
            informer,
            listener,
            exchange: None,
            now,
            opened: 0,
        };
        small.request();
        small
    }

    fn request(&mut self) {
        while let Some(command) = self.informer.poll_command(self.now) {
            if let Command::Open { exchange, .. } = command {
                self.exchange = Some(exchange);
                self.opened += 1;
            }
        }
    }

    fn signal(&mut self, signal: Signal<'_>) -> Option<usize> {
        self.informer
            .signal(self.exchange.unwrap(), signal, self.now)
    }

    /// Offers bytes until they are taken, while the listener takes what waits.
    fn bytes(&mut self, text: &str) -> Vec<String> {
        let (mut notes, mut rest) = (Vec::new(), text.as_bytes());
        while !rest.is_empty() {
            let used = self.signal(Signal::Bytes(rest)).unwrap_or(0);
            rest = &rest[used..];
            while let Some(notification) = self.informer.poll_notification(self.listener) {
                notes.push(shown(&notification));
            }
        }
        notes
    }

    fn list(&mut self, version: &str, token: &str, objects: &[String]) -> Vec<String> {
        self.bytes(&format!(
            r#"{{"metadata":{{"resourceVersion":"{version}","continue":"{token}"}},"items":[{}]}}"#,
            objects.join(",")
        ))
    }

    fn event(&mut self, kind: &str, object: &str) -> Vec<String> {
        self.bytes(&format!("{{\"type\":\"{kind}\",\"object\":{object}}}\n"))
    }

    fn wait(&mut self) {
        self.now = self.informer.next_deadline().unwrap();
        self.informer.advance(self.now);
        self.request();
    }

    fn store(&self) -> Vec<String> {
        let store = self.informer.store().iter();
        let mut store: Vec<_> = store
            .map(|pod| format!("{}@{}", pod.key.name(), pod.version))
            .collect();
        store.sort();
        store
    }
}

#[test]
fn an_object_whose_new_state_has_no_room_is_not_taken_for_gone() {
    let mut small = Small::<Fixed<4>>::new();
    small.list("10", "", &[labelled("x", 1, 1), labelled("y", 2, 1)]);
    small.request();
    small.event(
        "ERROR",
        r#"{"kind":"Status","code":410,"reason":"Expired"}"#,
    );
    small.wait();
    let notes = small.list("20", "", &[labelled("x", 15, 9), labelled("y", 2, 1)]);
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(small.store(), ["x@1", "y@2"]);
    let failure = small.informer.status().last_failure.unwrap().failure;
    assert_eq!(failure, Failure::Full);
}

#[test]
fn a_write_that_has_no_room_in_the_second_index_leaves_the_first_as_it_was() {
    let object = |version: &str, a: usize, b: usize| {
        let labels = |name: &'static str, n| {
            (0..n).map(move |n| (format!("{name}{n}"), format!("v{name}{n}")))
        };
        Object {
            key: ObjectKey::new("n", "x"),
            uid: "".into(),
            version: version.into(),
            labels: labels("a", a).chain(labels("b", b)).collect::<Labels>(),
            size: 0,
            body: (),
        }
    };
    let with_prefix = |prefix: &'static str| {
        IndexFn::new(move |object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
            let labels = object
                .labels
                .iter()
                .filter(|(key, _)| key.starts_with(prefix));
            labels.for_each(|(_, value)| file(value.as_bytes()));
        })
    };
    let mut store: Indexer<Object<()>, Fixed<8>> = Indexer::new(Seed::new(1));
    store
        .add_indices(&[("a", with_prefix("a")), ("b", with_prefix("b"))])
        .unwrap();
    store.put(object("1", 4, 1)).unwrap();
    assert_eq!(store.put(object("2", 1, 20)), Err(Full));
    assert_eq!(store.index_values("a").unwrap().count(), 4);
    assert_eq!(store.index_values("b").unwrap().count(), 1);
}

#[test]
fn a_version_is_not_reached_while_something_of_it_has_no_room() {
    let mut small = Small::<Fixed<2>>::new();
    small.list("10", "", &[pod("x", "u", 1), pod("y", "u", 2)]);
    small.request();
    small.event("ADDED", &pod("z", "u", 11));
    assert_eq!(small.informer.wait_for("11"), Ok(Poll::Pending));
    small.wait();
    let _ = small.signal(Signal::Opened(Encoding::Json));
    assert_eq!(small.store(), ["x@1", "y@2"]);
    assert_eq!(
        small.informer.wait_for("11"),
        Ok(Poll::Pending),
        "z is not there"
    );
    small.list("20", "", &[pod("y", "u", 2), pod("z", "u", 11)]);
    assert_eq!(
        small.informer.wait_for("11"),
        Ok(Poll::Pending),
        "x made room only at the end"
    );
    // So the state is asked for again without a wait.
    small.request();
    small.list("21", "", &[pod("y", "u", 2), pod("z", "u", 11)]);
    assert_eq!(small.informer.wait_for("11"), Ok(Poll::Ready(())));
}

#[test]
fn what_is_delivered_in_one_piece_needs_a_storage_without_bounds() {
    for config in [
        InformerConfig {
            queue: QueueKind::InOrder,
            ..listed()
        },
        InformerConfig {
            relist: Relist::Staged,
            ..listed()
        },
    ] {
        let informer = Informer::<_, Fixed<64>>::new(Decoder::new(Dynamic), config, 1);
        assert_eq!(
            informer.map(|_| ()),
            Err(InvalidConfig::NeedsUnboundedStorage)
        );
    }
}

#[test]
fn versions_and_tokens_that_never_fit_are_not_asked_for_in_a_loop() {
    for (version, token) in [("1234567890", ""), ("1", "0123456789")] {
        let mut small = Small::<Fixed<8, 4, 8>>::new();
        for _ in 0..50 {
            if small
                .informer
                .next_deadline()
                .is_some_and(|due| due > small.now)
                && small.informer.reflector().request().is_none()
            {
                break;
            }
            small.list(version, token, &[pod("x", "u", 1)]);
            small.request();
        }
        assert!(small.opened < 4, "{} requests at one instant", small.opened);
        let failure = small.informer.status().last_failure.unwrap();
        assert_eq!(failure.failure, Failure::Full);
        assert!(!failure.message.is_empty(), "it is cut, not left out");
    }
}

#[test]
fn nothing_but_failures_is_not_fresh() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u", 1)]);
    let begin = hand.now;
    while hand.now.since(begin) < Duration::from_secs(3_600) {
        hand.event(
            "ERROR",
            r#"{"kind":"Status","code":429,"reason":"TooManyRequests"}"#,
        );
        hand.wait();
    }
    assert!(!hand.informer.is_fresh(Duration::from_secs(120), hand.now));
}

#[test]
fn a_listener_is_not_synced_by_a_stop() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u", 1), pod("y", "u", 2)]);
    let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    hand.informer.stop(hand.now);
    assert!(hand.informer.poll_notification(late).is_none());
    assert!(!hand.informer.listener_status(late).unwrap().synced);
}

#[test]
fn a_stop_during_a_stall_drops_what_is_queued_and_is_no_sync() {
    let stall = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let config = InformerConfig { queue, ..listed() };
        let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
        informer
            .add_listener(stall, Instant::from_micros(1))
            .unwrap();
        let mut hand = Hand::with(informer);
        let list = format!(
            r#"{{"metadata":{{"resourceVersion":"9"}},"items":[{},{},{}]}}"#,
            pod("x", "u", 1),
            pod("y", "u", 2),
            pod("z", "u", 3)
        );
        let _ = hand.signal(Signal::Bytes(list.as_bytes()));
        assert!(hand.informer.status().stalled);
        let before = hand.informer.is_synced();
        hand.informer.stop(hand.now);
        let status = hand.informer.status();
        assert!(!status.stalled && status.queued == 0, "{status:?}");
        assert_eq!(hand.informer.is_synced(), before);
    }
}

#[test]
fn a_deletion_that_names_nobody_reads_the_state_again_even_if_errors_are_retried() {
    let mut config = listed();
    config.reflector.internal_retry = Some(Duration::from_secs(30));
    let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
    hand.event("DELETED", r#"{"metadata":{"resourceVersion":"11"}}"#);
    let request = hand.wait();
    assert!(
        matches!(request, Some(OwnedRequest::List { .. })),
        "{request:?}"
    );
}

#[test]
fn an_index_that_finds_no_room_is_not_there() {
    let mut store: Indexer<Object<()>, Fixed<4>> = Indexer::new(Seed::new(1));
    for name in ["x", "y", "z"] {
        let object = Object {
            key: ObjectKey::new("n", name),
            uid: "".into(),
            version: "1".into(),
            labels: Labels::default(),
            size: 0,
            body: (),
        };
        store.put(object).unwrap();
    }
    // The first objects find room for all their values, the last one does not.
    let greedy = |object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
        for n in [b"1", b"2"] {
            file(object.key.name().as_bytes());
            file(n);
        }
    };
    assert!(matches!(
        store.add_index("values", IndexFn::new(greedy)),
        Err(IndexError::Full)
    ));
    assert!(store.index("values").is_err());
    // Its name, and its room, are there for another one.
    let name =
        |object: &Object<()>, file: &mut dyn FnMut(&[u8])| file(object.key.name().as_bytes());
    store.add_index("values", IndexFn::new(name)).unwrap();
    assert_eq!(store.index_values("values").unwrap().count(), 3);
}

/// A resync holds up nothing but itself; but if its listener never polls, the server cannot be heard.
#[test]
fn a_resync_that_nobody_takes_excuses_the_silence() {
    let stall = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let mut config = listed();
    config.resync = Some(Duration::from_secs(150));
    let mut hand = Hand::synced(config, &[pod("x", "u", 1), pod("y", "u", 2)]);
    let slow = hand.informer.add_listener(stall, hand.now).unwrap();
    while hand.informer.poll_notification(slow).is_some() {}
    hand.sleep(Duration::from_secs(150));
    assert!(hand.informer.is_stalled());
    // More than the idle deadline of 200 seconds after the last byte, but a stall since the 150th.
    hand.sleep(Duration::from_secs(100));
    assert!(hand.informer.status().last_failure.is_none());
    assert_eq!(hand.informer.status().phase, Phase::Watching);
}

#[test]
fn a_state_that_was_queued_when_it_was_stopped_is_no_sync() {
    let stall = ListenerConfig {
        backlog: Backlog::Stall { at: 1 },
        ..EVERYTHING
    };
    let config = InformerConfig {
        relist: Relist::Staged,
        ..listed()
    };
    let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    informer
        .add_listener(stall, Instant::from_micros(1))
        .unwrap();
    let mut hand = Hand::with(informer);
    hand.list(10, &["x", "y", "z"].map(|name| pod(name, "u", 1)));
    assert!(hand.informer.is_stalled() && !hand.informer.is_synced());
    hand.informer.stop(hand.now);
    assert!(!hand.informer.is_synced() && !hand.informer.status().synced);
}
