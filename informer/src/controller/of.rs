//! A whole controller in a few lines: informers, queue and workers put together.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use informer_core::workqueue::RateLimiter;
use informer_core::{Object, ObjectKey};
use informer_indexers::by;

use super::context::{CONTROLLER_INDEX, Context, Owner, Surroundings};
use super::failure::Failed;
use super::handle::ControllerHandle;
use super::predicate::Predicate;
use super::race::unless;
use super::running::{RunError, Running, work};
use super::source::{AnyClient, Ground, Start, start};
use super::{Controller, Next, enqueue};
use crate::builder::InformerBuilder;
use crate::connect::{Calls, Connect};
use crate::election::Election;
use crate::error::BuildError;
use crate::kind::Kind;
use crate::runtime::Runtime;

/// A controller of one kind that is not running yet: see [`Controller::of`].
///
/// `B` is what the cache keeps of an object; that is the type itself, unless [`with`](Self::with) chooses
/// another form.
pub struct ControllerBuilder<B: Send + Sync + 'static> {
    client: AnyClient,
    owner: Owner,
    name: String,
    namespace: Option<String>,
    informer: InformerBuilder<B>,
    predicate: Option<Predicate<B>>,
    others: Vec<Other>,
    workers: usize,
    grace: Duration,
    settings: Vec<Setting>,
    election: Option<Election>,
    handle: ControllerHandle,
    shutdown: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

/// Sets what a controller can be told.
type Setting = Box<dyn FnOnce(Controller<ObjectKey>) -> Controller<ObjectKey> + Send>;

/// Makes the informer of another kind, in the namespace of the controller if it has one.
type Other = Box<dyn FnOnce(Option<&str>) -> Start + Send>;

impl Controller<ObjectKey> {
    /// A controller of one kind: its objects, and those that belong to them, are followed, and each object
    /// that may need work is reconciled.
    ///
    #[cfg_attr(feature = "mock", doc = "```")]
    #[cfg_attr(not(feature = "mock"), doc = "```ignore")]
    /// use informer::Kind;
    /// use informer::controller::{Context, Controller, Next};
    /// # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Serialize, Deserialize)]
    /// # struct ConfigMap { metadata: serde_json::Value }
    /// # impl Kind for ConfigMap {
    /// #     const GROUP: &'static str = "";
    /// #     const VERSION: &'static str = "v1";
    /// #     const KIND: &'static str = "ConfigMap";
    /// #     const PLURAL: &'static str = "configmaps";
    /// # }
    /// # #[derive(Serialize, Deserialize)]
    /// # struct Secret { metadata: serde_json::Value }
    /// # impl Kind for Secret {
    /// #     const GROUP: &'static str = "";
    /// #     const VERSION: &'static str = "v1";
    /// #     const KIND: &'static str = "Secret";
    /// #     const PLURAL: &'static str = "secrets";
    /// # }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let stop = async {};
    ///
    /// async fn reconcile(map: Context<ConfigMap>) -> Result<Next, Box<dyn std::error::Error + Send + Sync>> {
    ///     println!("{} has {} secrets", map.key(), map.owned::<Secret>()?.len());
    ///     Ok(Next::Done)
    /// }
    ///
    /// // `client` is a client of an API server, or a mock server; `stop` is a future.
    /// Controller::of::<ConfigMap>(&client)
    ///     .owns::<Secret>()
    ///     .max_concurrent(2)
    ///     .shutdown_on(stop)
    ///     .run(reconcile)
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Work begins when all caches hold their first full state. Objects that are gone are not reconciled: what
    /// they own goes with them, and for other cleaning up there are finalizers.
    ///
    /// The parts can be used one by one, too: see the [module](super).
    #[must_use]
    pub fn of<K: Kind>(
        client: &(impl Connect + Calls + Clone + Send + Sync + 'static),
    ) -> ControllerBuilder<K> {
        let owner = Owner {
            group: K::GROUP.to_owned(),
            version: K::VERSION.to_owned(),
            kind: K::KIND.to_owned(),
        };
        ControllerBuilder::new(AnyClient::new(client), owner, InformerBuilder::typed())
    }
}

impl<B: Send + Sync + 'static> ControllerBuilder<B> {
    pub(crate) fn new(client: AnyClient, owner: Owner, informer: InformerBuilder<B>) -> Self {
        Self {
            client,
            name: format!("{}-controller", owner.kind.to_lowercase()),
            owner,
            namespace: None,
            informer,
            predicate: None,
            others: Vec::new(),
            workers: 4,
            grace: Duration::from_secs(20),
            settings: Vec::new(),
            election: None,
            handle: ControllerHandle::default(),
            shutdown: None,
        }
    }

    /// Names the controller, in logs and as the manager of the fields that it writes. The default is the kind:
    /// `configmap-controller`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Follows the kind and those that it owns in one namespace only.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Changes how objects of the kind are followed: selectors, indices, resync, limits.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(InformerBuilder<B>) -> InformerBuilder<B>) -> Self {
        self.informer = change(self.informer);
        self
    }

    /// Follows objects of the kind in another form. Set a predicate after this.
    ///
    /// ```
    /// # use informer::controller::ControllerBuilder;
    /// # use informer::{InformerBuilder, Kind, PackedBody};
    /// # fn packed<Pod: Kind>(controller: ControllerBuilder<Pod>) -> ControllerBuilder<PackedBody<Pod>> {
    /// controller.in_form(InformerBuilder::<Pod>::packed().labels("app=shop"))
    /// # }
    /// ```
    #[must_use]
    pub fn in_form<F: Send + Sync + 'static>(
        self,
        informer: InformerBuilder<F>,
    ) -> ControllerBuilder<F> {
        ControllerBuilder {
            client: self.client,
            owner: self.owner,
            name: self.name,
            namespace: self.namespace,
            informer,
            predicate: None,
            others: self.others,
            workers: self.workers,
            grace: self.grace,
            settings: self.settings,
            election: self.election,
            handle: self.handle,
            shutdown: self.shutdown,
        }
    }

    /// Reconciles an object only after changes that matter.
    #[must_use]
    pub fn when(mut self, predicate: Predicate<B>) -> Self {
        self.predicate = Some(predicate);
        self
    }

    /// Follows the objects of a kind that belong to those of this controller: those whose controlling owner
    /// reference names one. Their changes reconcile the owner.
    #[must_use]
    pub fn owns<S: Kind>(self) -> Self {
        self.owns_with(InformerBuilder::<S>::typed())
    }

    /// Follows owned objects, as [`owns`](Self::owns) does, as you say: in another form, or selected.
    #[must_use]
    pub fn owns_with<S: Send + Sync + 'static>(mut self, informer: InformerBuilder<S>) -> Self {
        let Owner { group, kind, .. } = self.owner.clone();
        self.others.push(Box::new(move |namespace| {
            let informer =
                placed(informer, namespace).index(CONTROLLER_INDEX, by::controller_uid());
            start(informer, move |queue| {
                enqueue::controller_of(queue, group, kind)
            })
        }));
        self
    }

    /// Follows the objects of another kind, in all namespaces. Their changes reconcile the objects that `map`
    /// names; for an update it is called for the old and the new state.
    #[must_use]
    pub fn watches<S: Kind>(
        self,
        map: impl Fn(&Object<S>) -> Vec<ObjectKey> + Send + 'static,
    ) -> Self {
        self.watches_with(InformerBuilder::<S>::typed(), map)
    }

    /// Follows other objects, as [`watches`](Self::watches) does, as you say.
    #[must_use]
    pub fn watches_with<S: Send + Sync + 'static>(
        mut self,
        informer: InformerBuilder<S>,
        map: impl Fn(&Object<S>) -> Vec<ObjectKey> + Send + 'static,
    ) -> Self {
        let other = move |_: Option<&str>| start(informer, move |queue| enqueue::by(queue, map));
        self.others.push(Box::new(other));
        self
    }

    /// How many objects are reconciled at the same time, at most. Default 4, and at least one. The same object
    /// never is.
    #[must_use]
    pub fn max_concurrent(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Chooses the delays of retries: see [`Controller::limiter`].
    #[must_use]
    pub fn limiter(self, limiter: impl RateLimiter<ObjectKey> + Send + 'static) -> Self {
        self.set(|controller| controller.limiter(limiter))
    }

    /// Gives an object up after this many retries: see [`Controller::max_retries`].
    #[must_use]
    pub fn max_retries(self, most: u32) -> Self {
        self.set(move |controller| controller.max_retries(most))
    }

    /// Waits this long for further changes: see [`Controller::debounce`].
    #[must_use]
    pub fn debounce(self, time: Duration) -> Self {
        self.set(move |controller| controller.debounce(time))
    }

    /// Calls `hook` after each failure: see [`Controller::on_error`].
    #[must_use]
    pub fn on_error(self, hook: impl Fn(&Failed<'_, ObjectKey>) + Send + Sync + 'static) -> Self {
        self.set(|controller| controller.on_error(hook))
    }

    fn set(
        mut self,
        setting: impl FnOnce(Controller<ObjectKey>) -> Controller<ObjectKey> + Send + 'static,
    ) -> Self {
        self.settings.push(Box::new(setting));
        self
    }

    /// Works only while this replica leads: see [`Controller::led_by`]. The caches of all replicas are warm.
    #[must_use]
    pub fn led_by(mut self, election: &Election) -> Self {
        self.election = Some(election.clone());
        let election = election.clone();
        self.set(move |controller| controller.led_by(&election))
    }

    /// How long reconciliations may take to finish after the shutdown has begun. Default 20 s, which fits the
    /// 30 s that a pod has.
    #[must_use]
    pub const fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Shuts the controller down when this future is ready. Without it, the controller runs until its future is
    /// dropped.
    #[must_use]
    pub fn shutdown_on(mut self, shutdown: impl Future<Output = ()> + Send + 'static) -> Self {
        self.shutdown = Some(Box::pin(shutdown));
        self
    }

    /// Shuts the controller down on SIGTERM, as a pod gets it, and on Ctrl-C.
    #[cfg(feature = "signal")]
    #[must_use]
    pub fn shutdown_on_signal(self) -> Self {
        self.shutdown_on(super::signal::shutdown())
    }

    /// A handle that says what the controller is doing while it runs.
    #[must_use]
    pub fn handle(&self) -> ControllerHandle {
        self.handle.clone()
    }

    /// Runs the controller on the current tokio runtime, until its shutdown.
    ///
    /// # Errors
    /// It cannot start, an informer has ended, or reconciliations did not finish in time.
    #[cfg(feature = "tokio")]
    pub async fn run<R, E>(
        self,
        reconcile: impl Fn(Context<B>) -> R + Send + Sync + 'static,
    ) -> Result<(), RunError>
    where
        R: Future<Output = Result<Next, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    {
        let runtime = crate::runtime::Tokio::current()?;
        self.run_on(runtime, reconcile).await
    }

    /// Runs the controller as [`run`](Self::run) does, on a runtime of your choice.
    ///
    /// # Errors
    /// It cannot start, an informer has ended, or reconciliations did not finish in time.
    pub async fn run_on<R, E>(
        self,
        runtime: impl Runtime + 'static,
        reconcile: impl Fn(Context<B>) -> R + Send + Sync + 'static,
    ) -> Result<(), RunError>
    where
        R: Future<Output = Result<Next, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    {
        let runtime: Arc<dyn Runtime> = Arc::new(runtime);
        let mut controller = Controller::on(Arc::clone(&runtime)).named(self.name.clone());
        for set in self.settings {
            controller = set(controller);
        }
        let caller = self.client.caller().map_err(BuildError::from)?;
        let ground = Ground {
            client: &self.client,
            runtime: &runtime,
            queue: &controller.queue,
        };
        let namespace = self.namespace.as_deref();
        let predicate = self.predicate;
        let first = start(placed(self.informer, namespace), move |queue| {
            let matters = predicate.unwrap_or_else(|| Predicate::new(|_, _| true));
            matters.before(enqueue::this(queue))
        });
        let mut sources = vec![first(&ground)?];
        for other in self.others {
            sources.push(other(namespace)(&ground)?);
        }
        let surroundings = Arc::new(Surroundings {
            name: self.name,
            owner: self.owner,
            sources,
            caller,
            election: self.election,
        });
        self.handle.open(&controller.queue, &surroundings);
        let running = Running {
            queue: controller.queue(),
            surroundings,
        };
        let never = || Box::pin(std::future::pending()) as Pin<Box<dyn Future<Output = ()> + Send>>;
        let mut shutdown = self.shutdown.unwrap_or_else(never);
        if let Some(synced) = unless(&mut shutdown, running.synced()).await {
            synced?;
            let work = work::<B, R, E>(&running.surroundings, reconcile);
            controller.start(self.workers, work)?;
            if let Some(ended) = unless(shutdown, running.ended()).await {
                return Err(ended);
            }
        }
        let finished = controller.stop_within(self.grace).await;
        for source in &running.surroundings.sources {
            source.stop();
            source.join().await;
        }
        Ok(finished?)
    }
}

fn placed<S: Send + Sync + 'static>(
    informer: InformerBuilder<S>,
    namespace: Option<&str>,
) -> InformerBuilder<S> {
    match namespace {
        Some(namespace) => informer.namespace(namespace),
        None => informer,
    }
}

impl<B: Send + Sync + 'static> fmt::Debug for ControllerBuilder<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerBuilder")
            .field("name", &self.name)
            .field("owner", &self.owner)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}
