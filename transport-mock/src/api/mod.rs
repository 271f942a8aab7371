//! Kinds and their registry.

// Custom resource definitions.
pub(crate) mod crd;

// Built-in kinds.
mod builtins;

// Kinds by path and by name.
mod registry;

// The scale subresource.
mod scale;

use std::sync::Arc;

pub(crate) use registry::KindId;
pub use registry::Registry;
pub(crate) use scale::{ScaleFields, ScaleSelector};

/// A kind of object: its names, its scope, and its rules.
///
/// ```
/// use informer_transport_mock::api::ApiKind;
///
/// let widget = ApiKind::custom("example.com", "v1", "widgets", "Widget").cluster_scoped();
/// assert_eq!(widget.api_version(), "example.com/v1");
/// assert_eq!(widget.list_kind(), "WidgetList");
/// assert_eq!(widget.collection_path(None), "/apis/example.com/v1/widgets");
/// ```
#[derive(Clone, Debug)]
pub struct ApiKind {
    group: String,
    version: String,
    plural: String,
    singular: String,
    kind: String,
    list_kind: String,
    namespaced: bool,
    short_names: Vec<String>,
    selectable: Vec<String>,
    /// `None` without a scale subresource.
    scale: Option<ScaleFields>,
    /// Whether a custom resource has a status subresource.
    has_custom_status: bool,
    /// The API version in which its objects are stored, if that is another one.
    stored_as: Option<String>,
    /// The schema of a custom resource.
    schema: Option<Arc<serde_json::Value>>,
    /// The traits of a built-in kind; `None` for custom resources.
    builtin: Option<Builtin>,
    /// The first bytes of a built-in object.
    opening: Arc<[u8]>,
}

/// The traits of a built-in kind.
#[derive(Clone, Copy, Debug)]
struct Builtin {
    /// The fields after `metadata` in an empty object, as a bookmark carries it.
    blank: &'static str,
    /// A delete answers with the object instead of a Status.
    returns_deleted: bool,
    /// An update may omit the version.
    unconditional_update: bool,
    /// Writes raise the generation.
    generations: bool,
    /// Changes of annotations raise the generation too.
    counts_annotations: bool,
    status: StatusRule,
    fields: FieldRules,
}

/// Which fields, besides the metadata, are checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FieldRules {
    None,
    Lease,
    /// An event of the group `events.k8s.io`.
    Event,
    /// An event of the core group.
    CoreEvent,
    /// A definition of custom resources.
    Definition,
}

/// How the status of an object can be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatusRule {
    /// No subresource: the status is an ordinary field, if it exists.
    Plain,
    /// Through the subresource, and on create.
    OnCreate,
    /// Through the subresource only; a new object has none.
    Dropped,
    /// That of a definition: through the subresource only, and by the server.
    Defined,
    /// Through the subresource only; a new object gets this one.
    Fresh(&'static str),
}

impl ApiKind {
    /// Creates a namespaced custom resource with a status subresource.
    #[must_use]
    pub fn custom(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            namespaced: true,
            short_names: Vec::new(),
            selectable: Vec::new(),
            scale: None,
            has_custom_status: true,
            stored_as: None,
            schema: None,
            builtin: None,
            opening: Arc::default(),
        }
    }

    /// Makes the kind cluster-scoped.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Adds short names.
    #[must_use]
    pub fn with_short_names<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.short_names = names.map(str::to_owned).to_vec();
        self
    }

    /// Adds fields that field selectors may use, besides `metadata.name` and `metadata.namespace`.
    #[must_use]
    pub fn with_selectable<const N: usize>(mut self, fields: [&str; N]) -> Self {
        self.selectable = fields.map(str::to_owned).to_vec();
        self
    }

    /// Adds a scale subresource that shows these fields, given as dotted paths: `spec.replicas`,
    /// `status.replicas`, and perhaps `status.selector`.
    #[must_use]
    pub fn with_scale(
        self,
        spec_replicas: &str,
        status_replicas: &str,
        selector: Option<&str>,
    ) -> Self {
        self.scaled_by(ScaleFields {
            spec_replicas: spec_replicas.to_owned(),
            status_replicas: status_replicas.to_owned(),
            selector: ScaleSelector::Text(selector.map(str::to_owned)),
        })
    }

    fn scaled_by(mut self, scale: ScaleFields) -> Self {
        self.scale = Some(scale);
        self
    }

    pub(crate) fn builtin_scale() -> Self {
        builtins::scale()
    }

    fn builtin(api_version: &str, plural: &str, kind: &str, builtin: Builtin) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let opening = format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","#);
        Self {
            builtin: Some(builtin),
            opening: opening.into_bytes().into(),
            ..Self::custom(group, version, plural, kind)
        }
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The version within the group.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The plural name, used in paths: `pods`.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// The singular name: `pod`.
    #[must_use]
    pub fn singular(&self) -> &str {
        &self.singular
    }

    /// The kind, as in objects: `Pod`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The kind of its lists: `PodList`.
    #[must_use]
    pub fn list_kind(&self) -> &str {
        &self.list_kind
    }

    /// Whether its objects live in namespaces.
    #[must_use]
    pub const fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Whether it is a custom resource. The JSON of custom resources is in alphabetical order, and
    /// list items keep their kind.
    #[must_use]
    pub const fn is_custom(&self) -> bool {
        self.builtin.is_none()
    }

    /// Whether it has a status subresource under `…/status`.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.status_rule() != StatusRule::Plain
    }

    /// Where a scale subresource under `…/scale` finds its fields.
    pub(crate) const fn scale(&self) -> Option<&ScaleFields> {
        self.scale.as_ref()
    }

    /// Whether it has a scale subresource under `…/scale`.
    #[must_use]
    pub const fn has_scale(&self) -> bool {
        self.scale.is_some()
    }

    /// The short names.
    #[must_use]
    pub fn short_names(&self) -> &[String] {
        &self.short_names
    }

    /// The API version: `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The API version in which its objects are stored.
    pub(crate) fn stored_api_version(&self) -> String {
        self.stored_as.clone().unwrap_or_else(|| self.api_version())
    }

    /// The schema of a custom resource, if it was defined with one.
    pub(crate) fn schema(&self) -> Option<&serde_json::Value> {
        self.schema.as_deref()
    }

    /// Whether its objects are stored in another version.
    pub(crate) const fn is_converted(&self) -> bool {
        self.stored_as.is_some()
    }

    /// The name in messages: `pods` or `deployments.apps`.
    #[must_use]
    pub fn resource(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// The name in messages about invalid objects: `Pod` or `Deployment.apps`.
    #[must_use]
    pub(crate) fn qualified_kind(&self) -> String {
        qualified(&self.kind, &self.group)
    }

    /// The Go type of its objects, which some messages contain.
    pub(crate) fn go_type(&self) -> String {
        if self.is_custom() {
            return "*unstructured.Unstructured".to_owned();
        }
        let package = self.group.split('.').next().filter(|it| !it.is_empty());
        format!("*{}.{}", package.unwrap_or("core"), self.kind)
    }

    /// The path of its objects in `namespace`, or in all namespaces.
    #[must_use]
    pub fn collection_path(&self, namespace: Option<&str>) -> String {
        let root = if self.group.is_empty() {
            "/api"
        } else {
            "/apis/"
        };
        let (group, version, plural) = (&self.group, &self.version, &self.plural);
        match namespace.filter(|_| self.namespaced) {
            Some(namespace) => format!("{root}{group}/{version}/namespaces/{namespace}/{plural}"),
            None => format!("{root}{group}/{version}/{plural}"),
        }
    }

    /// Whether field selectors may use `field`.
    pub(crate) fn is_selectable(&self, field: &str) -> bool {
        matches!(field, "metadata.name" | "metadata.namespace")
            || self.selectable.iter().any(|known| known == field)
    }

    /// Whether it has selectable fields of its own.
    pub(crate) const fn has_own_fields(&self) -> bool {
        !self.selectable.is_empty()
    }

    pub(crate) const fn returns_deleted(&self) -> bool {
        matches!(
            self.builtin,
            Some(Builtin {
                returns_deleted: true,
                ..
            })
        )
    }

    pub(crate) const fn allows_unconditional_update(&self) -> bool {
        matches!(
            self.builtin,
            Some(Builtin {
                unconditional_update: true,
                ..
            })
        )
    }

    pub(crate) const fn status_rule(&self) -> StatusRule {
        match self.builtin {
            Some(builtin) => builtin.status,
            None if self.has_custom_status => StatusRule::Dropped,
            None => StatusRule::Plain,
        }
    }

    /// The etcd prefix of its objects, which some messages contain.
    pub(crate) fn storage_prefix(&self) -> String {
        if self.is_custom() {
            format!("{}/{}", self.group, self.plural)
        } else {
            self.plural.clone()
        }
    }

    /// Whether `metadata.generation` counts changes of the desired state.
    pub(crate) const fn has_generations(&self) -> bool {
        match self.builtin {
            Some(builtin) => builtin.generations,
            None => true,
        }
    }

    /// Whether `metadata.generation` also counts changes of annotations.
    pub(crate) const fn counts_annotations(&self) -> bool {
        matches!(
            self.builtin,
            Some(Builtin {
                counts_annotations: true,
                ..
            })
        )
    }

    pub(crate) const fn field_rules(&self) -> FieldRules {
        match self.builtin {
            Some(builtin) => builtin.fields,
            None => FieldRules::None,
        }
    }

    /// `{"kind":…,"apiVersion":…,` of a built-in object.
    pub(crate) fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The fields after `metadata` in an empty object, each preceded by a comma.
    pub(crate) const fn blank(&self) -> &'static str {
        match self.builtin {
            Some(builtin) => builtin.blank,
            None => "",
        }
    }
}

/// `name` or `name.group`.
fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() {
        name.to_owned()
    } else {
        format!("{name}.{group}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let registry = Registry::with_builtins();
        let (_, pods) = registry.find("pods").unwrap();
        assert_eq!(pods.collection_path(None), "/api/v1/pods");
        assert_eq!(pods.collection_path(Some("a")), "/api/v1/namespaces/a/pods");
        let (_, deployments) = registry.find("deploy").unwrap();
        assert_eq!(
            deployments.collection_path(Some("a")),
            "/apis/apps/v1/namespaces/a/deployments"
        );
        let (_, nodes) = registry.find("nodes").unwrap();
        assert_eq!(nodes.collection_path(Some("a")), "/api/v1/nodes");
    }
}
