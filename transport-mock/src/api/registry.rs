//! The kinds of a server, by path and by name.

use std::sync::Arc;

use crate::api::ApiKind;
use crate::api::builtins::builtins;

/// The table of a kind in the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct KindId(pub(crate) usize);

/// The kinds that a server serves.
///
/// ```
/// use informer_transport_mock::api::ApiKind;
/// use informer_transport_mock::{Server, ServerConfig};
///
/// let mut server = Server::new(ServerConfig::new(42));
/// server.register(ApiKind::custom("example.com", "v1", "widgets", "Widget"));
///
/// let registry = server.registry();
/// assert_eq!(registry.get("po").unwrap().kind(), "Pod");
/// assert_eq!(registry.get("widgets.example.com").unwrap().kind(), "Widget");
/// assert!(registry.get("gadgets").is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// The kinds and their tables. Several versions of a kind share one.
    kinds: Vec<(KindId, Arc<ApiKind>)>,
    /// Tables are never reused: the watches of a removed kind still send its deletions.
    tables: usize,
}

impl Registry {
    /// Creates a registry with the usual kinds: pods, nodes, namespaces, services, endpoints,
    /// configmaps, secrets, serviceaccounts, replicationcontrollers, deployments, replicasets,
    /// statefulsets, daemonsets, jobs, leases, events of both groups, and customresourcedefinitions.
    #[must_use]
    pub fn with_builtins() -> Self {
        let mut registry = Self::default();
        for kind in builtins() {
            registry.register(kind);
        }
        registry
    }

    /// Adds a kind with a table of its own. The caller has removed any kind with the same path.
    pub(crate) fn register(&mut self, kind: ApiKind) -> KindId {
        let table = self.new_table();
        self.register_in(table, kind);
        table
    }

    pub(crate) const fn new_table(&mut self) -> KindId {
        self.tables += 1;
        KindId(self.tables - 1)
    }

    /// Adds a version of a kind.
    pub(crate) fn register_in(&mut self, table: KindId, kind: ApiKind) {
        self.kinds.push((table, Arc::new(kind)));
    }

    /// Removes all versions of a kind.
    pub(crate) fn remove(&mut self, id: KindId) {
        self.kinds.retain(|(table, _)| *table != id);
    }

    /// The kinds, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<ApiKind>> {
        self.kinds.iter().map(|(_, kind)| kind)
    }

    /// The kind with this name: a plural, a singular, a short name or a kind, each with or without
    /// `.group`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<ApiKind>> {
        self.find(name).map(|(_, kind)| kind)
    }

    /// The kind that is served under this path.
    pub(crate) fn at_path(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<(KindId, &Arc<ApiKind>)> {
        self.position(|kind| {
            kind.plural == plural && kind.group == group && kind.version == version
        })
    }

    /// The kind with this name, and its slot.
    pub(crate) fn find(&self, name: &str) -> Option<(KindId, &Arc<ApiKind>)> {
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

    fn position(&self, is_meant: impl Fn(&ApiKind) -> bool) -> Option<(KindId, &Arc<ApiKind>)> {
        let mut kinds = self.kinds.iter();
        let (table, kind) = kinds.find(|(_, kind)| is_meant(kind))?;
        Some((*table, kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_all_their_names() {
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
    fn a_removed_kind_is_not_found_and_its_slot_is_not_reused() {
        let mut registry = Registry::with_builtins();
        let (id, _) = registry.find("pods").unwrap();
        registry.remove(id);
        assert!(registry.at_path("", "v1", "pods").is_none());
        let again = registry.register(ApiKind::custom("", "v1", "pods", "Pod"));
        assert_ne!(id, again);
    }
}
