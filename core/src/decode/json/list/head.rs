//! What a list says about itself: its type, and its `metadata`.

use crate::decode::frame::Buffer;
use crate::decode::json::text::{JsonCursor, JsonKind, JsonStr, TextError};
use crate::invariant::cannot_happen;

/// How deep a list's `metadata` may be; more than any server needs.
pub(super) const DEPTH: usize = 128;

/// The texts are kept one behind the other, in one buffer. Of a member that comes again, the text before
/// stays there unused, so a server that repeats itself comes to the end of it.
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

/// Where a text stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    end: usize,
}

/// Why something was not kept.
pub(super) enum NotKept {
    Text(TextError),
    /// There is no room for more than this many bytes.
    TooLong(usize),
}

impl From<TextError> for NotKept {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl<B: Buffer> Head<B> {
    /// A head whose texts take at most this many bytes.
    pub(super) const fn new(most: usize) -> Self {
        Self {
            texts: B::EMPTY,
            most: if most > B::CAPACITY {
                B::CAPACITY
            } else {
                most
            },
            kind: None,
            api_version: None,
            version: None,
            next: None,
            remaining: None,
        }
    }

    pub(super) fn text(&self, span: Option<Span>) -> Option<&str> {
        let Span { start, end } = span?;
        let bytes = self.texts.as_ref().get(start..end).unwrap_or_default();
        let text = core::str::from_utf8(bytes);
        Some(text.unwrap_or_else(|_| cannot_happen("half a character in a text", "")))
    }

    /// Keeps the text that `json` consists of, or nothing for `null`.
    pub(super) fn keep(&mut self, json: &[u8]) -> Result<Option<Span>, NotKept> {
        let mut cursor = JsonCursor::new(json);
        let text = read_text(&mut cursor)?;
        cursor.end()?;
        self.keep_text(text)
    }

    /// Keeps what `metadata` tells.
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
                let count = cursor.skip_value(DEPTH - 1)?;
                self.remaining = core::str::from_utf8(count).unwrap_or_default().parse().ok();
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

/// A string, or nothing for `null`.
fn read_text<'a>(cursor: &mut JsonCursor<'a>) -> Result<Option<JsonStr<'a>>, TextError> {
    if cursor.kind()? == JsonKind::Null {
        return cursor.skip_value(1).map(|_| None);
    }
    cursor.string().map(Some)
}
