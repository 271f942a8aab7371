//! Log events: each field once, and a limit on repeated lines.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use informer::{InformerBuilder, Notification, SharedInformer, TransformError};
use informer_transport_mock::fault::Fault;
use serde_json::Value;
use world::logged::{Line, logged, saying};
use world::{Pod, World, pods};

const SOON: Duration = Duration::from_secs(30);
const MINUTE: Duration = Duration::from_secs(60);

/// How many lines about the same thing are logged per minute.
const LINES: usize = 10;

/// An informer that is synced and watches.
fn watching(world: &World, builder: &InformerBuilder<Value>) -> SharedInformer<Value> {
    let informer = builder
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    informer
}

/// Creates pods, one after the other.
fn create(world: &World, names: std::ops::Range<usize>) {
    for at in names {
        world.create(&format!("pod-{at}"));
        world.settle();
    }
}

/// How many lines were skipped before each of these.
fn not_logged(lines: &[&Line]) -> Vec<Option<String>> {
    let count = |line: &&Line| line.get("not_logged").map(str::to_owned);
    lines.iter().map(count).collect()
}

#[test]
fn a_failure_has_one_message_and_the_text_of_the_server() {
    let lines = logged(|| {
        let world = World::new();
        world.server.inject(Fault::Fail);
        watching(&world, &pods());
    });
    for line in &lines {
        assert_eq!(line.all("message").len(), 1, "{line:?}");
    }
    let failed = saying(&lines, "list or watch failed");
    assert_eq!(failed.len(), 1, "{lines:?}");
    assert!(failed[0].get("failure").is_some());
    assert!(!failed[0].get("detail").unwrap().is_empty());
}

#[test]
fn rejected_objects_are_logged_sparingly_and_the_hook_sees_all() {
    let hooked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&hooked);
    let builder = pods()
        .transform(|_| Err(TransformError::new("no")))
        .on_rejected(move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
        });
    let lines = logged(|| {
        let world = World::new();
        let informer = watching(&world, &builder);
        create(&world, 0..300);
        assert_eq!(informer.status().counts.rejected, 300);
        world.pass(MINUTE);
        create(&world, 300..302);
    });
    assert_eq!(hooked.load(Ordering::Relaxed), 302);
    let said = saying(&lines, "an object could not be used");
    assert_eq!(said.len(), LINES + 2);
    assert_eq!(said[0].get("key"), Some("web/pod-0"));
    let unsaid = not_logged(&said);
    assert_eq!(unsaid[LINES], Some("290".to_owned()), "{unsaid:?}");
    assert_eq!(unsaid.iter().flatten().count(), 1, "{unsaid:?}");
}

#[test]
fn panics_of_a_handler_are_logged_sparingly_and_all_are_counted() {
    let lines = logged(|| {
        let world = World::new();
        let informer = watching(&world, &pods());
        let panicking = informer.on(|_: Notification<Pod>| panic!("whatever it is"));
        let panicking = panicking.unwrap();
        // Each handler has its own limit.
        let other = informer.on(|notification: Notification<Pod>| {
            assert_ne!(notification.key().name(), "pod-99", "this one is bad");
        });
        create(&world, 0..100);
        assert_eq!(panicking.status().unwrap().panics, 100);
        assert_eq!(other.unwrap().status().unwrap().panics, 1);
        world.pass(MINUTE);
        create(&world, 100..101);
    });
    let said = saying(&lines, "a handler panicked");
    assert_eq!(said.len(), LINES + 2);
    assert_eq!(said[0].get("key"), Some("web/pod-0"));
    let unsaid = not_logged(&said);
    assert_eq!(unsaid[LINES + 1], Some("90".to_owned()), "{unsaid:?}");
}

#[test]
fn a_panic_of_a_handler_is_logged_with_the_key_whatever_has_happened_to_the_object() {
    let lines = logged(|| {
        let world = World::new();
        let informer = watching(&world, &pods());
        let _panicking = informer.on(|_: Notification<Pod>| panic!("whatever it is"));
        world.create("pod-0");
        world.settle();
        world.touch("pod-0");
        world.settle();
        world.delete("pod-0");
        world.settle();
    });
    let said = saying(&lines, "a handler panicked");
    let keys: Vec<_> = said.iter().map(|line| line.get("key")).collect();
    assert_eq!(keys, [Some("web/pod-0"); 3]);
}

#[test]
fn panics_of_a_hook_are_logged_sparingly() {
    let builder = pods()
        .transform(|_| Err(TransformError::new("no")))
        .on_rejected(|_| panic!("a hook"));
    let lines = logged(|| {
        let world = World::new();
        let _informer = watching(&world, &builder);
        create(&world, 0..100);
        world.pass(MINUTE);
        create(&world, 100..101);
    });
    let said = saying(&lines, "a hook panicked");
    assert_eq!(said.len(), LINES + 1);
    assert!(said[0].get("informer").is_some());
    assert_eq!(not_logged(&said)[LINES], Some("90".to_owned()));
}

#[test]
fn an_informer_that_is_dropped_with_handlers_says_so() {
    let world = World::new();
    let mut waited = None;
    let lines = logged(|| {
        let start = || {
            let informer = pods()
                .build(&world.connect(), world.runtime.clone())
                .unwrap();
            informer.start().unwrap();
            informer
        };
        let pods = start();
        let registration = pods.on(|_: Notification<Pod>| {}).unwrap();
        drop(pods);
        waited = Some(world.wait(registration.synced(Duration::from_secs(5))));

        // These say nothing: one was stopped, the other has no handlers.
        let stopped = start();
        stopped.on(|_: Notification<Pod>| {}).unwrap();
        stopped.stop();
        drop(stopped);
        drop(start());
    });
    let text = "the last handle of an informer was dropped while handlers were there or tasks waited for it; \
                keep a handle or a lister, or end it with `stop`";
    let said = saying(&lines, text);
    assert_eq!(said.len(), 1, "{lines:?}");
    assert_eq!(said[0].get("handlers"), Some("1"));
    let error = waited.unwrap().unwrap_err().to_string();
    assert!(
        error.contains("dropped; keep a handle or a lister of it"),
        "{error}"
    );
}
