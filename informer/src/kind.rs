//! Kinds of objects that Rust has a type for.

use informer_core::transport::Target;

/// A type whose values are the objects of one kind.
///
/// The types of `k8s-openapi` have it, with the feature of that name. For a custom resource:
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
///     const PLURAL: &'static str = "widgets";
/// }
/// assert_eq!(Widget::target().path(), "/apis/example.com/v1/widgets");
/// ```
pub trait Kind: serde::de::DeserializeOwned + Send + Sync + 'static {
    /// The group; empty for the core group.
    const GROUP: &'static str;
    /// The version of the group.
    const VERSION: &'static str;
    /// The plural name, as it stands in URLs.
    const PLURAL: &'static str;

    /// All objects of the kind.
    #[must_use]
    fn target() -> Target {
        Target::new(Self::GROUP, Self::VERSION, Self::PLURAL)
    }
}

#[cfg(feature = "k8s-openapi")]
impl<K> Kind for K
where
    K: k8s_openapi::Resource + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    const GROUP: &'static str = K::GROUP;
    const VERSION: &'static str = K::VERSION;
    const PLURAL: &'static str = K::URL_PATH_SEGMENT;
}
