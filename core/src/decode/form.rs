//! Forms: what to keep of an object.
//!
//! | form | body | keeps |
//! | --- | --- | --- |
//! | `Typed<K>` | `K` | what `K` deserializes |
//! | [`Lean`] | [`LeanBody`] | the text that the server sent, without `managedFields` |
//! | [`MetadataOnly`] | [`MetadataBody`] | the text of `metadata`, without `managedFields` |
//! | `Dynamic` | `serde_json::Value` | everything except `managedFields` |
//! | [`KeepManagedFields<F>`] | that of `F` | what `F` keeps, and `managedFields` |
//!
//! `Typed` and `Dynamic` need the feature `json`. Pass a form to a [`Decoder`](super::Decoder). To
//! write your own, implement [`Form`].

use alloc::string::String;
use core::fmt;

use super::json::form::JsonObject;
use crate::failure::message;

pub use super::body::{LeanBody, MetadataBody, TextBody};
#[cfg(feature = "json")]
pub use super::typed::{Dynamic, Typed};

/// Decides what to keep of an object. It has one method for each [`Encoding`](crate::Encoding).
///
/// ```
/// use informer_core::decode::decode_object;
/// use informer_core::decode::form::{BodyError, Form};
/// use informer_core::decode::json::form::JsonObject;
///
/// /// Keeps only the size of an object.
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

    /// Whether the form allocates arrays. Their lengths are then counted while the header is read.
    const COUNTS_ARRAYS: bool = false;

    /// Makes the body of an object from JSON.
    ///
    /// # Errors
    ///
    /// The object does not fit the form. It is then reported as rejected.
    fn read_json(&mut self, object: JsonObject<'_>) -> Result<Self::Body, BodyError>;
}

/// Why an object does not fit a form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BodyError {
    text: String,
}

impl BodyError {
    /// Creates an error with this message. Only the first
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

/// Keeps the JSON text from the server, without `managedFields`.
///
/// It usually takes less than half the memory of any other form that keeps everything. Bodies are
/// decoded on demand.
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
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct Lean;

impl Form for Lean {
    type Body = LeanBody;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<LeanBody, BodyError> {
        object.whole().map(TextBody::new)
    }
}

/// Keeps the text of `metadata`, without `managedFields`.
///
/// It fits objects of any resource, and the `PartialObjectMetadata` that a server sends for
/// [`Content::Metadata`](crate::transport::Content::Metadata).
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
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct MetadataOnly;

impl Form for MetadataOnly {
    type Body = MetadataBody;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<MetadataBody, BodyError> {
        object.metadata().map(TextBody::new)
    }
}

/// Wraps a form so that it sees `managedFields`. All other forms leave them out.
///
/// `managedFields` record which client set which field. They are often half of an object, and few
/// programs read them.
///
/// ```
/// use informer_core::decode::{Dynamic, KeepManagedFields, decode_object};
///
/// let json = br#"{"metadata":{"name":"a","managedFields":[{"manager":"kubelet"}]}}"#;
/// let object = decode_object(&mut Dynamic, json)?;
/// assert_eq!(object.body, serde_json::json!({"metadata": {"name": "a"}}));
/// let object = decode_object(&mut KeepManagedFields(Dynamic), json)?;
/// assert_eq!(object.body["metadata"]["managedFields"][0]["manager"], "kubelet");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "a plain wrapper")]
pub struct KeepManagedFields<F>(pub F);

impl<F: Form> Form for KeepManagedFields<F> {
    type Body = F::Body;

    const COUNTS_ARRAYS: bool = F::COUNTS_ARRAYS;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<F::Body, BodyError> {
        let mut header = object.header.clone();
        header.managed_fields = None;
        self.0.read_json(object.with_header(&header))
    }
}
