//! Reconcile loops: a queue of keys, workers that take from it, and handlers that put into it.
//!
//! ```
//! use informer::controller::{Controller, Next, enqueue};
//! use informer::runtime::Tokio;
//! use informer::{InformerBuilder, ObjectKey, Target};
//! # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//! # server.with(|server| server.create("pods", serde_json::json!({"metadata": {"name": "a"}})))?;
//! let pods = InformerBuilder::lean(Target::new("", "v1", "pods")).start(&server.connect())?;
//! let (done, mut seen) = tokio::sync::mpsc::channel(9);
//! let lister = pods.lister();
//!
//! let controller = Controller::new(Tokio::current()?);
//! let registration = pods.on(enqueue::this(controller.queue()))?;
//! registration.synced(std::time::Duration::from_secs(30)).await?;
//! controller.work(4, move |key: ObjectKey| {
//!     let (lister, done) = (lister.clone(), done.clone());
//!     async move {
//!         // Bring the world in line with what the store says of the object; an error is retried.
//!         let exists = lister.by_key(&key).is_some();
//!         done.send((key, exists)).await?;
//!         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(Next::Done)
//!     }
//! })?;
//! assert_eq!(seen.recv().await, Some((ObjectKey::new("default", "a"), true)));
//! controller.stop().await;
//! # Ok(())
//! # }
//! ```

// Keys to be worked on.
mod queue;

// Handlers that put keys into a queue.
pub mod enqueue;

use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

pub use queue::Queue;

use crate::panics::caught;
use crate::runtime::{Runtime, RuntimeError};
use crate::words::with_causes;

/// What a worker wants next for its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "done for now, or look again")]
pub enum Next {
    /// Nothing, until somebody queues it.
    Done,
    /// To look at it again after so long, whatever happens.
    After(Duration),
}

/// A queue of keys and the workers that take from it. No key is in two hands at once; one that is queued
/// while it is worked on comes again after that.
pub struct Controller<Q: Key> {
    queue: Queue<Q>,
    runtime: Arc<dyn Runtime>,
}

/// What can be queued.
pub trait Key: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<Q: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Key for Q {}

impl<Q: Key> Controller<Q> {
    /// A controller without workers.
    pub fn new(runtime: impl Runtime + 'static) -> Self {
        let runtime: Arc<dyn Runtime> = Arc::new(runtime);
        Self {
            queue: Queue::new(runtime.clock()),
            runtime,
        }
    }

    /// The queue: for handlers that put keys into it.
    #[must_use]
    pub fn queue(&self) -> Queue<Q> {
        self.queue.clone()
    }

    /// Begins to work with so many workers. An error, or a panic, is logged with its causes, and the key
    /// comes again, later with each time; success forgets the failures before.
    ///
    /// # Errors
    /// The runtime cannot run a worker. Those before it work all the same.
    pub fn work<R, E>(
        &self,
        workers: usize,
        reconcile: impl Fn(Q) -> R + Clone + Send + Sync + 'static,
    ) -> Result<(), RuntimeError>
    where
        R: Future<Output = Result<Next, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    {
        for _ in 0..workers {
            let worker = self.queue.join();
            let reconcile = reconcile.clone();
            self.runtime.spawn(Box::pin(async move {
                while let Some(key) = worker.queue.next().await {
                    let outcome = match caught(|| reconcile(key.clone())).await {
                        Ok(outcome) => outcome.map_err(|error| with_causes(&*error.into())),
                        Err(panic) => Err(format!("panicked: {panic}")),
                    };
                    if let Err(error) = &outcome {
                        // This one is counted when it is settled.
                        let attempts = worker.queue.attempts(&key).saturating_add(1);
                        tracing::warn!(?key, attempts, error, "a reconciliation failed");
                    }
                    worker.queue.settle(&key, outcome.ok());
                    turn_of_others().await;
                }
            }))?;
        }
        Ok(())
    }

    /// Stops: nothing more is queued, keys that are delayed or to be retried later are dropped, what is
    /// queued is still worked on, and the workers end after that. Waits until they have, so it must not
    /// be called by one of them.
    pub async fn stop(&self) {
        self.queue.shut_down();
        self.queue.ended().await;
    }
}

/// Lets others run. A worker with enough to do, and nothing to wait for, would keep its thread for ever.
async fn turn_of_others() {
    let mut had_it = false;
    poll_fn(|cx| {
        if mem::replace(&mut had_it, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Workers end with the controller: what is queued is worked on, and nothing more is taken.
impl<Q: Key> Drop for Controller<Q> {
    fn drop(&mut self) {
        self.queue.shut_down();
    }
}

impl<Q: Key> fmt::Debug for Controller<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controller").field(&self.queue).finish()
    }
}
