//! An object at one version.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use crate::api::ApiKind;
use crate::encode::Encoded;
use crate::form::Row;
use crate::protobuf::{self, Unfit};
use crate::store::metadata::{metadata, set, text};
use crate::store::write::set_version;
use crate::timestamp::Timestamp;

/// An object as the server stores it: immutable and shared by its readers.
///
/// ```
/// use informer_transport_mock::{Server, ServerConfig};
/// use serde_json::json;
///
/// let mut server = Server::new(ServerConfig::new(42));
/// let pod = json!({"metadata": {"name": "web", "labels": {"app": "shop"}}, "spec": {"nodeName": "n1"}});
/// let pod = server.create("pods", pod)?;
/// assert_eq!((pod.key(), pod.version()), ("default/web", 2));
/// assert_eq!(pod.label("app"), Some("shop"));
/// assert_eq!(pod.value()["spec"]["nodeName"], "n1");
/// # Ok::<(), informer_transport_mock::status::ApiError>(())
/// ```
#[derive(Debug)]
pub struct StoredObject {
    key: String,
    version: u64,
    value: Map<String, Value>,
    encoded: Encoded,
    /// The object as protobuf, once somebody has asked for it.
    protobuf: OnceLock<Result<Arc<[u8]>, Unfit>>,
}

impl StoredObject {
    /// Creates the object at `version` and sets this version in its metadata. Version 0 is that of
    /// an object that was never stored.
    pub(crate) fn new(kind: &ApiKind, mut value: Map<String, Value>, version: u64) -> Self {
        if version > 0 {
            set(
                &mut value,
                "resourceVersion",
                Value::String(version.to_string()),
            );
        }
        Self {
            key: key(
                text(&value, "namespace"),
                text(&value, "name").unwrap_or_default(),
            ),
            version,
            encoded: Encoded::new(kind, &value),
            value,
            protobuf: OnceLock::new(),
        }
    }

    /// `namespace/name`, or `name` without a namespace.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The object's name.
    #[must_use]
    pub fn name(&self) -> &str {
        text(&self.value, "name").unwrap_or_default()
    }

    /// The object's namespace; `None` for cluster-scoped objects.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        text(&self.value, "namespace")
    }

    /// The object's uid.
    #[must_use]
    pub fn uid(&self) -> &str {
        text(&self.value, "uid").unwrap_or_default()
    }

    /// The version of the write that produced this state.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// The fields of the object.
    #[must_use]
    pub const fn value(&self) -> &Map<String, Value> {
        &self.value
    }

    /// The JSON of the object, as in the answer to a `GET`.
    #[must_use]
    pub fn json(&self) -> &[u8] {
        &self.encoded.whole
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        metadata(&self.value)?.get("labels")?.get(key)?.as_str()
    }

    /// The value of a field by its dotted path, as a field selector sees it; empty if absent.
    #[must_use]
    pub fn field(&self, path: &str) -> Cow<'_, str> {
        let (first, rest) = path.split_once('.').unwrap_or((path, ""));
        let mut parts = rest.split('.').filter(|part| !part.is_empty());
        let value = self.value.get(first);
        let value = parts.try_fold(value, |value, part| value.map(|value| value.get(part)));
        match value.flatten() {
            Some(Value::String(text)) => Cow::Borrowed(text),
            Some(scalar @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(scalar.to_string()),
            _ => Cow::Borrowed(""),
        }
    }

    /// The bytes of the object, in the version of `kind`.
    pub(crate) fn encoded(&self, kind: &ApiKind) -> Cow<'_, Encoded> {
        if !kind.is_converted() {
            return Cow::Borrowed(&self.encoded);
        }
        let mut value = self.value.clone();
        set_version(&mut value, kind);
        Cow::Owned(Encoded::new(kind, &value))
    }

    /// The object as protobuf, without an envelope.
    pub(crate) fn protobuf(&self, kind: &ApiKind) -> Result<Arc<[u8]>, Unfit> {
        let encoded = || protobuf::object(kind, &self.value).map(Arc::from);
        self.protobuf.get_or_init(encoded).clone()
    }

    /// The object's table row.
    pub(crate) fn row(&self, now: Timestamp) -> Row<'_> {
        Row {
            name: self.name(),
            version: self.version,
            created: text(&self.value, "creationTimestamp"),
            now,
        }
    }
}

/// The key of an object: `namespace/name`, or `name` without a namespace. Lists are in key order.
pub(crate) fn key(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}
