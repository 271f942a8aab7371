//! Regression tests for bounds: each has the smallest case that showed the bug.
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
use informer_core::indexer::{IndexError, IndexFn, Indexer, Subject};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::{InvalidConfig, Phase};
use informer_core::storage::{Fixed, Full, Seed, Storage};
use informer_core::transport::{Command, ExchangeId, OwnedRequest, Signal};
use informer_core::{
    Encoding, Failure, Informer, InformerConfig, Instant, Object, ObjectKey, SourceId,
};
use informer_test_support::shown;

/// An informer with storage of fixed size and an index over label values.
struct Small<S: Storage> {
    informer: Informer<Decoder<Dynamic>, S>,
    listener: ListenerId,
    exchange: Option<ExchangeId>,
    now: Instant,
    opened: usize,
}

fn by_label(pod: &Pod, file: &mut dyn FnMut(&[u8])) {
    pod.labels()
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

    /// Offers bytes until all are taken, while the listener polls its notifications.
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
            .map(|pod| format!("{}@{}", pod.key().name(), pod.version()))
            .collect();
        store.sort();
        store
    }
}

#[test]
fn an_object_whose_update_has_no_room_is_not_deleted() {
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
        Object::builder(ObjectKey::new("n", "x"))
            .version(version)
            .labels(labels("a", a).chain(labels("b", b)))
            .body(())
    };
    let with_prefix = |prefix: &'static str| {
        IndexFn::new(move |object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
            let labels = object
                .labels()
                .iter()
                .filter(|(key, _)| key.starts_with(prefix));
            labels.for_each(|(_, value)| file(value.as_bytes()));
        })
    };
    let mut store: Indexer<Object<()>, Fixed<8>> = Indexer::new(Seed::new(1));
    store
        .add_indices(&[("a", with_prefix("a")), ("b", with_prefix("b"))])
        .unwrap();
    let by_namespace = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
        file(object.key().namespace().as_bytes());
    });
    let by_namespace = by_namespace.about(Subject::Namespace);
    store.add_index("namespace", by_namespace).unwrap();
    store.put(object("1", 4, 1)).unwrap();
    assert_eq!(store.put(object("2", 1, 20)), Err(Full));
    assert_eq!(store.count("namespace", "n"), Ok(1));
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
        "z is not in the store"
    );
    small.list("20", "", &[pod("y", "u", 2), pod("z", "u", 11)]);
    assert_eq!(
        small.informer.wait_for("11"),
        Ok(Poll::Pending),
        "x was deleted only at the end"
    );
    // So the reflector relists at once.
    small.request();
    small.list("21", "", &[pod("y", "u", 2), pod("z", "u", 11)]);
    assert_eq!(small.informer.wait_for("11"), Ok(Poll::Ready(())));
}

#[test]
fn full_states_in_one_piece_need_storage_without_bounds() {
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
fn versions_and_tokens_that_never_fit_do_not_cause_a_request_loop() {
    for (version, token) in [("1234567890", ""), ("1", "0123456789")] {
        let mut small = Small::<Fixed<8, 4, 8>>::new();
        for _ in 0..50 {
            if small
                .informer
                .next_deadline()
                .is_some_and(|due| due > small.now)
                && small
                    .informer
                    .reflector(SourceId::FIRST)
                    .unwrap()
                    .request()
                    .is_none()
            {
                break;
            }
            small.list(version, token, &[pod("x", "u", 1)]);
            small.request();
        }
        assert!(small.opened < 4, "{} requests at one instant", small.opened);
        let failure = small.informer.status().last_failure.unwrap();
        assert_eq!(failure.failure, Failure::Full);
        assert!(
            !failure.message.is_empty(),
            "a long message is cut, not dropped"
        );
    }
}

#[test]
fn an_informer_that_keeps_failing_is_not_fresh() {
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
fn a_stop_does_not_sync_a_listener() {
    let mut hand = Hand::synced(listed(), &[pod("x", "u", 1), pod("y", "u", 2)]);
    let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
    hand.informer.stop(hand.now);
    assert!(hand.informer.poll_notification(late).is_none());
    assert!(!hand.informer.listener_status(late).unwrap().synced);
}

#[test]
fn a_stop_during_a_stall_drops_the_queue_and_does_not_sync() {
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
fn a_deletion_without_a_key_relists_even_if_internal_errors_are_retried() {
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
        let object = Object::builder(ObjectKey::new("n", name))
            .version("1")
            .body(());
        store.put(object).unwrap();
    }
    // There is room for the values of the first objects, but not for those of the last one.
    let greedy = |object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
        for n in [b"1", b"2"] {
            file(object.key().name().as_bytes());
            file(n);
        }
    };
    assert!(matches!(
        store.add_index("values", IndexFn::new(greedy)),
        Err(IndexError::Full)
    ));
    assert!(store.index("values").is_err());
    // Another index can use its name and its room.
    let name =
        |object: &Object<()>, file: &mut dyn FnMut(&[u8])| file(object.key().name().as_bytes());
    store.add_index("values", IndexFn::new(name)).unwrap();
    assert_eq!(store.index_values("values").unwrap().count(), 3);
}

/// A resync stalls only itself. But while its listener does not poll, the informer cannot read from the
/// server.
#[test]
fn a_resync_that_is_not_taken_excuses_the_silence() {
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
    // The last byte is older than the idle timeout of 200 s, but the stall began at 150 s.
    hand.sleep(Duration::from_secs(100));
    assert!(hand.informer.status().last_failure.is_none());
    assert_eq!(hand.informer.status().phase, Phase::Watching);
}

#[test]
fn a_full_state_in_the_queue_at_a_stop_does_not_sync() {
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

#[test]
fn a_report_of_a_rejected_object_bounds_its_version() {
    let mut hand = Hand::synced(listed(), &[]);
    let long = "9".repeat(1 << 20);
    hand.event(
        "ADDED",
        &format!(
            r#"{{"metadata":{{"namespace":"a","name":"x","resourceVersion":"{long}"}},"bad":tru}}"#
        ),
    );
    assert!(
        hand.informer
            .poll_rejected()
            .unwrap()
            .version
            .unwrap()
            .len()
            <= 512
    );
}
