//! Reconcile loops: a work queue, workers with retries, and handlers that enqueue keys.
//!
//! ```
//! use informer::controller::{Controller, Next, enqueue};
//! use informer::runtime::Tokio;
//! use informer::{InformerBuilder, ObjectKey, Target};
//! # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
//! # server.with(|server| server.create("pods", serde_json::json!({"metadata": {"name": "a"}})))?;
//!
//! // `server` is a mock API server with the pod default/a.
//! let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
//! let (done, mut seen) = tokio::sync::mpsc::channel(9);
//! let lister = pods.lister();
//!
//! let controller = Controller::new(Tokio::current()?);
//! let registration = pods.on(enqueue::this(controller.queue()))?;
//! registration.synced(std::time::Duration::from_secs(30)).await?;
//! controller.work(4, move |key: ObjectKey| {
//!     let (lister, done) = (lister.clone(), done.clone());
//!     async move {
//!         // Make the world match the object in the cache. Errors are retried with back-off.
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

// Keys that wait for a worker.
mod queue;

// Handlers that enqueue keys.
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

/// When to reconcile a key again after a success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Next {
    /// Not before the key is added to the queue again.
    Done,
    /// After this delay, even if nothing changes.
    After(Duration),
}

/// A work queue and its workers.
///
/// No two workers ever have the same key at the same time. A key that is added while a worker has it is
/// processed again afterwards.
///
/// ```
/// use informer::ObjectKey;
/// use informer::controller::{Controller, Next};
/// use informer::runtime::Tokio;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let controller = Controller::new(Tokio::current()?);
/// let (sender, mut reconciled) = tokio::sync::mpsc::unbounded_channel();
/// controller.work(4, move |key: ObjectKey| {
///     let sender = sender.clone();
///     async move { sender.send(key).map(|()| Next::Done) }
/// })?;
///
/// // A key that is queued twice is reconciled once.
/// controller.queue().add(ObjectKey::new("web", "shop-1"));
/// controller.queue().add(ObjectKey::new("web", "shop-1"));
/// controller.stop().await;
/// assert_eq!(reconciled.recv().await, Some(ObjectKey::new("web", "shop-1")));
/// assert_eq!(reconciled.recv().await, None);
/// # Ok(())
/// # }
/// ```
pub struct Controller<Q: Key> {
    queue: Queue<Q>,
    runtime: Arc<dyn Runtime>,
}

/// A type that can be queued. Implemented for every type with these traits.
pub trait Key: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<Q: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Key for Q {}

impl<Q: Key> Controller<Q> {
    /// Creates a controller without workers.
    pub fn new(runtime: impl Runtime + 'static) -> Self {
        let runtime: Arc<dyn Runtime> = Arc::new(runtime);
        Self {
            queue: Queue::new(runtime.clock()),
            runtime,
        }
    }

    /// Returns the work queue, to add keys.
    #[must_use]
    pub fn queue(&self) -> Queue<Q> {
        self.queue.clone()
    }

    /// Starts workers that call `reconcile` for each key. An error or a panic is logged with its causes,
    /// and the key is retried with increasing delay. A success resets the delay.
    ///
    /// # Errors
    /// The runtime cannot run a worker. Workers that were already started keep working.
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
                        // `settle` counts this attempt only later.
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

    /// Stops the controller and waits until its workers have finished. The queue takes no more keys and
    /// drops delayed keys and retries; the workers still process the keys that are queued. Do not await
    /// this inside `reconcile`, or it never returns.
    pub async fn stop(&self) {
        self.queue.shut_down();
        self.queue.ended().await;
    }
}

/// Yields to other tasks. A worker that never has to wait would otherwise block its thread.
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

/// Ends the workers. They still process the keys that are queued.
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
