//! Shortcuts for tests to read and write a server's objects.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::{ApiKind, KindId};
use crate::server::Server;
use crate::status::ApiError;
use crate::store::metadata::text;
use crate::store::object::{StoredObject, key};
use crate::store::patch;
use crate::store::write::{Deletion, Part, Preconditions, Target};

/// The field manager of the shortcuts.
const MANAGER: &str = "unknown";

/// Shortcuts for tests. They follow the same rules as [`handle`](Server::handle). Kinds go by the
/// names that kubectl accepts: `pods`, `po`, `Pod`, `deployments.apps`. Objects go by key:
/// `namespace/name` or `name`. For a namespaced kind, a bare name means the namespace `default`.
impl Server {
    /// Creates an object in the namespace that it names.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn create(&mut self, kind: &str, object: Value) -> Result<Arc<StoredObject>, ApiError> {
        let (id, kind) = self.find(kind)?;
        let object = into_map(object)?;
        let namespace = text(&object, "namespace").map(str::to_owned);
        let author = self.author(MANAGER, false);
        let target = target(id, &kind, namespace.as_deref());
        let created = self.store_mut().create(target, object, author);
        self.follow_definitions();
        created
    }

    /// Replaces an object. Without a `resourceVersion` the write is unconditional, if the kind
    /// allows that.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn update(&mut self, kind: &str, object: Value) -> Result<Arc<StoredObject>, ApiError> {
        self.replace(kind, object, Part::Main)
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn update_status(
        &mut self,
        kind: &str,
        object: Value,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.replace(kind, object, Part::Status)
    }

    fn replace(
        &mut self,
        kind: &str,
        object: Value,
        part: Part,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let (id, kind) = self.find(kind)?;
        let object = into_map(object)?;
        let namespace = text(&object, "namespace").map(str::to_owned);
        let name = text(&object, "name").unwrap_or_default().to_owned();
        let author = self.author(MANAGER, false);
        let target = target(id, &kind, namespace.as_deref());
        let updated = self.store_mut().update(target, &name, object, part, author);
        self.follow_definitions();
        updated
    }

    /// Merges `changes` into an object.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn patch(
        &mut self,
        kind: &str,
        name: &str,
        changes: Value,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.merge(kind, name, changes, Part::Main)
    }

    /// Merges `changes` into the status of an object. Changes to other fields are ignored.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn patch_status(
        &mut self,
        kind: &str,
        name: &str,
        changes: Value,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.merge(kind, name, changes, Part::Status)
    }

    fn merge(
        &mut self,
        kind: &str,
        name: &str,
        changes: Value,
        part: Part,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let (id, kind) = self.find(kind)?;
        let (namespace, name) = place(name);
        let target = target(id, &kind, namespace);
        let changes = into_map(changes)?;
        let change = |object: &mut Map<String, Value>| {
            patch::merge(object, changes);
            Ok(())
        };
        let author = self.author(MANAGER, false);
        let patched = self.store_mut().patch(target, name, part, author, change);
        self.follow_definitions();
        patched
    }

    /// Applies an object as a field manager (server-side apply): creates it, or changes the fields
    /// that it has. With `force`, fields of other managers are taken over.
    ///
    /// ```
    /// use informer_transport_mock::{Server, ServerConfig};
    /// use serde_json::json;
    ///
    /// let mut server = Server::new(ServerConfig::new(42));
    /// let size = |size: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"size": size}});
    /// server.apply("configmaps", "mine", size("1"), false)?;
    /// let refused = server.apply("configmaps", "yours", size("2"), false).unwrap_err();
    /// assert_eq!(refused.message(), r#"Apply failed with 1 conflict: conflict with "mine": .data.size"#);
    /// # Ok::<(), informer_transport_mock::status::ApiError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The refusal that the server would send: 409 if another manager owns a field that would
    /// change.
    pub fn apply(
        &mut self,
        kind: &str,
        manager: &str,
        object: Value,
        force: bool,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let (id, kind) = self.find(kind)?;
        let object = into_map(object)?;
        let namespace = text(&object, "namespace").map(str::to_owned);
        let name = text(&object, "name").unwrap_or_default().to_owned();
        let author = self.author(manager, false);
        let target = target(id, &kind, namespace.as_deref());
        let applied = self
            .store_mut()
            .apply(target, &name, &object, Part::Main, author, force);
        self.follow_definitions();
        applied.map(|(object, _)| object)
    }

    /// Deletes an object. Returns `false` if finalizers keep it for now.
    ///
    /// # Errors
    ///
    /// The refusal that the server would send.
    pub fn delete(&mut self, kind: &str, name: &str) -> Result<bool, ApiError> {
        let (id, kind) = self.find(kind)?;
        let (namespace, name) = place(name);
        let target = target(id, &kind, namespace);
        let author = self.author(MANAGER, false);
        let deletion = self
            .store_mut()
            .delete(target, name, &Preconditions::default(), author)?;
        self.follow_definitions();
        Ok(matches!(deletion, Deletion::Done { .. }))
    }

    /// The object with this name, if there is one.
    #[must_use]
    pub fn get(&self, kind: &str, name: &str) -> Option<&Arc<StoredObject>> {
        let (id, kind) = self.registry().find(kind)?;
        let (namespace, name) = place(name);
        let target = target(id, kind, namespace);
        self.store().get(id, &key(target.namespace, name))
    }

    /// All objects of a kind, in key order.
    pub fn objects(&self, kind: &str) -> impl Iterator<Item = &Arc<StoredObject>> {
        self.registry()
            .find(kind)
            .and_then(|(id, _)| self.store().table(id))
            .into_iter()
            .flat_map(|table| table.present("", ""))
    }
}

fn into_map(value: Value) -> Result<Map<String, Value>, ApiError> {
    match value {
        Value::Object(map) => Ok(map),
        other => Err(ApiError::bad_request(format!(
            "expected a JSON object, not {other}"
        ))),
    }
}

/// Splits a key into namespace and name.
fn place(key: &str) -> (Option<&str>, &str) {
    match key.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, key),
    }
}

fn target<'a>(id: KindId, kind: &'a ApiKind, namespace: Option<&'a str>) -> Target<'a> {
    let namespace = namespace.unwrap_or("default");
    Target {
        id,
        kind,
        namespace: kind.is_namespaced().then_some(namespace),
    }
}
