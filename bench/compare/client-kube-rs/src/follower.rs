//! The reflector and its handlers.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::runtime::reflector::{Store, store, store_shared};
use kube::runtime::watcher::{self, Event, watcher};
use kube::runtime::{WatchStreamExt as _, reflector::store::Writer};
use kube::{Api, Client};

use crate::options::{Options, Strategy};
use crate::tally::Tally;

/// How many events may wait for a handler, if there are several.
const BUFFER: usize = 1024;

/// The pods, and what the handlers see of them.
pub(crate) struct Follower {
    pub(crate) store: Store<Pod>,
    handlers: Vec<Arc<Handler>>,
}

/// Counts initial pods until a tally begins, then into the tally.
#[derive(Default)]
struct Handler {
    initial: AtomicUsize,
    tally: RwLock<Option<Arc<Tally>>>,
}

impl Handler {
    fn hear(&self, pod: &Pod) {
        let tally = self.tally.read().unwrap_or_else(PoisonError::into_inner);
        match &*tally {
            Some(tally) => tally.count(pod),
            None => {
                self.initial.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

impl Follower {
    pub(crate) fn start(client: Client, options: &Options) -> Result<Self, String> {
        let mut config = watcher::Config::default();
        if options.strategy == Strategy::Streaming {
            config = config.streaming_lists();
        }
        let events = watcher(Api::<Pod>::all(client), config).default_backoff();
        let handlers: Vec<Arc<Handler>> = (0..options.handlers).map(|_| Arc::default()).collect();
        let store = match handlers.as_slice() {
            [handler] => one(events, Arc::clone(handler)),
            handlers => several(events, handlers)?,
        };
        Ok(Self { store, handlers })
    }

    /// Waits until the store is complete and every handler has seen every pod.
    pub(crate) async fn synced(&self) -> Result<(), String> {
        let ready = self.store.wait_until_ready().await;
        ready.map_err(|error| format!("the reflector ended: {error}"))?;
        let pods = self.store.len();
        let has_all = |handler: &Arc<Handler>| handler.initial.load(Ordering::Relaxed) >= pods;
        while !self.handlers.iter().all(has_all) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        Ok(())
    }

    /// Counts events from here on.
    pub(crate) fn tally(&self, make: fn() -> Tally) -> Vec<Arc<Tally>> {
        let begin = |handler: &Arc<Handler>| {
            let tally = Arc::new(make());
            let mut current = handler
                .tally
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            *current = Some(Arc::clone(&tally));
            tally
        };
        self.handlers.iter().map(begin).collect()
    }
}

type Events = Result<Event<Pod>, watcher::Error>;

/// The handler takes the events out of the stream.
fn one(
    events: impl futures::Stream<Item = Events> + Send + 'static,
    handler: Arc<Handler>,
) -> Store<Pod> {
    let (store, writer) = store();
    tokio::spawn(async move {
        let mut events = pin!(events.reflect(writer));
        while let Some(event) = events.next().await {
            match event {
                Ok(Event::InitApply(pod) | Event::Apply(pod) | Event::Delete(pod)) => {
                    handler.hear(&pod);
                }
                Ok(Event::Init | Event::InitDone) => {}
                Err(error) => complain(&error),
            }
        }
    });
    store
}

/// Each handler subscribes to the store, which tells of no deletions.
fn several(
    events: impl futures::Stream<Item = Events> + Send + 'static,
    handlers: &[Arc<Handler>],
) -> Result<Store<Pod>, String> {
    let (store, writer): (_, Writer<Pod>) = store_shared(BUFFER);
    for handler in handlers {
        let handler = Arc::clone(handler);
        let mut pods = writer.subscribe().ok_or("the store cannot be shared")?;
        tokio::spawn(async move {
            while let Some(pod) = pods.next().await {
                handler.hear(&pod);
            }
        });
    }
    tokio::spawn(async move {
        let mut events = pin!(events.reflect_shared(writer));
        while let Some(event) = events.next().await {
            if let Err(error) = event {
                complain(&error);
            }
        }
    });
    Ok(store)
}

fn complain(error: &watcher::Error) {
    eprintln!("bench-kube-rs: {error}");
}
