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
//! `Typed` and `Dynamic` need the feature `json`. A form is a value that is given to a [`JsonDecoder`](super::JsonDecoder); a form of your own is a
//! type with [`Form`].

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::header::{Header, Pairs};
use super::json_text::{Cursor, MAX_DEPTH, TextError};
use crate::failure::message;

/// What is kept of an object.
///
/// ```
/// use informer_core::decode::form::{BodyError, Form, TypeMeta};
/// use informer_core::decode::header::Header;
///
/// /// Keeps only how large the object is.
/// struct Size;
///
/// impl Form for Size {
///     type Body = usize;
///     fn decode(
///         &mut self,
///         json: &[u8],
///         _: &Header<'_>,
///         _: TypeMeta<'_>,
///     ) -> Result<usize, BodyError> {
///         Ok(json.len())
///     }
/// }
///
/// let json = br#"{"metadata":{"name":"a"}}"#;
/// let header = Header::read(json, 128).unwrap();
/// assert_eq!(Size.decode(json, &header, TypeMeta::default()), Ok(json.len()));
/// ```
pub trait Form {
    /// What is kept.
    type Body;

    /// Whether `managedFields` are left out in any case, so that nobody has to cut them out before.
    const WITHOUT_MANAGED_FIELDS: bool = false;

    /// Makes the body of the object that `json` consists of. It is valid JSON, and `header` was read
    /// from it. `type_meta` tells what an object in a list does not tell itself.
    ///
    /// # Errors
    ///
    /// If the object does not fit the form. It is then reported as rejected.
    fn decode(
        &mut self,
        json: &[u8],
        header: &Header<'_>,
        type_meta: TypeMeta<'_>,
    ) -> Result<Self::Body, BodyError>;
}

/// What a list tells about the type of its elements; all unknown for an object of a watch, which
/// tells it itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "this is what Kubernetes calls TypeMeta"
)]
pub struct TypeMeta<'a> {
    /// `apiVersion` of the list.
    pub api_version: Option<&'a str>,
    /// `kind` of the list without its ending `List`.
    pub kind: Option<&'a str>,
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

/// Whoever has read the header knows that this is UTF-8. It is checked at once here, which takes less
/// time than the check of every string that serde would make.
#[cfg(feature = "json")]
fn text_of(json: &[u8]) -> Result<&str, BodyError> {
    core::str::from_utf8(json).map_err(BodyError::new)
}

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
/// use informer_core::decode::{Body, Decode, JsonDecoder, Lean};
/// use informer_core::flow::Fact;
///
/// let mut decoder = JsonDecoder::new(Lean);
/// decoder.begin(Body::Watch);
/// let mut line = &br#"{"type":"ADDED","object":{"metadata":{"name":"a","managedFields":[{}]}}}
/// "#[..];
/// let Some(Fact::Added(object)) = decoder.decode(&mut line) else { panic!() };
/// assert_eq!(object.key.name(), "a");
/// assert_eq!(object.as_json(), r#"{"metadata":{"name":"a"}}"#);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a name for a form")]
pub struct Lean;

/// The text of an object, without `managedFields`. An object that came in a list has neither `kind`
/// nor `apiVersion`.
#[derive(Clone, PartialEq, Eq)]
pub struct LeanBody {
    json: Box<str>,
}

impl Form for Lean {
    type Body = LeanBody;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn decode(
        &mut self,
        json: &[u8],
        header: &Header<'_>,
        _: TypeMeta<'_>,
    ) -> Result<LeanBody, BodyError> {
        let json = without_managed_fields(json, 0..json.len(), header)?;
        Ok(LeanBody { json })
    }
}

impl LeanBody {
    /// The object as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// The object as a value of a type, decoded now.
    ///
    /// # Errors
    ///
    /// If the object does not fit the type.
    #[cfg(feature = "json")]
    pub fn decode<'a, K: serde::Deserialize<'a>>(&'a self) -> Result<K, serde_json::Error> {
        serde_json::from_str(&self.json)
    }
}

impl fmt::Debug for LeanBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

/// Keeps the text of `metadata`, without `managedFields`. Fits the bodies of any resource, and those
/// of `PartialObjectMetadata`, which a server sends if it is asked for nothing else.
///
/// ```
/// use informer_core::decode::form::{Form, MetadataOnly, TypeMeta};
/// use informer_core::decode::header::Header;
///
/// let json = br#"{"metadata":{"name":"a","annotations":{"note":"caf\u00e9"}},"spec":{}}"#;
/// let header = Header::read(json, 128).unwrap();
/// let body = MetadataOnly.decode(json, &header, TypeMeta::default()).unwrap();
/// assert_eq!(body.as_json(), r#"{"name":"a","annotations":{"note":"caf\u00e9"}}"#);
/// assert_eq!(body.annotation("note").as_deref(), Some("café"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a name for a form")]
pub struct MetadataOnly;

/// The text of the `metadata` of an object, without `managedFields`.
#[derive(Clone, PartialEq, Eq)]
pub struct MetadataBody {
    json: Box<str>,
}

impl Form for MetadataOnly {
    type Body = MetadataBody;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn decode(
        &mut self,
        json: &[u8],
        header: &Header<'_>,
        _: TypeMeta<'_>,
    ) -> Result<MetadataBody, BodyError> {
        let json = without_managed_fields(json, header.metadata.clone(), header)?;
        Ok(MetadataBody { json })
    }
}

impl MetadataBody {
    /// `metadata` as JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }

    /// The annotations as they stand in the text. A repeated key comes up repeatedly; the last one
    /// counts.
    #[must_use]
    pub fn annotations(&self) -> Pairs<'_> {
        let text = member(self.json.as_bytes(), "annotations");
        Pairs::of(text.ok().flatten().unwrap_or_default())
    }

    /// The value of the annotation `name`.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<Cow<'_, str>> {
        let named = self.annotations().filter(|(key, _)| key.eq_str(name));
        named.last().map(|(_, value)| value.to_cow())
    }

    /// `metadata` as a value of a type, decoded now.
    ///
    /// # Errors
    ///
    /// If it does not fit the type.
    #[cfg(feature = "json")]
    pub fn decode<'a, K: serde::Deserialize<'a>>(&'a self) -> Result<K, serde_json::Error> {
        serde_json::from_str(&self.json)
    }
}

impl fmt::Debug for MetadataBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

/// The part `part` of `json`, which is `json` itself or its `metadata`, in a box of just its size.
fn without_managed_fields(
    json: &[u8],
    part: Range<usize>,
    header: &Header<'_>,
) -> Result<Box<str>, BodyError> {
    let cut = header.managed_fields.clone().unwrap_or(part.end..part.end);
    let before = json.get(part.start..cut.start).unwrap_or_default();
    let after = json.get(cut.end..part.end).unwrap_or_default();
    let mut kept = Vec::with_capacity(before.len() + after.len());
    kept.extend_from_slice(before);
    kept.extend_from_slice(after);
    let kept = String::from_utf8(kept).map_err(BodyError::new)?;
    Ok(kept.into_boxed_str())
}

/// Any form, of objects without `managedFields`: they are cut out before the form sees the object.
///
/// What a server notes there, who set which field and when, is often half of an object, and few programs
/// read it. [`Lean`] and [`MetadataOnly`] do without it in any case.
///
/// ```
/// use informer_core::decode::form::{Form, TypeMeta, Typed, WithoutManagedFields};
/// use informer_core::decode::header::Header;
///
/// let json = br#"{"metadata":{"name":"a","managedFields":[{"manager":"kubelet"}]}}"#;
/// let header = Header::read(json, 128).unwrap();
/// let mut form = WithoutManagedFields(Typed::<serde_json::Value>::new());
/// let body = form.decode(json, &header, TypeMeta::default()).unwrap();
/// assert_eq!(body, serde_json::json!({"metadata": {"name": "a"}}));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a form around a form")]
pub struct WithoutManagedFields<F>(pub F);

impl<F: Form> Form for WithoutManagedFields<F> {
    type Body = F::Body;

    const WITHOUT_MANAGED_FIELDS: bool = true;

    fn decode(
        &mut self,
        json: &[u8],
        header: &Header<'_>,
        type_meta: TypeMeta<'_>,
    ) -> Result<F::Body, BodyError> {
        let Some(cut) = &header.managed_fields else {
            return self.0.decode(json, header, type_meta);
        };
        let text = without_managed_fields(json, 0..json.len(), header)?;
        let mut header = header.clone();
        header.metadata.end -= cut.len();
        header.managed_fields = None;
        self.0.decode(text.as_bytes(), &header, type_meta)
    }
}

/// The text of the member `name` of the object `json`.
fn member<'a>(json: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, TextError> {
    let mut found = None;
    let mut cursor = Cursor::new(json);
    let mut members = cursor.enter_object(MAX_DEPTH)?;
    while let Some(key) = members.next(&mut cursor)? {
        let value = cursor.skip_value(MAX_DEPTH)?;
        if key.eq_str(name) {
            found = Some(value);
        }
    }
    Ok(found)
}

/// Keeps a value of the type `K`, which serde makes of the object.
///
/// The objects of a list come without `kind` and `apiVersion`, so `K` must not insist on them.
///
/// ```
/// use informer_core::decode::{Body, Decode, JsonDecoder, Typed};
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
/// let mut decoder = JsonDecoder::new(Typed::<Pod>::new());
/// decoder.begin(Body::List);
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

    fn decode(&mut self, json: &[u8], _: &Header<'_>, _: TypeMeta<'_>) -> Result<K, BodyError> {
        Ok(serde_json::from_str(text_of(json)?)?)
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
/// use informer_core::decode::{Body, Decode, Dynamic, JsonDecoder};
/// use informer_core::flow::Fact;
///
/// let mut decoder = JsonDecoder::new(Dynamic);
/// decoder.begin(Body::List);
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

    fn decode(
        &mut self,
        json: &[u8],
        header: &Header<'_>,
        type_meta: TypeMeta<'_>,
    ) -> Result<serde_json::Value, BodyError> {
        let mut value: serde_json::Value = serde_json::from_str(text_of(json)?)?;
        if let Some(object) = value.as_object_mut() {
            for (name, own, listed) in [
                ("apiVersion", header.api_version, type_meta.api_version),
                ("kind", header.kind, type_meta.kind),
            ] {
                if let (None, Some(listed)) = (own, listed) {
                    object.insert(name.into(), listed.into());
                }
            }
        }
        Ok(value)
    }
}
