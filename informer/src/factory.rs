//! `SharedInformerFactory`: informers shared across a program.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::Poll;
use std::time::Duration;

use informer_core::indexer::StoreLimits;
use informer_core::queue::TransformError;
use informer_core::transport::Target;
use informer_core::{Labels, Object, ObjectKey};

use crate::builder::{InformerBuilder, Kept};
use crate::connect::Connect;
use crate::error::{BuildError, NotSynced, StartError};
#[cfg(feature = "metrics")]
use crate::inspect::{Inspect, Inspected};
use crate::kind::Kind;
use crate::runtime::Runtime;
use crate::shared::SharedInformer;
use crate::status::Status;
use crate::sync::{Mutex, MutexGuard};

/// Informers shared across a program: one watch and one cache for each resource.
///
/// Requests for the same resource, namespace, selectors and form return the same informer. The factory
/// keeps its informers alive until you drop it, [shut it down](Self::shutdown), or make it
/// [forget](Self::forget) one.
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
    state: Arc<Mutex<State>>,
}

/// Default settings for all informers of a factory.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) namespace: Option<String>,
    pub(crate) resync: Option<Duration>,
    pub(crate) limits: StoreLimits,
    pub(crate) keep_managed_fields: bool,
    pub(crate) tweak: Option<Arc<Tweak>>,
    pub(crate) transform: Option<Arc<TransformAny>>,
}

pub(crate) type Tweak = dyn Fn(&mut Target) + Send + Sync;
type TransformAny = dyn Fn(Meta<'_>) -> Result<(), TransformError> + Send + Sync;

/// The part of an object that every kind has, for [`SharedInformerFactory::transform`].
pub struct Meta<'a> {
    pub(crate) object: &'a mut dyn AnyObject,
}

impl Meta<'_> {
    /// Namespace and name.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        self.object.key()
    }

    /// The labels that indices and queries use.
    #[must_use]
    pub fn labels(&self) -> Labels<'_> {
        self.object.labels()
    }

    /// Replaces the labels that indices and queries use. The body keeps its labels.
    pub fn set_labels<'l>(&mut self, labels: impl IntoIterator<Item = (&'l str, &'l str)>) {
        self.object.set_labels(&mut labels.into_iter());
    }
}

impl fmt::Debug for Meta<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meta")
            .field("key", self.key())
            .field("labels", &self.labels())
            .finish()
    }
}

/// An object with a body of any type.
pub(crate) trait AnyObject {
    fn key(&self) -> &ObjectKey;
    fn labels(&self) -> Labels<'_>;
    fn set_labels(&mut self, labels: &mut dyn Iterator<Item = (&str, &str)>);
}

impl<K> AnyObject for Object<K> {
    fn key(&self) -> &ObjectKey {
        self.key()
    }

    fn labels(&self) -> Labels<'_> {
        self.labels()
    }

    fn set_labels(&mut self, labels: &mut dyn Iterator<Item = (&str, &str)>) {
        // The object was just decoded, so it is not shared.
        if let Some(mut object) = self.get_mut() {
            object.set_labels(labels);
        }
    }
}

#[derive(Default)]
struct State {
    informers: BTreeMap<Identity, Arc<dyn AnyInformer>>,
    started: bool,
}

/// Requests with the same identity share an informer. The body type and what is kept beyond it stand for
/// the form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    target: Target,
    body: TypeId,
    kept: Kept,
}

impl<C: Connect> SharedInformerFactory<C> {
    /// Creates a factory without informers.
    pub fn new(connect: C, runtime: impl Runtime + 'static) -> Self {
        Self {
            connect,
            runtime: Arc::new(runtime),
            defaults: Defaults::default(),
            state: Arc::default(),
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
    /// Forms that keep different things are different informers: `typed()` and `typed_at(…)` of the same type
    /// are, if the type has annotations.
    ///
    /// An existing informer keeps its settings. It only gets the indices of the builder that it does not
    /// have yet, by name.
    ///
    /// # Errors
    /// The configuration is invalid, or the runtime cannot run the informer.
    pub fn informer<K: Send + Sync + 'static>(
        &self,
        builder: &InformerBuilder<K>,
    ) -> Result<SharedInformer<K>, BuildError> {
        let builder = builder.clone().in_factory(&self.defaults);
        let identity = Identity {
            target: builder.target()?,
            body: TypeId::of::<K>(),
            kept: builder.kept(),
        };
        // Connecting, indexing and starting run user code, so do not hold the lock.
        let known = self.lock().known(&identity);
        let informer = match known {
            Some(informer) => informer,
            None => {
                let made = builder.build_on(&self.connect, Arc::clone(&self.runtime))?;
                self.lock().know(identity, made)
            }
        };
        builder.add_missing_indices(&informer)?;
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
        let informers: Vec<_> = {
            let mut state = self.lock();
            state.started = true;
            state.informers.values().cloned().collect()
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
        let waits: Vec<_> = {
            let state = self.lock();
            let informers = state.informers.values();
            informers.map(|informer| informer.synced(timeout)).collect()
        };
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
        let state = self.lock();
        state
            .informers
            .values()
            .map(|informer| informer.status())
            .collect()
    }

    /// Removes an informer from the factory. It ends when you drop its last handle, and the next request
    /// builds a new one. Returns whether the factory had it.
    pub fn forget<K: Send + Sync + 'static>(&self, informer: &SharedInformer<K>) -> bool {
        let mut state = self.lock();
        let before = state.informers.len();
        state.informers.retain(|_, it| {
            let same = it.any().downcast_ref::<SharedInformer<K>>();
            !same.is_some_and(|it| it.is_same(informer))
        });
        state.informers.len() < before
    }

    /// Stops all informers and waits until they have finished. You can use the factory again afterwards,
    /// with new informers.
    pub async fn shutdown(&self) {
        let informers = {
            let mut state = self.lock();
            state.started = false;
            std::mem::take(&mut state.informers)
        };
        informers.values().for_each(|informer| informer.stop());
        for informer in informers.values() {
            informer.join().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "metrics")]
impl<C> SharedInformerFactory<C> {
    /// Looks at all informers that there are at the time of the call, without keeping the factory alive.
    pub(crate) fn weak_informers(&self) -> Box<dyn Fn() -> Vec<Inspected> + Send + Sync> {
        let state = Arc::downgrade(&self.state);
        Box::new(move || {
            let Some(state) = state.upgrade() else {
                return Vec::new();
            };
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            let informers = state.informers.values();
            informers.map(|informer| informer.inspected()).collect()
        })
    }
}

impl State {
    /// The running informer with this identity.
    fn known<K: Send + Sync + 'static>(&self, identity: &Identity) -> Option<SharedInformer<K>> {
        let known = self.informers.get(identity)?;
        let informer = known.any().downcast_ref::<SharedInformer<K>>()?;
        (!informer.is_stopped()).then(|| informer.clone())
    }

    /// Stores an informer, unless another thread stored one with the same identity first. Returns the one
    /// that is stored.
    fn know<K: Send + Sync + 'static>(
        &mut self,
        identity: Identity,
        made: SharedInformer<K>,
    ) -> SharedInformer<K> {
        if let Some(known) = self.known(&identity) {
            return known;
        }
        self.informers.insert(identity, Arc::new(made.clone()));
        made
    }
}

type Waiting<R> = Pin<Box<dyn Future<Output = R> + Send>>;

/// Waits for all futures at once, because each timeout starts with the first poll. The outputs keep their
/// order.
async fn all<R>(mut waits: Vec<Waiting<R>>) -> Vec<R> {
    let mut given: Vec<Option<R>> = waits.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (wait, given) in waits.iter_mut().zip(&mut given) {
            if given.is_none()
                && let Poll::Ready(output) = wait.as_mut().poll(cx)
            {
                *given = Some(output);
            }
        }
        if given.iter().all(Option::is_some) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    given.into_iter().flatten().collect()
}

/// An informer of any kind.
trait AnyInformer: Send + Sync {
    fn any(&self) -> &dyn Any;
    fn start(&self) -> Result<(), StartError>;
    fn stop(&self);
    fn is_stopped(&self) -> bool;
    fn status(&self) -> Status;
    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected;
    fn synced(&self, timeout: Duration) -> Waiting<Result<(), NotSynced>>;
    fn join(&self) -> Waiting<()>;
}

impl<K: Send + Sync + 'static> AnyInformer for SharedInformer<K> {
    fn any(&self) -> &dyn Any {
        self
    }

    fn start(&self) -> Result<(), StartError> {
        Self::start(self)
    }

    fn stop(&self) {
        Self::stop(self);
    }

    fn is_stopped(&self) -> bool {
        Self::is_stopped(self)
    }

    fn status(&self) -> Status {
        Self::status(self)
    }

    #[cfg(feature = "metrics")]
    fn inspected(&self) -> Inspected {
        Inspect::inspected(self)
    }

    fn synced(&self, timeout: Duration) -> Waiting<Result<(), NotSynced>> {
        let informer = self.clone();
        Box::pin(async move {
            if !informer.is_started() {
                return Err(NotSynced::of(informer.status(), Duration::ZERO));
            }
            Self::synced(&informer, timeout).await
        })
    }

    fn join(&self) -> Waiting<()> {
        let informer = self.clone();
        Box::pin(async move { Self::join(&informer).await })
    }
}

/// Some informers of a factory did not sync.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NotAllSynced {
    /// The reason for each of them.
    pub late: Vec<NotSynced>,
}

impl fmt::Display for NotAllSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, late) in self.late.iter().enumerate() {
            if at > 0 {
                f.write_str("; ")?;
            }
            late.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for NotAllSynced {}

impl<C> fmt::Debug for SharedInformerFactory<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let names = state.informers.keys().map(|it| it.target.to_string());
        f.debug_struct("SharedInformerFactory")
            .field("informers", &names.collect::<Vec<_>>())
            .field("started", &state.started)
            .finish_non_exhaustive()
    }
}
