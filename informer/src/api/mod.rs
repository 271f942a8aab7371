//! Reads and writes single objects.

// Why a request failed.
mod error;

// How to delete.
mod delete;

// Partial changes.
mod patch;

// The scale of an object.
mod scale;

use std::fmt;
use std::sync::Arc;

use informer_core::decode::decode_object;
use informer_core::decode::form::{BodyError, Dynamic, Typed};
use informer_core::transport::{Call, Caller, Method, Reply, Target};
use informer_core::{Object, ObjectKey};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::connect::{Calls, ConnectError};
use crate::kind::Kind;

pub use delete::{Delete, Deletion, Propagation};
pub use error::{ApiError, ApiErrorKind, FieldCause};
pub use patch::{Apply, Patch};
pub use scale::{Scale, ScaleSpec, ScaleStatus};

/// Reads and writes the objects of one resource: what a controller needs.
///
/// It works over every client that informers work over. Answers are [`Object`]s, as in a cache, so the
/// version of a write can be waited for:
///
#[cfg_attr(feature = "mock", doc = "```")]
#[cfg_attr(not(feature = "mock"), doc = "```ignore")]
/// use informer::{Api, InformerBuilder, Target};
/// use serde_json::json;
/// use std::time::Duration;
/// # use informer::informer_transport_mock::{MockServer, ServerConfig, VirtualClock};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = MockServer::new(ServerConfig::new(1), VirtualClock::new());
///
/// // `client` is a client of an API server, or a mock server.
/// let target = Target::new("", "v1", "configmaps");
/// let maps = InformerBuilder::lean_at(target.clone()).start(&client)?;
/// let api = Api::dynamic_at(&client, target)?;
///
/// let map = json!({"metadata": {"namespace": "web", "name": "shop"}, "data": {"colour": "red"}});
/// let written = api.create(&map).await?;
/// // Read your own write.
/// let snapshot = maps.reached(written.version(), Duration::from_secs(30)).await?;
/// assert!(snapshot.get(written.key()).is_some());
/// # Ok(())
/// # }
/// ```
///
/// A request is repeated only if no server has looked at it, or once with newer credentials after a 401. If
/// the answer is lost, the error says that the write may have been carried out: see
/// [`ApiErrorKind::Unanswered`]. (A `kube::Client` may be configured to repeat more.)
pub struct Api<K> {
    caller: Arc<dyn Caller>,
    target: Target,
    /// `kind` of the objects; empty if it is not known.
    kind: &'static str,
    subresource: String,
    manager: String,
    dry_run: bool,
    decode: Decode<K>,
}

type Decode<K> = Arc<dyn Fn(&[u8]) -> Result<Object<K>, BodyError> + Send + Sync>;

impl<K: Kind> Api<K> {
    /// Objects of a Rust type that knows its resource.
    ///
    /// # Errors
    /// The client cannot send requests here.
    pub fn new(client: &impl Calls) -> Result<Self, ConnectError> {
        Ok(Self::over(client.caller()?))
    }

    pub(crate) fn over(caller: Arc<dyn Caller>) -> Self {
        let form = K::ANNOTATIONS.map_or(Typed::new(), |read| Typed::new().with_annotations(read));
        let decode = Arc::new(move |json: &[u8]| decode_object(&mut form.clone(), json));
        Self::of(caller, K::target(), K::KIND, decode)
    }
}

impl Api<Value> {
    /// Objects of any resource, as JSON values.
    ///
    /// # Errors
    /// The client cannot send requests here.
    pub fn dynamic_at(client: &impl Calls, target: Target) -> Result<Self, ConnectError> {
        let decode = Arc::new(|json: &[u8]| decode_object(&mut Dynamic, json));
        Ok(Self::of(client.caller()?, target, "", decode))
    }
}

impl<K> Api<K> {
    pub(crate) fn of(
        caller: Arc<dyn Caller>,
        target: Target,
        kind: &'static str,
        decode: Decode<K>,
    ) -> Self {
        Self {
            caller,
            target,
            kind,
            subresource: String::new(),
            manager: String::new(),
            dry_run: false,
            decode,
        }
    }

    /// Sets the namespace of objects and keys that name none.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.target.namespace = Some(namespace.into());
        self
    }

    /// Sets the name under which the server notes who wrote which field (`fieldManager`).
    #[must_use]
    pub fn manager(mut self, name: impl Into<String>) -> Self {
        self.manager = name.into();
        self
    }

    /// Lets the server check writes and answer as if it had carried them out, without doing so.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// The status of objects. Writes change nothing else.
    #[must_use]
    pub fn status(&self) -> Self {
        Self {
            subresource: "status".to_owned(),
            ..self.clone()
        }
    }

    /// The scale of objects: how many replicas they should have.
    #[must_use]
    pub fn scale(&self) -> Api<Scale> {
        self.subresource("scale")
    }

    /// Another part of objects, as values of a type that can be deserialized.
    #[must_use]
    pub fn subresource<S: DeserializeOwned + 'static>(&self, name: impl Into<String>) -> Api<S> {
        Api {
            caller: Arc::clone(&self.caller),
            target: self.target.clone(),
            kind: "",
            subresource: name.into(),
            manager: self.manager.clone(),
            dry_run: self.dry_run,
            decode: Arc::new(|json| decode_object(&mut Typed::<S>::new(), json)),
        }
    }

    /// Reads an object from the server, not from a cache.
    ///
    /// # Errors
    /// There is no such object ([`ApiErrorKind::NotFound`]), or the request failed.
    pub async fn get(&self, key: &ObjectKey) -> Result<Object<K>, ApiError> {
        let request = Request::named(self, "get", Method::Get, key)?;
        self.object(request).await
    }

    /// Creates an object. It may have a `generateName` instead of a name.
    ///
    /// # Errors
    /// There is one already ([`ApiErrorKind::AlreadyExists`]), or the request failed.
    pub async fn create(&self, object: &impl Serialize) -> Result<Object<K>, ApiError> {
        let (key, object) = self.written("create", object)?;
        let request = Request::new(self, "create", Method::Post, &key).with(JSON, &object)?;
        self.object(request).await
    }

    /// Replaces an object. With a `resourceVersion`, the server refuses if the object has changed since.
    ///
    /// # Errors
    /// The object has changed ([`ApiErrorKind::Conflict`]) or is gone ([`ApiErrorKind::NotFound`]), or the
    /// request failed.
    pub async fn update(&self, object: &impl Serialize) -> Result<Object<K>, ApiError> {
        let (key, object) = self.written("update", object)?;
        let request = Request::new(self, "update", Method::Put, &key).with(JSON, &object)?;
        self.object(request).await
    }

    /// Changes a part of an object.
    ///
    /// # Errors
    /// There is no such object ([`ApiErrorKind::NotFound`]), the patch does not fit
    /// ([`ApiErrorKind::Invalid`]), or the request failed.
    pub async fn patch(&self, key: &ObjectKey, patch: &Patch) -> Result<Object<K>, ApiError> {
        let request = Request::named(self, "patch", Method::Patch, key)?;
        self.object(request.with(patch.content_type(), patch.body())?)
            .await
    }

    /// Applies an object (server-side apply): the server changes the fields that it names, notes that they
    /// belong to this manager, and removes those that the manager named before and no longer names. An object
    /// that does not exist is created.
    ///
    /// # Errors
    /// A field belongs to another manager ([`ApiErrorKind::Conflict`]), or the request failed.
    pub async fn apply(&self, how: &Apply, object: &impl Serialize) -> Result<Object<K>, ApiError> {
        let (key, object) = self.written("apply", object)?;
        let mut request = Request::new(self, "apply", Method::Patch, &key).with(APPLY, &object)?;
        request.manager = how.manager();
        request.force = how.is_forced();
        self.object(request).await
    }

    /// Deletes an object.
    ///
    /// # Errors
    /// There is no such object ([`ApiErrorKind::NotFound`]), or the request failed.
    pub async fn delete(&self, key: &ObjectKey) -> Result<Deletion<K>, ApiError> {
        self.delete_with(key, &Delete::new()).await
    }

    /// Deletes an object under conditions, and says what happens to those that it owns.
    ///
    /// # Errors
    /// A condition does not hold ([`ApiErrorKind::Conflict`]), there is no such object
    /// ([`ApiErrorKind::NotFound`]), or the request failed.
    pub async fn delete_with(
        &self,
        key: &ObjectKey,
        how: &Delete,
    ) -> Result<Deletion<K>, ApiError> {
        let request = Request::named(self, "delete", Method::Delete, key)?;
        let request = request.with(JSON, &how.options(self.dry_run))?;
        let what = request.what();
        let reply = self.send(request).await?;
        match delete::is_status(&reply.body) {
            true => Ok(Deletion::Gone),
            false => match self.decoded(&what, &reply)? {
                object if object.deletion_time().is_empty() => Ok(Deletion::Gone),
                object => Ok(Deletion::Pending(object)),
            },
        }
    }

    /// What to write: its key, and the object with what every object must have.
    fn written(
        &self,
        verb: &'static str,
        object: &impl Serialize,
    ) -> Result<(ObjectKey, Map<String, Value>), ApiError> {
        let unusable = |about: &dyn fmt::Display| self.unusable(verb, about);
        let object = serde_json::to_value(object).map_err(|error| unusable(&error))?;
        let Value::Object(mut object) = object else {
            return Err(unusable(&"it is not a JSON object"));
        };
        let Target { group, version, .. } = &self.target;
        if self.subresource != "scale" && !object.contains_key("apiVersion") {
            let api_version = match group.as_str() {
                "" => version.clone(),
                group => format!("{group}/{version}"),
            };
            object.insert("apiVersion".to_owned(), api_version.into());
        }
        if !object.contains_key("kind") && !self.kind.is_empty() {
            object.insert("kind".to_owned(), self.kind.into());
        }
        let metadata = object.get("metadata").unwrap_or(&Value::Null);
        let text = |name: &str| metadata[name].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let is_named_later = verb == "create" && !text("generateName").is_empty();
        if name.is_empty() && is_named_later {
            return Ok((ObjectKey::new(namespace, ""), object));
        }
        check_name(name).map_err(|about| unusable(&about))?;
        Ok((ObjectKey::new(namespace, name), object))
    }

    /// An object cannot be sent.
    pub(crate) fn unusable(&self, verb: &str, about: &dyn fmt::Display) -> ApiError {
        ApiError::unusable(format!("{verb} {}", self.target), about)
    }

    async fn object(&self, request: Request<'_, K>) -> Result<Object<K>, ApiError> {
        let what = request.what();
        let reply = self.send(request).await?;
        self.decoded(&what, &reply)
    }

    async fn send(&self, request: Request<'_, K>) -> Result<Reply, ApiError> {
        let what = request.what();
        let reply = self.caller.call(request.call()).await;
        match reply {
            Ok(reply) if (200..300).contains(&reply.status) => Ok(reply),
            Ok(reply) => Err(ApiError::refused(what, &reply)),
            Err(unanswered) => Err(ApiError::unanswered(what, unanswered)),
        }
    }

    fn decoded(&self, what: &str, reply: &Reply) -> Result<Object<K>, ApiError> {
        (self.decode)(&reply.body)
            .map_err(|error| ApiError::unreadable::<K>(what.to_owned(), &error))
    }
}

/// Refuses names that a path cannot have.
fn check_name(name: &str) -> Result<(), &'static str> {
    match name {
        "" => Err("it has no name"),
        "." | ".." => Err("no object has this name"),
        name if name.contains('/') => Err("a name has no `/`"),
        _ => Ok(()),
    }
}

const JSON: &str = "application/json";
const APPLY: &str = "application/apply-patch+yaml";

/// A request for one object.
struct Request<'a, K> {
    api: &'a Api<K>,
    verb: &'static str,
    method: Method,
    namespace: &'a str,
    name: &'a str,
    manager: &'a str,
    force: bool,
    content_type: &'static str,
    body: Vec<u8>,
}

impl<'a, K> Request<'a, K> {
    fn new(api: &'a Api<K>, verb: &'static str, method: Method, key: &'a ObjectKey) -> Self {
        let default = api.target.namespace.as_deref().unwrap_or_default();
        Self {
            api,
            verb,
            method,
            namespace: Some(key.namespace())
                .filter(|namespace| !namespace.is_empty())
                .unwrap_or(default),
            name: key.name(),
            manager: &api.manager,
            force: false,
            content_type: "",
            body: Vec::new(),
        }
    }

    /// A request for an object that exists. Without its name, it would be one for all objects.
    fn named(
        api: &'a Api<K>,
        verb: &'static str,
        method: Method,
        key: &'a ObjectKey,
    ) -> Result<Self, ApiError> {
        let request = Self::new(api, verb, method, key);
        match check_name(key.name()) {
            Ok(()) => Ok(request),
            Err(about) => Err(ApiError::unusable(request.what(), &about)),
        }
    }

    fn with(self, content_type: &'static str, body: &impl Serialize) -> Result<Self, ApiError> {
        let body =
            serde_json::to_vec(body).map_err(|error| ApiError::unusable(self.what(), &error))?;
        Ok(Self {
            content_type,
            body,
            ..self
        })
    }

    /// What it does, for people.
    fn what(&self) -> String {
        let Target { plural, group, .. } = &self.api.target;
        let dot = if group.is_empty() { "" } else { "." };
        let verb = self.verb;
        let part = match self.api.subresource.as_str() {
            "" => String::new(),
            part => format!("{part} of "),
        };
        let key = ObjectKey::new(self.namespace, self.name);
        format!("{verb} {part}{plural}{dot}{group} {key}")
    }

    fn call(self) -> Call {
        let api = self.api;
        let mut target = api.target.clone();
        target.namespace = (!self.namespace.is_empty()).then(|| self.namespace.to_owned());
        // The options of a delete are in its body.
        let is_write = !matches!(self.method, Method::Get | Method::Delete);
        let when = |is_set: bool, value| if is_set { value } else { "" };
        let parameters = [
            ("dryRun", when(is_write && api.dry_run, "All")),
            ("fieldManager", when(is_write, self.manager)),
            ("force", when(self.force, "true")),
        ];
        // A new object has no path yet; its name is in the body.
        let is_new = self.method == Method::Post && api.subresource.is_empty();
        let name = if is_new { "" } else { self.name };
        let path = target.object(name, &api.subresource, parameters);
        Call::new(self.method, path).with_body(self.content_type, self.body)
    }
}

impl<K> Clone for Api<K> {
    fn clone(&self) -> Self {
        Self {
            caller: Arc::clone(&self.caller),
            target: self.target.clone(),
            kind: self.kind,
            subresource: self.subresource.clone(),
            manager: self.manager.clone(),
            dry_run: self.dry_run,
            decode: Arc::clone(&self.decode),
        }
    }
}

impl<K> fmt::Debug for Api<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("target", &self.target)
            .field("subresource", &self.subresource)
            .field("manager", &self.manager)
            .field("dry_run", &self.dry_run)
            .finish_non_exhaustive()
    }
}
