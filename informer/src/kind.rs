//! Rust types of Kubernetes kinds.

use informer_core::decode::form::ReadAnnotations;
use informer_core::transport::Target;
#[cfg(feature = "k8s-openapi")]
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// A Rust type for the objects of one kind.
///
/// The types of `k8s-openapi` implement it with the feature `k8s-openapi`. For a custom resource,
/// implement it yourself:
///
/// ```
/// use informer::Kind;
///
/// #[derive(serde::Deserialize)]
/// struct Widget {
///     spec: WidgetSpec,
/// }
/// #[derive(serde::Deserialize)]
/// struct WidgetSpec {
///     size: u32,
/// }
///
/// impl Kind for Widget {
///     const GROUP: &'static str = "example.com";
///     const VERSION: &'static str = "v1";
///     const KIND: &'static str = "Widget";
///     const PLURAL: &'static str = "widgets";
/// }
/// assert_eq!(Widget::target().path(), "/apis/example.com/v1/widgets");
/// ```
pub trait Kind: serde::de::DeserializeOwned + Send + Sync + 'static {
    /// The API group; empty for the core group.
    const GROUP: &'static str;
    /// The version of the API group.
    const VERSION: &'static str;
    /// The name of the kind, as in the field `kind`.
    const KIND: &'static str;
    /// The plural name of the resource, as in URLs.
    const PLURAL: &'static str;

    /// Reads the annotations of an object, if the type has them. If it does not,
    /// [`keep_annotations`](crate::InformerBuilder::keep_annotations) keeps them beside the object.
    const ANNOTATIONS: Option<ReadAnnotations<Self>> = None;

    /// Returns the target for all objects of the kind, in all namespaces.
    #[must_use]
    fn target() -> Target {
        Target::new(Self::GROUP, Self::VERSION, Self::PLURAL)
    }
}

#[cfg(feature = "k8s-openapi")]
impl<K> Kind for K
where
    K: k8s_openapi::Metadata<Ty = ObjectMeta> + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    const GROUP: &'static str = K::GROUP;
    const VERSION: &'static str = K::VERSION;
    const KIND: &'static str = K::KIND;
    const PLURAL: &'static str = K::URL_PATH_SEGMENT;
    const ANNOTATIONS: Option<ReadAnnotations<K>> = Some(|object, visit| {
        for (key, value) in object.metadata().annotations.iter().flatten() {
            visit(key, value);
        }
    });
}
