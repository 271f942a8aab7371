//! `SharedInformer`: one watch, one cache, many handlers.

use informer_core::Object;
use std::any::type_name_of_val as type_name_of;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use informer_core::indexer::IndexId;
use informer_core::informer::WaitError;
use informer_core::processor::ListenerConfig;
use informer_core::transport::{Target, Transport};
use informer_indexers::IntoIndex;
use informer_indexers::shared::Snapshot;

use crate::driver::Driver;
use crate::engine::{Core, Engine, Moment};
use crate::error::{AddIndexError, NotReached, NotSynced, StartError};
use crate::handler::{AsyncHandler, Handler, Inline, Notifications, Pulling, run};
use crate::hooks::Hooks;
use crate::indices::{check as check_index, find_same};
use crate::lister::Lister;
use crate::panics::panic_text;
use crate::registration::Registration;
use crate::runtime::{Runtime, Task};
use crate::status::Status;
use crate::sync::Mutex;
use crate::wait::Wait;

/// One watch and one cache for any number of handlers.
///
/// It lists the objects, watches them, keeps them in a cache, and notifies every handler of each change.
/// Clones are cheap and refer to the same informer.
///
/// ```
/// use informer::{InformerBuilder, Target};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({"metadata": {"namespace": "web", "name": "shop-1"}});
/// # server.with(|server| server.create("pods", pod))?;
///
/// // `server` is a mock API server with the pod web/shop-1.
/// let pods = InformerBuilder::lean_at(Target::new("", "v1", "pods")).start(&server.connect())?;
/// let (sender, changes) = std::sync::mpsc::channel();
/// let registration = pods.on(move |change| {
///     let _ = sender.send(format!("{change}"));
/// })?;
///
/// // The handler has seen every object that existed when it was added.
/// registration.synced(Duration::from_secs(30)).await?;
/// assert_eq!(changes.try_recv()?, "added web/shop-1 (initial, relist)");
/// assert!(pods.lister().get("web", "shop-1").is_some());
///
/// pods.stop();
/// pods.join().await;
/// assert!(pods.is_stopped());
/// # Ok(())
/// # }
/// ```
///
/// The watch ends and the cache is freed when you drop the last clone, [lister](Self::lister) and
/// [stream](Self::stream). If it still has handlers then, or somebody waits for it, a warning is logged:
/// [stop](Self::stop) it first. A handler that owns one of these keeps its own informer alive; you must
/// [stop](Self::stop) such an informer.
pub struct SharedInformer<K: Send + Sync + 'static> {
    handle: Arc<Handle<K>>,
}

/// What users hold. Tasks hold only the engine, so the informer can end when the last of these is dropped.
pub(crate) struct Handle<K: Send + Sync + 'static> {
    pub(crate) engine: Arc<Engine<K>>,
    listeners: ListenerConfig,
    /// Whether the objects have annotations.
    annotated: bool,
    /// `None` once the informer was started or stopped.
    driver: Mutex<Option<Task>>,
}

impl<K: Send + Sync + 'static> SharedInformer<K> {
    pub(crate) fn new(
        target: Target,
        core: Core<K>,
        transport: impl Transport + Send + Unpin + 'static,
        hooks: Hooks,
        listeners: ListenerConfig,
        annotated: bool,
        runtime: Arc<dyn Runtime>,
    ) -> Self {
        let engine = Arc::new(Engine::new(target, core, runtime));
        let driver = Driver::new(Arc::clone(&engine), transport, hooks);
        let handle = Handle {
            engine,
            listeners,
            annotated,
            driver: Mutex::new(Some(Box::pin(driver))),
        };
        Self {
            handle: Arc::new(handle),
        }
    }

    /// Starts the informer. Does nothing if it runs already.
    ///
    /// # Errors
    /// The runtime cannot run it, or the informer has ended.
    pub fn start(&self) -> Result<(), StartError> {
        match self.handle.take_driver() {
            Some(driver) => self.engine().start(driver),
            None => self.engine().check(),
        }
    }

    /// Stops the informer for good: the watch ends, and handlers get no more notifications. The cache
    /// stays readable, and handlers are freed. To go on later with the same handlers,
    /// [suspend](Self::suspend) it instead.
    pub fn stop(&self) {
        self.handle.stop();
    }

    /// Whether [`start`](Self::start) was called.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.engine().lock().started
    }

    /// Whether the informer has ended: it was stopped, or could not go on.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.engine().lock().core.is_stopped()
    }

    /// Whether both handles refer to the same informer.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }

    /// Waits until a stopped informer has finished: the watch is closed and every handler call has
    /// returned. An informer that is never stopped never finishes.
    pub async fn join(&self) {
        Wait::for_status(self.engine(), |state| {
            (state.core.is_stopped() && state.tasks == 0).then_some(())
        })
        .await;
    }

    /// The resource, namespace and selectors that it follows.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.engine().target
    }

    /// Adds a handler: a [`Handler`], or a closure that takes a
    /// [`Notification`](informer_core::Notification).
    ///
    /// You can add handlers at any time. A new handler first gets every object in the cache as added, and
    /// then every change.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on(&self, handler: impl Handler<K>) -> Result<Registration<K>, StartError> {
        self.on_with(handler, self.handle.listeners)
    }

    /// Adds a handler, as [`on`](Self::on) does, with its own resync period and backlog policy.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_with(
        &self,
        handler: impl Handler<K>,
        config: ListenerConfig,
    ) -> Result<Registration<K>, StartError> {
        self.register(type_name_of(&handler), Inline(handler), config)
    }

    /// Adds a handler that can await: an [`AsyncHandler`], or a closure that returns a future. It gets the
    /// next notification when that future is ready.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_async(&self, handler: impl AsyncHandler<K>) -> Result<Registration<K>, StartError> {
        self.on_async_with(handler, self.handle.listeners)
    }

    /// Adds a handler, as [`on_async`](Self::on_async) does, with its own resync period and backlog policy.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_async_with(
        &self,
        handler: impl AsyncHandler<K>,
        config: ListenerConfig,
    ) -> Result<Registration<K>, StartError> {
        self.register(type_name_of(&handler), handler, config)
    }

    fn register(
        &self,
        name: &'static str,
        handler: impl AsyncHandler<K>,
        config: ListenerConfig,
    ) -> Result<Registration<K>, StartError> {
        let pulling = self.pull(name, config)?.in_task();
        let id = pulling.id;
        match self.engine().spawn(run(pulling, handler)) {
            Ok(ended) => Ok(Registration::new(self.engine(), id, ended)),
            Err(error) => {
                self.engine().remove_listener(id);
                Err(error.into())
            }
        }
    }

    /// Returns the notifications as a stream.
    ///
    /// # Errors
    /// The informer has ended.
    pub fn stream(&self) -> Result<Notifications<K>, StartError> {
        self.stream_with(self.handle.listeners)
    }

    /// Returns a stream, as [`stream`](Self::stream) does, with its own resync period and backlog policy.
    ///
    /// # Errors
    /// The informer has ended.
    pub fn stream_with(&self, config: ListenerConfig) -> Result<Notifications<K>, StartError> {
        let pulling = self.pull("stream", config)?;
        Ok(Notifications::new(pulling, Arc::clone(&self.handle)))
    }

    /// Sends the notifications to a channel. While the channel is full, they wait in the informer, subject
    /// to the backlog policy. When the receiver is dropped, they are discarded.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    #[cfg(feature = "tokio")]
    pub fn send_to(
        &self,
        channel: tokio::sync::mpsc::Sender<informer_core::Notification<Object<K>>>,
    ) -> Result<Registration<K>, StartError> {
        self.on_async(
            move |notification: informer_core::Notification<Object<K>>| {
                let channel = channel.clone();
                async move {
                    // An error means that the receiver was dropped.
                    let _ = channel.send(notification).await;
                }
            },
        )
    }

    fn pull(&self, name: &'static str, config: ListenerConfig) -> Result<Pulling<K>, StartError> {
        let listening = self.engine().add_listener(name, config)?;
        Ok(Pulling::new(Arc::clone(self.engine()), listening))
    }

    /// Returns a reader of the cache.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        Lister::new(Arc::clone(&self.handle))
    }

    /// Returns the cache as it is now. Later changes do not affect the snapshot.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Object<K>> {
        self.engine().reader.snapshot()
    }

    /// Adds an index to the cache: see [`InformerBuilder::index`](crate::InformerBuilder::index). You can do
    /// so at any time.
    ///
    /// The function is called now for every object in the cache, and later for every change. If it panics
    /// later, the informer ends. It may read the cache with [`lister`](Self::lister) or
    /// [`snapshot`](Self::snapshot); any other call to the same informer panics.
    ///
    /// # Errors
    /// The name is taken, the objects do not have the annotations that the index reads, or the function
    /// panicked for an object in the cache. The index is not added then, and nothing else changes.
    pub fn add_index<M>(
        &self,
        name: &str,
        index: impl IntoIndex<Object<K>, M>,
    ) -> Result<IndexId, AddIndexError> {
        let function = index.into_index();
        check_index(name, &function, self.handle.annotated)?;
        self.engine().update(|state| {
            let core = &mut state.core;
            if let Some(same) = find_same(core.store(), name, &function) {
                return Ok(same);
            }
            let added = catch_unwind(AssertUnwindSafe(|| core.add_index(name, function)));
            let added = match added {
                Ok(added) => Ok(added?),
                Err(panic) => {
                    // Some objects are in the index already.
                    let _ = core.remove_index(name);
                    Err(AddIndexError::Panicked {
                        name: name.to_owned(),
                        panic: panic_text(&*panic),
                    })
                }
            };
            state.touch();
            state.publish();
            added
        })
    }

    /// Whether the cache holds the first full state. Handlers may still be working through it: see
    /// [`Registration::synced`].
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.engine().lock().core.is_synced()
    }

    /// Waits until the cache holds the first full state.
    ///
    /// # Errors
    /// The timeout has passed, or the informer has ended. The error says why.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        let wait = Wait::for_status(self.engine(), |state| {
            let runs = !state.core.is_stopped();
            (state.core.is_synced() || !runs).then_some(runs)
        });
        match wait.within(timeout).await {
            Some(true) => Ok(()),
            _ => Err(NotSynced::of(self.status(), timeout)),
        }
    }

    /// Blocks the thread until the cache holds the first full state.
    ///
    /// # Errors
    /// The timeout has passed, or the informer has ended. The error says why.
    #[cfg(feature = "threads")]
    pub fn wait_synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        crate::runtime::block_on(self.synced(timeout))
    }

    /// Waits until the cache has reached `version`, and returns that snapshot. Pass the `resourceVersion`
    /// that the server returned for your own write to read what you wrote.
    ///
    /// # Errors
    /// The timeout has passed, the informer has ended, the version is not a number, or the cache cannot
    /// show that version because an object was rejected: see [`NotReached::Rejected`].
    pub async fn reached(
        &self,
        version: &str,
        timeout: Duration,
    ) -> Result<Snapshot<Object<K>>, NotReached> {
        let wait = Wait::for_version(self.engine(), |state| {
            let outcome = match state.core.wait_for(version) {
                Err(WaitError::NotComparable) => Err(NotReached::NotComparable {
                    version: version.to_owned(),
                }),
                Err(WaitError::Rejected(object)) => Err(NotReached::Rejected {
                    version: version.to_owned(),
                    name: self.engine().name.clone(),
                    object: Box::new(object.clone()),
                }),
                Ok(reached) if reached.is_ready() => Ok(true),
                Ok(_) if state.core.is_stopped() => Ok(false),
                Ok(_) => return None,
            };
            state.publish();
            Some(outcome)
        });
        match wait.within(timeout).await.unwrap_or(Ok(false)) {
            Ok(true) => Ok(self.snapshot()),
            Err(error) => Err(error),
            Ok(false) => {
                let status = self.status();
                Err(NotReached::InTime {
                    version: version.to_owned(),
                    reason: status.reason(),
                    name: status.name,
                    waited: timeout,
                    reached: status.version,
                })
            }
        }
    }

    /// Returns what the informer is doing now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.engine().status()
    }

    /// The last phases and failures, oldest first: at most 64 of them.
    #[must_use]
    pub fn timeline(&self) -> Vec<Moment> {
        self.engine().lock().timeline.after(0).1
    }

    /// Waits until the phase, the failures or the sync state differ from `seen`, and returns the new
    /// status. Returns `None` when the informer has ended.
    pub async fn status_change(&self, seen: &Status) -> Option<Status> {
        let engine = Arc::clone(self.engine());
        let name = engine.name.clone();
        let wait = Wait::for_status(self.engine(), move |state| {
            let now = engine.clock.now();
            let status = Status::of(&name, state, now);
            let is_news = status.differs_from(seen);
            let over = state.core.is_stopped();
            (is_news || over).then(|| is_news.then_some(status))
        });
        wait.await.flatten()
    }

    /// Whether the cache follows the server now. Use it in a readiness probe.
    ///
    /// True if all of this holds:
    ///
    /// * The cache holds the first full state.
    /// * The server has answered a watch, and nothing has failed since. Any failure makes this false until
    ///   the next watch is answered.
    /// * No handler holds up the changes.
    /// * The server has sent something within the last `within`.
    ///
    /// A watch that ends normally does not make this false, because the next one starts at once. A
    /// connection that died silently is noticed after `within`. The server sends a bookmark about once a
    /// minute, so two minutes are a good value.
    #[must_use]
    pub fn is_fresh(&self, within: Duration) -> bool {
        let now = self.engine().clock.now();
        self.engine().lock().core.is_fresh(within, now)
    }

    pub(crate) fn engine(&self) -> &Arc<Engine<K>> {
        &self.handle.engine
    }
}

impl<K: Send + Sync + 'static> Handle<K> {
    /// Takes the driver out, so that it can run or be dropped without holding the lock.
    fn take_driver(&self) -> Option<Task> {
        let driver = self.driver.lock();
        driver.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn stop(&self) {
        // A driver that never ran is dropped only after the stop, or it would count as lost.
        let driver = self.take_driver();
        self.engine.stop();
        drop(driver);
    }
}

impl<K: Send + Sync + 'static> Drop for Handle<K> {
    fn drop(&mut self) {
        let driver = self.take_driver();
        self.engine.abandon();
        drop(driver);
    }
}

impl<K: Send + Sync + 'static> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self {
            handle: Arc::clone(&self.handle),
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("status", &self.status())
            .finish()
    }
}
