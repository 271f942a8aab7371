//! What a form sees of an object that came as JSON.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use super::header::Header;
use crate::decode::TypeMeta;
use crate::decode::form::BodyError;

/// An object of a list or a watch, its header read and the rest of it checked.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "tests of forms make it")]
pub struct JsonObject<'a> {
    /// The text that the object consists of: valid JSON.
    pub json: &'a [u8],
    /// What was read from it.
    pub header: &'a Header<'a>,
    /// What an object in a list does not tell itself.
    pub type_meta: TypeMeta<'a>,
}

impl<'a> JsonObject<'a> {
    /// The text of all of it, without `managedFields`.
    pub(in crate::decode) fn whole(self) -> Result<Box<str>, BodyError> {
        self.part(0..self.json.len())
    }

    /// The text of `metadata`, without `managedFields`.
    pub(in crate::decode) fn metadata(self) -> Result<Box<str>, BodyError> {
        self.part(self.header.metadata.clone())
    }

    /// The text without `managedFields`, and the header that belongs to it, unless there are none.
    pub(in crate::decode) fn without_managed_fields(
        self,
    ) -> Result<Option<(Box<str>, Header<'a>)>, BodyError> {
        let Some(cut) = &self.header.managed_fields else {
            return Ok(None);
        };
        let mut header = self.header.clone();
        header.metadata.end -= cut.len();
        header.managed_fields = None;
        Ok(Some((self.whole()?, header)))
    }

    /// A value of a type, by serde.
    #[cfg(feature = "json")]
    pub(in crate::decode) fn parse<K: serde::Deserialize<'a>>(self) -> Result<K, BodyError> {
        // Reading the header has shown that this is UTF-8. It is checked once here, which takes
        // less time than the check of every string that serde would make.
        let text = core::str::from_utf8(self.json).map_err(BodyError::new)?;
        Ok(serde_json::from_str(text)?)
    }

    /// This part of the text, which is all of it or its `metadata`, in a box of just its size.
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
