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

// Keys that wait behind all others.
mod behind;

// What a worker does with keys.
mod worker;

// What workers have, and what came of it.
mod work;

// Work that may end before it is done.
pub(crate) mod race;

// Failed reconciliations.
mod failure;

// What a controller is doing.
mod status;

// Which changes matter.
mod predicate;

// Handlers that enqueue keys.
pub mod enqueue;

// What a controller follows.
mod source;

// What a reconciliation is given.
mod context;

// A whole controller.
mod of;

// A controller that runs.
mod running;

// A handle of a controller that runs.
mod handle;

// The signals that end a program.
#[cfg(feature = "signal")]
mod signal;

use std::error::Error;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use informer_core::workqueue::RateLimiter;

pub use context::{ApplyError, Context, NotFollowed};
pub use failure::{Failed, Permanent, Verdict};
pub use handle::ControllerHandle;
pub use of::ControllerBuilder;
pub use predicate::Predicate;
pub use queue::Queue;
pub use running::RunError;
pub use status::{ControllerStatus, Unfinished, Working};

#[cfg(feature = "kube")]
pub(crate) use context::Owner;
#[cfg(feature = "kube")]
pub(crate) use source::AnyClient;

use crate::election::{Election, Guard};
use crate::runtime::{Runtime, RuntimeError};
use queue::End;
use race::unless;
use worker::{Rules, run};

/// When to reconcile a key again after a success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "users must handle every case")]
pub enum Next {
    /// Not before the key is added to the queue again. A delay that was asked for before still ends.
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
    rules: Rules<Q>,
}

/// A type that can be queued. Implemented for every type with these traits.
pub trait Key: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static {}

impl<Q: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static> Key for Q {}

impl<Q: Key> Controller<Q> {
    /// Creates a controller without workers.
    pub fn new(runtime: impl Runtime + 'static) -> Self {
        Self::on(Arc::new(runtime))
    }

    fn on(runtime: Arc<dyn Runtime>) -> Self {
        Self {
            queue: Queue::new(runtime.clock()),
            runtime,
            rules: Rules {
                max_retries: None,
                on_error: None,
                election: None,
            },
        }
    }

    /// Names the controller in its status and in metrics. The default is `controller`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        self.queue.set_name(name.into());
        self
    }

    /// Chooses the delays of retries: see [`RateLimiter`] for those that there are. The default is that of
    /// client-go.
    ///
    /// ```
    /// use informer::ObjectKey;
    /// use informer::controller::Controller;
    /// use informer::informer_core::storage::{Heap, Seed};
    /// use informer::informer_core::workqueue::Exponential;
    /// use informer::runtime::Tokio;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (first, longest) = (Duration::from_secs(1), Duration::from_secs(60));
    /// let controller = Controller::<ObjectKey>::new(Tokio::current()?)
    ///     .limiter(Exponential::<_, Heap>::new(first, longest, Seed::new(1)))
    ///     .max_retries(10);
    /// # let _ = controller;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn limiter(self, limiter: impl RateLimiter<Q> + Send + 'static) -> Self {
        self.queue.set_limiter(Box::new(limiter));
        self
    }

    /// Gives a key up after this many retries in a row, until it is added again. By default, it is retried
    /// for ever.
    #[must_use]
    pub const fn max_retries(mut self, most: u32) -> Self {
        self.rules.max_retries = Some(most);
        self
    }

    /// Waits this long after a key was added before a worker gets it, so that further changes within this
    /// time are seen with the first.
    #[must_use]
    pub fn debounce(self, time: Duration) -> Self {
        self.queue.set_debounce(time);
        self
    }

    /// Calls `hook` after each failure, for metrics or for alarms. The failure is logged anyway.
    #[must_use]
    pub fn on_error(mut self, hook: impl Fn(&Failed<'_, Q>) + Send + Sync + 'static) -> Self {
        self.rules.on_error = Some(Arc::new(hook));
        self
    }

    /// Works only while this replica leads. Keys are queued all the time, so that a new leader knows what to
    /// do. If leadership is lost, reconciliations are dropped at their next `await`, and their keys are kept.
    ///
    /// Stop the controller before the election: another replica may begin as soon as the lease is given up.
    #[must_use]
    pub fn led_by(mut self, election: &Election) -> Self {
        self.rules.election = Some(election.clone());
        self
    }

    /// What the controller is doing now.
    #[must_use]
    pub fn status(&self) -> ControllerStatus<Q> {
        let election = self.rules.election.as_ref();
        ControllerStatus {
            leads: election.map(Election::is_leader),
            ..self.queue.status()
        }
    }

    #[cfg(feature = "metrics")]
    pub(crate) const fn election(&self) -> Option<&Election> {
        self.rules.election.as_ref()
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
        self.start(workers, move |key, _| reconcile(key))
    }

    /// Starts workers that also tell in which term of an election they work.
    fn start<R, E>(
        &self,
        workers: usize,
        reconcile: impl Fn(Q, Option<Guard>) -> R + Clone + Send + Sync + 'static,
    ) -> Result<(), RuntimeError>
    where
        R: Future<Output = Result<Next, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    {
        for _ in 0..workers {
            let work = run(self.queue.join(), self.rules.clone(), reconcile.clone());
            self.runtime.spawn(Box::pin(work))?;
        }
        Ok(())
    }

    /// Stops the controller and waits until its workers have finished. The queue takes no more keys and
    /// drops those that wait for a delay, a retry or a [debounce](Self::debounce); the workers still process the keys that are queued. Do not await
    /// this inside `reconcile`, or it never returns.
    pub async fn stop(&self) {
        self.queue.shut_down(End::Drain);
        self.queue.ended().await;
    }

    /// Stops the controller. Workers finish the keys that they have, and no others. After `grace`, they are
    /// dropped where they are: at an `await`.
    ///
    /// # Errors
    /// Workers were dropped.
    pub async fn stop_within(&self, grace: Duration) -> Result<(), Unfinished<Q>> {
        self.queue.shut_down(End::Finish);
        let clock = self.runtime.clock();
        let (deadline, mut timer) = (clock.now().after(grace), clock.timer());
        let over = std::future::poll_fn(|cx| timer.poll_until(deadline, cx));
        if unless(over, self.queue.ended()).await.is_some() {
            return Ok(());
        }
        self.queue.shut_down(End::Abandon);
        self.queue.ended().await;
        match self.queue.dropped() {
            keys if keys.is_empty() => Ok(()),
            keys => Err(Unfinished {
                keys,
                waited: grace,
            }),
        }
    }
}

/// Ends the workers. They still process the keys that are queued.
impl<Q: Key> Drop for Controller<Q> {
    fn drop(&mut self) {
        if self.queue.is_in_use() {
            let status = self.status();
            tracing::warn!(
                %status,
                "a controller was dropped while keys were left or handlers could add some; keep it, and end \
                 it with `stop`"
            );
        }
        self.queue.shut_down(End::Drain);
    }
}

impl<Q: Key> fmt::Debug for Controller<Q> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Controller").field(&self.queue).finish()
    }
}
