//! What the server serves: kinds and their registry.

// The kinds that every server has.
mod builtins;

// Kinds by path and by name.
mod registry;

use std::sync::Arc;

pub(crate) use registry::KindId;
pub use registry::Registry;

/// One kind of object: its names, its scope, and how the server treats it.
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
    namespaced: bool,
    short_names: Vec<String>,
    selectable: Vec<String>,
    /// What the kind has that no custom resource has; `None` for custom resources.
    builtin: Option<Builtin>,
    /// The first bytes of a built-in object.
    opening: Arc<[u8]>,
}

/// The traits of a built-in kind.
#[derive(Clone, Copy, Debug)]
struct Builtin {
    /// The fields after `metadata` of an empty object: what a bookmark carries.
    blank: &'static str,
    /// Deletion answers with the object, not with a Status.
    returns_deleted: bool,
    /// An update may leave out the version.
    unconditional_update: bool,
    /// Its writes count generations.
    generations: bool,
    /// Changes of its annotations are counted, too.
    counts_annotations: bool,
    status: StatusRule,
}

/// Who writes the status of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum StatusRule {
    /// There is no subresource: it is a field like any other, if it is there at all.
    Plain,
    /// The subresource alone, but a create may bring one.
    OnCreate,
    /// The subresource alone; a new object has none.
    Dropped,
    /// The subresource alone; a new object gets this one.
    Fresh(&'static str),
}

impl ApiKind {
    /// A namespaced custom resource, as a CustomResourceDefinition with a status subresource makes
    /// it.
    #[must_use]
    pub fn custom(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            namespaced: true,
            short_names: Vec::new(),
            selectable: Vec::new(),
            builtin: None,
            opening: Arc::default(),
        }
    }

    /// Without namespaces.
    #[must_use]
    pub fn cluster_scoped(mut self) -> Self {
        self.namespaced = false;
        self
    }

    /// Adds names by which people call it.
    #[must_use]
    pub fn with_short_names<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.short_names = names.map(str::to_owned).to_vec();
        self
    }

    /// Adds fields that a field selector may name, beside `metadata.name` and
    /// `metadata.namespace`.
    #[must_use]
    pub fn with_selectable<const N: usize>(mut self, fields: [&str; N]) -> Self {
        self.selectable = fields.map(str::to_owned).to_vec();
        self
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

    /// The name in paths: `pods`.
    #[must_use]
    pub fn plural(&self) -> &str {
        &self.plural
    }

    /// The name of one of them: `pod`.
    #[must_use]
    pub fn singular(&self) -> &str {
        &self.singular
    }

    /// The name in objects: `Pod`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The kind of a list of them: `PodList`.
    #[must_use]
    pub fn list_kind(&self) -> String {
        format!("{}List", self.kind)
    }

    /// Whether its objects live in namespaces.
    #[must_use]
    pub const fn is_namespaced(&self) -> bool {
        self.namespaced
    }

    /// Whether it is a custom resource, which has no Go type: its JSON is in alphabetical order,
    /// and items of lists keep their kind.
    #[must_use]
    pub const fn is_custom(&self) -> bool {
        self.builtin.is_none()
    }

    /// Whether its status is written on its own, under the path `…/status`.
    #[must_use]
    pub fn has_status(&self) -> bool {
        self.status_rule() != StatusRule::Plain
    }

    /// Other names by which people call it.
    #[must_use]
    pub fn short_names(&self) -> &[String] {
        &self.short_names
    }

    /// `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// `pods` or `deployments.apps`: how messages name it.
    #[must_use]
    pub fn resource(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// `Pod` or `Deployment.apps`: how messages about invalid objects name it.
    #[must_use]
    pub(crate) fn qualified_kind(&self) -> String {
        qualified(&self.kind, &self.group)
    }

    /// The type of its objects inside the real server, as some messages tell.
    pub(crate) fn go_type(&self) -> String {
        if self.is_custom() {
            return "*unstructured.Unstructured".to_owned();
        }
        let package = self.group.split('.').next().filter(|it| !it.is_empty());
        format!("*{}.{}", package.unwrap_or("core"), self.kind)
    }

    /// The path of its objects in `namespace`, or of all of them.
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

    /// Whether a field selector may name `field`.
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
            None => StatusRule::Dropped,
        }
    }

    /// Where its objects lie in etcd, as some messages tell.
    pub(crate) fn storage_prefix(&self) -> String {
        if self.is_custom() {
            format!("{}/{}", self.group, self.plural)
        } else {
            self.plural.clone()
        }
    }

    /// Whether `metadata.generation` counts the changes of the object's wish.
    pub(crate) const fn has_generations(&self) -> bool {
        match self.builtin {
            Some(builtin) => builtin.generations,
            None => true,
        }
    }

    /// Whether `metadata.generation` counts changes of annotations, too.
    pub(crate) const fn counts_annotations(&self) -> bool {
        matches!(
            self.builtin,
            Some(Builtin {
                counts_annotations: true,
                ..
            })
        )
    }

    /// `{"kind":…,"apiVersion":…,` of a built-in object.
    pub(crate) fn opening(&self) -> &[u8] {
        &self.opening
    }

    /// The fields of an empty object after its metadata, each with a comma before it.
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
