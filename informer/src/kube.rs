//! Informers over the client and the types of kube-rs.
//!
//! If your program has a [`kube::Client`](informer_transport_kube::kube::Client), give it to an informer: its
//! middleware and its authentication serve all requests of the informer, too. Whatever is a
//! [`kube::Resource`](informer_transport_kube::kube::Resource) can be followed by its type: the types of
//! k8s-openapi, and those that you derive with `kube::CustomResource`.
//!
//! ```no_run
//! use informer::InformerBuilder;
//! use informer::informer_transport_kube::{k8s_openapi, kube};
//! use k8s_openapi::api::core::v1::Pod;
//! use std::time::Duration;
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let client = kube::Client::try_default().await?;
//! let pods = InformerBuilder::<Pod>::kube().namespace("web").start(&client)?;
//! pods.on(|change| println!("{change}"))?;
//! pods.synced(Duration::from_secs(30)).await?;
//! println!("{} pods", pods.lister().len());
//! # Ok(())
//! # }
//! ```
//!
//! Kinds that are known only at run time have a target, too:
//!
//! ```
//! use informer::InformerBuilder;
//! use informer::informer_transport_kube::kube;
//! use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
//!
//! let gvk = GroupVersionKind::gvk("example.com", "v1", "Widget");
//! let widgets = informer::kube::target_of(&ApiResource::from_gvk(&gvk));
//! assert_eq!(widgets.path(), "/apis/example.com/v1/widgets");
//! let builder = InformerBuilder::<DynamicObject>::typed_at(widgets);
//! ```
//!
//! A kube client lives in a tokio runtime. An informer may run elsewhere, for example on threads: enter that
//! runtime (`Handle::enter`) when you start it.
//!
//! A `DynamicObject` that came from a list has no `types`: the server states them once for the whole list.
//!
//! For limits of your own, and to look a resource up by name, wrap the client in a
//! [`KubeClient`](informer_transport_kube::KubeClient). What the settings of a kube client mean for informers
//! is in the documentation of [`informer_transport_kube`].

use std::sync::Arc;

#[cfg(feature = "kube-runtime")]
use informer_core::OwnerReference;
use informer_core::decode::decode_object;
use informer_core::decode::form::{PackedBody, Typed};
use informer_core::transport::{Content, Target};
use informer_core::{Object, ObjectKey};
use informer_transport_kube::k8s_openapi::api::core::v1::ObjectReference;
use informer_transport_kube::kube::Resource;
use informer_transport_kube::kube::core::ApiResource;
#[cfg(feature = "kube-runtime")]
use informer_transport_kube::kube::runtime::reflector::{Lookup, ObjectRef};
use serde::de::DeserializeOwned;

use crate::api::Api;
use crate::builder::InformerBuilder;
use crate::connect::{Calls, Connect, ConnectError};
use crate::controller::{AnyClient, Controller, ControllerBuilder, Owner};
use crate::error::BuildError;
use crate::factory::SharedInformerFactory;
use crate::shared::SharedInformer;

/// The target for all objects of a type, in all namespaces.
///
/// `PartialObjectMeta<K>` gives a target for metadata alone.
///
/// ```
/// use informer::informer_transport_kube::k8s_openapi::api::apps::v1::Deployment;
///
/// let target = informer::kube::target::<Deployment>();
/// assert_eq!(target.path(), "/apis/apps/v1/deployments");
/// ```
#[must_use]
pub fn target<K: Resource<DynamicType = ()>>() -> Target {
    let content = if K::metadata_api() {
        Content::Metadata
    } else {
        Content::default()
    };
    Target::new(&K::group(&()), &K::version(&()), &K::plural(&())).with_content(content)
}

/// The target for all objects of a resource that discovery has found, in all namespaces.
#[must_use]
pub fn target_of(resource: &ApiResource) -> Target {
    Target::new(&resource.group, &resource.version, &resource.plural)
}

impl<K> InformerBuilder<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
{
    /// Keeps objects decoded, as values of a type of kube-rs: see [`kube`](crate::kube).
    #[must_use]
    pub fn kube() -> Self {
        Self::typed_with_annotations(target::<K>(), annotations)
    }

    /// Keeps objects compressed, as [`packed`](Self::packed) does, for a type of kube-rs.
    #[must_use]
    pub fn kube_packed() -> InformerBuilder<PackedBody<K>> {
        Self::packed_from(target::<K>())
    }
}

impl<K> Api<K>
where
    K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
{
    /// Reads and writes objects of a type of kube-rs.
    ///
    /// # Errors
    /// The client cannot send requests here.
    pub fn kube(client: &impl Calls) -> Result<Self, ConnectError> {
        let form = Typed::new().with_annotations(annotations);
        let decode = Arc::new(move |json: &[u8]| decode_object(&mut form.clone(), json));
        Ok(Self::of(client.caller()?, target::<K>(), "", decode))
    }
}

impl Controller<ObjectKey> {
    /// A controller of a type of kube-rs: see [`Controller::of`]. For owned kinds there is
    /// [`owns_with`](ControllerBuilder::owns_with)`(InformerBuilder::<S>::kube())`.
    #[must_use]
    pub fn kube<K>(
        client: &(impl Connect + Calls + Clone + Send + Sync + 'static),
    ) -> ControllerBuilder<K>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    {
        let owner = Owner {
            group: K::group(&()).into_owned(),
            version: K::version(&()).into_owned(),
            kind: K::kind(&()).into_owned(),
        };
        ControllerBuilder::new(AnyClient::new(client), owner, InformerBuilder::kube())
    }
}

impl<C: Connect> SharedInformerFactory<C> {
    /// Returns the informer for all objects of a type of kube-rs.
    ///
    /// # Errors
    /// The configuration is invalid, or the runtime cannot run the informer.
    pub fn kube<K>(&self) -> Result<SharedInformer<K>, BuildError>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
    {
        self.informer(&InformerBuilder::kube())
    }
}

fn annotations<K: Resource>(object: &K, visit: &mut dyn FnMut(&str, &str)) {
    for (key, value) in object.meta().annotations.iter().flatten() {
        visit(key, value);
    }
}

/// Refers to a cached object, for example in an event that kube's `Recorder` publishes.
///
/// ```
/// use informer::Object;
/// use informer::informer_transport_kube::k8s_openapi::api::core::v1::Pod;
/// use informer::kube::object_reference;
///
/// # let object = Object::builder("web/shop-1".parse()?).uid("u-1").version("7").body(());
/// let reference = object_reference::<Pod, _>(&object);
/// assert_eq!(reference.kind.as_deref(), Some("Pod"));
/// assert_eq!(reference.namespace.as_deref(), Some("web"));
/// assert_eq!(reference.uid.as_deref(), Some("u-1"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn object_reference<K, B>(object: &Object<B>) -> ObjectReference
where
    K: Resource<DynamicType = ()>,
{
    let key = object.key();
    ObjectReference {
        api_version: Some(K::api_version(&()).into_owned()),
        kind: Some(K::kind(&()).into_owned()),
        name: Some(key.name().to_owned()),
        namespace: said(key.namespace()),
        resource_version: said(object.version()),
        uid: said(object.uid()),
        ..ObjectReference::default()
    }
}

fn said(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// From keys and objects to the references of `kube::runtime`.
///
/// ```
/// use informer::ObjectKey;
/// use informer::informer_transport_kube::k8s_openapi::api::core::v1::Pod;
/// use informer::kube::{ToObjectKey as _, ToObjectRef as _};
///
/// let key = ObjectKey::new("web", "shop-1");
/// let reference = key.to_object_ref::<Pod>(());
/// assert_eq!(reference.to_string(), "Pod.v1./shop-1.web");
/// assert_eq!(reference.object_key(), key);
/// ```
#[cfg(feature = "kube-runtime")]
pub trait ToObjectRef {
    /// The reference to an object of this type. `kind` is `()`, or the resource of a `DynamicObject`.
    fn to_object_ref<K: Lookup>(&self, kind: K::DynamicType) -> ObjectRef<K>;
}

#[cfg(feature = "kube-runtime")]
impl ToObjectRef for ObjectKey {
    fn to_object_ref<K: Lookup>(&self, kind: K::DynamicType) -> ObjectRef<K> {
        let reference = ObjectRef::new_with(self.name(), kind);
        match self.namespace() {
            "" => reference,
            namespace => reference.within(namespace),
        }
    }
}

/// With the UID and the version of the object.
#[cfg(feature = "kube-runtime")]
impl<B> ToObjectRef for Object<B> {
    fn to_object_ref<K: Lookup>(&self, kind: K::DynamicType) -> ObjectRef<K> {
        let mut reference = self.key().to_object_ref::<K>(kind);
        reference.extra.uid = said(self.uid());
        reference.extra.resource_version = said(self.version());
        reference
    }
}

/// Refers to the owner of an object, if it is of this type: if group and kind are the same.
///
/// `namespace` is that of the owned object, or empty if owners of this type have none. `kind` is `()`, or the
/// resource of a `DynamicObject`.
///
/// ```
/// use informer::OwnerReference;
/// use informer::informer_transport_kube::k8s_openapi::api::apps::v1::{Deployment, ReplicaSet};
/// use informer::kube::owner_object_ref;
///
/// let owner = OwnerReference::new("apps/v1", "ReplicaSet", "shop", "u-1");
/// let reference = owner_object_ref::<ReplicaSet>("web", &owner, ()).expect("a replica set");
/// assert_eq!(reference.to_string(), "ReplicaSet.v1.apps/shop.web");
/// assert_eq!(owner_object_ref::<Deployment>("web", &owner, ()), None);
/// ```
#[cfg(feature = "kube-runtime")]
#[must_use]
pub fn owner_object_ref<K: Lookup>(
    namespace: &str,
    owner: &OwnerReference<'_>,
    kind: K::DynamicType,
) -> Option<ObjectRef<K>> {
    if owner.group() != K::group(&kind) || owner.kind != K::kind(&kind) {
        return None;
    }
    let mut reference = ObjectKey::new(namespace, &owner.name).to_object_ref::<K>(kind);
    reference.extra.uid = said(&owner.uid);
    Some(reference)
}

/// From the references of `kube::runtime` to keys.
#[cfg(feature = "kube-runtime")]
pub trait ToObjectKey {
    /// Namespace and name.
    fn object_key(&self) -> ObjectKey;
}

#[cfg(feature = "kube-runtime")]
impl<K: Lookup> ToObjectKey for ObjectRef<K> {
    fn object_key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_deref().unwrap_or_default(), &self.name)
    }
}
