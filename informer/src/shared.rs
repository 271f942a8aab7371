//! `SharedInformer`: one watch, one store, many handlers.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use informer_core::indexer::{IndexFn, IndexId};
use informer_core::informer::WaitError;
use informer_core::processor::ListenerConfig;
use informer_core::transport::{Target, Transport};
use informer_indexers::shared::Snapshot;

use crate::driver::Driver;
use crate::engine::{Core, Engine, Shared};
use crate::error::{AddIndexError, NotReached, NotSynced, StartError};
use crate::handler::{AsyncHandler, Handler, Inline, Notifications, Pulling, run};
use crate::lister::Lister;
use crate::panics::panic_text;
use crate::registration::Registration;
use crate::runtime::{Runtime, Task};
use crate::status::{Hooks, Status};
use crate::sync::Mutex;
use crate::wait::Wait;

/// An informer: it lists once, watches for ever, keeps the objects and tells every handler what
/// changed. Cheap to clone; all clones are the same informer.
///
/// When the last clone, lister and stream is dropped, the watch ends and the store is freed.
/// A handler that owns one of these keeps its own informer alive: such an informer ends when it is
/// [stopped](Self::stop), and not before.
pub struct SharedInformer<K: Send + Sync + 'static> {
    handle: Arc<Handle<K>>,
}

/// What users hold. Tasks hold only the engine, so when this goes nobody is left who could ask.
pub(crate) struct Handle<K: Send + Sync + 'static> {
    pub(crate) engine: Arc<Engine<K>>,
    target: Target,
    listeners: ListenerConfig,
    /// The driver, until the informer is started.
    driver: Mutex<Option<Task>>,
}

impl<K: Send + Sync + 'static> SharedInformer<K> {
    pub(crate) fn new(
        target: Target,
        core: Core<K>,
        transport: impl Transport + Send + Unpin + 'static,
        hooks: Hooks,
        listeners: ListenerConfig,
        runtime: Arc<dyn Runtime>,
    ) -> Self {
        let engine = Arc::new(Engine::new(target.to_string(), core, runtime));
        let driver = Driver::new(Arc::clone(&engine), transport, hooks);
        let handle = Handle {
            engine,
            target,
            listeners,
            driver: Mutex::new(Some(Box::pin(driver))),
        };
        Self {
            handle: Arc::new(handle),
        }
    }

    /// Starts it. The second time nothing happens.
    ///
    /// # Errors
    /// Its runtime cannot run it, or it has ended before.
    pub fn start(&self) -> Result<(), StartError> {
        match self.handle.take_driver() {
            Some(driver) => self.engine().start(driver),
            None => self.engine().check(),
        }
    }

    /// Stops it, for good: the watch ends, and handlers are told nothing more. The store stays readable.
    /// Who wants it again makes a new one.
    pub fn stop(&self) {
        self.handle.stop();
    }

    /// Whether it was started.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.engine().lock().started
    }

    /// Whether it was stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.engine().lock().core.is_stopped()
    }

    /// Whether this is the same informer as another one.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.handle, &other.handle)
    }

    /// Waits until everything that belongs to it has ended, after it was stopped: the watch, and every
    /// call of a handler.
    pub async fn join(&self) {
        Wait::for_status(self.engine(), |state| {
            (state.core.is_stopped() && state.tasks == 0).then_some(())
        })
        .await;
    }

    /// What it follows.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.handle.target
    }

    /// Adds a handler, at any time: a [`Handler`], or a function of a [`Notification`](informer_core::Notification). It is shown what is
    /// there, and then told what changes.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on(&self, handler: impl Handler<K>) -> Result<Registration<K>, StartError> {
        self.on_with(handler, self.handle.listeners)
    }

    /// As [`on`](Self::on), with a resync period and a backlog policy of its own.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_with(
        &self,
        handler: impl Handler<K>,
        config: ListenerConfig,
    ) -> Result<Registration<K>, StartError> {
        self.on_async_with(Inline(handler), config)
    }

    /// Adds a handler that may wait: an [`AsyncHandler`], or a function that gives a future. The next
    /// notification comes when it is done with the one before.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_async(&self, handler: impl AsyncHandler<K>) -> Result<Registration<K>, StartError> {
        self.on_async_with(handler, self.handle.listeners)
    }

    /// As [`on_async`](Self::on_async), with a resync period and a backlog policy of its own.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    pub fn on_async_with(
        &self,
        handler: impl AsyncHandler<K>,
        config: ListenerConfig,
    ) -> Result<Registration<K>, StartError> {
        let pulling = self.pull(config)?.in_task();
        let id = pulling.id;
        match self.engine().spawn(run(pulling, handler)) {
            Ok(ended) => Ok(Registration::new(self.engine(), id, ended)),
            Err(error) => {
                self.engine().remove_listener(id);
                Err(error.into())
            }
        }
    }

    /// The notifications as a stream.
    ///
    /// # Errors
    /// The informer has ended.
    pub fn stream(&self) -> Result<Notifications<K>, StartError> {
        self.stream_with(self.handle.listeners)
    }

    /// The same, with a resync period or a backlog policy of its own.
    ///
    /// # Errors
    /// The informer has ended.
    pub fn stream_with(&self, config: ListenerConfig) -> Result<Notifications<K>, StartError> {
        let pulling = self.pull(config)?;
        Ok(Notifications::new(pulling, Arc::clone(&self.handle)))
    }

    /// Sends the notifications into a channel. While it is full, they wait here, subject to the backlog
    /// policy; when its receiver is gone, they are dropped.
    ///
    /// # Errors
    /// The informer has ended, or its runtime cannot run the handler.
    #[cfg(feature = "tokio")]
    pub fn send_to(
        &self,
        channel: tokio::sync::mpsc::Sender<informer_core::Notification<Shared<K>>>,
    ) -> Result<Registration<K>, StartError> {
        self.on_async(
            move |notification: informer_core::Notification<Shared<K>>| {
                let channel = channel.clone();
                async move {
                    // Without a receiver there is nobody to tell.
                    let _ = channel.send(notification).await;
                }
            },
        )
    }

    fn pull(&self, config: ListenerConfig) -> Result<Pulling<K>, StartError> {
        let listening = self.engine().add_listener(config)?;
        Ok(Pulling::new(Arc::clone(self.engine()), listening))
    }

    /// Reads the store.
    #[must_use]
    pub fn lister(&self) -> Lister<K> {
        Lister::new(Arc::clone(&self.handle))
    }

    /// The store as it is now, to be kept as long as it is needed.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot<Shared<K>> {
        self.engine().reader.snapshot()
    }

    /// Adds an index to the store, at any time.
    ///
    /// Its function is called at once for every object, and later with every change. It must not panic
    /// then: that ends the informer. Of the informer it may read the store only, by [`lister`](Self::lister)
    /// or [`snapshot`](Self::snapshot); anything else that asks it is such a panic.
    ///
    /// # Errors
    /// The name is taken, or the function panicked for an object that is there: then the index is not
    /// added, and nothing else has changed.
    pub fn add_index(
        &self,
        name: &str,
        function: IndexFn<Shared<K>>,
    ) -> Result<IndexId, AddIndexError> {
        self.engine().update(|state| {
            let core = &mut state.core;
            let added = catch_unwind(AssertUnwindSafe(|| core.add_index(name, function)));
            let added = match added {
                Ok(added) => Ok(added?),
                Err(panic) => {
                    // It has filed some of the objects.
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

    /// Whether the first full state is in the store. A handler may still be busy with it: see
    /// [`Registration::synced`].
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.engine().lock().core.is_synced()
    }

    /// Waits until the first full state is in the store.
    ///
    /// # Errors
    /// It did not come to that in time, or never will, or the informer has ended; with the reason.
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

    /// The same for a thread.
    ///
    /// # Errors
    /// It did not come to that in time, or never will; with the reason.
    #[cfg(feature = "threads")]
    pub fn wait_synced(&self, timeout: Duration) -> Result<(), NotSynced> {
        crate::runtime::block_on(self.synced(timeout))
    }

    /// Waits until the store shows at least the state of `version`, such as the one that a write of
    /// one's own was answered with, and gives that state.
    ///
    /// # Errors
    /// It was not reached in time, nobody can tell, or an object that could not be used keeps the store
    /// from showing it: [`NotReached::Rejected`] names it.
    pub async fn reached(
        &self,
        version: &str,
        timeout: Duration,
    ) -> Result<Snapshot<Shared<K>>, NotReached> {
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

    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        self.engine().status()
    }

    /// Waits until the status differs from `seen` in its phase, its failures or its sync, and gives it.
    /// `None` when the informer has ended.
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

    /// Whether the store follows the server now: for a readiness probe. All of this must hold:
    ///
    /// * the first full state is in the store;
    /// * a watch has been answered, and nothing has failed since: any failure makes this false at once,
    ///   until the next watch is answered;
    /// * no handler holds up the changes;
    /// * something was heard at most `within` ago.
    ///
    /// A watch that ends in good order, as each does every few minutes, changes nothing: the next one is
    /// asked for at once. A connection that is dead without a sign is noticed when `within` has passed. A
    /// server sends bookmarks about once a minute, so two minutes are a good value.
    #[must_use]
    pub fn is_fresh(&self, within: Duration) -> bool {
        let now = self.engine().clock.now();
        self.engine().lock().core.is_fresh(within, now)
    }

    fn engine(&self) -> &Arc<Engine<K>> {
        &self.handle.engine
    }
}

impl<K: Send + Sync + 'static> Handle<K> {
    /// The driver, if nobody has taken it. Whoever has it uses it when nothing is locked.
    fn take_driver(&self) -> Option<Task> {
        let driver = self.driver.lock();
        driver.unwrap_or_else(PoisonError::into_inner).take()
    }

    fn stop(&self) {
        // A driver that never ran is not needed any more.
        let driver = self.take_driver();
        self.engine.stop();
        drop(driver);
    }
}

impl<K: Send + Sync + 'static> Drop for Handle<K> {
    fn drop(&mut self) {
        self.stop();
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
