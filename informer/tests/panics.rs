//! Panics in user code: in handlers they do no harm, elsewhere they end the informer visibly.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::runtime::Manual;
use informer::{
    Backlog, InformerBuilder, ListenerConfig, NotSynced, Notification, Object, SharedInformer,
    Status,
};
use informer_core::indexer::IndexFn;
use serde_json::Value;
use world::{Pod, Told, World, keys, pods};

const SOON: Duration = Duration::from_secs(30);
const SECOND: Duration = Duration::from_secs(1);

/// Panics on every notification of the pod "bad".
fn panic_if_bad(notification: &Notification<Pod>) {
    assert!(notification.key().name() != "bad", "this one is bad");
}

/// An index that panics on the pod "bad".
fn touchy() -> IndexFn<Pod> {
    IndexFn::new(|pod: &Pod, file| {
        assert!(pod.key().name() != "bad", "cannot index it");
        file(pod.key().name().as_bytes());
    })
}

/// Stalls the informer as soon as one notification waits.
const STALLING: ListenerConfig = ListenerConfig {
    resync: informer::Resync::Default,
    backlog: Backlog::Stall { at: 1 },
};

fn build(builder: InformerBuilder<Value>, world: &World) -> SharedInformer<Value> {
    let runtime: Manual = world.runtime.clone();
    builder.build(&world.connect(), runtime).unwrap()
}

#[test]
fn p06_a_panic_in_the_initial_list_is_counted_and_the_sync_completes() {
    let world = World::new();
    for name in ["a", "bad", "c"] {
        world.create(name);
    }
    let informer = build(pods(), &world);
    let told = Told::default();
    let mut handler = told.handler();
    let panicking = informer.on(move |notification| {
        panic_if_bad(&notification);
        handler(notification);
    });
    let panicking = panicking.unwrap();
    let calm = Told::default();
    let other = informer.on(calm.handler()).unwrap();
    informer.start().unwrap();
    world.wait(panicking.synced(SOON)).unwrap();
    world.wait(other.synced(SOON)).unwrap();
    world.touch("bad");
    world.touch("c");
    world.settle();

    let status = panicking.status().unwrap();
    assert_eq!((status.panics, status.delivered, status.pending), (2, 5, 0));
    let expected = [
        "add a initial Relist",
        "add c initial Relist",
        "update c Watch",
    ];
    assert_eq!(told.take(), expected);
    assert_eq!(other.status().unwrap().panics, 0);
    assert_eq!(calm.take().len(), 5);
    assert_eq!(informer.status().panic, None);
    assert_eq!(informer.status().handlers[0].panics, 2);
    world.wait(panicking.remove());
}

#[test]
fn an_async_handler_may_panic_before_and_after_it_awaits() {
    for wait_first in [false, true] {
        let world = World::new();
        for name in ["a", "bad", "c"] {
            world.create(name);
        }
        let clock = world.clock.clone();
        let informer = build(pods(), &world);
        let told = Told::default();
        let handler = Arc::new(Mutex::new(told.handler()));
        let panicking = informer.on_async(move |notification| {
            if !wait_first {
                panic_if_bad(&notification);
            }
            let (clock, handler) = (clock.clone(), Arc::clone(&handler));
            async move {
                world::sleep(&clock, SECOND).await;
                panic_if_bad(&notification);
                handler.lock().unwrap()(notification);
            }
        });
        let panicking = panicking.unwrap();
        let calm = Told::default();
        informer.on(calm.handler()).unwrap();
        informer.start().unwrap();
        world.wait(panicking.synced(SOON)).unwrap();
        assert_eq!(panicking.status().unwrap().panics, 1);
        assert_eq!(
            told.take(),
            ["add a initial Relist", "add c initial Relist"]
        );
        assert_eq!(calm.take().len(), 3);
        informer.stop();
        world.wait(informer.join());
    }
}

#[test]
fn a_late_handler_that_always_panics_is_synced_too() {
    let world = World::new();
    for at in 0..200 {
        world.create(&format!("pod-{at}"));
    }
    let informer = build(pods(), &world);
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let late = informer.on(|_: Notification<Pod>| panic!("whatever it is"));
    let late = late.unwrap();
    world.wait(late.synced(SOON)).unwrap();
    assert_eq!(late.status().unwrap().panics, 200);
}

#[test]
fn a_panicking_hook_does_no_harm() {
    let world = World::new();
    world.create("a");
    let mut faulty = pods().on_failure(|_| panic!("a hook"));
    faulty = faulty.on_rejected(|_| panic!("another hook"));
    faulty = faulty.transform(|_| Err(informer::TransformError::new("no")));
    world
        .server
        .inject(informer_transport_mock::fault::Fault::Fail);
    let informer = build(faulty, &world);
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    let status = informer.status();
    assert_eq!((status.counts.failures, status.counts.rejected), (1, 1));
    assert_eq!(status.panic, None);
}

/// Asserts that a panic has ended the informer, that it is visible and that no call waits for ever.
fn assert_broken(world: &World, informer: &SharedInformer<Value>, text: &str) {
    let status: Status = informer.status();
    assert_eq!(status.panic.as_deref(), Some(text));
    assert!(informer.is_stopped());
    world.wait(informer.join());
    assert_eq!(world.runtime.tasks(), 0);
    assert!(informer.on(|_: Notification<Pod>| {}).is_err());
    // The published snapshot is consistent: every index has every object.
    let snapshot = informer.snapshot();
    for pod in snapshot.iter() {
        let found: Vec<&Object<Value>> = match snapshot.by_index("touchy", pod.key().name()) {
            Ok(found) => found.collect(),
            Err(_) => continue,
        };
        assert_eq!(found, [pod], "{} is not in the index", pod.key());
    }
}

fn assert_says_so(error: &NotSynced, text: &str) {
    assert_eq!(error.status.as_ref().unwrap().panic.as_deref(), Some(text));
    assert!(error.to_string().contains(text), "{error}");
}

#[test]
fn a_panicking_transform_ends_the_informer_visibly() {
    let world = World::new();
    world.create("a");
    world.create("bad");
    let builder = pods().transform(|pod: &mut Object<Value>| {
        assert!(pod.key().name() != "bad", "cannot transform it");
        Ok(())
    });
    let informer = build(builder, &world);
    let registration = informer.on(Told::default().handler()).unwrap();
    let mut stream = informer.stream().unwrap();
    informer.start().unwrap();
    let text = "cannot transform it";
    assert_says_so(&world.wait(informer.synced(SOON)).unwrap_err(), text);
    assert_says_so(&world.wait(registration.synced(SOON)).unwrap_err(), text);
    assert_broken(&world, &informer, text);
    world.wait(async { while stream.next().await.is_some() {} });
    assert!(world.wait(informer.reached("1", SOON)).is_err());
    assert_eq!(
        world.clock.now().as_micros(),
        0,
        "no wait ran into its timeout"
    );
}

#[test]
fn a_panicking_index_function_ends_the_informer_visibly() {
    let world = World::new();
    world.create("a");
    let informer = build(pods().index("touchy", touchy()), &world);
    let registration = informer.on(Told::default().handler()).unwrap();
    informer.start().unwrap();
    world.wait(registration.synced(SOON)).unwrap();
    world.create("b");
    world.create("bad");
    world.create("d");
    world.settle();
    assert_broken(&world, &informer, "cannot index it");
    assert!(keys(&informer).contains(&"web/a".to_owned()));
    assert!(!keys(&informer).contains(&"web/bad".to_owned()));
    // The cache keeps its objects, but `synced` fails.
    assert!(informer.is_synced());
    let error = world.wait(informer.synced(SOON)).unwrap_err();
    assert!(
        error.reason.ends_with("panicked: cannot index it"),
        "{error}"
    );
}

#[test]
fn a_panic_while_a_handler_takes_its_notifications_ends_the_informer_visibly() {
    let world = World::new();
    let informer = build(pods().index("touchy", touchy()), &world);
    let mut stream = informer.stream_with(STALLING).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    // The first notification waits for the stream, so the second change is not in the cache yet.
    world.create("a");
    world.create("bad");
    world.settle();
    assert!(informer.status().stalled);
    assert_eq!(informer.status().panic, None);
    world.wait(async { while stream.next().await.is_some() {} });
    assert_broken(&world, &informer, "cannot index it");
}

#[test]
fn a_panic_while_a_handler_is_removed_ends_the_informer_visibly() {
    let world = World::new();
    let informer = build(pods().index("touchy", touchy()), &world);
    let stream = informer.stream_with(STALLING).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.create("a");
    world.create("bad");
    world.settle();
    assert!(informer.status().stalled);
    // Its removal lets the queue move on.
    drop(stream);
    world.settle();
    assert_broken(&world, &informer, "cannot index it");
}

#[test]
fn an_index_that_panics_when_it_is_added_is_not_added_and_does_no_harm() {
    let world = World::new();
    world.create("a");
    world.create("bad");
    let informer = build(pods(), &world);
    let told = Told::default();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.settle();
    assert_eq!(told.take().len(), 2);
    let error = informer.add_index("touchy", touchy()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot add index \"touchy\": its function panicked: cannot index it"
    );
    assert!(informer.snapshot().by_index("touchy", "a").is_err());
    world.create("c");
    world.settle();
    assert_eq!(informer.status().panic, None);
    assert_eq!(told.take(), ["add c Watch"]);
    // Nothing is left of it: another index can have the name.
    let by_name = IndexFn::new(|pod: &Pod, file| file(pod.key().name().as_bytes()));
    informer.add_index("touchy", by_name).unwrap();
    let snapshot = informer.snapshot();
    for name in ["a", "bad", "c"] {
        assert_eq!(
            snapshot.by_index("touchy", name).unwrap().count(),
            1,
            "{name}"
        );
    }
}
