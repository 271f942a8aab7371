//! Events are logged without the lock. This test has its own program, because tracing caches for all
//! threads which events are enabled.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use informer::SharedInformer;
use serde_json::Value;
use tracing::{Event, Metadata, Subscriber, span};
use world::{World, pods};

/// In real time, far longer than any test takes.
const LONG: Duration = Duration::from_secs(60);

/// Runs something that may deadlock, on its own thread.
fn ends(what: impl FnOnce() + Send + 'static) {
    let (tell, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        what();
        tell.send(()).unwrap();
    });
    match told.recv_timeout(LONG) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("deadlock"),
        _ => thread.join().unwrap(),
    }
}

type Asked = Arc<OnceLock<SharedInformer<Value>>>;

/// A subscriber that calls the informer on every event.
struct Asks {
    asked: Asked,
    events: Arc<AtomicUsize>,
}

impl Subscriber for Asks {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("informer")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &Event<'_>) {
        if let Some(informer) = self.asked.get() {
            assert_eq!(informer.status().name, "pods.v1");
            self.events.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[test]
fn a_log_subscriber_may_call_the_informer() {
    let events = Arc::new(AtomicUsize::new(0));
    let asks = Asks {
        asked: Asked::default(),
        events: Arc::clone(&events),
    };
    ends(move || {
        let asked = Arc::clone(&asks.asked);
        tracing::subscriber::with_default(asks, || {
            let world = World::new();
            world.create("a");
            world.create("bad");
            let informer = pods()
                .transform(|pod| {
                    assert!(pod.key().name() != "worse", "it ends the informer");
                    let refused = informer::TransformError::new("it is bad");
                    if pod.key().name() == "bad" {
                        Err(refused)
                    } else {
                        Ok(())
                    }
                })
                .build(&world.connect(), world.runtime.clone())
                .unwrap();
            asked.set(informer.clone()).unwrap();
            informer.start().unwrap();
            world.settle();
            // Phases, the sync, a rejected object.
            let events = events.load(Ordering::Relaxed);
            assert!(events >= 4, "{events}");
            world.server.with(|server| server.restart());
            world.pass(Duration::from_secs(5));
            world.create("worse");
            world.settle();
            assert!(informer.status().panic.is_some());
        });
    });
}
