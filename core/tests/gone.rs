//! Kinds that the server does not serve: not yet, or no longer.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod conversation;
mod hand;

use core::time::Duration;

use conversation::Conversation;
use hand::{EVERYTHING, Hand, listed, pod};
use informer_core::flow::Change;
use informer_core::indexer::{Indexer, Rules, StoreLimits};
use informer_core::queue::{Queue, QueueKind, Relist};
use informer_core::reflector::{
    FirstState, GoneConfig, InvalidConfig, Phase, Reflector, ReflectorConfig, WhenGone,
};
use informer_core::storage::{Heap, Seed};
use informer_core::transport::{OwnedRequest, Signal};
use informer_core::{Encoding, Failure, InformerConfig, Instant, Object, ObjectKey};

/// Every queue, with a policy.
fn configs(then: WhenGone) -> [InformerConfig; 3] {
    let gone = Some(GoneConfig {
        then,
        ..GoneConfig::new()
    });
    let mut config = listed();
    config.reflector.gone = gone;
    [
        config,
        InformerConfig {
            queue: QueueKind::InOrder,
            ..config
        },
        InformerConfig {
            relist: Relist::Staged,
            ..config
        },
    ]
}

/// An informer with the objects x and y, whose watch has ended.
fn following(config: InformerConfig) -> Hand {
    let mut hand = Hand::synced(config, &[pod("x", "u1", 1), pod("y", "u2", 2)]);
    hand.sleep(Duration::from_secs(5));
    hand.signal(Signal::Closed);
    hand.request();
    hand
}

/// How long it waits.
fn delay(hand: &Hand) -> Duration {
    match hand.informer.status().phase {
        Phase::Waiting {
            until,
            cause: Failure::NotFound,
            ..
        } => until.since(hand.now),
        other => panic!("it does not wait for the kind: {other:?}"),
    }
}

/// Answers the watch and then as many lists with 404.
fn miss(hand: &mut Hand, lists: usize) {
    hand.fail(Failure::NotFound, "404 page not found");
    for _ in 0..lists {
        assert!(matches!(hand.wait(), Some(OwnedRequest::List { .. })));
        hand.fail(Failure::NotFound, "404 page not found");
    }
}

#[test]
fn by_default_the_store_stays_and_nothing_claims_to_be_fresh() {
    let minute = Duration::from_secs(60);
    for config in configs(WhenGone::Keep) {
        let mut hand = following(config);
        assert!(hand.informer.is_fresh(minute, hand.now));
        miss(&mut hand, 1);
        for round in 0..12 {
            let status = hand.informer.status();
            assert!(status.gone && status.synced && !status.following);
            assert!(!hand.informer.is_fresh(Duration::MAX, hand.now));
            assert_eq!(hand.informer.exact_version(), None);
            assert_eq!(hand.store(), ["x@1", "y@2"], "round {round}");
            let base = Duration::from_secs(2 << round).min(minute);
            assert!((base..base * 2).contains(&delay(&hand)), "round {round}");
            hand.wait();
            hand.fail(Failure::NotFound, "404 page not found");
        }
        assert!(hand.notes().is_empty(), "nothing is known of its objects");

        // The kind is back: the difference is told, and the delays start over.
        hand.wait();
        hand.list(20, &[pod("y", "u2", 2), pod("z", "u3", 15)]);
        let mut notes = hand.notes();
        notes.sort();
        assert_eq!(notes, ["add z@15 Relist", "delete x@1 Inferred Relist"]);
        assert!(!hand.informer.status().gone);
        hand.request();
        miss(&mut hand, 1);
        assert!((Duration::from_secs(2)..Duration::from_secs(4)).contains(&delay(&hand)));
    }
}

#[test]
fn a_store_is_emptied_when_two_lists_agree() {
    for config in configs(WhenGone::Empty) {
        let mut hand = following(config);
        miss(&mut hand, 1);
        assert_eq!(hand.store(), ["x@1", "y@2"], "a single 404 proves nothing");
        miss_again(&mut hand);
        assert_eq!(
            hand.notes(),
            [
                "delete x@1 Inferred KindGone",
                "delete y@2 Inferred KindGone"
            ],
            "{config:?}"
        );
        assert_eq!(hand.store(), Vec::<String>::new());
        // Once is enough.
        miss_again(&mut hand);
        assert!(hand.notes().is_empty());
        // A handler that joins now starts with nothing.
        let late = hand.informer.add_listener(EVERYTHING, hand.now).unwrap();
        assert!(hand.notes_of(late).is_empty());

        hand.wait();
        hand.list(30, &[pod("x", "u3", 25)]);
        assert_eq!(hand.notes(), ["add x@25 Relist"]);
        assert_eq!(hand.notes_of(late), ["add x@25 Relist"]);
        assert!(hand.informer.is_synced());
        // And all over again.
        hand.request();
        miss(&mut hand, 1);
        assert!(hand.notes().is_empty());
        miss_again(&mut hand);
        assert_eq!(hand.notes(), ["delete x@25 Inferred KindGone"]);
    }
}

fn miss_again(hand: &mut Hand) {
    hand.wait();
    hand.fail(Failure::NotFound, "404 page not found");
}

/// A sweep that empties the store looks at a bounded number of places in each call.
#[test]
fn a_large_store_is_emptied_step_by_step() {
    for config in configs(WhenGone::Empty) {
        let pods: Vec<_> = (0..2_000)
            .map(|n| pod(&format!("p{n}"), "u", n + 1))
            .collect();
        let mut hand = Hand::synced(config, &pods);
        hand.sleep(Duration::from_secs(5));
        hand.signal(Signal::Closed);
        hand.request();
        miss(&mut hand, 1);
        hand.wait();
        hand.fail(Failure::NotFound, "");
        let mut calls = 0;
        while hand.informer.status().objects > 0 {
            calls += 1;
            let before = hand.informer.status().objects;
            assert_eq!(hand.informer.next_deadline(), Some(hand.now));
            hand.informer.advance(hand.now);
            assert!(before - hand.informer.status().objects <= 512);
        }
        assert!(calls > 2, "{calls} calls");
        assert_eq!(hand.told(hand.listener).len(), 2_000);
    }
}

/// The kind may be back before its store is empty. The new state waits for the end of the sweep.
#[test]
fn a_kind_that_returns_at_once_is_complete() {
    for config in configs(WhenGone::Empty) {
        let pods: Vec<_> = (0..2_000)
            .map(|n| pod(&format!("p{n}"), "u", n + 1))
            .collect();
        let mut hand = Hand::synced(config, &pods);
        hand.sleep(Duration::from_secs(5));
        hand.signal(Signal::Closed);
        hand.request();
        miss(&mut hand, 1);
        miss_again(&mut hand);
        assert!(hand.informer.status().objects > 0);
        hand.informer.hurry(hand.now);
        hand.request();
        let list = format!(
            r#"{{"metadata":{{"resourceVersion":"5000"}},"items":[{}]}}"#,
            pod("p7", "new", 4_000)
        );
        let mut taken = None;
        while taken.is_none() {
            hand.informer.advance(hand.now);
            taken = hand.signal(Signal::Bytes(list.as_bytes()));
        }
        hand.signal(Signal::Closed);
        hand.informer.advance(hand.now);
        assert_eq!(hand.store(), ["p7@4000"]);
        let told = hand.notes();
        assert_eq!(told.len(), 2_001);
        assert_eq!(told.last().unwrap(), "add p7@4000 Relist");
    }
}

#[test]
fn an_informer_stops_when_two_lists_agree() {
    for config in configs(WhenGone::Stop) {
        let mut hand = following(config);
        miss(&mut hand, 1);
        assert!(!hand.informer.is_stopped());
        miss_again(&mut hand);
        assert!(hand.informer.is_stopped());
        let status = hand.informer.status();
        assert_eq!((status.phase, status.gone), (Phase::Stopped, true));
        assert_eq!(hand.store(), ["x@1", "y@2"], "the store stays readable");
        assert_eq!(hand.informer.next_deadline(), None);
        assert_eq!(hand.request(), None);
        hand.informer.stop(hand.now);
        assert!(hand.informer.status().gone, "the reason stays");
    }
    // Somebody who stops an informer is the reason for its end, whatever it waited for.
    let mut hand = following(configs(WhenGone::Stop)[0]);
    miss(&mut hand, 1);
    assert!(hand.informer.status().gone);
    hand.informer.stop(hand.now);
    assert!(!hand.informer.status().gone);
}

/// A kind that was never there: nothing to tell, and not synced.
#[test]
fn a_kind_that_is_not_there_yet_is_not_synced() {
    for then in [WhenGone::Keep, WhenGone::Empty] {
        for config in configs(then) {
            let mut hand = Hand::new(config);
            hand.fail(Failure::NotFound, "");
            miss_again(&mut hand);
            miss_again(&mut hand);
            assert!(hand.informer.status().gone && !hand.informer.is_synced());
            hand.wait();
            hand.list(10, &[pod("x", "u1", 1)]);
            assert!(hand.informer.is_synced());
            assert_eq!(hand.notes(), ["add x@1 initial Relist"]);
        }
    }
}

/// Other failures between two 404s change nothing: only a full state proves that the kind is there.
#[test]
fn the_kind_counts_as_gone_until_a_state_is_read() {
    let mut hand = following(configs(WhenGone::Empty)[0]);
    miss(&mut hand, 1);
    hand.wait();
    hand.fail(Failure::Unreachable, "");
    assert!(hand.informer.status().gone);
    assert_eq!(hand.store().len(), 2);
    hand.wait();
    hand.fail(Failure::NotFound, "");
    assert_eq!(hand.store().len(), 0);
}

/// A list that has begun is abandoned, and its second page may be the one that is not found.
#[test]
fn a_kind_that_vanishes_between_two_pages_leaves_nothing_of_the_list() {
    for config in configs(WhenGone::Empty) {
        let mut hand = Hand::synced(config, &[pod("x", "u1", 1)]);
        hand.expire();
        miss_once_on_page_two(&mut hand);
        let halfway = hand.store();
        assert!(halfway.contains(&"x@1".to_owned()), "{halfway:?}");
        hand.wait();
        miss_once_on_page_two(&mut hand);
        assert_eq!(hand.store(), Vec::<String>::new());
        // Whatever the third one brings is gone, too.
        hand.wait();
        miss_once_on_page_two(&mut hand);
        assert_eq!(hand.store(), Vec::<String>::new());
        hand.wait();
        hand.list(40, &[pod("z", "u3", 35)]);
        assert_eq!(hand.store(), ["z@35"]);
    }
}

fn miss_once_on_page_two(hand: &mut Hand) {
    hand.bytes(&format!(
        r#"{{"metadata":{{"resourceVersion":"20","continue":"t"}},"items":[{}]}}"#,
        pod("y", "u2", 15)
    ));
    hand.signal(Signal::Closed);
    assert!(matches!(
        hand.request(),
        Some(OwnedRequest::List { page: Some(_), .. })
    ));
    hand.signal(Signal::Opened(Encoding::Json));
    hand.fail(Failure::NotFound, "");
}

/// Objects that could not be used are forgotten with their kind.
#[test]
fn nothing_is_left_out_of_a_kind_that_is_gone() {
    let mut hand = following(configs(WhenGone::Empty)[0]);
    hand.signal(Signal::Opened(Encoding::Json));
    hand.event(
        "MODIFIED",
        r#"{"metadata":{"namespace":"a","name":"x","uid":7,"resourceVersion":"11"}}"#,
    );
    assert_eq!(hand.informer.left_out().count(), 1);
    hand.sleep(Duration::from_secs(5));
    hand.signal(Signal::Closed);
    hand.request();
    miss(&mut hand, 1);
    assert_eq!(hand.informer.left_out().count(), 1);
    miss_again(&mut hand);
    assert_eq!(hand.informer.left_out().count(), 0);
}

/// A store that was full has room now, but that is no reason to ask for a kind that is gone.
#[test]
fn a_full_store_of_a_kind_that_is_gone_waits() {
    let mut config = configs(WhenGone::Empty)[0];
    config.limits.objects = Some(2);
    let mut hand = following(config);
    hand.signal(Signal::Opened(Encoding::Json));
    hand.event("ADDED", &pod("z", "u3", 11));
    assert_eq!(
        hand.informer.status().last_failure.unwrap().failure,
        Failure::Full
    );
    hand.wait();
    hand.fail(Failure::NotFound, "");
    miss_again(&mut hand);
    assert_eq!(hand.store(), Vec::<String>::new());
    assert!(delay(&hand) >= Duration::from_secs(4));
}

/// A queue takes the end of a kind at any time, not only when it is empty.
#[test]
fn a_queue_forgets_what_it_holds_of_a_kind_that_is_gone() {
    let object = |name: &str| {
        let key = ObjectKey::new("a", name);
        Object::builder(key).uid("u").version("1").body(())
    };
    for (kind, relist) in [
        (QueueKind::DeltaFifo, Relist::Streamed),
        (QueueKind::DeltaFifo, Relist::Staged),
        (QueueKind::InOrder, Relist::Streamed),
    ] {
        let mut store: Indexer<Object<()>, Heap> = Indexer::new(Seed::new(1));
        store.put(object("stored")).unwrap();
        let mut queue: Queue<_, Heap> = Queue::new(kind, relist, StoreLimits::NONE, Seed::new(1));
        for change in [
            Change::ReplaceBegin { streamed: false },
            Change::ReplaceItem(object("first")),
            Change::ReplaceEnd,
            Change::ReplaceBegin { streamed: false },
            Change::ReplaceItem(object("second")),
            Change::KindGone,
        ] {
            queue.push(change, &*store).unwrap();
        }
        let mut told = Vec::new();
        while let Some(step) = queue.next_from(&*store) {
            let applied = store.apply(step, Rules::new());
            told.extend(applied.notifications.map(|it| it.to_string()));
        }
        assert_eq!(told, ["deleted a/stored (inferred, kind gone)"], "{kind:?}");
        assert!(queue.is_empty() && !queue.is_synced() && store.is_empty());
        // The state that was being read does not go on.
        queue.push(Change::ReplaceEnd, &*store).unwrap();
        assert_eq!(queue.next_from(&*store), None);
    }
}

#[test]
fn streams_and_watches_that_are_not_found_lead_to_a_list() {
    let mut talk = Conversation::new(ReflectorConfig::new());
    assert_eq!(talk.next(), "watch  true");
    assert_eq!(talk.fail(Failure::NotFound), None);
    assert!(!talk.reflector.is_gone(), "a list decides");
    assert_eq!(talk.next(), "list 0 500 -");
    assert_eq!(talk.fail(Failure::NotFound), None);
    assert!(talk.reflector.is_gone());
    assert_eq!(talk.next(), "watch  true");
    talk.fail(Failure::NotFound);
    assert_eq!(talk.next(), "list 0 500 -");
    assert_eq!(talk.list("10", None), Some(Change::ReplaceEnd));
    assert!(!talk.reflector.is_gone());
    assert_eq!(talk.next(), "watch 10 false");
    talk.fail(Failure::NotFound);
    assert!(!talk.reflector.is_gone());
}

/// For client-go, a 404 is a failure like any other.
#[test]
fn client_go_has_one_back_off() {
    let mut talk = Conversation::listed();
    let wait = |talk: &Conversation| match talk.reflector.phase() {
        Phase::Waiting { until, .. } => until.since(talk.now),
        other => panic!("{other:?}"),
    };
    talk.next();
    for failure in [Failure::NotFound, Failure::Forbidden, Failure::NotFound] {
        assert_eq!(talk.fail(failure), None);
        assert!(!talk.reflector.is_gone());
        let base = wait(&talk);
        assert!(base < Duration::from_millis(6_400), "{base:?}");
        talk.next();
    }
}

/// The watch had ended before it could report the deletions.
#[test]
fn the_objects_of_a_deleted_definition_are_deleted() {
    for policy in [WhenGone::Keep, WhenGone::Empty] {
        for config in configs(policy) {
            // Before the first list that is answered with 404.
            let mut hand = following(config);
            hand.informer.definition_deleted(hand.now);
            assert_eq!(
                hand.store(),
                ["x@1", "y@2"],
                "the server may still serve it"
            );
            miss(&mut hand, 1);
            hand.informer.advance(hand.now);
            assert!(hand.store().is_empty());
            assert_eq!(hand.notes().len(), 2);

            // After many of them: the informer does not wait for the next one.
            let mut hand = following(config);
            miss(&mut hand, 5);
            hand.informer.definition_deleted(hand.now);
            assert!(hand.request().is_some());
            hand.fail(Failure::NotFound, "");
            hand.informer.advance(hand.now);
            assert!(hand.store().is_empty());

            // A full state shows that the kind is back. What happens to it then is another matter.
            hand.wait();
            hand.list(20, &[pod("z", "u3", 20)]);
            hand.request();
            hand.sleep(Duration::from_secs(5));
            hand.signal(Signal::Closed);
            hand.request();
            miss(&mut hand, 1);
            hand.informer.advance(hand.now);
            assert_eq!(hand.store(), ["z@20"]);
        }
    }
}

#[test]
fn a_waiting_informer_can_be_hurried() {
    let mut hand = following(configs(WhenGone::Keep)[0]);
    miss(&mut hand, 5);
    assert!(delay(&hand) > Duration::from_secs(30));
    hand.informer.hurry(hand.now);
    assert!(hand.request().is_some());
    hand.fail(Failure::NotFound, "");
    // Somebody knows that the kind will be there soon, so the delays are short again.
    assert!(delay(&hand) < Duration::from_secs(4));
    hand.wait();
    hand.list(20, &[]);
    assert!(!hand.informer.status().gone);
    // It has nothing to do for an informer that does not wait.
    hand.request();
    let phase = hand.informer.status().phase;
    hand.informer.hurry(hand.now);
    assert_eq!(
        (hand.informer.status().phase, phase),
        (phase, Phase::Watching)
    );
}

#[test]
fn the_delays_are_checked() {
    let with = |base: u64, cap: u64| {
        let gone = Some(GoneConfig {
            base: Duration::from_secs(base),
            cap: Duration::from_secs(cap),
            ..GoneConfig::new()
        });
        let config = ReflectorConfig {
            first_state: FirstState::Listed,
            gone,
            ..ReflectorConfig::new()
        };
        Reflector::<Heap>::new(config, 1).map(|mut it| it.start(Instant::default()))
    };
    assert_eq!(with(1, 1), Ok(()));
    assert_eq!(with(0, 1), Err(InvalidConfig::Zero("reflector.gone.base")));
    assert_eq!(
        with(3, 2).unwrap_err().to_string(),
        "`reflector.gone.cap` (2s) must not be below `reflector.gone.base` (3s): raise the cap or lower the base"
    );
}
