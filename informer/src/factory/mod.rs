//! `SharedInformerFactory`: informers shared across a program.

// Requests that contradict a running informer.
mod conflict;

// Default settings for all informers.
mod defaults;

// The informers of a factory.
mod members;

// Waiting for all informers.
mod waiting;

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use informer_core::queue::TransformError;
use informer_core::transport::Target;

pub use conflict::{Contrast, NotShared, Setting, SettingConflict};
pub use defaults::Meta;
pub(crate) use defaults::{Defaults, Tweak};
use members::Members;
pub use waiting::NotAllSynced;
use waiting::all;

use crate::builder::InformerBuilder;
use crate::connect::Connect;
use crate::error::{BuildError, StartError};
#[cfg(feature = "metrics")]
use crate::inspect::Inspected;
use crate::kind::Kind;
use crate::runtime::Runtime;
use crate::shared::SharedInformer;
use crate::status::Status;
use crate::sync::{Mutex, MutexGuard};

/// Informers shared across a program: one watch and one cache for each resource.
///
/// Requests for the same resource, namespace, selectors and form return the same informer; if they
/// contradict each other in other settings, the second one fails: see [`informer`](Self::informer). The
/// factory keeps its informers alive until you drop it, [shut it down](Self::shutdown), make it
/// [forget](Self::forget) one, or [release](Self::release_unused) those that nobody uses.
///
/// ```
/// use informer::runtime::Tokio;
/// use informer::{InformerBuilder, SharedInformerFactory, Target};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `server` is a mock API server.
/// let factory = SharedInformerFactory::new(server.connect(), Tokio::current()?)
///     .resync(Duration::from_secs(600));
/// let pods = factory.informer(&InformerBuilder::lean_at(Target::new("", "v1", "pods")))?;
/// let again = factory.informer(&InformerBuilder::lean_at(Target::new("", "v1", "pods")))?;
/// assert!(pods.is_same(&again));
///
/// factory.start()?;
/// factory.synced(Duration::from_secs(30)).await?;
/// assert!(pods.is_synced());
/// factory.shutdown().await;
/// assert!(pods.is_stopped());
/// # Ok(())
/// # }
/// ```
pub struct SharedInformerFactory<C> {
    connect: C,
    runtime: Arc<dyn Runtime>,
    defaults: Defaults,
    members: Arc<Mutex<Members>>,
}

impl<C: Connect> SharedInformerFactory<C> {
    /// Creates a factory without informers.
    pub fn new(connect: C, runtime: impl Runtime + 'static) -> Self {
        Self {
            connect,
            runtime: Arc::new(runtime),
            defaults: Defaults::default(),
            members: Arc::default(),
        }
    }

    /// Sets the namespace of informers that do not have one.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.defaults.namespace = Some(namespace.to_owned());
        self
    }

    /// Sets the resync period of informers that do not have one: see [`InformerBuilder::resync`].
    #[must_use]
    pub const fn resync(mut self, period: Duration) -> Self {
        self.defaults.resync = Some(period);
        self
    }

    /// Limits how many objects each cache holds, for informers without such a limit: see
    /// [`InformerBuilder::max_objects`].
    #[must_use]
    pub const fn max_objects(mut self, objects: usize) -> Self {
        self.defaults.limits.objects = Some(objects);
        self
    }

    /// Limits the total size of the objects in each cache, for informers without such a limit: see
    /// [`InformerBuilder::max_bytes`].
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.defaults.limits.bytes = Some(bytes);
        self
    }

    /// Keeps `metadata.managedFields` in all informers: see [`InformerBuilder::keep_managed_fields`].
    #[must_use]
    pub const fn keep_managed_fields(mut self) -> Self {
        self.defaults.keep_managed_fields = true;
        self
    }

    /// Changes the target of every informer.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Target) + Send + Sync + 'static) -> Self {
        self.defaults.tweak = Some(Arc::new(tweak));
        self
    }

    /// Sets a function that gets every object of every informer before it goes into the cache. It can
    /// change the labels or reject the object. It runs before the informer's own transform, and must not
    /// panic.
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl Fn(Meta<'_>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.defaults.transform = Some(Arc::new(transform));
        self
    }

    /// Returns the informer for these settings. Builds it if there is none yet, and starts it if the
    /// factory was started.
    ///
    /// # Which requests share an informer
    ///
    /// **What is fetched and kept** says which informer it is: resource, namespaces, selectors and
    /// parameters of all its [sources](InformerBuilder::source), the form, and whether managed fields or annotations are kept. Requests that differ in
    /// one of these get different informers, because one cache cannot hold both. `typed()` and `typed_at(…)`
    /// of the same type are different forms if the type has annotations.
    ///
    /// **All other settings** must be the same in all requests for an informer: the transform, the resync
    /// period, limits, backlog policy, queue, page size, preset and hooks. A second watch and cache for the
    /// sake of another resync period would cost more than anybody expects, and to ignore the period would
    /// be a trap. So the second request fails with [`BuildError::NotShared`], which says what differs. What
    /// counts is the outcome, after the defaults of the factory. A handler can have its own resync period
    /// and backlog: see [`SharedInformer::on_with`].
    ///
    /// **Indices** add up: the informer gets those that it does not have yet. If it has an index of the same
    /// name with another function, the request fails, too.
    ///
    /// **Functions** are the same if they are the same function item, or the same closure in the source, and
    /// capture nothing. A closure that captures something is the same as its clones, that is, if you request
    /// with the same builder. Otherwise nobody can tell, and the request fails, unless you give the function
    /// a name: see [`of_named`](InformerBuilder::of_named),
    /// [`transform_named`](InformerBuilder::transform_named),
    /// [`on_failure_named`](InformerBuilder::on_failure_named),
    /// [`on_rejected_named`](InformerBuilder::on_rejected_named) and
    /// [`IndexFn::named`](crate::IndexFn::named). Functions of [`by`](crate::by) need no name. A
    /// [seed](InformerBuilder::seed) is not compared.
    ///
    /// ```
    /// use informer::runtime::Tokio;
    /// use informer::{BuildError, InformerBuilder, SharedInformerFactory, Target, by};
    /// use std::time::Duration;
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// let factory = SharedInformerFactory::new(server.connect(), Tokio::current()?);
    /// let pods = || InformerBuilder::lean_at(Target::new("", "v1", "pods"));
    ///
    /// // Another selector is another informer. More indices are not.
    /// let all = factory.informer(&pods())?;
    /// let some = factory.informer(&pods().labels("app=shop"))?;
    /// let by_node = factory.informer(&pods().index("node", by::node_name()))?;
    /// assert!(!all.is_same(&some) && all.is_same(&by_node));
    ///
    /// // A setting that contradicts the informer is an error.
    /// let refused = factory.informer(&pods().resync(Duration::from_secs(60))).map(drop);
    /// let Err(BuildError::NotShared(error)) = refused else { panic!() };
    /// assert_eq!(error.conflicts[0].to_string(), "`resync` is not set there and 60s here");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, it contradicts an informer of the factory, or the runtime cannot run
    /// the informer.
    pub fn informer<K: Send + Sync + 'static>(
        &self,
        builder: &InformerBuilder<K>,
    ) -> Result<SharedInformer<K>, BuildError> {
        let builder = builder.clone().in_factory(&self.defaults);
        let (identity, settings) = (builder.identity()?, builder.settings());
        // Connecting, indexing, starting and dropping run user code, so do not hold the lock.
        let known = self.lock().find(&identity, &settings);
        let informer = match known {
            Some(found) => found.share(&builder.indices)?,
            None => {
                let made = builder.build_on(&self.connect, Arc::clone(&self.runtime))?;
                let (found, _replaced) = self.lock().add(identity, settings, &made);
                found.share(&builder.indices)?
            }
        };
        if self.lock().started {
            informer.start()?;
        }
        Ok(informer)
    }

    /// Returns the informer for all objects of a Rust type.
    ///
    /// # Errors
    /// The configuration is invalid, or the runtime cannot run the informer.
    pub fn of<K: Kind>(&self) -> Result<SharedInformer<K>, BuildError> {
        self.informer(&InformerBuilder::typed())
    }

    /// Starts all informers, including those that you request later. You can call it any number of times.
    /// Informers that have ended are skipped; the next request for one of them builds a new one.
    ///
    /// # Errors
    /// The runtime cannot run one of them. This is the first error; the other informers are started.
    pub fn start(&self) -> Result<(), StartError> {
        let informers = {
            let mut members = self.lock();
            members.started = true;
            members.handles()
        };
        let started = informers.iter().filter(|informer| !informer.is_stopped());
        let started: Vec<_> = started.map(|informer| informer.start()).collect();
        started.into_iter().collect()
    }

    /// Waits until all informers are synced.
    ///
    /// # Errors
    /// Some informers did not sync before the timeout, have ended, or were not started. The error has a
    /// reason for each.
    pub async fn synced(&self, timeout: Duration) -> Result<(), NotAllSynced> {
        let informers = self.lock().handles();
        let waits = informers.iter().map(|informer| informer.synced(timeout));
        let waits: Vec<_> = waits.collect();
        drop(informers);
        let late: Vec<_> = all(waits)
            .await
            .into_iter()
            .filter_map(Result::err)
            .collect();
        if late.is_empty() {
            Ok(())
        } else {
            Err(NotAllSynced { late })
        }
    }

    /// Returns the status of each informer.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        let informers = self.lock().handles();
        informers.iter().map(|informer| informer.status()).collect()
    }

    /// Removes an informer from the factory. It ends when you drop its last handle, and the next request
    /// builds a new one. Returns whether the factory had it.
    pub fn forget<K: Send + Sync + 'static>(&self, informer: &SharedInformer<K>) -> bool {
        let forgotten = self.lock().take(informer);
        !forgotten.is_empty()
    }

    /// Stops the informers that nobody uses, frees their caches, and returns what they followed. The next
    /// request for one of them builds a new one.
    ///
    /// An informer is used while there is a [`SharedInformer`], a [`Lister`](crate::Lister) or a
    /// [stream](SharedInformer::stream) of it outside the factory, or a handler that was not
    /// [removed](crate::Registration::remove). A factory keeps the others, because a new watch and a new
    /// list cost the server more than a cache that waits for its next user. So you decide when to let go of
    /// them, for example at the end of a task that looked at many kinds, or from time to time.
    ///
    /// You can call it at any time. A request at the same moment gets either the old informer, which is
    /// then used and stays, or a new one.
    ///
    /// ```
    /// use informer::runtime::Tokio;
    /// use informer::{InformerBuilder, SharedInformerFactory, Target};
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// let factory = SharedInformerFactory::new(server.connect(), Tokio::current()?);
    /// factory.start()?;
    /// let of = |plural| InformerBuilder::metadata_at(Target::new("", "v1", plural));
    /// let pods = factory.informer(&of("pods"))?;
    /// for plural in ["configmaps", "secrets"] {
    ///     // Somebody looks at them, and is done.
    ///     factory.informer(&of(plural))?;
    /// }
    /// let released = factory.release_unused();
    /// assert_eq!(released.len(), 2);
    /// assert!(!pods.is_stopped());
    /// # Ok(())
    /// # }
    /// ```
    pub fn release_unused(&self) -> Vec<Target> {
        let unused = self.lock().take_unused();
        let released = unused.into_iter().flat_map(|member| {
            // Nobody relies on it, so this is no reason for a warning.
            member.informer.stop();
            member.identity.targets
        });
        released.collect()
    }

    /// Stops all informers and waits until they have finished. You can use the factory again afterwards,
    /// with new informers.
    pub async fn shutdown(&self) {
        let members = std::mem::take(&mut *self.lock());
        let informers = members.handles();
        drop(members);
        informers.iter().for_each(|informer| informer.stop());
        for informer in &informers {
            informer.join().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "metrics")]
impl<C> SharedInformerFactory<C> {
    /// Looks at all informers that there are at the time of the call, without keeping the factory alive.
    pub(crate) fn weak_informers(&self) -> Box<dyn Fn() -> Vec<Inspected> + Send + Sync> {
        let members = Arc::downgrade(&self.members);
        Box::new(move || {
            let Some(members) = members.upgrade() else {
                return Vec::new();
            };
            let members = members.lock().unwrap_or_else(PoisonError::into_inner);
            members
                .iter()
                .map(|member| member.informer.inspected())
                .collect()
        })
    }
}

impl<C> fmt::Debug for SharedInformerFactory<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let members = self.members.lock().unwrap_or_else(PoisonError::into_inner);
        let targets = members.iter().flat_map(|it| &it.identity.targets);
        let names = targets.map(Target::to_string);
        f.debug_struct("SharedInformerFactory")
            .field("informers", &names.collect::<Vec<_>>())
            .field("started", &members.started)
            .finish_non_exhaustive()
    }
}
