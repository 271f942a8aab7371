//! Reading JSON text without an allocator, recursion or copies.
//!
//! A [`JsonCursor`] walks over text that is complete in memory. It accepts exactly what serde_json
//! accepts, including the limit on nesting. So text that it accepted can be kept and parsed later
//! without an error.
//!
//! ```
//! use informer_core::decode::json::text::JsonCursor;
//!
//! let mut cursor = JsonCursor::new(br#"{"name": "caf\u00e9", "ports": [80, 443]}"#);
//! let mut object = cursor.enter_object(128)?;
//! let mut ports = 0;
//! while let Some(name) = object.next(&mut cursor)? {
//!     if name.eq_str("name") {
//!         assert!(cursor.string()?.eq_str("café"));
//!     } else {
//!         let mut array = cursor.enter_array(127)?;
//!         while array.next(&mut cursor)? {
//!             cursor.skip_value(126)?;
//!             ports += 1;
//!         }
//!     }
//! }
//! cursor.end()?;
//! assert_eq!(ports, 2);
//! # Ok::<(), informer_core::decode::json::text::TextError>(())
//! ```

// The lengths of the arrays that are passed.
mod arrays;

// The end of a value that arrives in pieces or may be invalid.
mod extent;

// Sixteen bytes in one step.
mod lanes;

// Values that look like earlier ones.
#[cfg(feature = "alloc")]
mod familiar;

// The members of objects and the elements of arrays.
mod members;

// The open arrays and objects.
mod nesting;

// The numbers that fit an `f64`.
mod number;

// Values that are skipped, and still checked.
mod skip;

// The contents of strings, still escaped.
mod string;

use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::invariant::cannot_happen;

pub(super) use arrays::Arrays;
#[cfg(feature = "alloc")]
pub(super) use arrays::{ArrayLength, ArrayLengths};
pub(super) use extent::Extent;
#[cfg(feature = "alloc")]
pub(super) use familiar::Familiar;
pub(in crate::decode) use members::last_member;
pub use members::{Elements, Members};
#[cfg(feature = "alloc")]
pub(super) use string::is_plain;
pub use string::{Chars, JsonStr};

/// The deepest nesting that is supported. A larger limit counts as this one.
pub const MAX_DEPTH: usize = 1024;

/// Why text is not accepted as JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TextError {
    /// The text is not JSON, or it ends too early.
    Syntax {
        /// The first unexpected byte.
        at: usize,
    },
    /// Arrays and objects are nested too deeply.
    TooDeep {
        /// The byte that opens one level too many.
        at: usize,
    },
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { at } => write!(f, "invalid JSON at byte {at}"),
            Self::TooDeep { at } => write!(f, "nested too deeply at byte {at}"),
        }
    }
}

impl core::error::Error for TextError {}

impl TextError {
    /// The same error, for a text that comes after this many other bytes.
    const fn behind(self, bytes: usize) -> Self {
        match self {
            Self::Syntax { at } => Self::Syntax { at: bytes + at },
            Self::TooDeep { at } => Self::TooDeep { at: bytes + at },
        }
    }
}

/// The kind of a JSON value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON will not change")]
pub enum JsonKind {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    String,
    /// `-1.5e3`
    Number,
    /// `true` or `false`
    Bool,
    /// `null`
    Null,
}

/// Checks that `text` is one JSON value and nothing else.
///
/// # Errors
///
/// The text is not valid, or is nested `depth` levels deep or deeper.
///
/// ```
/// use informer_core::decode::json::text::validate;
///
/// assert!(validate(br#" {"a": [1, 2.5e3, "\ud83d\ude00"]} "#, 128).is_ok());
/// assert!(validate(br#"{"a": 01}"#, 128).is_err());
/// assert!(validate(br#"[[]]"#, 2).is_err());
/// ```
pub fn validate(text: &[u8], depth: usize) -> Result<(), TextError> {
    let mut cursor = JsonCursor::new(text);
    cursor.skip_value(depth)?;
    cursor.end()
}

/// A position in JSON text.
///
/// Limits on nesting count like serde_json: with a limit of 128, 127 levels of arrays and objects
/// are accepted. When you enter an array or object, pass a limit that is smaller by one to its
/// contents.
#[derive(Clone, Debug)]
pub struct JsonCursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> JsonCursor<'a> {
    /// Starts at the beginning of `text`.
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// The number of bytes before the cursor.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Skips white space.
    pub fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The kind of the next value, by its first byte.
    ///
    /// # Errors
    ///
    /// No value can start here.
    pub fn kind(&mut self) -> Result<JsonKind, TextError> {
        loop {
            return match self.peek() {
                Some(b'"') => Ok(JsonKind::String),
                Some(b'{') => Ok(JsonKind::Object),
                Some(b'[') => Ok(JsonKind::Array),
                Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
                Some(b't' | b'f') => Ok(JsonKind::Bool),
                Some(b'n') => Ok(JsonKind::Null),
                // Servers rarely send white space, so look for it last.
                Some(b' ' | b'\n' | b'\r' | b'\t') => {
                    self.at += 1;
                    continue;
                }
                _ => Err(self.syntax()),
            };
        }
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// The next value is not a string, or it is not valid: a bad escape, a lone surrogate, a raw
    /// control character, or invalid UTF-8.
    #[inline]
    pub fn string(&mut self) -> Result<JsonStr<'a>, TextError> {
        match string::short_and_plain(self.rest()) {
            Some((raw, behind)) => {
                self.at = self.text.len() - behind.len();
                Ok(JsonStr::from_raw(raw, false))
            }
            None => self.any_string(),
        }
    }

    fn any_string(&mut self) -> Result<JsonStr<'a>, TextError> {
        self.skip_white();
        let found = self.scan_string()?;
        let raw = self.slice(found.start..found.end);
        Ok(JsonStr::from_raw(raw, found.escaped))
    }

    /// Skips a string and returns where its contents are, and whether they contain escapes.
    #[cfg(feature = "json")]
    pub(super) fn skip_string(&mut self) -> Result<(Range<usize>, bool), TextError> {
        self.skip_white();
        let found = self.scan_string()?;
        Ok((found.start..found.end, found.escaped))
    }

    /// Reads a number and returns its text.
    ///
    /// # Errors
    ///
    /// The next value is not a number, or is beyond the range of `f64`.
    pub fn number(&mut self) -> Result<&'a str, TextError> {
        self.skip_white();
        let start = self.at;
        self.scan_number()?;
        Ok(utf8(self.slice(start..self.at)))
    }

    fn scan_number(&mut self) -> Result<(), TextError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let mut may_overflow = self.at - start > 300;
        if let Some(b'e' | b'E') = self.peek() {
            may_overflow = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        if may_overflow && !number::is_in_range(self.slice(start..self.at)) {
            return Err(TextError::Syntax { at: start });
        }
        Ok(())
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// The next value is not a boolean.
    pub fn bool(&mut self) -> Result<bool, TextError> {
        self.skip_white();
        if self.peek() == Some(b't') {
            self.literal(b"true").map(|()| true)
        } else {
            self.literal(b"false").map(|()| false)
        }
    }

    /// Reads `null`.
    #[cfg(feature = "json")]
    pub(super) fn null(&mut self) -> Result<(), TextError> {
        self.skip_white();
        self.literal(b"null")
    }

    /// Reads one byte of punctuation, after white space.
    #[cfg(feature = "json")]
    pub(super) fn punctuation(&mut self, expected: u8) -> Result<(), TextError> {
        self.byte(expected)
    }

    /// Moves to a position in the text.
    #[cfg(feature = "json")]
    pub(super) const fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Enters an object. Read its members with [`Members::next`].
    ///
    /// # Errors
    ///
    /// The next value is not an object, or `depth` is used up.
    pub fn enter_object(&mut self, depth: usize) -> Result<Members, TextError> {
        self.enter(JsonKind::Object, depth)?;
        Ok(Members::default())
    }

    /// Enters an array. Visit its elements with [`Elements::next`].
    ///
    /// # Errors
    ///
    /// The next value is not an array, or `depth` is used up.
    pub fn enter_array(&mut self, depth: usize) -> Result<Elements, TextError> {
        self.enter(JsonKind::Array, depth)?;
        Ok(Elements::default())
    }

    fn enter(&mut self, kind: JsonKind, depth: usize) -> Result<(), TextError> {
        if self.kind()? != kind {
            return Err(self.syntax());
        }
        if depth <= 1 {
            return Err(TextError::TooDeep { at: self.at });
        }
        self.at += 1;
        Ok(())
    }

    /// Checks that only white space follows.
    ///
    /// # Errors
    ///
    /// Something else follows.
    pub fn end(&mut self) -> Result<(), TextError> {
        self.skip_white();
        if self.at < self.text.len() {
            Err(self.syntax())
        } else {
            Ok(())
        }
    }

    /// Skips a value by its quotes and brackets alone. The rest may be invalid.
    pub(super) fn skip_extent(&mut self) -> Result<&'a [u8], TextError> {
        self.skip_white();
        let rest = self.rest();
        // A delimiter is not a value, and `Extent` does not check the first byte of a scalar.
        if let Some(b',' | b':' | b']' | b'}') | None = rest.first() {
            return Err(self.syntax());
        }
        let Some(length) = Extent::new().scan(rest) else {
            return Err(TextError::Syntax {
                at: self.text.len(),
            });
        };
        let start = self.at;
        self.at += length;
        Ok(self.slice(start..self.at))
    }

    /// Skips a value. Returns it if it is a whole number that fits `N`.
    pub(super) fn skip_integer<N: FromStr>(
        &mut self,
        depth: usize,
    ) -> Result<Option<N>, TextError> {
        Ok(utf8(self.skip_value(depth)?).parse().ok())
    }

    /// The text from this position to a later one.
    pub(super) fn up_to(&self, later: &Self) -> &'a [u8] {
        self.slice(self.at..later.at)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.slice(self.at..self.text.len())
    }

    fn slice(&self, range: Range<usize>) -> &'a [u8] {
        part(self.text, range)
    }

    const fn syntax(&self) -> TextError {
        TextError::Syntax { at: self.at }
    }

    fn byte(&mut self, expected: u8) -> Result<(), TextError> {
        if self.peek() != Some(expected) {
            self.skip_white();
        }
        if self.peek() != Some(expected) {
            return Err(self.syntax());
        }
        self.at += 1;
        Ok(())
    }

    fn literal(&mut self, expected: &[u8]) -> Result<(), TextError> {
        if !self.rest().starts_with(expected) {
            return Err(self.syntax());
        }
        self.at += expected.len();
        Ok(())
    }

    /// Skips one or more digits.
    fn digits(&mut self) -> Result<(), TextError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            Err(self.syntax())
        } else {
            Ok(())
        }
    }

    #[inline]
    fn scan_string(&mut self) -> Result<string::Scanned, TextError> {
        let scanned = string::scan(self.text, self.at)?;
        self.at = scanned.end + 1;
        Ok(scanned)
    }
}

/// A part of `text`, whose bounds were found in it.
fn part(text: &[u8], range: Range<usize>) -> &[u8] {
    let part = text.get(range);
    part.unwrap_or_else(|| cannot_happen("a position beyond the text", &[]))
}

/// Converts text that a cursor has checked.
fn utf8(text: &[u8]) -> &str {
    let text = core::str::from_utf8(text);
    text.unwrap_or_else(|_| cannot_happen("checked text that is not UTF-8", ""))
}
