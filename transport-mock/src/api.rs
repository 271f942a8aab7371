//! What the server serves: kinds and their registry.

use std::sync::Arc;

/// One kind of object: its names, its scope, and how the server treats it.
///
/// ```
/// use informer_transport_mock::api::Kind;
///
/// let widget = Kind::custom("example.com", "v1", "widgets", "Widget").cluster_scoped();
/// assert_eq!(widget.api_version(), "example.com/v1");
/// assert_eq!(widget.list_kind(), "WidgetList");
/// assert_eq!(widget.collection_path(None), "/apis/example.com/v1/widgets");
/// ```
#[derive(Clone, Debug)]
pub struct Kind {
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

impl Kind {
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

/// A kind's place in the server. It is never used again for another kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KindId(pub(crate) usize);

/// The kinds that a server serves.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// `None` for a kind that was removed: its place stays, so that its watches can be told.
    kinds: Vec<Option<Arc<Kind>>>,
}

impl Registry {
    /// A registry with the usual kinds: pods, nodes, namespaces, services, endpoints, configmaps,
    /// secrets, serviceaccounts, events, deployments, replicasets, statefulsets, daemonsets, jobs,
    /// leases and customresourcedefinitions.
    #[must_use]
    pub fn with_builtins() -> Self {
        let mut registry = Self::default();
        for kind in builtins() {
            registry.register(kind);
        }
        registry
    }

    /// Adds a kind. One that is served under the same path gives way.
    pub(crate) fn register(&mut self, kind: Kind) -> KindId {
        self.kinds.push(Some(Arc::new(kind)));
        KindId(self.kinds.len() - 1)
    }

    /// Takes a kind away.
    pub(crate) fn remove(&mut self, id: KindId) {
        if let Some(place) = self.kinds.get_mut(id.0) {
            *place = None;
        }
    }

    /// The kinds, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.kinds.iter().flatten()
    }

    /// The kind that is served under this path.
    pub(crate) fn at_path(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<(KindId, &Arc<Kind>)> {
        self.position(|kind| {
            kind.plural == plural && kind.group == group && kind.version == version
        })
    }

    /// The kind that people mean by `name`: a plural, a singular, a short name or a kind, each
    /// with or without `.group`.
    pub(crate) fn find(&self, name: &str) -> Option<(KindId, &Arc<Kind>)> {
        let (bare, group) = match name.split_once('.') {
            Some((bare, group)) => (bare, Some(group)),
            None => (name, None),
        };
        self.position(|kind| {
            group.is_none_or(|group| kind.group == group)
                && (kind.plural == bare
                    || kind.singular == bare
                    || kind.kind == bare
                    || kind.short_names.iter().any(|short| short == bare))
        })
    }

    fn position(&self, is_meant: impl Fn(&Kind) -> bool) -> Option<(KindId, &Arc<Kind>)> {
        self.kinds.iter().enumerate().find_map(|(at, kind)| {
            let kind = kind.as_ref()?;
            is_meant(kind).then_some((KindId(at), kind))
        })
    }
}

/// What most built-in kinds have in common.
const PLAIN: Builtin = Builtin {
    blank: "",
    returns_deleted: false,
    unconditional_update: true,
    generations: false,
    status: StatusRule::Plain,
};

/// Those with a spec whose changes are counted.
const COUNTED: Builtin = Builtin {
    generations: true,
    status: StatusRule::Fresh("{}"),
    ..PLAIN
};

fn builtins() -> [Kind; 16] {
    let core = |plural, kind, builtin| Kind::builtin("v1", plural, kind, builtin);
    let apps = |plural, kind, blank, status| {
        let status = StatusRule::Fresh(status);
        Kind::builtin(
            "apps/v1",
            plural,
            kind,
            Builtin {
                blank,
                status,
                ..COUNTED
            },
        )
    };
    [
        core("pods", "Pod", Builtin {
            blank: r#","spec":{"containers":null},"status":{}"#,
            returns_deleted: true,
            status: StatusRule::Fresh(r#"{"phase":"Pending"}"#),
            ..COUNTED
        })
        .with_short_names(["po"])
        .with_selectable([
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ]),
        core("nodes", "Node", Builtin {
            blank: r#","spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"","systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}"#,
            status: StatusRule::OnCreate,
            ..PLAIN
        })
        .cluster_scoped()
        .with_short_names(["no"])
        .with_selectable(["spec.unschedulable"]),
        core("namespaces", "Namespace", Builtin {
            blank: r#","spec":{},"status":{}"#,
            status: StatusRule::Fresh(r#"{"phase":"Active"}"#),
            ..PLAIN
        })
        .cluster_scoped()
        .with_short_names(["ns"])
        .with_selectable(["status.phase"]),
        core("services", "Service", Builtin {
            blank: r#","spec":{},"status":{"loadBalancer":{}}"#,
            returns_deleted: true,
            status: StatusRule::Fresh(r#"{"loadBalancer":{}}"#),
            ..PLAIN
        })
        .with_short_names(["svc"])
        .with_selectable(["spec.clusterIP", "spec.type"]),
        core("endpoints", "Endpoints", PLAIN).with_short_names(["ep"]),
        core("configmaps", "ConfigMap", PLAIN).with_short_names(["cm"]),
        core("secrets", "Secret", PLAIN).with_selectable(["type"]),
        core("serviceaccounts", "ServiceAccount", Builtin {
            returns_deleted: true,
            ..PLAIN
        })
        .with_short_names(["sa"]),
        core("events", "Event", Builtin {
            blank: r#","involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":"""#,
            ..PLAIN
        })
        .with_short_names(["ev"])
        .with_selectable([
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ]),
        apps("deployments", "Deployment", r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}"#, "{}")
            .with_short_names(["deploy"]),
        apps("replicasets", "ReplicaSet", r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}"#, r#"{"replicas":0}"#)
            .with_short_names(["rs"])
            .with_selectable(["status.replicas"]),
        apps("statefulsets", "StatefulSet", r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}"#, r#"{"replicas":0,"availableReplicas":0}"#)
            .with_short_names(["sts"]),
        apps("daemonsets", "DaemonSet", r#","spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#, r#"{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}"#)
            .with_short_names(["ds"]),
        Kind::builtin("batch/v1", "jobs", "Job", Builtin {
            blank: r#","spec":{"template":{"metadata":{},"spec":{"containers":null}}},"status":{}"#,
            ..COUNTED
        })
        .with_selectable(["status.successful"]),
        Kind::builtin("coordination.k8s.io/v1", "leases", "Lease", Builtin {
            blank: r#","spec":{}"#,
            unconditional_update: false,
            ..PLAIN
        }),
        Kind::builtin("apiextensions.k8s.io/v1", "customresourcedefinitions", "CustomResourceDefinition", Builtin {
            blank: r#","spec":{"group":"","names":{"plural":"","kind":""},"scope":"","versions":null},"status":{}"#,
            unconditional_update: false,
            ..COUNTED
        })
        .cluster_scoped()
        .with_short_names(["crd", "crds"]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_find_kinds_by_all_their_names() {
        let registry = Registry::with_builtins();
        for (name, plural) in [
            ("pods", "pods"),
            ("po", "pods"),
            ("Pod", "pods"),
            ("pod", "pods"),
            ("deployments.apps", "deployments"),
            ("deploy", "deployments"),
            ("leases.coordination.k8s.io", "leases"),
        ] {
            assert_eq!(registry.find(name).unwrap().1.plural(), plural, "{name}");
        }
        assert!(registry.find("deployments.batch").is_none());
        assert!(registry.find("widgets").is_none());
    }

    #[test]
    fn a_removed_kind_is_not_found_and_its_place_is_not_used_again() {
        let mut registry = Registry::with_builtins();
        let (id, _) = registry.find("pods").unwrap();
        registry.remove(id);
        assert!(registry.at_path("", "v1", "pods").is_none());
        let again = registry.register(Kind::custom("", "v1", "pods", "Pod"));
        assert_ne!(id, again);
    }

    #[test]
    fn blanks_are_json() {
        for kind in Registry::with_builtins().iter() {
            let text = format!("{{\"metadata\":{{}}{}}}", kind.blank());
            assert!(
                serde_json::from_str::<serde_json::Value>(&text).is_ok(),
                "{text}"
            );
        }
    }

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
