//! The type and `metadata` of a list.

use crate::decode::frame::{Buffer, capped};
use crate::decode::json::text::{JsonCursor, JsonKind, JsonStr, TextError};
use crate::invariant::cannot_happen;

/// The deepest nesting of a list's `metadata`. No server needs more.
pub(super) const DEPTH: usize = 128;

/// All texts share one buffer. If a member is repeated, its old text stays in the buffer unused, so
/// a server that repeats members fills it up.
#[derive(Clone, Debug)]
pub(super) struct Head<B> {
    texts: B,
    most: usize,
    pub(super) kind: Option<Span>,
    pub(super) api_version: Option<Span>,
    pub(super) version: Option<Span>,
    pub(super) next: Option<Span>,
    pub(super) remaining: Option<u64>,
}

/// The range of a text in the buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    end: usize,
}

/// Why a text was not kept.
pub(super) enum NotKept {
    Text(TextError),
    /// The buffer holds no more than this many bytes.
    TooLong(usize),
}

impl From<TextError> for NotKept {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl<B: Buffer> Head<B> {
    /// Keeps texts of at most this many bytes in total.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            texts: B::EMPTY,
            most: capped::<B>(most),
            kind: None,
            api_version: None,
            version: None,
            next: None,
            remaining: None,
        }
    }

    pub(super) fn text(&self, span: Option<Span>) -> Option<&str> {
        let Span { start, end } = span?;
        let bytes = self.texts.as_ref().get(start..end);
        let text = bytes.and_then(|bytes| core::str::from_utf8(bytes).ok());
        Some(text.unwrap_or_else(|| cannot_happen("a text that was not kept whole", "")))
    }

    /// Keeps the string in `json`; `None` for `null`.
    pub(super) fn keep(&mut self, json: &[u8]) -> Result<Option<Span>, NotKept> {
        let mut cursor = JsonCursor::new(json);
        let text = read_text(&mut cursor)?;
        cursor.end()?;
        self.keep_text(text)
    }

    /// Keeps the fields of `metadata`.
    pub(super) fn read_metadata(&mut self, json: &[u8]) -> Result<(), NotKept> {
        (self.version, self.next, self.remaining) = (None, None, None);
        let mut cursor = JsonCursor::new(json);
        if cursor.kind()? == JsonKind::Null {
            cursor.skip_value(DEPTH)?;
            return Ok(cursor.end()?);
        }
        let mut members = cursor.enter_object(DEPTH)?;
        while let Some(name) = members.next(&mut cursor)? {
            if name.eq_str("resourceVersion") {
                let version = read_text(&mut cursor)?;
                self.version = self.keep_text(version)?;
            } else if name.eq_str("continue") {
                let token = read_text(&mut cursor)?;
                self.next = self.keep_text(token.filter(|token| !token.is_empty()))?;
            } else if name.eq_str("remainingItemCount") {
                self.remaining = cursor.skip_integer(DEPTH - 1)?;
            } else {
                cursor.skip_value(DEPTH - 1)?;
            }
        }
        Ok(cursor.end()?)
    }

    fn keep_text(&mut self, text: Option<JsonStr<'_>>) -> Result<Option<Span>, NotKept> {
        let Some(text) = text else {
            return Ok(None);
        };
        let start = self.texts.as_ref().len();
        let mut fits = |part: &str| {
            let fits = self.texts.as_ref().len() + part.len() <= self.most;
            if fits {
                self.texts.append(part.as_bytes(), self.most);
            }
            fits
        };
        let all_fits = match text.as_plain() {
            Some(plain) => fits(plain),
            None => text.chars().all(|char| fits(char.encode_utf8(&mut [0; 4]))),
        };
        if !all_fits {
            return Err(NotKept::TooLong(self.most));
        }
        let end = self.texts.as_ref().len();
        Ok(Some(Span { start, end }))
    }
}

/// Reads a string; `None` for `null`.
fn read_text<'a>(cursor: &mut JsonCursor<'a>) -> Result<Option<JsonStr<'a>>, TextError> {
    if cursor.kind()? == JsonKind::Null {
        return cursor.skip_value(1).map(|_| None);
    }
    cursor.string().map(Some)
}
