//! Create, update and delete, with the rules of the real server.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::{ApiKind, KindId, StatusRule};
use crate::list::unsigned;
use crate::status::StatusCause;
use crate::status::{ApiError, Reason};
use crate::store::metadata::{self, admit, finalizers, is_deleting, set, text};
use crate::store::object::{StoredObject, key};
use crate::store::{Store, apply, definition, typed, validation};
use crate::timestamp::Timestamp;

const CONFLICT: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// How many generated names are tried before giving up.
const NAME_ATTEMPTS: usize = 8;

/// Where a write goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target<'a> {
    pub(crate) id: KindId,
    pub(crate) kind: &'a ApiKind,
    /// `None` for cluster-scoped kinds.
    pub(crate) namespace: Option<&'a str>,
}

/// Who writes, when, through which subresource, and whether it counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Author<'a> {
    /// The field manager.
    pub(crate) manager: &'a str,
    pub(crate) subresource: &'a str,
    pub(crate) now: Timestamp,
    /// Everything is checked and answered as if it had happened, but nothing happens.
    pub(crate) is_dry_run: bool,
}

/// How the owners of an object's fields are found.
enum Owners {
    /// By what the write changes, if they are tracked.
    Tracked,
    /// They are in the metadata of the object already.
    Given,
}

/// Which part of an object a write may change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// Everything but the status, if the kind has a status subresource.
    Main,
    /// The status only.
    Status,
}

/// The preconditions of a delete.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Preconditions {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
}

/// The result of a delete.
#[derive(Clone, Debug)]
pub(crate) enum Deletion {
    /// The object has been gone since `version`.
    Done {
        last: Arc<StoredObject>,
        version: u64,
    },
    /// Finalizers still hold the object.
    Pending(Arc<StoredObject>),
}

impl Store {
    /// Creates an object, generating its name if needed.
    pub(crate) fn create(
        &mut self,
        target: Target<'_>,
        body: Map<String, Value>,
        author: Author<'_>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.create_as(target, body, author, Owners::Tracked)
    }

    fn create_as(
        &mut self,
        target: Target<'_>,
        mut body: Map<String, Value>,
        author: Author<'_>,
        owners: Owners,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let kind = target.kind;
        let given = take_owners(&mut body);
        let mut object = admit(kind, body)?;
        typed::decode(kind, &mut object)?;
        take_namespace(&mut object, target.namespace)?;
        let has_version = text(&object, "resourceVersion").is_some();
        if let Some(metadata) = metadata::metadata_mut(&mut object) {
            for field in [
                "resourceVersion",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
                "generation",
            ] {
                metadata.remove(field);
            }
        }
        set(&mut object, "uid", self.names.uid());
        set(&mut object, "creationTimestamp", author.now.to_string());
        if kind.has_generations() {
            set(&mut object, "generation", 1);
        }
        match kind.status_rule() {
            StatusRule::Fresh(status) => {
                let status = serde_json::from_str(status).unwrap_or_default();
                object.insert("status".to_owned(), status);
            }
            StatusRule::Defined => {
                let status = definition::fresh_status(&object);
                object.insert("status".to_owned(), status);
            }
            StatusRule::Dropped => {
                object.remove("status");
            }
            StatusRule::OnCreate | StatusRule::Plain => {}
        }
        self.take_name(target, &mut object, has_version)?;
        match owners {
            Owners::Given => put_owners(&mut object, given),
            Owners::Tracked if self.tracks_owners => {
                apply::track(kind, None, &mut object, Part::Main, author, false);
            }
            Owners::Tracked => {}
        }
        Ok(self.store(target, object, 0, author))
    }

    /// Chooses a free name for a new object without one, and validates the object.
    fn take_name(
        &mut self,
        target: Target<'_>,
        object: &mut Map<String, Value>,
        has_version: bool,
    ) -> Result<(), ApiError> {
        let base = text(object, "generateName").map(str::to_owned);
        let base = base.filter(|_| text(object, "name").is_none());
        let mut attempts = if base.is_some() { NAME_ATTEMPTS } else { 1 };
        loop {
            attempts -= 1;
            if let Some(base) = &base {
                set(object, "name", self.names.generate(base));
            }
            validation::for_create(target.kind, object)?;
            if has_version {
                return Err(ApiError::new(
                    Reason::Unknown,
                    "resourceVersion should not be set on objects to be created",
                ));
            }
            let name = text(object, "name").unwrap_or_default();
            let key = key(target.namespace, name);
            if self.get(target.id, &key).is_none() {
                return Ok(());
            }
            if attempts == 0 {
                return Err(match base {
                    Some(_) => ApiError::generated_name_exists(target.kind, name),
                    None => ApiError::already_exists(target.kind, name),
                });
            }
        }
    }

    /// Replaces an object or its status.
    pub(crate) fn update(
        &mut self,
        target: Target<'_>,
        name: &str,
        body: Map<String, Value>,
        part: Part,
        author: Author<'_>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        self.update_as(target, name, body, part, author, Owners::Tracked)
    }

    fn update_as(
        &mut self,
        target: Target<'_>,
        name: &str,
        mut body: Map<String, Value>,
        part: Part,
        author: Author<'_>,
        owners: Owners,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let kind = target.kind;
        let given = take_owners(&mut body);
        let mut object = admit(kind, body)?;
        typed::decode(kind, &mut object)?;
        check_name(&object, name)?;
        take_namespace(&mut object, target.namespace)?;
        let key = key(target.namespace, name);
        let Some(before) = self.get(target.id, &key).cloned() else {
            return Err(ApiError::not_found(kind, name));
        };
        check_conditions(kind, &before, &object)?;
        validation::immutable(kind, "deletionTimestamp", &object, before.value())?;
        let mut object = successor(kind, before.value(), object, part);
        validation::for_update(kind, &object, before.value())?;
        match owners {
            Owners::Given => put_owners(&mut object, given),
            // A real server does not track who scales a custom resource.
            Owners::Tracked if kind.is_custom() && author.subresource == "scale" => {}
            Owners::Tracked if self.tracks_owners || apply::is_tracked(before.value()) => {
                let is_reset = part == Part::Main && given.as_ref().is_some_and(is_reset);
                let old = before.value();
                apply::track(kind, Some(old), &mut object, part, author, is_reset);
            }
            Owners::Tracked => {}
        }
        if object == *before.value() {
            return Ok(before);
        }
        if is_deleting(&object) && finalizers(&object).next().is_none() {
            self.erase(target, &before, author);
            return Ok(Arc::new(StoredObject::new(kind, object, before.version())));
        }
        Ok(self.store(target, object, before.version(), author))
    }

    /// Changes an object or its status with `change`.
    pub(crate) fn patch(
        &mut self,
        target: Target<'_>,
        name: &str,
        part: Part,
        author: Author<'_>,
        change: impl FnOnce(&mut Map<String, Value>) -> Result<(), ApiError>,
    ) -> Result<Arc<StoredObject>, ApiError> {
        let Some(current) = self.get(target.id, &key(target.namespace, name)) else {
            return Err(ApiError::not_found(target.kind, name));
        };
        let mut object = current.value().clone();
        set_version(&mut object, target.kind);
        change(&mut object)?;
        validation::immutable(target.kind, "uid", &object, current.value())?;
        self.update(target, name, object, part, author)
    }

    /// Applies a configuration to an object, or creates it. Returns whether it was created.
    pub(crate) fn apply(
        &mut self,
        target: Target<'_>,
        name: &str,
        config: &Map<String, Value>,
        part: Part,
        author: Author<'_>,
        force: bool,
    ) -> Result<(Arc<StoredObject>, bool), ApiError> {
        let kind = target.kind;
        if let Some(live) = self.get(target.id, &key(target.namespace, name)) {
            let mut value = live.value().clone();
            set_version(&mut value, kind);
            let object = apply::apply(kind, Some(&value), config, part, author, force)?;
            validation::immutable(kind, "uid", &object, &value)?;
            let object = self.update_as(target, name, object, part, author, Owners::Given)?;
            return Ok((object, false));
        }
        if part == Part::Status {
            return Err(ApiError::not_found(kind, name));
        }
        let mut object = apply::apply(kind, None, config, part, author, force)?;
        if let Some(uid) = text(&object, "uid") {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(ApiError::conflict(kind, name, &why));
        }
        check_name(&object, name)?;
        // There is nothing to compare it with.
        if let Some(metadata) = metadata::metadata_mut(&mut object) {
            metadata.remove("resourceVersion");
        }
        let object = self.create_as(target, object, author, Owners::Given)?;
        Ok((object, true))
    }

    /// Deletes an object, or marks it as deleting if finalizers hold it.
    pub(crate) fn delete(
        &mut self,
        target: Target<'_>,
        name: &str,
        preconditions: &Preconditions,
        author: Author<'_>,
    ) -> Result<Deletion, ApiError> {
        let kind = target.kind;
        let Some(last) = self.get(target.id, &key(target.namespace, name)).cloned() else {
            return Err(ApiError::not_found(kind, name));
        };
        preconditions.check(kind, &last)?;
        if kind.status_rule() == StatusRule::Defined && !is_deleting(last.value()) {
            let mut object = last.value().clone();
            definition::begin_deletion(&mut object, author.now);
            let object = self.store(target, object, last.version(), author);
            return Ok(Deletion::Pending(object));
        }
        if finalizers(last.value()).next().is_none() {
            let version = self.erase(target, &last, author);
            return Ok(Deletion::Done { last, version });
        }
        if is_deleting(last.value()) {
            return Ok(Deletion::Pending(last));
        }
        let mut object = last.value().clone();
        set(&mut object, "deletionTimestamp", author.now.to_string());
        set(&mut object, "deletionGracePeriodSeconds", 0);
        bump_generation(&mut object);
        let object = self.store(target, object, last.version(), author);
        Ok(Deletion::Pending(object))
    }

    /// Writes an object at the next version. In a dry run, it keeps the version `before`.
    fn store(
        &mut self,
        target: Target<'_>,
        object: Map<String, Value>,
        before: u64,
        author: Author<'_>,
    ) -> Arc<StoredObject> {
        if author.is_dry_run {
            return Arc::new(StoredObject::new(target.kind, object, before));
        }
        let version = self.next_version();
        let object = Arc::new(StoredObject::new(target.kind, object, version));
        self.record(target.id, object.key(), Some(Arc::clone(&object)));
        object
    }

    /// Deletes an object at the next version, which it returns. In a dry run, that is its last one.
    fn erase(&mut self, target: Target<'_>, last: &StoredObject, author: Author<'_>) -> u64 {
        if author.is_dry_run {
            return last.version();
        }
        let version = self.next_version();
        self.record(target.id, last.key(), None);
        version
    }
}

impl Preconditions {
    fn check(&self, kind: &ApiKind, last: &StoredObject) -> Result<(), ApiError> {
        if let Some(uid) = self.uid.as_deref().filter(|uid| *uid != last.uid()) {
            let why = format!(
                "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been deleted and then recreated",
                last.uid()
            );
            return Err(ApiError::precondition_failed(kind, last.name(), &why));
        }
        let current = last.version().to_string();
        if let Some(version) = self.resource_version.as_deref().filter(|v| *v != current) {
            let why = format!(
                "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record ({current}). The object might have been modified"
            );
            return Err(ApiError::precondition_failed(kind, last.name(), &why));
        }
        Ok(())
    }
}

/// Sets the object's namespace from the path; a cluster-scoped object has none.
pub(super) fn take_namespace(
    object: &mut Map<String, Value>,
    namespace: Option<&str>,
) -> Result<(), ApiError> {
    match (text(object, "namespace"), namespace) {
        (Some(given), Some(path)) if given != path => Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        )),
        (_, Some(path)) => {
            set(object, "namespace", path);
            Ok(())
        }
        (_, None) => {
            if let Some(metadata) = metadata::metadata_mut(object) {
                metadata.remove("namespace");
            }
            Ok(())
        }
    }
}

pub(super) fn check_name(object: &Map<String, Value>, name: &str) -> Result<(), ApiError> {
    match text(object, "name") {
        Some(given) if given == name => Ok(()),
        Some(given) => Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        ))),
        None => Err(ApiError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        ))),
    }
}

/// Checks the uid and version that an update names.
fn check_conditions(
    kind: &ApiKind,
    before: &StoredObject,
    object: &Map<String, Value>,
) -> Result<(), ApiError> {
    if let Some(uid) = text(object, "uid").filter(|uid| *uid != before.uid()) {
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {}",
            kind.storage_prefix(),
            before.key(),
            before.uid()
        );
        return Err(ApiError::conflict(kind, before.name(), &why));
    }
    match text(object, "resourceVersion") {
        None if kind.allows_unconditional_update() => Ok(()),
        None => Err(ApiError::invalid_resource(
            kind,
            before.name(),
            StatusCause::unspecified_version(),
        )),
        Some(version) if version == before.version().to_string() => Ok(()),
        Some(version) => {
            unsigned(version).map_err(|wrong| ApiError::new(Reason::Unknown, wrong))?;
            Err(ApiError::conflict(kind, before.name(), CONFLICT))
        }
    }
}

/// The next state of `before` after a write of `object` to one of its parts.
fn successor(
    kind: &ApiKind,
    before: &Map<String, Value>,
    mut object: Map<String, Value>,
    part: Part,
) -> Map<String, Value> {
    if part == Part::Status {
        let mut next = before.clone();
        match object.remove("status") {
            Some(status) => next.insert("status".to_owned(), status),
            None => next.remove("status"),
        };
        if kind.is_custom() {
            return next;
        }
        // A built-in kind also takes labels, annotations and finalizers from a status write.
        next.extend(object.remove_entry("metadata"));
        object = next;
    }
    for field in [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "generation",
        "managedFields",
    ] {
        metadata::copy(&mut object, before, field);
    }
    if kind.has_status() && part == Part::Main {
        match before.get("status") {
            Some(status) => object.insert("status".to_owned(), status.clone()),
            None => object.remove("status"),
        };
    }
    let annotations =
        |object| metadata::metadata(object).and_then(|metadata| metadata.get("annotations"));
    if wish(kind, &object).ne(wish(kind, before))
        || kind.counts_annotations() && annotations(&object) != annotations(before)
    {
        bump_generation(&mut object);
    }
    object
}

/// The desired state, whose changes raise the generation: everything but metadata and a status that
/// is a subresource.
fn wish<'a>(
    kind: &ApiKind,
    object: &'a Map<String, Value>,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let has_status = kind.has_status() || !kind.is_custom();
    object.iter().filter(move |(key, _)| match key.as_str() {
        "metadata" => false,
        "status" => !has_status,
        _ => true,
    })
}

/// Takes the `managedFields` out of an object.
fn take_owners(object: &mut Map<String, Value>) -> Option<Value> {
    let metadata = object.get_mut("metadata")?.as_object_mut()?;
    metadata.remove("managedFields")
}

fn put_owners(object: &mut Map<String, Value>, owners: Option<Value>) {
    if let Some(metadata) = metadata::metadata_mut(object) {
        match owners {
            Some(owners) => metadata.insert("managedFields".to_owned(), owners),
            None => metadata.remove("managedFields"),
        };
    }
}

/// Whether a client asks to forget all owners, with an empty list or an empty entry.
fn is_reset(owners: &Value) -> bool {
    let is_empty = |entry: &Value| entry.as_object().is_some_and(Map::is_empty);
    owners
        .as_array()
        .is_some_and(|owners| match owners.as_slice() {
            [] => true,
            [only] => is_empty(only),
            _ => false,
        })
}

/// Sets the version of the API in which a client sees a stored object.
pub(super) fn set_version(object: &mut Map<String, Value>, kind: &ApiKind) {
    if kind.is_converted() {
        let version = kind.api_version();
        object.insert("apiVersion".to_owned(), version.into());
    }
}

fn bump_generation(object: &mut Map<String, Value>) {
    let generation = metadata::metadata(object)
        .and_then(|metadata| metadata.get("generation"))
        .and_then(Value::as_i64);
    if let Some(generation) = generation {
        set(object, "generation", generation + 1);
    }
}
