//! What an event is about.

use informer_core::{Object, ObjectKey};
#[cfg(feature = "kube")]
use informer_transport_kube::k8s_openapi::api::core::v1::ObjectReference;
use serde::Serialize;

use crate::kind::Kind;

/// Refers to an object that an event is about.
///
/// ```
/// use informer::events::Reference;
/// use informer::{Kind, Object};
///
/// #[derive(serde::Deserialize)]
/// struct Deployment {}
/// impl Kind for Deployment {
///     const GROUP: &'static str = "apps";
///     const VERSION: &'static str = "v1";
///     const KIND: &'static str = "Deployment";
///     const PLURAL: &'static str = "deployments";
/// }
///
/// let shop = Object::builder("web/shop".parse()?).uid("u-1").version("7").body(Deployment {});
/// // An object whose type is a kind is a reference by itself.
/// let reference = Reference::from(&shop);
/// // An object of another form needs the type, or its names.
/// let shop = Object::builder("web/shop".parse()?).uid("u-1").version("7").body(());
/// assert_eq!(Reference::to::<Deployment>(&shop), reference);
/// assert_eq!(Reference::to_kind("apps/v1", "Deployment", &shop), reference);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reference {
    api_version: String,
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    namespace: String,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(rename = "resourceVersion", skip_serializing_if = "String::is_empty")]
    version: String,
}

impl Reference {
    /// Refers to an object by its key. If you know the UID, set it: tools find the events of an object by
    /// it.
    pub fn new(api_version: impl Into<String>, kind: impl Into<String>, key: &ObjectKey) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: key.namespace().to_owned(),
            name: key.name().to_owned(),
            uid: String::new(),
            version: String::new(),
        }
    }

    /// Refers to an object in any form, by the type of its kind.
    #[must_use]
    pub fn to<K: Kind>(object: &Object<impl Sized>) -> Self {
        let api_version = match K::GROUP {
            "" => K::VERSION.to_owned(),
            group => format!("{group}/{}", K::VERSION),
        };
        Self::to_kind(api_version, K::KIND, object)
    }

    /// Refers to an object in any form, by the names of its kind: `apps/v1`, `Deployment`.
    pub fn to_kind(
        api_version: impl Into<String>,
        kind: impl Into<String>,
        object: &Object<impl Sized>,
    ) -> Self {
        Self::new(api_version, kind, object.key())
            .uid(object.uid())
            .version(object.version())
    }

    /// Sets the UID.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = uid.into();
        self
    }

    /// Sets the `resourceVersion`.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = version.into();
        self
    }

    /// The namespace; empty for an object of the cluster.
    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The object, whatever its version.
    pub(super) fn identity(&self) -> impl Eq + std::hash::Hash + use<'_> {
        let Self {
            api_version,
            kind,
            namespace,
            name,
            uid,
            version: _,
        } = self;
        [api_version, kind, namespace, name, uid]
    }
}

impl<K: Kind> From<&Object<K>> for Reference {
    fn from(object: &Object<K>) -> Self {
        Self::to::<K>(object)
    }
}

impl From<&Self> for Reference {
    fn from(reference: &Self) -> Self {
        reference.clone()
    }
}

/// From what [`object_reference`](crate::kube::object_reference) makes of the types of kube-rs.
#[cfg(feature = "kube")]
impl From<ObjectReference> for Reference {
    fn from(reference: ObjectReference) -> Self {
        Self {
            api_version: reference.api_version.unwrap_or_default(),
            kind: reference.kind.unwrap_or_default(),
            namespace: reference.namespace.unwrap_or_default(),
            name: reference.name.unwrap_or_default(),
            uid: reference.uid.unwrap_or_default(),
            version: reference.resource_version.unwrap_or_default(),
        }
    }
}
