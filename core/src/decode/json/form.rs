//! What a form receives of an object in JSON.

use core::ops::Range;

use super::header::Header;
use super::text::ArrayLength;
#[cfg(feature = "json")]
use super::typed::from_text;
use crate::decode::TypeMeta;
#[cfg(feature = "json")]
use crate::decode::form::BodyError;
use crate::invariant::cannot_happen;

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
    #[cfg_attr(
        not(feature = "json"),
        expect(dead_code, reason = "only forms with types read it")
    )]
    pub(super) lengths: &'a [ArrayLength],
    /// Whether `managedFields` are not cut out.
    pub(super) keeps_managed_fields: bool,
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
            keeps_managed_fields: false,
        }
    }

    /// The same object. `managedFields` are kept if this form says so, or one around it.
    pub(in crate::decode) const fn keeping_managed_fields(self, keep: bool) -> Self {
        Self {
            keeps_managed_fields: self.keeps_managed_fields || keep,
            ..self
        }
    }

    /// Keeps the whole text, without `managedFields`.
    #[must_use]
    pub fn whole(self) -> KeptJson {
        self.part(0..self.json.len())
    }

    /// Keeps the text of `metadata`, without `managedFields`.
    #[must_use]
    pub fn metadata(self) -> KeptJson {
        self.part(self.header.metadata.clone())
    }

    fn part(self, text: Range<usize>) -> KeptJson {
        let cut = self.cut_before(text.end);
        KeptJson {
            text,
            cut,
            annotations: false,
        }
    }

    /// What is cut out of a text that ends here.
    fn cut_before(self, end: usize) -> Range<usize> {
        match &self.header.managed_fields {
            Some(cut) if !self.keeps_managed_fields => cut.clone(),
            _ => end..end,
        }
    }

    /// Deserializes the object.
    #[cfg(feature = "json")]
    pub(in crate::decode) fn parse<K: serde::Deserialize<'a>>(self) -> Result<K, BodyError> {
        // The header was read, so this is UTF-8. One check of the whole text here is faster than
        // serde's check of every string.
        let text = core::str::from_utf8(self.json).map_err(BodyError::new)?;
        let left_out = self.cut_before(text.len());
        from_text(text, self.lengths, left_out).map_err(BodyError::new)
    }
}

/// The part of its JSON text that an object keeps.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptJson {
    text: Range<usize>,
    /// What is cut out of it.
    cut: Range<usize>,
    /// Whether the annotations are kept if no text is.
    pub(super) annotations: bool,
}

impl KeptJson {
    /// Keeps at least the annotations.
    #[must_use]
    pub fn and_annotations(self) -> Self {
        Self {
            annotations: true,
            ..self
        }
    }

    /// The two parts before and after what is cut out.
    pub(super) fn parts<'a>(&self, json: &'a [u8]) -> [&'a [u8]; 2] {
        let before = json.get(self.text.start..self.cut.start);
        let after = json.get(self.cut.end..self.text.end);
        [before, after].map(|part| part.unwrap_or_else(|| cannot_happen("a cut outside", &[])))
    }

    /// Where a part of the JSON text starts in the kept text, if it is kept.
    pub(super) fn place(&self, part: Range<usize>) -> Option<usize> {
        let start = part.start.checked_sub(self.text.start)?;
        if part.end <= self.cut.start {
            Some(start)
        } else if part.start >= self.cut.end && part.end <= self.text.end {
            Some(start - self.cut.len())
        } else {
            None
        }
    }
}
