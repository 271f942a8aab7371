//! The forms in which the body of an object is kept.
//!
//! | form | body | keeps |
//! | --- | --- | --- |
//! | `Typed<K>` | `K` | what `K` deserializes |
//! | [`Lean`] | [`LeanBody`] | the text that the server sent, without `managedFields` |
//! | [`MetadataOnly`] | [`MetadataBody`] | the text of `metadata`, without `managedFields` |
//! | `Dynamic` | `serde_json::Value` | everything |
//! | [`WithoutManagedFields<F>`] | that of `F` | what `F` keeps of an object without `managedFields` |
//!
//! `Typed` and `Dynamic` need the feature `json`. A form is a value that is given to a
//! [`Decoder`](super::Decoder); a form of your own is a type with [`Form`].

use alloc::string::String;
use core::fmt;

use super::body::TextBody;
use super::json::form::JsonObject;
use crate::failure::message;

pub use super::body::{LeanBody, MetadataBody};

/// What is kept of an object. There is one method for each [`Encoding`](crate::Encoding).
///
/// ```
/// use informer_core::decode::decode_object;
/// use informer_core::decode::form::{BodyError, Form};
/// use informer_core::decode::json::form::JsonObject;
///
/// /// Keeps only how large the object is.
/// struct Size;
///
/// impl Form for Size {
///     type Body = usize;
///     fn read_json(&mut self, object: JsonObject<'_>) -> Result<usize, BodyError> {
///         Ok(object.json.len())
///     }
/// }
///
/// let object = decode_object(&mut Size, br#"{"metadata":{"name":"a"}}"#)?;
/// assert_eq!(object.body, 25);
/// # Ok::<(), BodyError>(())
/// ```
pub trait Form {
    /// What is kept.
    type Body;

    /// Whether `managedFields` are left out in any case, so that nobody has to cut them out before.
    const WITHOUT_MANAGED_FIELDS: bool = false;

    /// Makes the body of an object that came as JSON.
    ///
    /// # Errors
    ///
    /// If the object does not fit the form. It is then reported as rejected.
    fn read_json(&mut self, object: JsonObject<'_>) -> Result<Self::Body, BodyError>;
}

/// Why an object does not fit a form, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BodyError {
    text: String,
}

impl BodyError {
    /// An error with this text, of which only the first
    /// [`MAX_MESSAGE`](crate::failure::MAX_MESSAGE) bytes are kept.
    #[must_use]
    pub fn new(text: impl fmt::Display) -> Self {
        Self {
            text: message(text),
        }
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl core::error::Error for BodyError {}

#[cfg(feature = "json")]
impl From<serde_json::Error> for BodyError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

/// Keeps the text that the server sent, without `managedFields`. Typically less than half the memory
/// of any other form that keeps everything; what is in it is decoded when somebody asks.
///
/// ```
/// use informer_core::Encoding;
/// use informer_core::decode::{Body, Decode, Decoder, Lean};
/// use informer_core::flow::Fact;
///
/// let mut decoder = Decoder::new(Lean);
/// decoder.begin(Body::Watch, Encoding::Json);
/// let mut line = &br#"{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{}]}}}
/// "#[..];
/// let Some(Fact::Added(object)) = decoder.decode(&mut line) else { panic!() };
/// assert_eq!(object.key.name(), "a");
/// assert_eq!(object.as_json(), r#"{"metadata":{"name":"a"}}"#);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a name for a form")]
pub struct Lean;

impl Form for Lean {
    type Body = LeanBody;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<LeanBody, BodyError> {
        object.whole().map(TextBody::new)
    }
}

/// Keeps the text of `metadata`, without `managedFields`. Fits the bodies of any resource, and those
/// of `PartialObjectMetadata`, which a server sends if it is asked for nothing else.
///
/// ```
/// use informer_core::decode::{MetadataOnly, decode_object};
///
/// let json = br#"{"metadata":{"name":"a","annotations":{"note":"caf\u00e9"}},"spec":{}}"#;
/// let object = decode_object(&mut MetadataOnly, json)?;
/// assert_eq!(object.as_json(), r#"{"name":"a","annotations":{"note":"caf\u00e9"}}"#);
/// assert_eq!(object.annotation("note").as_deref(), Some("café"));
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a name for a form")]
pub struct MetadataOnly;

impl Form for MetadataOnly {
    type Body = MetadataBody;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<MetadataBody, BodyError> {
        object.metadata().map(TextBody::new)
    }
}

/// Any form, of objects without `managedFields`: they are cut out before the form sees the object.
///
/// What a server notes there, who set which field and when, is often half of an object, and few programs
/// read it. [`Lean`] and [`MetadataOnly`] do without it in any case.
///
/// ```
/// use informer_core::decode::{Typed, WithoutManagedFields, decode_object};
///
/// let json = br#"{"metadata":{"name":"a","managedFields":[{"manager":"kubelet"}]}}"#;
/// let mut form = WithoutManagedFields(Typed::<serde_json::Value>::new());
/// let object = decode_object(&mut form, json)?;
/// assert_eq!(object.body, serde_json::json!({"metadata": {"name": "a"}}));
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a form around a form")]
pub struct WithoutManagedFields<F>(pub F);

impl<F: Form> Form for WithoutManagedFields<F> {
    type Body = F::Body;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<F::Body, BodyError> {
        let Some((text, header)) = object.without_managed_fields()? else {
            return self.0.read_json(object);
        };
        self.0.read_json(JsonObject {
            json: text.as_bytes(),
            header: &header,
            ..object
        })
    }
}

/// Keeps a value of the type `K`, which serde makes of the object.
///
/// The objects of a list come without `kind` and `apiVersion`, so `K` must not insist on them.
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
#[cfg(feature = "json")]
pub struct Typed<K> {
    makes: core::marker::PhantomData<fn() -> K>,
}

#[cfg(feature = "json")]
impl<K> Typed<K> {
    /// The form for `K`.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            makes: core::marker::PhantomData,
        }
    }
}

#[cfg(feature = "json")]
impl<K: serde::de::DeserializeOwned> Form for Typed<K> {
    type Body = K;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<K, BodyError> {
        object.parse()
    }
}

#[cfg(feature = "json")]
impl<K> Default for Typed<K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(feature = "json")]
impl<K> Clone for Typed<K> {
    fn clone(&self) -> Self {
        *self
    }
}

#[cfg(feature = "json")]
impl<K> Copy for Typed<K> {}

#[cfg(feature = "json")]
impl<K> fmt::Debug for Typed<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Typed<{}>", core::any::type_name::<K>())
    }
}

/// Keeps everything as a `serde_json::Value`. The objects of a list get the `kind` and `apiVersion`
/// that the list tells.
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
/// assert_eq!(pod.body["kind"], "Pod");
/// ```
#[cfg(feature = "json")]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a name for a form")]
pub struct Dynamic;

#[cfg(feature = "json")]
impl Form for Dynamic {
    type Body = serde_json::Value;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<serde_json::Value, BodyError> {
        let mut value: serde_json::Value = object.parse()?;
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
}
