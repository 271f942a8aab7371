//! `SharedInformer`: one watch, one cache, many handlers.

use informer_core::{Object, SourceId};
use std::any::type_name_of_val as type_name_of;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use informer_core::decode::InCluster;
use informer_core::processor::ListenerConfig;
use informer_core::transport::{Target, Transport};
use informer_indexers::shared::Snapshot;

use crate::driver::Driver;
use crate::engine::{Core, Decoder, Engine, Moment};
use crate::error::{BuildError, NotReached, NotSynced, StartError};
use crate::handler::{AsyncHandler, Handler, Inline, Notifications, Pulling, run};
use crate::hooks::Hooks;
use crate::lister::Lister;
use crate::registration::Registration;
use crate::runtime::{Runtime, Task};
use crate::status::Status;
use crate::sync::{Mutex, MutexGuard};
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
    parts: Parts<K>,
    /// Those that wait for the start. `None` once the informer was started or stopped.
    drivers: Mutex<Option<Vec<(SourceId, Task)>>>,
}

/// What handlers and sources are made of.
pub(crate) struct Parts<K> {
    pub(crate) listeners: ListenerConfig,
    /// Whether the objects have annotations.
    pub(crate) annotated: bool,
    pub(crate) hooks: Hooks,
    /// Makes a decoder for a source.
    pub(crate) decoder: Box<dyn Fn() -> Decoder<K> + Send + Sync>,
    /// The cluster that keys name, unless a source has another one; empty if they name none.
    pub(crate) cluster: String,
}

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// An informer without sources.
    pub(crate) fn new(
        name: String,
        target: Target,
        core: Core<K>,
        parts: Parts<K>,
        runtime: Arc<dyn Runtime>,
    ) -> Self {
        let handle = Handle {
            engine: Arc::new(Engine::new(name, target, core, runtime)),
            parts,
            drivers: Mutex::new(Some(Vec::new())),
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
        // A runtime may poll a driver at once, and what it runs may come here again.
        let drivers = self.handle.drivers().take();
        match drivers {
            Some(drivers) => {
                let drivers = drivers.into_iter().map(|(_, driver)| driver);
                self.engine().start(drivers.collect())
            }
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

    /// The resource, namespace and selectors of its builder. With several [sources](Self::sources), each has a
    /// target of its own, of the same resource.
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
        self.on_with(handler, self.handle.parts.listeners)
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
        self.on_async_with(handler, self.handle.parts.listeners)
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
        self.stream_with(self.handle.parts.listeners)
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
    /// With several sources, all of them must have reached it. A quiet source hears of a new version with its next
    /// bookmark, about a minute later.
    ///
    /// # Errors
    /// The timeout has passed, the informer has ended, the version is not a number, or the cache cannot
    /// show that version because an object was rejected: see [`NotReached::Rejected`].
    pub async fn reached(
        &self,
        version: &str,
        timeout: Duration,
    ) -> Result<Snapshot<Object<K>>, NotReached> {
        self.waits(version, timeout, |core| core.wait_for(version))
            .await?;
        Ok(self.snapshot())
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
    /// True if all of this holds, for each source:
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
        self.engine().is_fresh(within)
    }

    pub(crate) const fn handle(&self) -> &Arc<Handle<K>> {
        &self.handle
    }

    pub(crate) fn engine(&self) -> &Arc<Engine<K>> {
        &self.handle.engine
    }

    /// Whether the objects have annotations.
    pub(crate) fn is_annotated(&self) -> bool {
        self.handle.parts.annotated
    }

    /// Whether there is another handle, lister or stream than this one, or a handler. If not, there will be
    /// none as long as nobody gets this handle: only who has a handle can add a handler, so the handles are
    /// counted first.
    pub(crate) fn is_used_elsewhere(&self) -> bool {
        if Arc::strong_count(&self.handle) > 1 {
            return true;
        }
        let state = self.engine().lock();
        !state.core.is_stopped() && state.relied_on() > 0
    }
}

impl<K: Send + Sync + 'static> Handle<K> {
    /// Drivers run and are dropped without holding this lock: transports are user code.
    fn drivers(&self) -> MutexGuard<'_, Option<Vec<(SourceId, Task)>>> {
        self.drivers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cluster of the builder.
    pub(crate) fn cluster(&self) -> &str {
        &self.parts.cluster
    }

    /// Adds a source: a target in a cluster, with a connection and a decoder. It starts with the informer.
    pub(crate) fn attach(
        &self,
        cluster: &str,
        target: Target,
        transport: impl Transport + Send + Unpin + 'static,
    ) -> Result<SourceId, BuildError> {
        let decoder = (self.parts.decoder)();
        let decoder = match cluster {
            "" => decoder,
            cluster => Box::new(InCluster::new(cluster, decoder)),
        };
        let id = self.engine.add_source(cluster, target.clone(), decoder)?;
        let (engine, hooks) = (Arc::clone(&self.engine), self.parts.hooks.clone());
        let driver: Task = Box::pin(Driver::new(engine, (id, target), transport, hooks));
        if let Some(waiting) = &mut *self.drivers() {
            waiting.push((id, driver));
            return Ok(id);
        }
        self.engine.drive(driver)?;
        Ok(id)
    }

    /// Removes a source and returns whether there was one.
    pub(crate) fn detach(&self, id: SourceId) -> bool {
        let removed = self.engine.remove_source(id);
        let waiting = self.drivers().as_mut().and_then(|waiting| {
            let at = waiting.iter().position(|(source, _)| *source == id)?;
            Some(waiting.swap_remove(at))
        });
        drop(waiting);
        removed
    }

    fn stop(&self) {
        // Drivers that never ran are dropped only after the stop, or they would count as lost.
        let drivers = self.drivers().take();
        self.engine.stop();
        drop(drivers);
    }
}

impl<K: Send + Sync + 'static> Drop for Handle<K> {
    fn drop(&mut self) {
        let drivers = self.drivers().take();
        self.engine.abandon();
        drop(drivers);
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
