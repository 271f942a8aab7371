//! Short ways to read and write a server's objects, for tests.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::{ApiKind, KindId};
use crate::server::Server;
use crate::status::ApiError;
use crate::store::metadata::text;
use crate::store::object::{StoredObject, key};
use crate::store::patch::PatchType;
use crate::store::write::{Deletion, Part, Preconditions, Target};

/// The rules are those of [`handle`](Server::handle); only the way there is shorter. A kind is named
/// as people do it: `pods`, `po`, `Pod`, `deployments.apps`. An object is named by its key,
/// `namespace/name` or `name`; in a kind with namespaces, a name alone is in `default`.
impl Server {
    /// Creates an object, in the namespace it names.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
    pub fn create(&mut self, kind: &str, object: Value) -> Result<Arc<StoredObject>, ApiError> {
        let (id, kind) = self.find(kind)?;
        let object = into_map(object)?;
        let namespace = text(&object, "namespace").map(str::to_owned);
        let now = self.wall_clock();
        let target = target(id, &kind, namespace.as_deref());
        self.store_mut().create(target, object, now)
    }

    /// Replaces an object. Without a `resourceVersion` it does not matter what is there now, where
    /// the kind allows that.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
    pub fn update(&mut self, kind: &str, object: Value) -> Result<Arc<StoredObject>, ApiError> {
        self.replace(kind, object, Part::Main)
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
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
        let target = target(id, &kind, namespace.as_deref());
        self.store_mut().update(target, &name, object, part)
    }

    /// Merges `changes` into an object.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
    pub fn patch(
        &mut self,
        kind: &str,
        name: &str,
        changes: Value,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.merge(kind, name, changes, Part::Main)
    }

    /// Merges `changes` into an object, of which only those to the status count.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
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
        self.store_mut()
            .patch(target, name, changes, PatchType::Merge, part)
    }

    /// Deletes an object. `false` if it stays until its finalizers are gone.
    ///
    /// # Errors
    ///
    /// What the server would refuse.
    pub fn delete(&mut self, kind: &str, name: &str) -> Result<bool, ApiError> {
        let (id, kind) = self.find(kind)?;
        let (namespace, name) = place(name);
        let target = target(id, &kind, namespace);
        let now = self.wall_clock();
        let deletion = self
            .store_mut()
            .delete(target, name, &Preconditions::default(), now)?;
        Ok(matches!(deletion, Deletion::Done { .. }))
    }

    /// An object.
    #[must_use]
    pub fn get(&self, kind: &str, name: &str) -> Option<&Arc<StoredObject>> {
        let (id, kind) = self.registry().find(kind)?;
        let (namespace, name) = place(name);
        let target = target(id, kind, namespace);
        self.store().get(id, &key(target.namespace, name))
    }

    /// All objects of a kind, by key.
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
            "an object is needed, and this is none: {other}"
        ))),
    }
}

/// Namespace and name of a key.
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
