//! Regression tests: each has the smallest case that showed the bug.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod hand;

use core::cell::Cell;
use core::time::Duration;
use std::sync::Arc;

use hand::{Hand, Pod, listed, pod};
use informer_core::decode::{Decoder, Dynamic, Limits};
use informer_core::indexer::{IndexFn, Indexer};
use informer_core::processor::{Backlog, ListenerConfig, ListenerId, Resync};
use informer_core::queue::{QueueKind, Transform, TransformError};
use informer_core::reflector::{FirstState, InvalidConfig, Phase};
use informer_core::storage::{Cells, Fixed, Frozen, Full, Heap, Pages, Seed, Storage};
use informer_core::transport::{OwnedRequest, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Instant, Object, ObjectKey};

const STALL: ListenerConfig = ListenerConfig {
    resync: Resync::Default,
    backlog: Backlog::Stall { at: 1 },
};

const MERGE: ListenerConfig = ListenerConfig {
    resync: Resync::Never,
    backlog: Backlog::Coalesce { above: 0 },
};

/// An informer with a listener that takes nothing until the test polls it.
fn stalled(config: InformerConfig) -> (Hand, ListenerId) {
    let mut informer = Informer::new(Decoder::new(Dynamic), config, 1).unwrap();
    let slow = informer
        .add_listener(STALL, Instant::from_micros(1))
        .unwrap();
    (Hand::with(informer), slow)
}

fn client_go(queue: QueueKind) -> InformerConfig {
    let mut config = InformerConfig::client_go(queue);
    config.reflector.first_state = FirstState::Listed;
    config
}

fn end_bookmark(version: u64) -> String {
    format!(
        r#"{{"metadata":{{"resourceVersion":"{version}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}"#
    )
}

fn three_adds() -> String {
    [("x", 11), ("y", 12), ("z", 13)]
        .map(|(name, version)| {
            let object = pod(name, "u", version);
            format!("{{\"type\":\"ADDED\",\"object\":{object}}}\n")
        })
        .concat()
}

/// An informer whose transform renames the object at version 15, and may refuse it.
fn renaming(refuses: bool) -> Hand {
    let rename = Transform::new(move |pod: &mut Pod| {
        if pod.version() == "15" {
            *pod = Object::builder(ObjectKey::new("a", "other")).body(pod.body().clone());
            if refuses {
                return Err(TransformError::new("no"));
            }
        }
        Ok(())
    });
    let informer = Informer::new(Decoder::new(Dynamic), listed(), 1).unwrap();
    let mut hand = Hand::with(informer.with_transform(rename));
    hand.list(10, &[pod("x", "u1", 1), pod("other", "u2", 2)]);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    hand.notes();
    hand
}

#[test]
fn a_transform_that_renames_an_object_changes_neither_object() {
    for refuses in [true, false] {
        let mut hand = renaming(refuses);
        hand.expire();
        hand.list(20, &[pod("x", "u1", 15), pod("other", "u2", 2)]);
        assert_eq!(hand.notes(), Vec::<String>::new());
        assert_eq!(hand.store(), ["other@2", "x@1"]);
        let report = hand.informer.poll_rejected().unwrap();
        assert_eq!(report.key.unwrap().name(), "x");
        let mut hand = renaming(refuses);
        hand.event("DELETED", &pod("x", "u1", 15));
        assert_eq!(hand.store(), ["other@2"]);
    }
}

thread_local! {
    /// How often a cell of a store was accessed.
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// The heap, which counts every access to a cell of the store.
#[derive(Clone, Copy)]
enum Counted {}

#[derive(Clone, Default)]
struct CountedPages<T, const CELLS: usize>(Pages<T, CELLS>);

impl Storage for Counted {
    type Cells<T: Default> = Vec<T>;
    type Few<T: Default> = Vec<T>;
    type Pages<T: Default + Clone, const CELLS: usize> = CountedPages<T, CELLS>;
    type FewPages<T: Default + Clone> = Vec<T>;
    type Sources<T: Default> = Vec<T>;
    type Holds<T: Default + Clone> = Pages<T, 16>;
    type Kept<V: Clone> = Frozen<V>;
    type Text = String;
    type Bytes = Arc<[u8]>;
}

impl<T: Default + Clone, const CELLS: usize> Cells<T> for CountedPages<T, CELLS> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn get(&self, at: usize) -> Option<&T> {
        LOOKS.set(LOOKS.get() + 1);
        self.0.get(at)
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        LOOKS.set(LOOKS.get() + 1);
        self.0.get_mut(at)
    }

    fn grow(&mut self, len: usize) -> Result<(), Full> {
        self.0.grow(len)
    }
}

/// The work for an object grows linearly with its index values.
#[test]
fn many_index_values_are_not_compared_with_each_other() {
    let looks = |labels: usize| {
        let mut store: Indexer<Object<()>, Counted> = Indexer::new(Seed::new(1));
        let by_label = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
            let labels = object.labels().iter();
            labels.for_each(|(_, value)| file(value.as_bytes()));
        });
        store.add_index("label", by_label).unwrap();
        LOOKS.set(0);
        for version in 1..4 {
            let label = |n| (format!("k{n}"), format!("v{n}"));
            let object = Object::builder(ObjectKey::new("a", "x"))
                .version(version.to_string())
                .labels((0..labels).map(label))
                .body(());
            store.put(object).unwrap();
        }
        let looks = LOOKS.get();
        assert_eq!(store.index_values("label").unwrap().count(), labels);
        looks
    };
    let (few, many) = (looks(500), looks(4_000));
    assert!(
        many < few * 8 * 2,
        "{few} accesses for 500 values, {many} for 4,000"
    );
}

#[test]
fn an_unanswered_stream_does_not_count_as_a_missing_end_bookmark() {
    let mut hand = Hand::new(InformerConfig::new());
    // No timeout runs in the core: the transport gives up.
    assert_eq!(hand.informer.next_deadline(), None);
    hand.sleep(Duration::from_secs(300));
    hand.fail(Failure::TimedOut, "");
    let request = hand.request();
    assert!(
        matches!(request, Some(OwnedRequest::List { .. })),
        "{request:?}"
    );
    hand.fail(Failure::Forbidden, "");
    let request = hand.wait();
    assert!(
        matches!(
            request,
            Some(OwnedRequest::Watch {
                initial_events: true,
                ..
            })
        ),
        "{request:?}"
    );
}

/// Both if it breaks and if the server closes it.
#[test]
fn a_long_stream_that_ends_once_is_opened_again() {
    let broken = Signal::Failed {
        failure: Failure::Broken,
        message: "reset",
    };
    for end in [broken, Signal::Closed] {
        let mut hand = Hand::new(InformerConfig::new());
        for n in 0..5 {
            hand.event("ADDED", &pod(&format!("p{n}"), "u", n + 1));
            hand.sleep(Duration::from_secs(10));
        }
        hand.signal(end);
        let request = hand.request();
        assert!(
            matches!(
                request,
                Some(OwnedRequest::Watch {
                    initial_events: true,
                    ..
                })
            ),
            "{end:?}: {request:?}"
        );
    }
}

#[test]
fn a_stream_that_keeps_breaking_backs_off() {
    let mut hand = Hand::new(InformerConfig::new());
    hand.event("ADDED", &pod("x", "u", 11));
    hand.fail(Failure::Broken, "reset");
    assert!(hand.request().is_some(), "the first retry is immediate");
    hand.event("ADDED", &pod("x", "u", 12));
    hand.fail(Failure::Broken, "reset");
    assert_eq!(hand.request(), None);
    assert!(hand.wait().is_some());
}

#[test]
fn silence_during_a_stall_is_excused_even_if_the_stall_is_over_before_the_deadline() {
    let (mut hand, slow) = stalled(listed());
    hand.list(10, &[]);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    let text = three_adds();
    assert!(hand.signal(Signal::Bytes(text.as_bytes())).unwrap() < text.len());
    hand.now = hand.now.after(Duration::from_secs(199));
    while hand.informer.poll_notification(slow).is_some() {}
    hand.sleep(Duration::from_secs(1));
    assert_eq!(hand.informer.status().counts.failures, 0);

    let (mut hand, slow) = stalled(InformerConfig::new());
    assert!(hand.signal(Signal::Bytes(text.as_bytes())).unwrap() < text.len());
    hand.now = hand.now.after(Duration::from_secs(29));
    while hand.informer.poll_notification(slow).is_some() {}
    hand.sleep(Duration::from_secs(1));
    assert!(matches!(
        hand.informer.status().phase,
        Phase::Streaming { .. }
    ));
}

#[test]
fn an_unreadable_object_that_is_deleted_while_it_is_streamed_is_gone() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        for config in [
            InformerConfig::client_go(queue),
            InformerConfig {
                queue,
                ..InformerConfig::new()
            },
        ] {
            let mut hand = Hand::new(config);
            hand.event("ADDED", &pod("x", "u1", 1));
            hand.event("BOOKMARK", &end_bookmark(10));
            hand.expire();
            hand.event(
                "ADDED",
                r#"{"metadata":{"namespace":"a","name":"x","resourceVersion":"11"},"bad":tru}"#,
            );
            hand.event("DELETED", &pod("x", "u1", 12));
            hand.event("BOOKMARK", &end_bookmark(13));
            assert_eq!(hand.store(), Vec::<String>::new());
        }
    }
}

/// A resync stalls only itself, and only until its listener polls.
#[test]
fn a_resync_does_not_excuse_the_silence_of_the_server() {
    for queue in [QueueKind::DeltaFifo, QueueKind::InOrder] {
        let mut config = InformerConfig { queue, ..listed() };
        config.resync = Some(Duration::from_secs(5));
        let pods = [pod("x", "u", 1), pod("y", "u", 2), pod("z", "u", 3)];
        let mut hand = Hand::synced(config, &pods);
        let slow = hand.informer.add_listener(STALL, hand.now).unwrap();
        let mut shown = 0;
        for _ in 0..50 {
            hand.sleep(Duration::from_secs(5));
            while hand.informer.poll_notification(slow).is_some() {
                shown += 1;
                hand.informer.advance(hand.now);
            }
        }
        assert!(shown > 100, "{shown}");
        let failure = hand.informer.status().last_failure.unwrap().failure;
        assert_eq!(failure, Failure::Idle);
    }
}

/// The listener stalls between two deltas of one key.
#[test]
fn a_chain_that_is_popped_half_way_still_counts_as_queued() {
    let mut config = client_go(QueueKind::DeltaFifo);
    config.resync = Some(Duration::from_secs(1));
    let (mut hand, slow) = stalled(config);
    hand.list(10, &[pod("x", "u", 1)]);
    hand.request();
    hand.signal(Signal::Opened(Encoding::Json));
    while hand.informer.poll_notification(slow).is_some() {}
    assert!(hand.informer.is_synced());
    hand.expire();
    hand.list(20, &[pod("x", "u", 2), pod("x", "u", 3)]);
    assert!(hand.informer.is_synced(), "sync is final");
    hand.sleep(Duration::from_secs(5));
    hand.sleep(Duration::from_secs(5));
    while hand.informer.poll_notification(slow).is_some() {}
    assert_eq!(hand.store(), ["x@3"], "the newest version wins");
}

#[test]
fn resyncs_do_not_pile_up_behind_a_stalled_listener() {
    let mut config = InformerConfig {
        queue: QueueKind::InOrder,
        ..listed()
    };
    config.resync = Some(Duration::from_secs(1));
    let (mut hand, _) = stalled(config);
    hand.list(10, &[pod("x", "u", 1), pod("y", "u", 2)]);
    for _ in 0..1_000 {
        hand.sleep(Duration::from_secs(1));
    }
    let queued = hand.informer.status().queued;
    assert!(queued <= 2, "{queued}");
}

/// The store applies the state in one step, but notifications wait for the listener.
#[test]
fn a_full_state_of_an_in_order_queue_respects_a_stalling_listener() {
    let config = InformerConfig {
        queue: QueueKind::InOrder,
        ..listed()
    };
    let (mut hand, slow) = stalled(config);
    let pods: Vec<_> = (0..50).map(|n| pod(&format!("p{n}"), "u", n)).collect();
    hand.list(60, &pods);
    assert_eq!(hand.store().len(), 50);
    let mut told = 0;
    loop {
        let status = hand.informer.listener_status(slow).unwrap();
        assert!(status.pending <= 1);
        assert!(!status.synced);
        if hand.informer.poll_notification(slow).is_none() {
            break;
        }
        told += 1;
    }
    assert_eq!(told, 50);
    assert!(hand.informer.listener_status(slow).unwrap().synced);
}

#[test]
fn an_object_without_room_changes_nothing() {
    let pod = |name: &str, version: &str, labels: usize| {
        let labels = (0..labels).map(|n| (format!("k{n}"), format!("{name}{n}")));
        Object::builder(ObjectKey::new("a", name))
            .version(version)
            .labels(labels)
            .body(())
    };
    let mut store: Indexer<Object<()>, Fixed<16>> = Indexer::new(Seed::new(1));
    let by_label = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
        object
            .labels()
            .iter()
            .for_each(|(_, value)| file(value.as_bytes()));
    });
    store.add_index("label", by_label).unwrap();
    store.put(pod("a", "1", 10)).unwrap();
    assert_eq!(
        store.put(pod("b", "2", 10)),
        Err(Full),
        "there is room for six values"
    );
    assert_eq!(store.put(pod("a", "3", 17)), Err(Full));
    assert_eq!(store.len(), 1);
    assert_eq!(store.version(), "1");
    assert_eq!(store.iter().next().unwrap().version(), "1");
    assert_eq!(store.index_values("label").unwrap().count(), 10);
    assert_eq!(store.count("label", "a9"), Ok(1));
    store.put(pod("b", "4", 6)).unwrap();
    assert_eq!(store.count("label", "b5"), Ok(1));
}

#[test]
fn odd_notifications_of_client_go_are_merged() {
    let mut hand = Hand::new(client_go(QueueKind::InOrder));
    let listener = hand.informer.add_listener(MERGE, hand.now).unwrap();
    // A key that is twice in one list leads to two adds.
    hand.list(10, &[pod("x", "u", 1), pod("x", "u", 2)]);
    hand.request();
    hand.event("DELETED", &pod("x", "u", 11));
    assert_eq!(hand.notes_of(listener), Vec::<String>::new());
    // client-go notifies of the deletion of an unknown object.
    for version in 12..1_000 {
        hand.event("DELETED", &pod("x", "u", version));
    }
    assert_eq!(hand.informer.listener_status(listener).unwrap().pending, 1);
}

#[test]
fn delays_do_not_count_as_healthy_time() {
    let mut config = listed();
    config.reflector.backoff.cap = Duration::from_secs(600);
    let mut hand = Hand::new(config);
    let mut waits = Vec::new();
    for _ in 0..16 {
        hand.fail(Failure::Forbidden, "");
        let until = hand.informer.next_deadline().unwrap();
        waits.push(until.since(hand.now).as_secs());
        hand.wait();
    }
    assert!(waits[10..].iter().all(|wait| *wait >= 100), "{waits:?}");
}

#[test]
fn invalid_configurations_are_rejected_at_construction() {
    let refused = |change: fn(&mut InformerConfig)| {
        let mut config = listed();
        change(&mut config);
        let informer = Informer::<_, Heap>::new(Decoder::new(Dynamic), config, 1);
        informer.map(|_| ()).unwrap_err()
    };
    assert_eq!(
        refused(|config| config.resync = Some(Duration::from_micros(999_999))),
        InvalidConfig::ResyncTooShort(Duration::from_micros(999_999))
    );
    assert_eq!(
        refused(|config| config.reflector.idle = Some(Duration::from_nanos(999))),
        InvalidConfig::Zero("reflector.idle")
    );
    let tiny = Informer::<_, Fixed<1>>::new(Decoder::new(Dynamic), listed(), 1);
    assert_eq!(
        tiny.map(|_| ()).unwrap_err(),
        InvalidConfig::StorageTooSmall
    );
    for limits in [
        Limits {
            object_bytes: 0,
            ..Limits::new()
        },
        Limits {
            depth: 0,
            ..Limits::new()
        },
        Limits {
            depth: 1 << 20,
            ..Limits::new()
        },
    ] {
        assert!(Decoder::with_limits(Dynamic, limits).is_err());
    }
}

#[test]
fn updates_suppressed_by_a_relist_of_an_in_order_queue_are_counted() {
    let config = InformerConfig {
        queue: QueueKind::InOrder,
        ..listed()
    };
    let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
    hand.expire();
    hand.list(20, &[pod("x", "u1", 1)]);
    assert_eq!(hand.informer.status().counts.suppressed, 1);
}
