//! Indices that are added or removed later: before the first state, after it, and while handlers run.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

// A mock API server, virtual time and informers.
mod world;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use informer::{
    AddIndexError, NAMESPACE_INDEX, Notification, Query, RemoveIndexError, SharedInformer, by,
};
use serde_json::{Value, json};
use world::{Pod, Told, World, pods};

const SOON: Duration = Duration::from_secs(30);

fn build(world: &World) -> SharedInformer<Value> {
    let built = pods().build(&world.connect(), world.runtime.clone());
    built.unwrap()
}

fn start(world: &World) -> SharedInformer<Value> {
    let informer = build(world);
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    informer
}

fn under(informer: &SharedInformer<Value>, app: &str) -> Vec<String> {
    let found = informer.lister().by_index("app", app).unwrap();
    let mut keys: Vec<_> = found.iter().map(|pod| pod.key().to_string()).collect();
    keys.sort();
    keys
}

fn relabel(world: &World, name: &str, app: &str) {
    let change = json!({"metadata": {"labels": {"app": app}}});
    let key = format!("web/{name}");
    let changed = world
        .server
        .with(|server| server.patch("pods", &key, change));
    changed.unwrap();
    world.settle();
}

/// Adds, changes and deletes pods, and checks the index after each step.
fn is_kept_up(world: &World, informer: &SharedInformer<Value>) {
    world.create("x");
    world.settle();
    assert_eq!(under(informer, "x"), ["web/x"]);
    relabel(world, "x", "a");
    assert_eq!(under(informer, "a"), ["web/a", "web/x"]);
    assert!(under(informer, "x").is_empty());
    world.delete("x");
    world.settle();
    assert_eq!(under(informer, "a"), ["web/a"]);
    // A relist, too.
    world.server.with(|server| {
        server.delete("pods", "web/a").unwrap();
        server.restart();
    });
    world.pass(SOON);
    assert!(under(informer, "a").is_empty());
}

#[test]
fn before_the_first_state() {
    let world = World::new();
    world.create("a");
    let informer = build(&world);
    informer.add_index("app", by::label("app")).unwrap();
    assert!(under(&informer, "a").is_empty());
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    assert_eq!(under(&informer, "a"), ["web/a"]);
    is_kept_up(&world, &informer);
}

#[test]
fn after_the_first_state() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = start(&world);
    let before = informer.snapshot();
    let unknown = informer.lister().by_index("app", "a").unwrap_err();
    assert!(unknown.to_string().contains("\"app\""), "{unknown}");
    informer.add_index("app", by::label("app")).unwrap();
    assert_eq!(under(&informer, "a"), ["web/a"]);
    assert!(before.by_index("app", "a").is_err(), "a snapshot changed");
    is_kept_up(&world, &informer);
}

/// The next query takes the way of the new index.
#[test]
fn a_query_uses_it() {
    let world = World::new();
    for name in ["a", "b", "c", "d"] {
        world.create(name);
    }
    let informer = start(&world);
    let labels = "app=b".parse().unwrap();
    let query = Query::new().labels(&labels);
    let plan = || informer.snapshot().plan(&query).to_string();
    let found = || informer.lister().select(&query).len();
    assert_eq!((plan().as_str(), found()), ("scan of all 4 objects", 1));
    informer.add_index("app", by::label("app")).unwrap();
    let by_index = r#"1 candidate from the index "app""#;
    assert_eq!((plan().as_str(), found()), (by_index, 1));
}

/// A handler adds the index during its first call, with other notifications still to come.
#[test]
fn while_handlers_run() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = build(&world);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (itself, noted) = (informer.clone(), Arc::clone(&seen));
    let adds = move |change: Notification<Pod>| {
        let mut noted = noted.lock().unwrap();
        if noted.is_empty() {
            itself.add_index("app", by::label("app")).unwrap();
        }
        let app = change.key().name().to_owned();
        let found = itself.lister().by_index("app", app.as_str()).unwrap();
        noted.push(format!("{app}: {}", found.len()));
    };
    let told = Told::default();
    informer.on(adds).unwrap();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(*seen.lock().unwrap(), ["a: 1", "b: 1", "c: 1"]);
    assert_eq!(told.take().len(), 3, "the other handler missed something");
    is_kept_up(&world, &informer);
    // The handler owns its informer.
    informer.stop();
}

#[test]
fn a_name_is_taken_once() {
    let world = World::new();
    world.create("a");
    let informer = start(&world);
    informer.add_index("app", by::label("app")).unwrap();
    let again = informer.add_index("app", by::label("other"));
    assert!(matches!(again, Err(AddIndexError::Index(_))), "{again:?}");
    assert_eq!(under(&informer, "a"), ["web/a"]);
}

#[test]
fn a_removed_index_is_gone_and_snapshots_keep_it() {
    let world = World::new();
    for name in ["a", "b"] {
        world.create(name);
    }
    let informer = start(&world);
    let id = informer.add_index("app", by::label("app")).unwrap();
    let (before, mut kept) = (informer.snapshot(), informer.lister().kept());
    assert_eq!(kept.snapshot().by_index("app", "a").unwrap().len(), 1);
    informer.remove_index("app").unwrap();

    // What was handed out before answers from the index as it was.
    world.delete("a");
    world.settle();
    assert_eq!(before.by_index("app", "a").unwrap().len(), 1);
    assert_eq!(before.by_index(id, "a").unwrap().len(), 1);
    // What shows the newest state does not have it.
    let unknown = informer.lister().by_index("app", "b").unwrap_err();
    let expected = "there is no index named \"app\"; add it first";
    assert_eq!(unknown.to_string(), expected);
    assert!(informer.lister().by_index(id, "b").is_err());
    assert!(kept.snapshot().by_index("app", "b").is_err());

    // A new one of the same name is another index.
    let again = informer.add_index("app", by::label("app")).unwrap();
    assert_ne!(again, id);
    assert!(informer.lister().by_index(id, "b").is_err());
    assert_eq!(under(&informer, "b"), ["web/b"]);
    informer.remove_index(again).unwrap();
    let error = informer.remove_index(again).unwrap_err();
    assert!(matches!(error, RemoveIndexError::Unknown(_)), "{error}");
    let error = informer.remove_index("app").unwrap_err();
    assert_eq!(error.to_string(), expected);
}

/// A query finds the same without the index.
#[test]
fn a_query_does_without_a_removed_index() {
    let world = World::new();
    for name in ["a", "b", "c", "d"] {
        world.create(name);
    }
    let informer = start(&world);
    informer.add_index("app", by::label("app")).unwrap();
    let labels = "app=b".parse().unwrap();
    let query = Query::new().labels(&labels);
    let plan = || informer.snapshot().plan(&query).to_string();
    let found = || informer.lister().select(&query).len();
    let by_index = r#"1 candidate from the index "app""#;
    assert_eq!((plan().as_str(), found()), (by_index, 1));
    informer.remove_index("app").unwrap();
    assert_eq!((plan().as_str(), found()), ("scan of all 4 objects", 1));
}

/// A handler removes it, with other notifications still to come; and changes go on without it.
#[test]
fn an_index_is_removed_while_handlers_run() {
    let world = World::new();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    let informer = build(&world);
    informer.add_index("app", by::label("app")).unwrap();
    let (itself, told) = (informer.clone(), Told::default());
    let removes = move |change: Notification<Pod>| {
        let removed = itself.remove_index("app").is_ok();
        assert_eq!(removed, change.key().name() == "a", "{change}");
    };
    let registration = informer.on(removes).unwrap();
    informer.on(told.handler()).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    world.settle();
    assert_eq!(told.take().len(), 3);
    assert!(informer.status().handlers.iter().all(|it| it.panics == 0));
    world.wait(registration.remove());
    informer.add_index("app", by::label("app")).unwrap();
    is_kept_up(&world, &informer);
}

#[test]
fn the_last_index_by_namespace_stays() {
    let world = World::new();
    world.create("a");
    let informer = start(&world);
    let error = informer.remove_index(NAMESPACE_INDEX).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot remove index \"namespace\": it is the last one by namespace, and every cache has one"
    );
    let own = pods().index("ns", by::namespace());
    let own = own.build(&world.connect(), world.runtime.clone()).unwrap();
    let error = own.remove_index("ns").unwrap_err().to_string();
    assert!(
        error.ends_with("every cache has one; add \"namespace\" first"),
        "{error}"
    );
    own.add_index(NAMESPACE_INDEX, by::namespace()).unwrap();
    own.remove_index("ns").unwrap();
    assert!(own.remove_index(NAMESPACE_INDEX).is_err());
}

/// What an index function captures is dropped without the lock of the informer.
#[test]
fn what_a_removed_index_captures_may_ask_the_informer() {
    struct Asks(SharedInformer<Value>, Arc<Mutex<Option<usize>>>);
    impl Drop for Asks {
        fn drop(&mut self) {
            *self.1.lock().unwrap() = Some(self.0.status().objects);
        }
    }
    let world = World::new();
    world.create("a");
    let informer = start(&world);
    let dropped = Arc::default();
    let asks = Asks(informer.clone(), Arc::clone(&dropped));
    let index = move |pod: &Pod| {
        let _asks = &asks;
        pod.key().name().to_owned()
    };
    informer.add_index("name", index).unwrap();
    informer.remove_index("name").unwrap();
    assert_eq!(*dropped.lock().unwrap(), Some(1));
}
