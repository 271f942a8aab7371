//! Objects that keep their JSON text and are decoded on demand.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;

#[cfg(feature = "json")]
use serde::de::DeserializeOwned;

use super::form::{BodyError, Lean, MetadataOnly, Packed};
use super::json::form::{JsonObject, KeptJson};
use super::json::text::{last_member, validate};
use crate::decoded::{Extent, Object};

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

    /// The part that is kept.
    fn kept(object: JsonObject<'_>) -> KeptJson;
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
    /// The kept text, as JSON. A packed text is unpacked.
    #[must_use]
    pub fn json(&self) -> Cow<'_, str> {
        self.kept_text()
    }

    /// Replaces the kept text, in a transform. Key, uid, version and labels stay as they are.
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
        let text = self.json();
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
