//! Forms: what to keep of an object.
//!
//! | form | body | keeps |
//! | --- | --- | --- |
//! | `Typed<K>` | `K` | what `K` deserializes |
//! | [`Lean`] | [`LeanBody`] | the text that the server sent, without `managedFields` |
//! | [`Packed`] | [`PackedBody`] | the same, packed by a [`Packer`](crate::pack::Packer) |
//! | [`MetadataOnly`] | [`MetadataBody`] | the text of `metadata`, without `managedFields` |
//! | [`As<F, K>`] | that of `F` | one of these three, and the type to decode it into |
//! | `Dynamic` | `serde_json::Value` | everything except `managedFields` |
//! | [`Keep<F>`] | that of `F` | what `F` keeps, and what else you ask for |
//!
//! `Lean` and `Packed` keep the message without `managedFields` if the answer is protobuf, and
//! `MetadataOnly` turns `metadata` of it into the same JSON.
//!
//! `Typed` and `Dynamic` need the feature `json`. Pass a form to a [`Decoder`](super::Decoder). To
//! write your own, implement [`Form`].

use alloc::string::String;
use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;

use super::json::form::{JsonObject, KeptJson};
use super::protobuf::form::{KeptProtobuf, ProtobufObject};
use crate::encoding::Encodings;
use crate::failure::message;

pub use super::body::{
    LeanBody, MetadataBody, OtherEncoding, PackedBody, TextBody, TextForm, Untyped,
};
#[cfg(feature = "json")]
pub use super::typed::{Dynamic, Typed};
pub use crate::decoded::ReadAnnotations;

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
/// assert_eq!(*object, 25);
/// # Ok::<(), BodyError>(())
/// ```
pub trait Form {
    /// What is kept.
    type Body;

    /// Whether the form allocates arrays. Their lengths are then counted while the header is read.
    const COUNTS_ARRAYS: bool = false;

    /// Whether the form reads JSON. If not, every answer in JSON fails.
    const READS_JSON: bool = true;

    /// How the form reads protobuf. If it does not, as by default, every answer in protobuf fails.
    const PROTOBUF: ProtobufUse = ProtobufUse::Refused;

    /// The encodings that the form reads: what a [`Target`](crate::transport::Target::accepting) for it may
    /// accept.
    ///
    /// ```
    /// use informer_core::Encodings;
    /// use informer_core::decode::form::{Dynamic, Form, Lean};
    ///
    /// assert_eq!(Lean::ENCODINGS, Encodings::ProtobufOrJson);
    /// assert_eq!(Dynamic::ENCODINGS, Encodings::Json);
    /// ```
    const ENCODINGS: Encodings = match (Self::READS_JSON, Self::PROTOBUF) {
        (_, ProtobufUse::Refused) => Encodings::Json,
        (true, _) => Encodings::ProtobufOrJson,
        (false, _) => Encodings::Protobuf,
    };

    /// Makes the body of an object from JSON.
    ///
    /// # Errors
    ///
    /// The object does not fit the form. It is then reported as rejected.
    fn read_json(&mut self, object: JsonObject<'_>) -> Result<Self::Body, BodyError>;

    /// The part of the JSON text that is kept beside the body; nothing by default.
    fn keeps_json(&self, object: JsonObject<'_>) -> KeptJson {
        let _ = object;
        KeptJson::default()
    }

    /// Makes the body of an object from protobuf. It is called if [`PROTOBUF`](Self::PROTOBUF) says so.
    ///
    /// # Errors
    ///
    /// The object does not fit the form. It is then reported as rejected.
    fn read_protobuf(&mut self, object: ProtobufObject<'_>) -> Result<Self::Body, BodyError> {
        let _ = object;
        Err(BodyError::new("this form does not read protobuf"))
    }

    /// The part of the message that is kept beside the body; nothing by default.
    fn keeps_protobuf(&self, object: ProtobufObject<'_>) -> KeptProtobuf {
        let _ = object;
        KeptProtobuf::default()
    }

    /// Whether the form sees `managedFields`.
    fn sees_managed_fields(&self) -> bool {
        false
    }

    /// Whether objects of this form have annotations, in the body or in the kept text. If not,
    /// [`Keep::annotations`] keeps them.
    fn has_annotations(&self) -> bool {
        self.body_annotations().is_some()
    }

    /// Reads annotations from a body, if bodies have them. A decoder asks once.
    fn body_annotations(&self) -> Option<ReadAnnotations<Self::Body>> {
        None
    }
}

/// How a [`Form`] reads protobuf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "decoders handle every case")]
pub enum ProtobufUse {
    /// Not at all.
    Refused,
    /// Only `metadata`, which is turned into JSON and given to [`Form::read_json`].
    MetadataAsJson,
    /// The message, by [`Form::read_protobuf`].
    Message,
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

/// Keeps the JSON text from the server, without `managedFields`; or the message, if the answer is
/// protobuf.
///
/// It usually takes less than half the memory of any other form that keeps everything, except
/// [`Packed`]. Bodies are decoded on demand.
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
/// assert_eq!(object.key().name(), "a");
/// assert_eq!(object.json()?, r#"{"metadata":{"name":"a"}}"#);
/// # Ok::<(), informer_core::decode::form::OtherEncoding>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct Lean;

/// Keeps what [`Lean`] keeps, packed by a [`Packer`](crate::pack::Packer): about a seventh to a tenth
/// of the text that the server sent.
///
/// The decoder makes objects that are not packed yet. Pack them after all transforms.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct Packed;

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
/// assert_eq!(object.json()?, r#"{"name":"a","annotations":{"note":"caf\u00e9"}}"#);
/// assert_eq!(object.annotation("note").as_deref(), Some("café"));
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "it has no fields")]
pub struct MetadataOnly;

/// A form that keeps text, with the type `K` that the text is decoded into on demand.
///
/// ```
/// use informer_core::decode::{As, Lean, decode_object};
///
/// #[derive(serde::Deserialize)]
/// struct Pod {
///     phase: String,
/// }
///
/// let json = br#"{"metadata":{"name":"a"},"phase":"Running"}"#;
/// let object = decode_object(&mut As::<Lean, Pod>::new(), json)?;
/// // No annotation of the type is needed.
/// assert_eq!(object.decode()?.phase, "Running");
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
pub struct As<F, K> {
    makes: PhantomData<fn() -> (F, K)>,
}

impl<F, K> As<F, K> {
    /// The form `F` for `K`.
    #[must_use]
    pub const fn new() -> Self {
        Self { makes: PhantomData }
    }
}

impl<F, K> Default for As<F, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F, K> Clone for As<F, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, K> Copy for As<F, K> {}

impl<F, K> fmt::Debug for As<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "As<{}, {}>", type_name::<F>(), type_name::<K>())
    }
}

/// The type is one of serde, so a message that is kept as it is cannot be decoded into it.
impl<F: TextForm, K> Form for As<F, K> {
    type Body = TextBody<F, K>;

    const PROTOBUF: ProtobufUse = match F::PROTOBUF {
        ProtobufUse::Message => ProtobufUse::Refused,
        other => other,
    };

    fn read_json(&mut self, _: JsonObject<'_>) -> Result<TextBody<F, K>, BodyError> {
        Ok(TextBody::new())
    }

    fn keeps_json(&self, object: JsonObject<'_>) -> KeptJson {
        F::kept(object)
    }

    fn has_annotations(&self) -> bool {
        true
    }
}

macro_rules! text_forms {
    ($($form:ident keeps $part:ident, at $root:expr, of protobuf $protobuf:ident;)*) => {$(
        impl TextForm for $form {
            const ROOT: Option<&str> = $root;

            const PROTOBUF: ProtobufUse = ProtobufUse::$protobuf;

            fn kept(object: JsonObject<'_>) -> KeptJson {
                object.$part()
            }
        }

        impl Form for $form {
            type Body = TextBody<Self>;

            const PROTOBUF: ProtobufUse = ProtobufUse::$protobuf;

            fn read_json(&mut self, object: JsonObject<'_>) -> Result<TextBody<Self>, BodyError> {
                As::new().read_json(object)
            }

            fn keeps_json(&self, object: JsonObject<'_>) -> KeptJson {
                Self::kept(object)
            }

            #[inline]
            fn read_protobuf(&mut self, _: ProtobufObject<'_>) -> Result<TextBody<Self>, BodyError> {
                Ok(TextBody::new())
            }

            #[inline]
            fn keeps_protobuf(&self, object: ProtobufObject<'_>) -> KeptProtobuf {
                object.whole()
            }

            fn has_annotations(&self) -> bool {
                true
            }
        }
    )*};
}

text_forms! {
    Lean keeps whole, at None, of protobuf Message;
    Packed keeps whole, at None, of protobuf Message;
    MetadataOnly keeps metadata, at Some("metadata"), of protobuf MetadataAsJson;
}

/// Wraps a form to keep more: `managedFields`, or annotations that the body does not have.
///
/// `managedFields` record which client set which field. They are often half of an object, and few
/// programs read them. So all other forms leave them out.
///
/// ```
/// use informer_core::decode::{Dynamic, Keep, Typed, decode_object};
///
/// let json = br#"{"metadata":{"name":"a","annotations":{"team":"blue"},
///     "managedFields":[{"manager":"kubelet"}]}}"#;
/// let object = decode_object(&mut Keep::new(Dynamic).managed_fields(true), json)?;
/// assert_eq!(object["metadata"]["managedFields"][0]["manager"], "kubelet");
///
/// /// A type without annotations.
/// #[derive(serde::Deserialize)]
/// struct Pod {}
/// let object = decode_object(&mut Keep::new(Typed::<Pod>::new()).annotations(true), json)?;
/// assert_eq!(object.annotation("team").as_deref(), Some("blue"));
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Keep<F> {
    form: F,
    managed_fields: bool,
    annotations: bool,
}

impl<F> Keep<F> {
    /// Keeps what `form` keeps.
    #[must_use]
    pub const fn new(form: F) -> Self {
        Self {
            form,
            managed_fields: false,
            annotations: false,
        }
    }

    /// Sets whether the form sees `managedFields`.
    #[must_use]
    pub fn managed_fields(self, keep: bool) -> Self {
        Self {
            managed_fields: keep,
            ..self
        }
    }

    /// Sets whether annotations are kept beside a body that does not have them.
    #[must_use]
    pub fn annotations(self, keep: bool) -> Self {
        Self {
            annotations: keep,
            ..self
        }
    }
}

impl<F: Form> Form for Keep<F> {
    type Body = F::Body;

    const COUNTS_ARRAYS: bool = F::COUNTS_ARRAYS;

    const READS_JSON: bool = F::READS_JSON;

    const PROTOBUF: ProtobufUse = F::PROTOBUF;

    fn read_json(&mut self, object: JsonObject<'_>) -> Result<F::Body, BodyError> {
        let object = object.keeping_managed_fields(self.managed_fields);
        self.form.read_json(object)
    }

    fn keeps_json(&self, object: JsonObject<'_>) -> KeptJson {
        let object = object.keeping_managed_fields(self.managed_fields);
        let kept = self.form.keeps_json(object);
        if self.annotations && !self.form.has_annotations() {
            return kept.and_annotations();
        }
        kept
    }

    fn read_protobuf(&mut self, object: ProtobufObject<'_>) -> Result<F::Body, BodyError> {
        let object = object.keeping_managed_fields(self.managed_fields);
        self.form.read_protobuf(object)
    }

    fn keeps_protobuf(&self, object: ProtobufObject<'_>) -> KeptProtobuf {
        let object = object.keeping_managed_fields(self.managed_fields);
        let kept = self.form.keeps_protobuf(object);
        if self.annotations && !self.form.has_annotations() {
            return kept.and_annotations();
        }
        kept
    }

    fn sees_managed_fields(&self) -> bool {
        self.managed_fields || self.form.sees_managed_fields()
    }

    fn has_annotations(&self) -> bool {
        self.annotations || self.form.has_annotations()
    }

    fn body_annotations(&self) -> Option<ReadAnnotations<F::Body>> {
        self.form.body_annotations()
    }
}
