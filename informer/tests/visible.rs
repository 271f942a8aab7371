//! A handler or waiter finds in the cache what it was notified of.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use informer::{Backlog, ListenerConfig, Resync, SharedInformer};
use serde_json::Value;
use world::{World, keys, pods};

const SOON: Duration = Duration::from_secs(30);

/// Reads the cache when it is woken.
struct Looking {
    informer: SharedInformer<Value>,
    seen: Mutex<Vec<(bool, usize)>>,
}

impl Wake for Looking {
    fn wake(self: Arc<Self>) {
        let looked = (self.informer.is_synced(), self.informer.lister().len());
        self.seen.lock().unwrap().push(looked);
    }
}

#[test]
fn objects_are_visible_as_soon_as_the_informer_is_synced() {
    let world = World::new();
    world.create("a");
    world.create("b");
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let looking = Arc::new(Looking {
        informer: informer.clone(),
        seen: Mutex::default(),
    });
    informer.start().unwrap();
    let waker = Waker::from(Arc::clone(&looking));
    let mut synced = pin!(informer.synced(SOON));
    while synced
        .as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_pending()
    {
        assert!(world.runtime.run(std::future::pending::<()>()).is_err());
    }
    let seen = looking.seen.lock().unwrap();
    assert!(seen.contains(&(true, 2)), "{seen:?}");
    assert!(!seen.contains(&(true, 0)), "{seen:?}");
}

#[test]
fn a_notified_object_is_in_the_cache_even_if_the_driver_sleeps() {
    let world = World::new();
    let informer = pods()
        .build(&world.connect(), world.runtime.clone())
        .unwrap();
    let stalling = ListenerConfig {
        resync: Resync::Default,
        backlog: Backlog::Stall { at: 1 },
    };
    let mut stream = informer.stream_with(stalling).unwrap();
    informer.start().unwrap();
    world.wait(informer.synced(SOON)).unwrap();
    for name in ["a", "b", "c"] {
        world.create(name);
    }
    world.settle();
    let mut cx = Context::from_waker(Waker::noop());
    let mut kept = informer.lister().kept();
    // Each notification makes room for the next one, without the driver.
    let mut told = Vec::new();
    while let std::task::Poll::Ready(Some(notification)) = pin!(stream.next()).poll(&mut cx) {
        told.push(notification.key().to_string());
        let there = keys(&informer);
        assert!(told.iter().all(|told| there.contains(told)), "{there:?}");
        assert!(kept.by_key(notification.key()).is_some());
    }
    assert!(told.len() >= 2, "{told:?}");
    assert!(kept.get("web", "a").is_some());
}
