//! Limits of the store: what it keeps when there is more, and how it recovers.
#![allow(clippy::unwrap_used, reason = "tests")]

mod hand;

use core::task::Poll;
use core::time::Duration;

use hand::{Hand, listed, pod};
use informer_core::decode::{Decoder, Dynamic};
use informer_core::indexer::{IndexFn, Indexer, StoreLimits};
use informer_core::queue::{QueueKind, Relist};
use informer_core::reflector::{FirstState, InvalidConfig, InvalidLimit, Phase};
use informer_core::storage::{Full, Heap, Seed};
use informer_core::transport::{OwnedRequest, Request, Signal};
use informer_core::{Encoding, Failure, Informer, InformerConfig, Object, ObjectKey, SourceId};

const LONG: Duration = Duration::from_secs(3_600);

/// Both queues, with staged and streamed relists, and room for two objects by either limit.
fn ways() -> Vec<InformerConfig> {
    let bytes = pod("x", "u", 11).len() as u64;
    let two = StoreLimits {
        objects: Some(2),
        bytes: None,
    };
    let two_in_bytes = StoreLimits {
        objects: None,
        bytes: Some(2 * bytes),
    };
    let (queue, relist) = (QueueKind::InOrder, Relist::Staged);
    let ways = [two, two_in_bytes].map(|limits| {
        let config = InformerConfig { limits, ..listed() };
        [
            config,
            InformerConfig { relist, ..config },
            InformerConfig { queue, ..config },
        ]
    });
    ways.concat()
}

fn is_one_piece(config: &InformerConfig) -> bool {
    config.queue == QueueKind::InOrder || config.relist == Relist::Staged
}

/// The informer reports that it is full and names the limit, is not fresh, and waits for a relist.
fn is_full(hand: &Hand, config: &InformerConfig) {
    let status = hand.informer.status();
    let failure = status.last_failure.unwrap();
    assert_eq!(failure.failure, Failure::Full, "{config:?}");
    let limit = config.limits.to_string();
    assert!(failure.message.contains(&limit), "{}", failure.message);
    assert!(failure.message.contains("raise it"), "{}", failure.message);
    let waits = matches!(
        status.phase,
        Phase::Waiting {
            cause: Failure::Full,
            ..
        }
    );
    assert!(waits, "{status:?}");
    assert!(!hand.informer.is_fresh(LONG, hand.now));
    assert!(
        config
            .limits
            .objects
            .is_none_or(|most| hand.informer.store().len() <= most)
    );
    assert!(
        config
            .limits
            .bytes
            .is_none_or(|most| hand.informer.store().bytes() <= most)
    );
}

/// Whether the full state is read again without a wait: it did not fit, but its deletions made room.
fn is_read_again(hand: &mut Hand) -> bool {
    let request = hand.informer.reflector(SourceId::FIRST).unwrap().request();
    let again = matches!(request, Some((_, Request::List { .. })));
    if again {
        let failure = hand.informer.status().last_failure.unwrap().failure;
        assert_eq!(failure, Failure::Full);
        // The rate limit may delay this request, as any other.
        let since = hand.now;
        assert!(hand.request().or_else(|| hand.wait()).is_some());
        assert!(hand.now.since(since) <= Duration::from_secs(15));
    }
    again
}

fn is_fine(hand: &mut Hand, expected: &[&str]) {
    // The rate limit may delay the watch.
    assert!(hand.request().or_else(|| hand.wait()).is_some());
    hand.signal(Signal::Opened(Encoding::Json));
    assert_eq!(hand.store(), expected);
    assert!(hand.informer.is_synced() && hand.informer.is_fresh(LONG, hand.now));
    let version = hand
        .informer
        .reflector(SourceId::FIRST)
        .unwrap()
        .version()
        .unwrap()
        .to_owned();
    assert_eq!(hand.informer.wait_for(&version), Ok(Poll::Ready(())));
}

#[test]
fn a_first_state_beyond_the_limit_is_not_synced_until_it_fits() {
    for config in ways() {
        let mut hand = Hand::new(config);
        for _ in 0..3 {
            hand.list(
                20,
                &[pod("x", "u", 11), pod("y", "u", 12), pod("z", "u", 13)],
            );
            is_full(&hand, &config);
            assert!(!hand.informer.is_synced());
            let shown: &[&str] = if is_one_piece(&config) {
                &[]
            } else {
                &["x@11", "y@12"]
            };
            assert_eq!(hand.store(), shown);
            assert_eq!(hand.informer.wait_for("11"), Ok(Poll::Pending));
            assert!(matches!(hand.wait(), Some(OwnedRequest::List { .. })));
        }
        hand.list(30, &[pod("x", "u", 11), pod("z", "u", 13)]);
        if !is_one_piece(&config) {
            // The deletion of y made room only at the end.
            assert!(is_read_again(&mut hand));
            assert_eq!(hand.store(), ["x@11"]);
            hand.list(30, &[pod("x", "u", 11), pod("z", "u", 13)]);
        }
        is_fine(&mut hand, &["x@11", "z@13"]);
    }
}

#[test]
fn an_event_beyond_the_limit_changes_nothing_and_the_state_is_read_until_it_fits() {
    for config in ways() {
        let mut hand = Hand::synced(config, &[pod("x", "u", 11), pod("y", "u", 12)]);
        hand.event("ADDED", &pod("z", "u", 21));
        is_full(&hand, &config);
        assert_eq!(hand.store(), ["x@11", "y@12"]);
        assert_eq!(hand.notes(), Vec::<String>::new());
        assert!(hand.informer.is_synced(), "once synced, always synced");
        assert_eq!(hand.informer.wait_for("21"), Ok(Poll::Pending));
        // There is still too much.
        hand.wait();
        hand.list(
            30,
            &[pod("x", "u", 11), pod("y", "u", 12), pod("z", "u", 21)],
        );
        is_full(&hand, &config);
        assert_eq!(hand.store(), ["x@11", "y@12"]);
        // Objects were deleted on the server.
        hand.wait();
        let fits = [pod("y", "u", 12), pod("z", "u", 21)];
        hand.list(40, &fits);
        if is_read_again(&mut hand) {
            hand.list(40, &fits);
        }
        let mut notes = hand.notes();
        notes.sort();
        assert_eq!(
            notes,
            ["add z@21 Relist", "delete x@11 Inferred Relist"],
            "{config:?}"
        );
        is_fine(&mut hand, &["y@12", "z@21"]);
    }
}

#[test]
fn no_version_counts_as_reached_while_there_is_more_than_fits() {
    for config in ways() {
        let mut hand = Hand::synced(config, &[pod("x", "u", 11), pod("y", "u", 12)]);
        assert_eq!(hand.informer.wait_for("10"), Ok(Poll::Ready(())));
        hand.expire();
        hand.list(30, &["x", "y", "z"].map(|name| pod(name, "u", 21)));
        assert_eq!(
            hand.informer.wait_for("10"),
            Ok(Poll::Pending),
            "{config:?}"
        );
    }
}

#[test]
fn an_object_that_grew_beyond_the_limit_keeps_its_old_state() {
    for config in ways() {
        if config.limits.bytes.is_none() {
            continue;
        }
        let mut hand = Hand::synced(config, &[pod("x", "u", 11), pod("y", "u", 12)]);
        let large = pod("x", "a uid that is longer", 21);
        hand.event("MODIFIED", &large);
        is_full(&hand, &config);
        assert_eq!(hand.store(), ["x@11", "y@12"]);
        hand.wait();
        hand.list(30, &[large.clone(), pod("y", "u", 12)]);
        is_full(&hand, &config);
        assert_eq!(hand.store(), ["x@11", "y@12"]);
        hand.wait();
        hand.list(40, &[large]);
        if is_read_again(&mut hand) {
            hand.list(40, &[pod("x", "a uid that is longer", 21)]);
        }
        is_fine(&mut hand, &["x@21"]);
    }
}

/// A server that returns other objects each time must not cause endless relists.
#[test]
fn a_state_that_does_not_fit_is_read_again_at_once_only_once() {
    for config in ways().into_iter().filter(|config| !is_one_piece(config)) {
        let mut hand = Hand::synced(config, &[pod("a", "u", 1), pod("b", "u", 2)]);
        hand.expire();
        for (nth, names) in [["c", "d"], ["e", "f"], ["g", "h"]].iter().enumerate() {
            // The first state has no room until the old objects are gone. The later ones are one too
            // many.
            let names = [names[0], names[1], "z"];
            hand.list(30, &names.map(|name| pod(name, "u", 21)));
            assert_eq!(is_read_again(&mut hand), nth == 0, "{config:?}");
            if nth > 0 {
                is_full(&hand, &config);
                hand.wait();
            }
        }
        // A state that fits resets this.
        let fits = [pod("z", "u", 21)];
        hand.list(40, &fits);
        if is_read_again(&mut hand) {
            hand.list(40, &fits);
        }
        is_fine(&mut hand, &["z@21"]);
        hand.expire();
        hand.list(50, &["x", "y", "w"].map(|name| pod(name, "u", 21)));
        assert!(is_read_again(&mut hand), "{config:?}");
    }
}

#[test]
fn a_streamed_state_beyond_the_limit_is_not_synced_either() {
    for mut config in ways() {
        config.reflector.first_state = FirstState::Streamed;
        let mut hand = Hand::new(config);
        hand.signal(Signal::Opened(Encoding::Json));
        for (name, version) in [("x", 11), ("y", 12), ("z", 13)] {
            let event = format!(
                "{{\"type\":\"ADDED\",\"object\":{}}}\n",
                pod(name, "u", version)
            );
            let _ = hand.signal(Signal::Bytes(event.as_bytes()));
        }
        let end = r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"20","annotations":{"k8s.io/initial-events-end":"true"}}}}"#;
        let _ = hand.signal(Signal::Bytes(format!("{end}\n").as_bytes()));
        assert_eq!(
            hand.informer.status().last_failure.unwrap().failure,
            Failure::Full
        );
        assert!(!hand.informer.is_synced() && !hand.informer.is_fresh(LONG, hand.now));
        assert!(hand.store().len() <= 2);
    }
}

#[test]
fn a_full_state_that_cannot_be_swept_still_notifies_and_reports_that_it_is_full() {
    let ways = ways()
        .into_iter()
        .filter(|config| config.limits.objects.is_some());
    for config in ways {
        let mut hand = Hand::synced(config, &[pod("x", "u", 11), pod("y", "u", 12)]);
        hand.expire();
        // An object without a name: nothing may be deleted, so there is no room for z.
        hand.list(30, &["{}".to_owned(), pod("x", "u", 21), pod("z", "u", 22)]);
        assert_eq!(hand.notes(), ["update x 11 to 21 Relist"], "{config:?}");
        assert_eq!(hand.store(), ["x@21", "y@12"]);
        is_full(&hand, &config);
    }
}

#[test]
fn keys_without_objects_are_bounded_too() {
    let config = InformerConfig {
        limits: StoreLimits {
            objects: Some(2),
            bytes: None,
        },
        relist: Relist::Staged,
        ..listed()
    };
    let mut hand = Hand::new(config);
    let unreadable = |name: &str| {
        format!(r#"{{"metadata":{{"name":"{name}","resourceVersion":"1","labels":7}}}}"#)
    };
    hand.list(
        20,
        &[
            unreadable("a"),
            unreadable("b"),
            pod("x", "u", 1),
            pod("y", "u", 2),
        ],
    );
    is_fine(&mut hand, &["x@1", "y@2"]);
    hand.expire();
    hand.list(30, &["a", "b", "c"].map(unreadable));
    is_full(&hand, &config);
}

#[test]
fn a_limit_of_zero_is_refused() {
    for (objects, bytes, name) in [(Some(0), None, "objects"), (None, Some(0), "bytes")] {
        let limits = StoreLimits { objects, bytes };
        let config = InformerConfig { limits, ..listed() };
        let informer = Informer::<_, Heap>::new(Decoder::new(Dynamic), config, 1);
        assert_eq!(
            informer.map(|_| ()),
            Err(InvalidConfig::Limit(InvalidLimit(name)))
        );
    }
}

#[test]
fn refused_writes_do_not_change_the_bytes_of_a_store() {
    let object = |name: &str, size: usize| {
        Object::builder(ObjectKey::new("n", name))
            .version("1")
            .size(size)
            .body(())
    };
    let limits = StoreLimits {
        objects: Some(3),
        bytes: Some(100),
    };
    let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1)).with_limits(limits);
    let name = IndexFn::new(|object: &Object<()>, file: &mut dyn FnMut(&[u8])| {
        file(object.key().name().as_bytes());
    });
    store.add_index("name", name).unwrap();
    store.put(object("a", 60)).unwrap();
    assert_eq!(store.put(object("b", 41)), Err(Full));
    store.put(object("b", 40)).unwrap();
    assert_eq!(store.put(object("b", 41)), Err(Full));
    store.put(object("a", 10)).unwrap();
    assert_eq!((store.len(), store.bytes()), (2, 50));
    store.put(object("c", 0)).unwrap();
    assert_eq!(store.put(object("d", 0)), Err(Full));
    // A store that is made from a snapshot has the same limits.
    let mut store = Indexer::from(store.snapshot());
    assert_eq!(store.put(object("d", 0)), Err(Full));
    store.remove(&ObjectKey::new("n", "b"));
    store.replace([object("a", 99)], "2").unwrap();
    assert_eq!((store.len(), store.bytes()), (1, 99));
    assert_eq!(store.index_values("name").unwrap().count(), 1);
}
