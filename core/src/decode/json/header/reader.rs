//! Fields of an object, read strictly or leniently.

use super::parts::{Part, Parts};
use super::{HeaderError, NOT_LABELS, PlainLabels};
use crate::decode::json::text::{Arrays, JsonCursor, JsonKind, JsonStr, TextError};

/// A cursor that is strict or lenient.
pub(super) struct Reader<'a, 'r, A, P> {
    pub(super) cursor: JsonCursor<'a>,
    pub(super) strict: bool,
    pub(super) arrays: &'r mut A,
    pub(super) parts: &'r mut P,
}

impl<'a, A: Arrays, P: Parts> Reader<'a, '_, A, P> {
    pub(super) fn pass(&mut self, part: Part, depth: usize) -> Result<(), TextError> {
        if self.strict {
            self.parts.pass(part, &mut self.cursor, depth, self.arrays)
        } else {
            self.cursor.skip_extent().map(drop)
        }
    }

    pub(super) fn skip(&mut self, depth: usize) -> Result<&'a [u8], TextError> {
        if self.strict {
            self.cursor.skip_counting(depth, self.arrays)
        } else {
            self.cursor.skip_extent()
        }
    }

    pub(super) fn text(
        &mut self,
        field: &'static str,
        depth: usize,
    ) -> Result<Option<JsonStr<'a>>, HeaderError> {
        let kind = self.cursor.kind();
        let start = self.cursor.clone();
        if let Ok(JsonKind::String) = kind {
            match self.cursor.string() {
                Ok(text) => return Ok(Some(text)),
                Err(error) if self.strict => return Err(error.into()),
                Err(_) => self.cursor = start,
            }
        }
        self.skip(depth)?;
        if kind? != JsonKind::Null && self.strict {
            return Err(HeaderError::NotText { field });
        }
        Ok(None)
    }

    /// A text, if it is one. Nothing depends on it.
    pub(super) fn any_text(&mut self, depth: usize) -> Result<Option<JsonStr<'a>>, TextError> {
        if let Ok(JsonKind::String) = self.cursor.kind()
            && let start = self.cursor.clone()
        {
            match self.cursor.string() {
                Err(error) if self.strict => return Err(error),
                Err(_) => self.cursor = start,
                text => return text.map(Some),
            }
        }
        self.skip(depth).map(|_| None)
    }

    /// The text of the labels, and whether they are [plain](Header::has_plain_labels).
    pub(super) fn labels(&mut self, depth: usize) -> Result<(&'a [u8], bool), HeaderError> {
        let before = self.cursor.clone();
        let kind = self.cursor.kind()?;
        if !self.strict || kind != JsonKind::Object {
            let text = self.skip(depth)?;
            return match kind {
                JsonKind::Null => Ok((&[], false)),
                _ if self.strict => Err(NOT_LABELS),
                _ => Ok((text, false)),
            };
        }
        let mut any_not_text = false;
        let mut plain = PlainLabels::new();
        let mut members = self.cursor.enter_object(depth)?;
        while let Some(name) = members.next(&mut self.cursor)? {
            if self.cursor.kind()? == JsonKind::String {
                plain.add(name, self.cursor.string()?);
            } else {
                any_not_text = true;
                self.cursor.skip_value(depth.saturating_sub(1))?;
            }
        }
        if any_not_text {
            return Err(NOT_LABELS);
        }
        let text = before.up_to(&self.cursor);
        Ok((text, plain.are_all_of(text)))
    }
}
