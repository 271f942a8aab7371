//! What a form receives of an object in JSON.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::header::Header;
use super::text::ArrayLength;
#[cfg(feature = "json")]
use super::typed::from_text;
use crate::decode::TypeMeta;
use crate::decode::form::BodyError;

/// An object of a list or a watch: its checked text and its header.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct JsonObject<'a> {
    /// The text of the object: valid JSON.
    pub json: &'a [u8],
    /// The header of the object.
    pub header: &'a Header<'a>,
    /// The type of an object in a list, which the object itself does not state.
    pub type_meta: TypeMeta<'a>,
    /// How long its arrays are.
    pub(super) lengths: &'a [ArrayLength],
}

impl<'a> JsonObject<'a> {
    /// Creates an object whose header was read with [`Header::read`].
    #[must_use]
    pub const fn new(json: &'a [u8], header: &'a Header<'a>, type_meta: TypeMeta<'a>) -> Self {
        Self {
            json,
            header,
            type_meta,
            lengths: &[],
        }
    }

    /// The same object with another header.
    pub(in crate::decode) const fn with_header(self, header: &'a Header<'a>) -> Self {
        Self { header, ..self }
    }

    /// The whole text without `managedFields`.
    pub(in crate::decode) fn whole(self) -> Result<Box<str>, BodyError> {
        self.part(0..self.json.len())
    }

    /// The text of `metadata` without `managedFields`.
    pub(in crate::decode) fn metadata(self) -> Result<Box<str>, BodyError> {
        self.part(self.header.metadata.clone())
    }

    /// Deserializes the object.
    #[cfg(feature = "json")]
    pub(in crate::decode) fn parse<K: serde::Deserialize<'a>>(self) -> Result<K, BodyError> {
        // The header was read, so this is UTF-8. One check of the whole text here is faster than
        // serde's check of every string.
        let text = core::str::from_utf8(self.json).map_err(BodyError::new)?;
        let none = text.len()..text.len();
        let left_out = self.header.managed_fields.clone().unwrap_or(none);
        from_text(text, self.lengths, left_out).map_err(BodyError::new)
    }

    /// A part of the text without `managedFields`, in a box of the exact size.
    fn part(self, part: Range<usize>) -> Result<Box<str>, BodyError> {
        let none = part.end..part.end;
        let cut = self.header.managed_fields.clone().unwrap_or(none);
        let before = self.json.get(part.start..cut.start).unwrap_or_default();
        let after = self.json.get(cut.end..part.end).unwrap_or_default();
        let mut kept = Vec::with_capacity(before.len() + after.len());
        kept.extend_from_slice(before);
        kept.extend_from_slice(after);
        let kept = String::from_utf8(kept).map_err(BodyError::new)?;
        Ok(kept.into_boxed_str())
    }
}
