//! `SharedInformerFactory`: one informer for all who follow the same thing.

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
use informer_core::{Labels, ObjectKey};

use crate::builder::{InformerBuilder, ManagedFields};
use crate::connect::Connect;
use crate::error::{BuildError, NotSynced, StartError};
use crate::kind::Kind;
use crate::runtime::Runtime;
use crate::shared::SharedInformer;
use crate::status::Status;
use crate::sync::{Mutex, MutexGuard};

/// Informers for a whole program: whoever asks for the same resource, namespace, selectors and form gets
/// the same informer, with one watch and one store.
///
/// The factory keeps its informers alive until it is dropped, [shut down](Self::shutdown), or told to
/// [forget](Self::forget) one.
///
/// ```
/// use informer::runtime::Tokio;
/// use informer::{InformerBuilder, SharedInformerFactory, Target};
/// use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// let factory = SharedInformerFactory::new(server.connect(), Tokio::current()?);
///
/// let pods = factory.informer(&InformerBuilder::lean(Target::new("", "v1", "pods")))?;
/// let again = factory.informer(&InformerBuilder::lean(Target::new("", "v1", "pods")))?;
/// factory.start()?;
/// factory.synced(Duration::from_secs(30)).await?;
/// assert!(pods.is_synced() && again.is_synced());
/// factory.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct SharedInformerFactory<C> {
    connect: C,
    runtime: Arc<dyn Runtime>,
    defaults: Defaults,
    state: Mutex<State>,
}

/// What a factory says for all its informers.
#[derive(Default)]
pub(crate) struct Defaults {
    pub(crate) namespace: Option<String>,
    pub(crate) resync: Option<Duration>,
    pub(crate) limits: StoreLimits,
    pub(crate) without_managed_fields: bool,
    pub(crate) tweak: Option<Arc<Tweak>>,
    pub(crate) transform: Option<Arc<TransformAny>>,
}

pub(crate) type Tweak = dyn Fn(&mut Target) + Send + Sync;
type TransformAny = dyn Fn(Meta<'_>) -> Result<(), TransformError> + Send + Sync;

/// What objects of all kinds have in common, for a transform of all of them.
#[derive(Debug)]
#[non_exhaustive]
pub struct Meta<'a> {
    /// Namespace and name.
    pub key: &'a ObjectKey,
    /// The labels by which it is indexed and selected here. The body keeps its own.
    pub labels: &'a mut Labels,
}

#[derive(Default)]
struct State {
    informers: BTreeMap<Identity, Arc<dyn AnyInformer>>,
    started: bool,
}

/// Who is the same. The form is told by the type of the body, and by what was cut out of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    target: Target,
    body: TypeId,
    managed_fields: ManagedFields,
}

impl<C: Connect> SharedInformerFactory<C> {
    /// A factory without informers.
    pub fn new(connect: C, runtime: impl Runtime + 'static) -> Self {
        Self {
            connect,
            runtime: Arc::new(runtime),
            defaults: Defaults::default(),
            state: Mutex::default(),
        }
    }

    /// Informers that do not name a namespace follow only this one.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.defaults.namespace = Some(namespace.to_owned());
        self
    }

    /// How often handlers are shown the whole store again, where an informer does not say otherwise.
    #[must_use]
    pub const fn resync(mut self, period: Duration) -> Self {
        self.defaults.resync = Some(period);
        self
    }

    /// The most objects that the store of each informer holds, where it does not say otherwise: see
    /// [`InformerBuilder::max_objects`].
    #[must_use]
    pub const fn max_objects(mut self, objects: usize) -> Self {
        self.defaults.limits.objects = Some(objects);
        self
    }

    /// The most bytes of all objects in the store of each informer, where it does not say otherwise: see
    /// [`InformerBuilder::max_bytes`].
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.defaults.limits.bytes = Some(bytes);
        self
    }

    /// Objects without `metadata.managedFields`, for all informers: see
    /// [`InformerBuilder::without_managed_fields`].
    #[must_use]
    pub const fn without_managed_fields(mut self) -> Self {
        self.defaults.without_managed_fields = true;
        self
    }

    /// Changes what is asked of the server, for all informers.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Target) + Send + Sync + 'static) -> Self {
        self.defaults.tweak = Some(Arc::new(tweak));
        self
    }

    /// Looks at every object of every informer before it is kept, and may refuse it; runs before the
    /// transform of the informer itself. It must not panic.
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl Fn(Meta<'_>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.defaults.transform = Some(Arc::new(transform));
        self
    }

    /// The informer for this, made if there is none yet. If the factory was started, so is the informer.
    ///
    /// Of one that is there already, everything stays as it is, but that it gets those indices of the
    /// builder whose names it does not have.
    ///
    /// # Errors
    /// The configuration cannot work, or the runtime cannot run it.
    pub fn informer<K: Send + Sync + 'static>(
        &self,
        builder: &InformerBuilder<K>,
    ) -> Result<SharedInformer<K>, BuildError> {
        let builder = builder.clone().in_factory(&self.defaults);
        let identity = Identity {
            target: builder.target()?,
            body: TypeId::of::<K>(),
            managed_fields: builder.managed_fields(),
        };
        // Connecting, indexing and starting run code that is not ours: nothing is locked meanwhile.
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

    /// The informer for all objects of a Rust type.
    ///
    /// # Errors
    /// The configuration cannot work, or the runtime cannot run it.
    pub fn of<K: Kind>(&self) -> Result<SharedInformer<K>, BuildError> {
        self.informer(&InformerBuilder::typed())
    }

    /// Starts all informers, those that are asked for later included. Any number of times. Those that
    /// have ended are left alone: whoever asks for one of them gets a new one.
    ///
    /// # Errors
    /// The runtime cannot run one of them: the first error. The others are started all the same.
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
    /// Some are not in time, or never will be: each with its reason. One that was not started is such a
    /// one.
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

    /// How each informer is doing.
    #[must_use]
    pub fn status(&self) -> Vec<Status> {
        let state = self.lock();
        state
            .informers
            .values()
            .map(|informer| informer.status())
            .collect()
    }

    /// The factory has no part in this informer any more: it ends when the last of its handles is
    /// dropped, and whoever asks for it anew gets another one. Says whether the factory had it.
    pub fn forget<K: Send + Sync + 'static>(&self, informer: &SharedInformer<K>) -> bool {
        let mut state = self.lock();
        let before = state.informers.len();
        state.informers.retain(|_, it| {
            let same = it.any().downcast_ref::<SharedInformer<K>>();
            !same.is_some_and(|it| it.is_same(informer))
        });
        state.informers.len() < before
    }

    /// Stops all informers and waits until everything that belongs to them has ended. The factory can be
    /// used again after that, with new informers.
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

impl State {
    /// The informer that is the same and has not ended.
    fn known<K: Send + Sync + 'static>(&self, identity: &Identity) -> Option<SharedInformer<K>> {
        let known = self.informers.get(identity)?;
        let informer = known.any().downcast_ref::<SharedInformer<K>>()?;
        (!informer.is_stopped()).then(|| informer.clone())
    }

    /// Keeps an informer, unless somebody else has made the same meanwhile. Gives the one that is kept.
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

/// Waits for all at once, since the time of each begins when it is first polled. What they give comes in
/// their order.
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

/// An informer whose kind is not known here.
trait AnyInformer: Send + Sync {
    fn any(&self) -> &dyn Any;
    fn start(&self) -> Result<(), StartError>;
    fn stop(&self);
    fn is_stopped(&self) -> bool;
    fn status(&self) -> Status;
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

/// Some informers of a factory are not synced.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct NotAllSynced {
    /// Each of them, with its reason.
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
