//! Settings of an informer.

// The forms of objects.
mod forms;

// Functions of the user, and whether two of them are the same.
mod function;

// Settings that are functions.
mod functions;

// What requests for the same informer have in common.
mod settings;

// What an informer follows.
mod targets;

use std::any::TypeId;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use informer_core::decode::{self, Form, Keep};
use informer_core::indexer::{IndexFn, StoreLimits};
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::{QueueKind, Transform, TransformError};
use informer_core::reflector::{GoneConfig, WhenGone};
use informer_core::transport::Target;
use informer_core::{Encodings, InformerConfig, Object};
use informer_indexers::IntoIndex;

use crate::connect::Connect;
use crate::engine::{Core, Decoder};
use crate::error::BuildError;
use crate::factory::{Defaults, Meta, Tweak};
use crate::hooks::Hooks;
use crate::indices::{NAMESPACE_INDEX, built_in, check as check_index};
use crate::runtime::Runtime;
use crate::shared::{Parts, SharedInformer};
pub(crate) use function::{Function, FunctionId, Likeness};
pub(crate) use settings::{Identity, Settings};
use targets::name_of;
pub(crate) use targets::{canonical, check_kind, in_same_form};

/// Settings of an informer: what it follows, in which form it keeps objects, and how it behaves.
///
/// ```
/// use informer::{InformerBuilder, Target, by};
/// use std::time::Duration;
/// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
/// # let pod = serde_json::json!({
/// #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}},
/// #     "spec": {"nodeName": "node-1"}
/// # });
/// # server.with(|server| server.create("pods", pod))?;
///
/// let builder = InformerBuilder::lean_at(Target::new("", "v1", "pods"))
///     .namespace("web")
///     .labels("app = shop")
///     .index("node", by::node_name())
///     .resync(Duration::from_secs(600))
///     .page_size(100);
/// assert_eq!(builder.target()?.to_string(), "pods.v1 in web with labels app=shop");
///
/// // `server` is a mock API server with a pod of this app on node-1.
/// let pods = builder.start(&server.connect())?;
/// pods.synced(Duration::from_secs(30)).await?;
/// assert_eq!(pods.lister().by_index("node", "node-1")?.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// Settings may come in any order. A builder can build any number of informers. Mistakes in names and
/// selectors are reported when you build one.
pub struct InformerBuilder<K> {
    target: Target,
    /// Where to follow it, instead of its own namespace.
    namespaces: Option<Vec<String>>,
    /// What else to follow.
    more: Vec<Target>,
    /// The cluster that keys name; empty for none.
    cluster: String,
    tweaks: Vec<Arc<Tweak>>,
    /// The type of the form.
    form: TypeId,
    decoder: Function<MakeDecoder<K>>,
    kept: Kept,
    preset: InformerConfig,
    said: Said,
    listeners: ListenerConfig,
    /// Runs before the own transform of the informer.
    factory_transform: Option<TransformFn<K>>,
    transform: Option<Function<TransformAny<K>>>,
    /// Makes the last transform of an informer, which packs the objects.
    pack: Option<fn() -> TransformFn<K>>,
    pub(crate) indices: Vec<(String, IndexFn<Object<K>>)>,
    hooks: Hooks,
    seed: Option<u64>,
}

/// Explicit settings. They are kept apart from the preset because they win over it in any order.
#[derive(Clone, Copy, Default)]
struct Said {
    resync: Option<Duration>,
    queue: Option<QueueKind>,
    /// 0 means the default.
    page_size: Option<u32>,
    limits: StoreLimits,
    when_gone: Option<WhenGone>,
}

/// What is kept beyond what the form keeps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Kept {
    pub(crate) managed_fields: bool,
    /// Whether objects have annotations, by their form or because you asked for it.
    pub(crate) annotations: bool,
}

impl<K: Send + Sync + 'static> InformerBuilder<K> {
    /// Keeps objects in your own form.
    ///
    /// If the form reads one encoding, the server is asked for that one. If it reads both, the target
    /// [decides](Target::accepting).
    #[must_use]
    pub fn of<F>(target: Target, form: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Form<Body = K> + Send + 'static,
    {
        let annotations = form().has_annotations();
        let decoder = move |kept: Kept| -> Decoder<K> {
            let form = Keep::new(form()).managed_fields(kept.managed_fields);
            Box::new(decode::Decoder::new(form.annotations(kept.annotations)))
        };
        // Two forms of a type without state are the same form.
        let identity = if size_of::<F>() == 0 {
            FunctionId::of_type::<F>()
        } else {
            FunctionId::of(&decoder)
        };
        Self {
            target: match F::ENCODINGS {
                Encodings::ProtobufOrJson => target,
                only => target.accepting(only),
            },
            namespaces: None,
            more: Vec::new(),
            cluster: String::new(),
            tweaks: Vec::new(),
            kept: Kept {
                managed_fields: false,
                annotations,
            },
            form: TypeId::of::<F>(),
            decoder: Function::new(Arc::new(decoder), identity),
            preset: InformerConfig::new(),
            said: Said::default(),
            listeners: ListenerConfig::new(),
            factory_transform: None,
            transform: None,
            pack: None,
            indices: Vec::new(),
            hooks: Hooks::default(),
            seed: None,
        }
    }

    /// Keeps objects in your own form, as [`of`](Self::of) does, and gives the function that makes the form
    /// a name. A [factory](crate::SharedInformerFactory::informer) needs it to tell forms with a state from
    /// each other if the function captures something.
    #[must_use]
    pub fn of_named<F>(
        target: Target,
        name: &str,
        form: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Form<Body = K> + Send + 'static,
    {
        let mut builder = Self::of(target, form);
        builder.decoder = builder.decoder.named(name);
        builder
    }

    /// Keeps `metadata.managedFields`, which records which client set which field.
    ///
    /// It is often half of an object, and few programs read it. So every form drops it by default,
    /// before it costs time or memory.
    #[must_use]
    pub const fn keep_managed_fields(mut self) -> Self {
        self.kept.managed_fields = true;
        self
    }

    /// Keeps `metadata.annotations` beside typed objects whose type does not have them, so that
    /// [`Object::annotation`] and [`by::annotation`](crate::by::annotation) find them.
    ///
    /// All other objects have their annotations anyway: those of `k8s-openapi` types in the object itself,
    /// and lean, packed, metadata and dynamic objects in what they keep.
    #[must_use]
    pub const fn keep_annotations(mut self) -> Self {
        self.kept.annotations = true;
        self
    }

    /// Sets how often handlers get the whole cache again, at least one second. A handler can have its own
    /// period. A resync sends no request to the server.
    #[must_use]
    pub const fn resync(mut self, period: Duration) -> Self {
        self.said.resync = Some(period);
        self
    }

    /// Adds an index to the cache: a function of [`by`](crate::by), or a closure that returns the values
    /// of an object, as a string, a number, or an `Option` or `Vec` of these. The closure must not panic,
    /// and may only read the cache of the informer.
    ///
    /// Look a value up with [`Lister::by_index`](crate::Lister::by_index), as the same type. Every cache
    /// has an index by namespace: see [`NAMESPACE_INDEX`](crate::NAMESPACE_INDEX).
    ///
    /// ```
    /// use informer::{InformerBuilder, Object, Target, by};
    /// # use informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = MockServer::new(ServerConfig::new(1), VirtualClock::new());
    /// # let pod = serde_json::json!({
    /// #     "metadata": {"namespace": "web", "name": "shop-1", "labels": {"app": "shop"}},
    /// #     "spec": {"priority": 7, "nodeName": "node-1"}
    /// # });
    /// # server.with(|server| server.create("pods", pod))?;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Pod {
    ///     spec: Spec,
    /// }
    /// #[derive(serde::Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Spec {
    ///     node_name: Option<String>,
    ///     priority: i32,
    /// }
    ///
    /// // `server` is a mock API server with a pod of priority 7 on node-1.
    /// let pods = InformerBuilder::<Pod>::typed_at(Target::new("", "v1", "pods"))
    ///     .index("app", by::label("app"))
    ///     .index("node", |pod: &Object<Pod>| pod.spec.node_name.clone())
    ///     .index("priority", |pod: &Object<Pod>| pod.spec.priority)
    ///     .start(&server.connect())?;
    /// pods.synced(std::time::Duration::from_secs(30)).await?;
    /// assert_eq!(pods.lister().by_index("app", "shop")?.len(), 1);
    /// assert_eq!(pods.lister().by_index("node", "node-1")?.len(), 1);
    /// assert_eq!(pods.lister().by_index("priority", 7)?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn index<M>(mut self, name: &str, index: impl IntoIndex<Object<K>, M>) -> Self {
        self.indices.push((name.to_owned(), index.into_index()));
        self
    }

    /// Selects the queue between the server and the cache.
    #[must_use]
    pub const fn queue(mut self, queue: QueueKind) -> Self {
        self.said.queue = Some(queue);
        self
    }

    /// Sets the whole configuration: our default, that of client-go, or your own. The settings
    /// [`resync`](Self::resync), [`queue`](Self::queue), [`page_size`](Self::page_size),
    /// [`max_objects`](Self::max_objects), [`max_bytes`](Self::max_bytes) and [`when_gone`](Self::when_gone) win
    /// over it, in any order.
    #[must_use]
    pub const fn preset(mut self, config: InformerConfig) -> Self {
        self.preset = config;
        self
    }

    /// Sets how many objects one page of a list has. 0 means the default of
    /// [`ReflectorConfig`](informer_core::reflector::ReflectorConfig).
    #[must_use]
    pub const fn page_size(mut self, objects: u32) -> Self {
        self.said.page_size = Some(objects);
        self
    }

    /// Limits how many objects the cache holds. There is no limit by default. See
    /// [`max_bytes`](Self::max_bytes) for what happens at the limit.
    #[must_use]
    pub const fn max_objects(mut self, objects: usize) -> Self {
        self.said.limits.objects = Some(objects);
        self
    }

    /// Limits the total size of the objects in the cache, in bytes as the server sent them. There is no
    /// limit by default. How much memory they take depends on the form.
    ///
    /// If the server has more, the informer fails with [`Failure::Full`](informer_core::Failure::Full) and
    /// is not fresh. The cache then holds only a part of the state. The informer relists with back-off
    /// until everything fits. If the first state does not fit, [`synced`](SharedInformer::synced) fails
    /// with this reason.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.said.limits.bytes = Some(bytes);
        self
    }

    /// Sets what happens while the server does not serve the kind, because its CRD is not installed yet or was
    /// deleted. By default the cache keeps its last state, and is not [fresh](SharedInformer::is_fresh). In any
    /// case [`Status::gone`](crate::Status::gone) and [`explain`](crate::Status::explain) say so.
    ///
    /// The informer tries again after 2 s, and then less and less often, up to once in two minutes at the latest.
    /// [`retry_now`](SharedInformer::retry_now) ends the wait. With [`WhenGone::Stop`] it ends instead.
    #[must_use]
    pub const fn when_gone(mut self, then: WhenGone) -> Self {
        self.said.when_gone = Some(then);
        self
    }

    /// Sets what happens when a handler does not keep up. A handler can have its own policy.
    #[must_use]
    pub const fn backlog(mut self, backlog: Backlog) -> Self {
        self.listeners.backlog = backlog;
        self
    }

    /// Seeds everything random, for tests. The default seed comes from the operating system.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Builds the informer. It does nothing before you start it.
    ///
    /// # Errors
    /// The configuration is invalid, or there is no transport for the target.
    pub fn build(
        &self,
        connect: &impl Connect,
        runtime: impl Runtime + 'static,
    ) -> Result<SharedInformer<K>, BuildError> {
        self.build_on(connect, Arc::new(runtime))
    }

    pub(crate) fn build_on(
        &self,
        connect: &impl Connect,
        runtime: Arc<dyn Runtime>,
    ) -> Result<SharedInformer<K>, BuildError> {
        let (target, targets) = (self.target()?, self.targets()?);
        let seed = self.seed.unwrap_or_else(entropy);
        let mut core: Core<K> = Core::without_sources(self.said.over(self.preset), seed)?;
        let own = self.transform.as_ref().map(|it| Arc::clone(&it.call));
        let pack = self.pack.map(|pack| pack());
        let transforms = [self.factory_transform.clone(), own, pack];
        let transforms: Vec<_> = transforms.into_iter().flatten().collect();
        if !transforms.is_empty() {
            core = core.with_transform(joined(transforms));
        }
        for (name, function) in &self.indices {
            check_index(name, function, self.kept.annotations)?;
            core.add_index(name, function.clone())?;
        }
        if let Some(by_namespace) = built_in(&self.indices) {
            core.add_index(NAMESPACE_INDEX, by_namespace)?;
        }
        let (decoder, kept) = (Arc::clone(&self.decoder.call), self.kept);
        let parts = Parts {
            listeners: self.listeners,
            annotated: kept.annotations,
            hooks: self.hooks.clone(),
            decoder: Box::new(move || decoder(kept)),
            cluster: self.cluster.clone(),
        };
        let name = name_of(&target, &targets);
        let informer = SharedInformer::new(name, target, core, parts, runtime);
        for target in targets {
            let transport = connect.connect(&target)?;
            informer.handle().attach(&self.cluster, target, transport)?;
        }
        Ok(informer)
    }

    /// Adds the defaults of a factory to the settings that are not set.
    pub(crate) fn in_factory(mut self, defaults: &Defaults) -> Self {
        if let Some(transform) = defaults.transform.clone() {
            let any = move |object: &mut Object<K>| transform(Meta { object });
            self.factory_transform = Some(Arc::new(any));
        }
        if let Some(namespace) = defaults.namespace.clone() {
            let named = move |target: &mut Target| {
                target.namespace.get_or_insert_with(|| namespace.clone());
            };
            self.tweaks.push(Arc::new(named));
        }
        self.tweaks.extend(defaults.tweak.clone());
        let InformerConfig { resync, limits, .. } = self.said.over(self.preset);
        self.said.resync = resync.or(defaults.resync);
        self.said.limits.objects = limits.objects.or(defaults.limits.objects);
        self.said.limits.bytes = limits.bytes.or(defaults.limits.bytes);
        self.kept.managed_fields |= defaults.keep_managed_fields;
        self
    }

    /// Builds the informer and starts it on the current tokio runtime.
    ///
    /// # Errors
    /// The configuration is invalid, there is no transport for the target, or the caller is not on a tokio
    /// runtime with timers.
    #[cfg(feature = "tokio")]
    pub fn start(&self, connect: &impl Connect) -> Result<SharedInformer<K>, BuildError> {
        let runtime = crate::runtime::Tokio::current().map_err(crate::error::StartError::from)?;
        let informer = self.build(connect, runtime)?;
        informer.start()?;
        Ok(informer)
    }

    /// Builds the informer and starts it on its own threads, without an async runtime.
    ///
    /// With the feature `hyper`, a `Client` can be created and used without one, too.
    ///
    /// # Errors
    /// The configuration is invalid, there is no transport for the target, or no thread can be started.
    #[cfg(feature = "threads")]
    pub fn start_blocking(&self, connect: &impl Connect) -> Result<SharedInformer<K>, BuildError> {
        let informer = self.build(connect, crate::runtime::Threads::new())?;
        informer.start()?;
        Ok(informer)
    }
}

impl Said {
    /// The preset with the explicit settings applied.
    fn over(self, mut preset: InformerConfig) -> InformerConfig {
        preset.resync = self.resync.or(preset.resync);
        preset.queue = self.queue.unwrap_or(preset.queue);
        if let Some(size) = self.page_size {
            preset.reflector.page_size = NonZeroU32::new(size);
        }
        if let Some(then) = self.when_gone {
            let gone = preset.reflector.gone.unwrap_or_default();
            preset.reflector.gone = Some(GoneConfig { then, ..gone });
        }
        preset.limits.objects = self.limits.objects.or(preset.limits.objects);
        preset.limits.bytes = self.limits.bytes.or(preset.limits.bytes);
        preset
    }
}

type MakeDecoder<K> = dyn Fn(Kept) -> Decoder<K> + Send + Sync;
type TransformAny<K> = dyn Fn(&mut Object<K>) -> Result<(), TransformError> + Send + Sync;
type TransformFn<K> = Arc<TransformAny<K>>;

/// Runs the transforms in order.
fn joined<K: 'static>(transforms: Vec<TransformFn<K>>) -> Transform<Object<K>> {
    Transform::new(move |object: &mut Object<K>| {
        transforms
            .iter()
            .try_for_each(|transform| transform(object))
    })
}

/// A seed from the operating system.
pub(crate) fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

// A derived `Clone` would require `K: Clone`.
impl<K> Clone for InformerBuilder<K> {
    fn clone(&self) -> Self {
        Self {
            target: self.target.clone(),
            namespaces: self.namespaces.clone(),
            more: self.more.clone(),
            cluster: self.cluster.clone(),
            tweaks: self.tweaks.clone(),
            form: self.form,
            decoder: self.decoder.clone(),
            kept: self.kept,
            preset: self.preset,
            said: self.said,
            listeners: self.listeners,
            factory_transform: self.factory_transform.clone(),
            transform: self.transform.clone(),
            pack: self.pack,
            indices: self.indices.clone(),
            hooks: self.hooks.clone(),
            seed: self.seed,
        }
    }
}

impl<K> fmt::Debug for InformerBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerBuilder")
            .field("target", &self.target)
            .field("namespaces", &self.namespaces)
            .field("more", &self.more)
            .field("config", &self.said.over(self.preset))
            .finish_non_exhaustive()
    }
}
