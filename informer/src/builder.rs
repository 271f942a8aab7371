//! How an informer is set up.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use informer_core::decode::form::{LeanBody, MetadataBody};
use informer_core::decode::{self, Dynamic, Form, Lean, MetadataOnly, Typed, WithoutManagedFields};
use informer_core::indexer::{IndexError, IndexFn, StoreLimits};
use informer_core::informer::RejectedObject;
use informer_core::processor::{Backlog, ListenerConfig};
use informer_core::queue::{QueueKind, Transform, TransformError};
use informer_core::reflector::LastFailure;
use informer_core::transport::{Content, Target};
use informer_core::{InformerConfig, Object, ObjectKey};
use informer_indexers::selector::{FieldSelector, LabelSelector, SelectorError};

use crate::connect::Connect;
use crate::engine::{Core, Decoder, Shared};
use crate::error::{AddIndexError, BuildError};
use crate::factory::{Defaults, Meta, Tweak};
use crate::kind::Kind;
use crate::runtime::Runtime;
use crate::shared::SharedInformer;
use crate::status::Hooks;

/// How an informer is set up: what it follows, in which form, and how it behaves.
///
/// ```
/// use informer::{InformerBuilder, Target, by};
/// use std::time::Duration;
///
/// let builder = InformerBuilder::lean(Target::new("", "v1", "pods"))
///     .namespace("web")
///     .labels("app=shop")
///     .index("node", by::node_name())
///     .resync(Duration::from_secs(600))
///     .page_size(100);
/// # let _ = builder;
/// ```
pub struct InformerBuilder<K> {
    target: Target,
    tweaks: Vec<Arc<Tweak>>,
    decoder: Arc<dyn Fn(ManagedFields) -> Decoder<K> + Send + Sync>,
    managed_fields: ManagedFields,
    preset: InformerConfig,
    said: Said,
    listeners: ListenerConfig,
    transforms: Vec<TransformFn<K>>,
    indices: Vec<(String, IndexFn<Shared<K>>)>,
    hooks: Hooks,
    seed: Option<u64>,
}

/// What was said apart from the preset, which may be named before or after.
#[derive(Clone, Copy, Default)]
struct Said {
    resync: Option<Duration>,
    queue: Option<QueueKind>,
    /// 0 for what is usual.
    page_size: Option<u32>,
    limits: StoreLimits,
}

/// Whether `managedFields` reach the form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ManagedFields {
    Kept,
    Dropped,
}

impl<K: Kind> InformerBuilder<K> {
    /// Objects of a Rust type.
    #[must_use]
    pub fn typed() -> Self {
        Self::typed_at(K::target())
    }
}

impl<K: serde::de::DeserializeOwned + Send + Sync + 'static> InformerBuilder<K> {
    /// Objects of a Rust type that does not say where they are.
    #[must_use]
    pub fn typed_at(target: Target) -> Self {
        Self::of(target, Typed::new)
    }
}

impl InformerBuilder<LeanBody> {
    /// Objects as the server sent them, decoded when somebody asks: the least memory.
    #[must_use]
    pub fn lean(target: Target) -> Self {
        Self::of(target, || Lean)
    }
}

impl InformerBuilder<serde_json::Value> {
    /// Objects as JSON values, of any kind.
    #[must_use]
    pub fn dynamic(target: Target) -> Self {
        Self::of(target, || Dynamic)
    }
}

impl InformerBuilder<MetadataBody> {
    /// Only the metadata of objects, of any kind; the server sends nothing else.
    #[must_use]
    pub fn metadata(target: Target) -> Self {
        let target = Target {
            content: Content::Metadata,
            ..target
        };
        Self::of(target, || MetadataOnly)
    }
}

impl<K: Send + Sync + 'static> InformerBuilder<K> {
    /// Objects in a form of your own.
    #[must_use]
    pub fn of<F>(target: Target, form: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Form<Body = K> + Send + 'static,
    {
        Self {
            target,
            tweaks: Vec::new(),
            decoder: Arc::new(move |managed_fields| match managed_fields {
                ManagedFields::Dropped if !F::WITHOUT_MANAGED_FIELDS => {
                    Box::new(decode::Decoder::new(WithoutManagedFields(form())))
                }
                _ => Box::new(decode::Decoder::new(form())),
            }),
            managed_fields: if F::WITHOUT_MANAGED_FIELDS {
                ManagedFields::Dropped
            } else {
                ManagedFields::Kept
            },
            preset: InformerConfig::new(),
            said: Said::default(),
            listeners: ListenerConfig::new(),
            transforms: Vec::new(),
            indices: Vec::new(),
            hooks: Hooks::default(),
            seed: None,
        }
    }

    /// Only objects in this namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.target.namespace = Some(namespace.to_owned());
        self
    }

    /// Only objects with such labels; the server selects. A text or a [`LabelSelector`]; a text that is
    /// none is found when the informer is built.
    #[must_use]
    pub fn labels(mut self, selector: impl fmt::Display) -> Self {
        self.target = self.target.with_labels(selector);
        self
    }

    /// Only objects with such fields; the server selects, and knows only some fields. A text or a
    /// [`FieldSelector`]; a text that is none is found when the informer is built.
    #[must_use]
    pub fn fields(mut self, selector: impl fmt::Display) -> Self {
        self.target = self.target.with_fields(selector);
        self
    }

    /// Changes what is asked of the server in any other way, after all that is said here.
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Target) + Send + Sync + 'static) -> Self {
        self.tweaks.push(Arc::new(tweak));
        self
    }

    /// Objects without `metadata.managedFields`, which are often half of an object: they are cut out
    /// before the form sees them, so they cost neither time nor memory. [`lean`](Self::lean) and
    /// [`metadata`](Self::metadata) do without them in any case.
    #[must_use]
    pub const fn without_managed_fields(mut self) -> Self {
        self.managed_fields = ManagedFields::Dropped;
        self
    }

    /// How often handlers are shown the whole store again, unless they say otherwise: at least a second.
    /// The server is not asked for that.
    #[must_use]
    pub const fn resync(mut self, period: Duration) -> Self {
        self.said.resync = Some(period);
        self
    }

    /// Changes every object before it is kept: to drop what nobody needs, say. It must not change the
    /// key, must not panic, and may ask the informer for its store only.
    #[must_use]
    pub fn transform(
        mut self,
        transform: impl Fn(&mut Object<K>) -> Result<(), TransformError> + Send + Sync + 'static,
    ) -> Self {
        self.transforms = vec![Arc::new(transform)];
        self
    }

    /// Adds an index to the store. It must not panic, and may ask the informer for its store only.
    #[must_use]
    pub fn index(mut self, name: &str, function: IndexFn<Shared<K>>) -> Self {
        self.indices.push((name.to_owned(), function));
        self
    }

    /// Which queue lies between the server and the store.
    #[must_use]
    pub const fn queue(mut self, queue: QueueKind) -> Self {
        self.said.queue = Some(queue);
        self
    }

    /// All knobs at once: our default, client-go's, or anything between. What
    /// [`resync`](Self::resync), [`queue`](Self::queue), [`page_size`](Self::page_size),
    /// [`max_objects`](Self::max_objects) and [`max_bytes`](Self::max_bytes) say counts more, be it said
    /// before or after.
    #[must_use]
    pub const fn preset(mut self, config: InformerConfig) -> Self {
        self.preset = config;
        self
    }

    /// How many objects a page of a list has; 0 for what is usual.
    #[must_use]
    pub const fn page_size(mut self, objects: u32) -> Self {
        self.said.page_size = Some(objects);
        self
    }

    /// The most objects that the store holds; by default there is no limit. See
    /// [`max_bytes`](Self::max_bytes).
    #[must_use]
    pub const fn max_objects(mut self, objects: usize) -> Self {
        self.said.limits.objects = Some(objects);
        self
    }

    /// The most bytes of all objects of the store together, each counted as the server sent it; by
    /// default there is no limit. What they take in memory depends on the form.
    ///
    /// If the server has more, the informer says so: it fails with
    /// [`Failure::Full`](informer_core::Failure::Full) and is not fresh, the store holds a part of the
    /// state, and the full state is read again after a wait, until it fits. If the first state does not
    /// fit, [`synced`](SharedInformer::synced) fails with that reason.
    #[must_use]
    pub const fn max_bytes(mut self, bytes: u64) -> Self {
        self.said.limits.bytes = Some(bytes);
        self
    }

    /// What happens if a handler does not keep up, unless it says otherwise.
    #[must_use]
    pub const fn backlog(mut self, backlog: Backlog) -> Self {
        self.listeners.backlog = backlog;
        self
    }

    /// Is called for every failure: of a request, of a stream, of an answer. It should return soon.
    #[must_use]
    pub fn on_failure(
        mut self,
        hook: impl Fn(&LastFailure<String>) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.on_failure = Some(Arc::new(hook));
        self
    }

    /// Is called for every object that could not be used and was left out. It should return soon.
    #[must_use]
    pub fn on_rejected(
        mut self,
        hook: impl Fn(&RejectedObject<ObjectKey, String>) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.on_rejected = Some(Arc::new(hook));
        self
    }

    /// Everything random comes from this number: for tests. By default it comes from the operating
    /// system.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// What it follows, with its selectors as they are always written.
    ///
    /// # Errors
    /// A name or a selector cannot be one.
    pub fn target(&self) -> Result<Target, BuildError> {
        let mut target = self.target.clone();
        for tweak in &self.tweaks {
            tweak(&mut target);
        }
        target.check()?;
        target.labels = selector::<LabelSelector>(&target.labels)?;
        target.fields = selector::<FieldSelector>(&target.fields)?;
        Ok(target)
    }

    pub(crate) const fn managed_fields(&self) -> ManagedFields {
        self.managed_fields
    }

    /// Makes the informer. It does nothing before it is started.
    ///
    /// # Errors
    /// The configuration cannot work.
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
        let target = self.target()?;
        let seed = self.seed.unwrap_or_else(entropy);
        let decoder = (self.decoder)(self.managed_fields);
        let mut core: Core<K> = Core::new(decoder, self.said.over(self.preset), seed)?;
        if !self.transforms.is_empty() {
            core = core.with_transform(joined(self.transforms.clone()));
        }
        for (name, function) in &self.indices {
            core.add_index(name, function.clone())?;
        }
        let transport = connect.connect(&target)?;
        Ok(SharedInformer::new(
            target,
            core,
            transport,
            self.hooks.clone(),
            self.listeners,
            runtime,
        ))
    }

    /// What a factory adds where nothing was said.
    pub(crate) fn in_factory(mut self, defaults: &Defaults) -> Self {
        if let Some(transform) = defaults.transform.clone() {
            let any = move |object: &mut Object<K>| {
                let Object { key, labels, .. } = object;
                transform(Meta { key, labels })
            };
            self.transforms.insert(0, Arc::new(any));
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
        if defaults.without_managed_fields {
            self.managed_fields = ManagedFields::Dropped;
        }
        self
    }

    /// Adds the indices whose names an informer does not have yet.
    pub(crate) fn add_missing_indices(&self, to: &SharedInformer<K>) -> Result<(), BuildError> {
        for (name, function) in &self.indices {
            match to.add_index(name, function.clone()) {
                Ok(_) | Err(AddIndexError::Index(IndexError::NameTaken(_))) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Makes the informer and starts it, on the tokio runtime that this is called on.
    ///
    /// # Errors
    /// The configuration cannot work, or this is not called on a tokio runtime with timers.
    #[cfg(feature = "tokio")]
    pub fn start(&self, connect: &impl Connect) -> Result<SharedInformer<K>, BuildError> {
        let runtime = crate::runtime::Tokio::current().map_err(crate::error::StartError::from)?;
        let informer = self.build(connect, runtime)?;
        informer.start()?;
        Ok(informer)
    }

    /// Makes the informer and starts it, on threads of its own.
    ///
    /// # Errors
    /// The configuration cannot work, or there are no threads left.
    #[cfg(feature = "threads")]
    pub fn start_blocking(&self, connect: &impl Connect) -> Result<SharedInformer<K>, BuildError> {
        let informer = self.build(connect, crate::runtime::Threads::new())?;
        informer.start()?;
        Ok(informer)
    }
}

impl Said {
    /// What was said, and the preset where nothing was.
    fn over(self, mut preset: InformerConfig) -> InformerConfig {
        preset.resync = self.resync.or(preset.resync);
        preset.queue = self.queue.unwrap_or(preset.queue);
        if let Some(size) = self.page_size {
            preset.reflector.page_size = NonZeroU32::new(size);
        }
        preset.limits.objects = self.limits.objects.or(preset.limits.objects);
        preset.limits.bytes = self.limits.bytes.or(preset.limits.bytes);
        preset
    }
}

/// A selector as it is always written.
fn selector<S>(text: &str) -> Result<String, BuildError>
where
    S: FromStr<Err = SelectorError> + fmt::Display,
{
    match text.parse::<S>() {
        Ok(selector) => Ok(selector.to_string()),
        Err(error) => Err(BuildError::Selector {
            selector: text.to_owned(),
            error,
        }),
    }
}

type TransformFn<K> = Arc<dyn Fn(&mut Object<K>) -> Result<(), TransformError> + Send + Sync>;

/// One transform after the other.
fn joined<K: 'static>(transforms: Vec<TransformFn<K>>) -> Transform<Shared<K>> {
    Transform::new(move |object: &mut Shared<K>| {
        // It was just decoded, and nobody else has it.
        let object =
            Arc::get_mut(object).ok_or_else(|| TransformError::new("the object is in use"))?;
        transforms
            .iter()
            .try_for_each(|transform| transform(object))
    })
}

/// A number that nobody can guess.
fn entropy() -> u64 {
    RandomState::new().build_hasher().finish()
}

// A derived clone would ask for `K: Clone`.
impl<K> Clone for InformerBuilder<K> {
    fn clone(&self) -> Self {
        Self {
            target: self.target.clone(),
            tweaks: self.tweaks.clone(),
            decoder: Arc::clone(&self.decoder),
            managed_fields: self.managed_fields,
            preset: self.preset,
            said: self.said,
            listeners: self.listeners,
            transforms: self.transforms.clone(),
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
            .field("config", &self.said.over(self.preset))
            .finish_non_exhaustive()
    }
}
