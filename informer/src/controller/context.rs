//! What a reconciliation is given.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use informer_core::transport::{Caller, Target};
use informer_core::{Object, ObjectKey};
use informer_indexers::selector::LabelSelector;
use serde::Serialize;
use serde_json::{Value, json};

use super::source::{Source, find};
use crate::api::{Api, ApiError, Apply};
use crate::election::{Election, Guard};
use crate::error::NotReached;
use crate::kind::Kind;
use crate::lister::Lister;
use crate::shared::SharedInformer;
use crate::written::Written;

/// The index by the UID of the controller that every owned kind has.
pub(super) const CONTROLLER_INDEX: &str = "informer/controller";

/// How long to wait until the cache shows a write.
const SEEN_WITHIN: Duration = Duration::from_secs(30);

/// An object to reconcile, and what a reconciliation needs: the caches of the controller, and writes.
pub struct Context<B: Send + Sync + 'static> {
    pub(super) object: Object<B>,
    pub(super) guard: Option<Guard>,
    pub(super) surroundings: Arc<Surroundings>,
}

/// What all reconciliations of a controller share.
pub(super) struct Surroundings {
    pub(super) name: String,
    pub(super) owner: Owner,
    pub(super) sources: Vec<Box<dyn Source>>,
    pub(super) caller: Arc<dyn Caller>,
    pub(super) election: Option<Election>,
}

/// The kind that a controller is for.
#[derive(Clone, Debug)]
pub(crate) struct Owner {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

impl Owner {
    fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }
}

impl<B: Send + Sync + 'static> Context<B> {
    /// The object, from the cache.
    #[must_use]
    pub fn object(&self) -> &Object<B> {
        &self.object
    }

    /// Namespace and name of the object.
    #[must_use]
    pub fn key(&self) -> &ObjectKey {
        self.object.key()
    }

    /// A reader of the cache that keeps bodies of the type `S`: that of the kind itself, or else of the first
    /// owned or watched one.
    ///
    /// # Errors
    /// The controller does not follow such objects.
    pub fn lister<S: Send + Sync + 'static>(&self) -> Result<Lister<S>, NotFollowed> {
        Ok(self.informer::<S>()?.lister())
    }

    /// The objects of owned kinds that this object controls, of all those that are kept as `S`.
    ///
    /// # Errors
    /// The controller does not own such objects.
    pub fn owned<S: Send + Sync + 'static>(&self) -> Result<Vec<Object<S>>, NotFollowed> {
        let informers = self.surroundings.sources.iter();
        let informers = informers.filter_map(|source| source.informer().downcast_ref());
        let owned: Vec<_> = informers
            .filter_map(|informer: &SharedInformer<S>| {
                let lister = informer.lister();
                lister.by_index(CONTROLLER_INDEX, self.object.uid()).ok()
            })
            .collect();
        match owned.is_empty() {
            true => Err(NotFollowed::new::<S>("owns")),
            false => Ok(owned.into_iter().flatten().collect()),
        }
    }

    /// Reads and writes objects of a kind, in the name of this controller.
    #[must_use]
    pub fn api<S: Kind>(&self) -> Api<S> {
        let Surroundings { caller, name, .. } = &*self.surroundings;
        Api::over(Arc::clone(caller)).manager(name)
    }

    /// Applies an object that belongs to this one, with server-side apply, and waits until the caches that follow
    /// such objects show it.
    ///
    /// The controller is its manager, and takes fields that others have set. The object gets an owner
    /// reference, so it is deleted with this one and its changes come back to the controller; and the
    /// namespace of this object if it names none.
    ///
    /// # Errors
    /// The write failed, or the cache did not show it within 30 s. A retry does no harm.
    pub async fn apply<S: Kind + Serialize>(&self, object: &S) -> Result<Object<S>, ApplyError> {
        let mut api = self.api::<S>();
        if !self.key().namespace().is_empty() {
            api = api.namespace(self.key().namespace());
        }
        let object = serde_json::to_value(object);
        let mut object = object.map_err(|error| api.unusable("apply", &error))?;
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            let owners = metadata.entry("ownerReferences").or_insert(json!([]));
            if let Some(owners) = owners.as_array_mut() {
                owners.push(self.owner_reference());
            }
        }
        let how = Apply::by(&self.surroundings.name).force();
        let applied = api.apply(&how, &object).await?;
        let target = S::target();
        let written = Written {
            key: applied.key(),
            version: applied.version(),
            is_shown_by: &|source| follows(source, &target, &applied),
        };
        for source in &self.surroundings.sources {
            source.shows(written, SEEN_WITHIN).await?;
        }
        Ok(applied)
    }

    /// An owner reference to this object, as its controller, in JSON.
    #[must_use]
    pub fn owner_reference(&self) -> Value {
        let owner = &self.surroundings.owner;
        json!({
            "apiVersion": owner.api_version(),
            "kind": owner.kind,
            "name": self.key().name(),
            "uid": self.object.uid(),
            "controller": true,
            "blockOwnerDeletion": true,
        })
    }

    /// The [fencing token](Guard::fencing_token) of the term in which this reconciliation began, while it lasts:
    /// what you write to outside of Kubernetes can refuse a smaller one.
    #[must_use]
    pub fn fencing_token(&self) -> Option<u32> {
        let guard = self.guard.as_ref().filter(|guard| guard.holds())?;
        Some(guard.fencing_token())
    }

    /// The guard of the term in which this reconciliation began, if the controller is [led](super::Controller::led_by)
    /// by an election. Ask it before each step of long work without an `await`.
    #[must_use]
    pub const fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    fn informer<S: Send + Sync + 'static>(&self) -> Result<&SharedInformer<S>, NotFollowed> {
        find(&self.surroundings.sources).ok_or_else(|| NotFollowed::new::<S>("follows"))
    }
}

impl<B: Send + Sync + 'static> Clone for Context<B> {
    fn clone(&self) -> Self {
        Self {
            object: self.object.clone(),
            guard: self.guard.clone(),
            surroundings: Arc::clone(&self.surroundings),
        }
    }
}

impl<B: Send + Sync + 'static> fmt::Debug for Context<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("controller", &self.surroundings.name)
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}

/// Whether a source of one target shows what was written to another.
fn follows<S>(source: &Target, written: &Target, object: &Object<S>) -> bool {
    let is_same = source.group == written.group
        && source.version == written.version
        && source.plural == written.plural;
    let namespace = source.namespace.as_deref();
    let labels = || source.labels.parse::<LabelSelector>();
    is_same
        && source.fields.is_empty()
        && namespace.is_none_or(|namespace| namespace == object.key().namespace())
        && (source.labels.is_empty() || labels().is_ok_and(|labels| labels.matches(object)))
}

/// A controller does not follow the objects that a reconciliation asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotFollowed {
    verb: &'static str,
    body: &'static str,
}

impl NotFollowed {
    fn new<S>(verb: &'static str) -> Self {
        Self {
            verb,
            body: std::any::type_name::<S>(),
        }
    }
}

impl fmt::Display for NotFollowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, body } = self;
        write!(
            f,
            "the controller {verb} no objects of the type {body}; add `owns` or `watches` to it"
        )
    }
}

impl std::error::Error for NotFollowed {}

/// Why [`Context::apply`] failed.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ApplyError {
    /// The write failed.
    Api(ApiError),
    /// The object was written, but the cache does not show it.
    NotReached(NotReached),
}

impl From<ApiError> for ApplyError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<NotReached> for ApplyError {
    fn from(error: NotReached) -> Self {
        Self::NotReached(error)
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(error) => error.fmt(f),
            Self::NotReached(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ApplyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            Self::Api(error) => error,
            Self::NotReached(error) => error,
        })
    }
}
