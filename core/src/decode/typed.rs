//! Typed and dynamic objects, decoded by serde.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::form::{BodyError, Form, ReadAnnotations};
use super::json::form::JsonObject;

/// Keeps a value of the type `K`, deserialized by serde.
///
/// Objects in a list come without `kind` and `apiVersion`, so `K` must not require them.
///
/// ```
/// use informer_core::Encoding;
/// use informer_core::decode::{Body, Decode, Decoder, Typed};
/// use informer_core::flow::Fact;
///
/// #[derive(serde::Deserialize)]
/// struct Pod {
///     spec: Spec,
/// }
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Spec {
///     node_name: Option<String>,
/// }
///
/// let mut decoder = Decoder::new(Typed::<Pod>::new());
/// decoder.begin(Body::List, Encoding::Json);
/// let mut body = &br#"{"items":[{"metadata":{"name":"a"},"spec":{"nodeName":"n1"}}]}"#[..];
/// let Some(Fact::Item(pod)) = decoder.decode(&mut body) else { panic!() };
/// assert_eq!(pod.spec.node_name.as_deref(), Some("n1"));
/// ```
pub struct Typed<K> {
    annotations: Option<ReadAnnotations<K>>,
    makes: PhantomData<fn() -> K>,
}

impl<K> Typed<K> {
    /// The form for `K`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            annotations: None,
            makes: PhantomData,
        }
    }

    /// Says how annotations are read from a value, so that [`Object::annotation`](crate::Object::annotation)
    /// finds them.
    #[must_use]
    pub const fn with_annotations(self, read: ReadAnnotations<K>) -> Self {
        Self {
            annotations: Some(read),
            makes: PhantomData,
        }
    }
}

impl<K: DeserializeOwned> Form for Typed<K> {
    type Body = K;

    const COUNTS_ARRAYS: bool = true;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<K, BodyError> {
        object.parse()
    }

    fn body_annotations(&self) -> Option<ReadAnnotations<K>> {
        self.annotations
    }
}

impl<K> Default for Typed<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Typed<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Typed<K> {}

impl<K> fmt::Debug for Typed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Typed<{}>", type_name::<K>())
    }
}

/// Keeps everything except `managedFields` as a `serde_json::Value`. Objects in a list get the `kind` and
/// `apiVersion` that the list states.
///
/// ```
/// use informer_core::Encoding;
/// use informer_core::decode::{Body, Decode, Decoder, Dynamic};
/// use informer_core::flow::Fact;
///
/// let mut decoder = Decoder::new(Dynamic);
/// decoder.begin(Body::List, Encoding::Json);
/// let mut body = &br#"{"kind":"PodList","items":[{"metadata":{"name":"a"}}]}"#[..];
/// let Some(Fact::Item(pod)) = decoder.decode(&mut body) else { panic!() };
/// assert_eq!(pod["kind"], "Pod");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct Dynamic;

impl Form for Dynamic {
    type Body = Value;

    const COUNTS_ARRAYS: bool = true;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<Value, BodyError> {
        let mut value: Value = object.parse()?;
        if let Some(members) = value.as_object_mut() {
            let JsonObject {
                header, type_meta, ..
            } = object;
            for (name, own, listed) in [
                ("apiVersion", header.api_version, type_meta.api_version),
                ("kind", header.kind, type_meta.kind),
            ] {
                if let (None, Some(listed)) = (own, listed) {
                    members.insert(name.into(), listed.into());
                }
            }
        }
        Ok(value)
    }

    fn body_annotations(&self) -> Option<ReadAnnotations<Value>> {
        Some(|value, visit| {
            let annotations = value.pointer("/metadata/annotations");
            for (key, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
                if let Value::String(value) = value {
                    visit(key, value);
                }
            }
        })
    }
}
