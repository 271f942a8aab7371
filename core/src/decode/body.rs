//! Objects that keep their text and are decoded on demand.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "json")]
use serde::de::DeserializeOwned;

use super::form::{BodyError, Lean, MetadataOnly, Packed, ProtobufUse};
use super::json::form::{JsonObject, KeptJson};
use super::json::text::{last_member, validate};
use crate::decoded::{Extent, Object};
use crate::encoding::Encoding;

/// The body of an object that keeps its text in the form `F`, to be decoded into `K`. The text stands in
/// the record of the object, so the body itself is empty.
pub struct TextBody<F, K = Untyped> {
    makes: PhantomData<fn() -> (F, K)>,
}

/// The text of an object without `managedFields`. An object from a list has neither `kind` nor
/// `apiVersion`.
pub type LeanBody<K = Untyped> = TextBody<Lean, K>;

/// The text of an object without `managedFields`, packed.
pub type PackedBody<K = Untyped> = TextBody<Packed, K>;

/// The text of an object's `metadata` without `managedFields`.
pub type MetadataBody = TextBody<MetadataOnly>;

/// The type of a text whose type is not known: name it when you decode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no such value")]
pub enum Untyped {}

/// A form that keeps text: [`Lean`], [`Packed`] or [`MetadataOnly`].
pub trait TextForm: sealed::Sealed {
    /// The member of the object that is kept, if not all of it is.
    const ROOT: Option<&str>;

    /// What is kept of an object in protobuf.
    const PROTOBUF: ProtobufUse;

    /// The part of the JSON text that is kept.
    fn kept(object: JsonObject<'_>) -> KeptJson;
}

/// The kept text is in another encoding than the one that was asked for.
///
/// ```
/// use informer_core::decode::{Lean, protobuf};
///
/// let pod = b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x05\x0a\x03\x0a\x01a";
/// let pod = protobuf::decode_object(&mut Lean, pod)?;
/// assert_eq!(
///     pod.json().unwrap_err().to_string(),
///     "the object is kept in protobuf, and JSON of it needs a schema: decode it into a prost type, or ask the server for JSON"
/// );
/// # Ok::<(), informer_core::decode::form::BodyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OtherEncoding {
    /// The encoding of the kept text.
    pub found: Encoding,
}

impl fmt::Display for OtherEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.found {
            Encoding::Json => {
                "the object is kept in JSON, not in protobuf: decode it into a serde type, or ask the server for protobuf"
            }
            Encoding::Protobuf => {
                "the object is kept in protobuf, and JSON of it needs a schema: decode it into a prost type, or ask the server for JSON"
            }
        })
    }
}

impl core::error::Error for OtherEncoding {}

impl From<OtherEncoding> for BodyError {
    fn from(error: OtherEncoding) -> Self {
        Self::new(error)
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "nobody else implements it")]
    pub trait Sealed {}
    impl Sealed for super::Lean {}
    impl Sealed for super::Packed {}
    impl Sealed for super::MetadataOnly {}
}

impl<F, K> TextBody<F, K> {
    /// The empty body.
    #[must_use]
    pub const fn new() -> Self {
        Self { makes: PhantomData }
    }
}

impl<F: TextForm, K> Object<TextBody<F, K>> {
    /// The encoding of the kept text. `metadata` is always kept as JSON.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.kept_encoding()
    }

    /// The kept text, as JSON. A packed text is unpacked.
    ///
    /// # Errors
    ///
    /// The object is kept in protobuf, which only a schema turns into JSON.
    pub fn json(&self) -> Result<Cow<'_, str>, OtherEncoding> {
        self.kept_json().ok_or(OtherEncoding {
            found: Encoding::Protobuf,
        })
    }

    /// The kept message in protobuf: the object without its type. A packed message is unpacked.
    ///
    /// # Errors
    ///
    /// The object is kept in JSON.
    pub fn protobuf(&self) -> Result<Cow<'_, [u8]>, OtherEncoding> {
        match self.kept_encoding() {
            Encoding::Protobuf => Ok(self.kept_text()),
            found => Err(OtherEncoding { found }),
        }
    }

    /// Replaces the kept text with JSON, in a transform. Key, uid, version and labels stay as they are.
    ///
    /// # Errors
    ///
    /// The text is not a JSON object.
    pub fn set_json(&mut self, json: &str) -> Result<(), BodyError> {
        validate(json.as_bytes(), 128).map_err(BodyError::new)?;
        if !json.trim_ascii_start().starts_with('{') {
            return Err(BodyError::new("not a JSON object"));
        }
        let metadata = match F::ROOT {
            None => member(json.as_bytes(), "metadata"),
            Some(_) => json.as_bytes(),
        };
        let place = |name| {
            let part = member(metadata, name);
            let start = part.as_ptr().addr().checked_sub(json.as_ptr().addr());
            Extent::new(start.unwrap_or_default(), part.len())
        };
        self.replace_text(json, place("annotations"), place("ownerReferences"));
        Ok(())
    }

    /// How many bytes the kept text takes in memory.
    #[must_use]
    pub fn packed_size(&self) -> usize {
        self.kept_bytes().len()
    }

    /// Decodes the kept text into a value of any type.
    ///
    /// # Errors
    ///
    /// The text does not fit the type.
    #[cfg(feature = "json")]
    pub fn decode_as<T: DeserializeOwned>(&self) -> Result<T, BodyError> {
        let text = self.json()?;
        let end = text.len();
        super::json::typed::from_text(&text, &[], end..end).map_err(BodyError::new)
    }
}

/// The text of a member; empty if there is none.
fn member<'a>(object: &'a [u8], name: &str) -> &'a [u8] {
    let found = last_member(object, name);
    found.ok().flatten().unwrap_or_default()
}

#[cfg(feature = "json")]
impl<F: TextForm, K: DeserializeOwned> Object<TextBody<F, K>> {
    /// Decodes the kept text.
    ///
    /// # Errors
    ///
    /// The text does not fit the type.
    pub fn decode(&self) -> Result<K, BodyError> {
        self.decode_as()
    }
}

#[cfg(feature = "json")]
impl<F: TextForm> Object<TextBody<F, Untyped>> {
    /// Decodes the kept text into a value.
    ///
    /// # Errors
    ///
    /// The text does not fit the type.
    pub fn decode<K: DeserializeOwned>(&self) -> Result<K, BodyError> {
        self.decode_as()
    }
}

impl<F, K> Clone for TextBody<F, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F, K> Copy for TextBody<F, K> {}

impl<F, K> Default for TextBody<F, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F, K> PartialEq for TextBody<F, K> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<F, K> Eq for TextBody<F, K> {}

impl<F, K> fmt::Debug for TextBody<F, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextBody")
    }
}
