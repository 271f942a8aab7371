//! Reading JSON text by hand: no allocator, no recursion, no copy.
//!
//! A [`JsonCursor`] walks over text that is complete in memory. It is strict: what it accepts is what
//! serde_json accepts (its bound on nesting included), so text that was walked over once can be kept
//! and parsed later without a surprise.
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

// Where a value ends, when it arrives in pieces or need not be valid.
mod extent;

// What is in an object or array, one after the other.
mod members;

// What is open while a value is passed.
mod nesting;

// Which numbers an `f64` can hold.
mod number;

// The contents of a string, still escaped.
mod string;

use core::fmt;

use nesting::Nesting;

use crate::invariant::cannot_happen;

pub(super) use extent::Extent;
pub use members::{Elements, Members};
pub use string::{Chars, JsonStr};

/// The deepest nesting that can be walked over. A larger bound counts as this one.
pub const MAX_DEPTH: usize = 1024;

/// Why text is not JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TextError {
    /// This is no JSON, or it ends too early.
    Syntax {
        /// The first byte that does not fit.
        at: usize,
    },
    /// Arrays and objects are nested too deeply.
    TooDeep {
        /// The byte that opens one too many.
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

/// The kinds of a JSON value.
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

/// Whether `text` is one JSON value and nothing else.
///
/// # Errors
///
/// If it is not, or if values are nested `depth` levels deep or deeper.
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

/// A place in JSON text.
///
/// Bounds on nesting are counted as serde_json counts: with a bound of 128, 127 levels of arrays and
/// objects pass. Whoever enters one of them passes on a bound that is smaller by one.
#[derive(Clone, Debug)]
pub struct JsonCursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> JsonCursor<'a> {
    /// A cursor at the beginning of `text`.
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// How many bytes lie before it.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.at
    }

    /// Passes white space.
    pub fn skip_white(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// The kind of the value that follows, as its first byte tells.
    ///
    /// # Errors
    ///
    /// If no value can begin here.
    pub fn kind(&mut self) -> Result<JsonKind, TextError> {
        loop {
            return match self.peek() {
                Some(b'"') => Ok(JsonKind::String),
                Some(b'{') => Ok(JsonKind::Object),
                Some(b'[') => Ok(JsonKind::Array),
                Some(b'-' | b'0'..=b'9') => Ok(JsonKind::Number),
                Some(b't' | b'f') => Ok(JsonKind::Bool),
                Some(b'n') => Ok(JsonKind::Null),
                // Servers send none, so it is looked for last: here, and wherever else it may stand.
                Some(b' ' | b'\n' | b'\r' | b'\t') => {
                    self.at += 1;
                    continue;
                }
                _ => Err(self.syntax()),
            };
        }
    }

    /// Passes a value and gives its text.
    ///
    /// # Errors
    ///
    /// If it is not valid, or nested `depth` levels deep or deeper.
    pub fn skip_value(&mut self, depth: usize) -> Result<&'a [u8], TextError> {
        let mut open = Nesting::new(depth);
        self.skip_white();
        let start = self.at;
        loop {
            if !self.begin_value(&mut open)? {
                continue;
            }
            // Something has ended, and with it perhaps what it stood in.
            loop {
                let Some(in_object) = open.innermost() else {
                    return Ok(self.text.get(start..self.at).unwrap_or_default());
                };
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.skip_name()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                    }
                    (Some(b' ' | b'\n' | b'\r' | b'\t'), _) => self.at += 1,
                    _ => return Err(self.syntax()),
                }
            }
        }
    }

    /// Passes a scalar or an empty array or object and says `true`; or goes to the first value in an
    /// array or object that is not empty, notes it in `open` and says `false`.
    fn begin_value(&mut self, open: &mut Nesting) -> Result<bool, TextError> {
        let kind = self.kind()?;
        let close = match kind {
            JsonKind::Object => b'}',
            JsonKind::Array => b']',
            _ => return self.skip_scalar(kind).map(|()| true),
        };
        if !open.push(kind == JsonKind::Object) {
            return Err(TextError::TooDeep { at: self.at });
        }
        self.at += 1;
        self.skip_white();
        if self.peek() == Some(close) {
            self.at += 1;
            open.pop();
            return Ok(true);
        }
        if kind == JsonKind::Object {
            self.skip_name()?;
        }
        Ok(false)
    }

    fn skip_scalar(&mut self, kind: JsonKind) -> Result<(), TextError> {
        match kind {
            JsonKind::String => self.scan_string().map(|_| ()),
            JsonKind::Number => self.scan_number(),
            JsonKind::Bool => self.bool().map(|_| ()),
            _ => self.literal(b"null"),
        }
    }

    /// Passes the name of a member and the colon behind it.
    fn skip_name(&mut self) -> Result<(), TextError> {
        if self.peek() != Some(b'"') {
            self.skip_white();
        }
        self.scan_string()?;
        self.byte(b':')
    }

    /// Reads a string.
    ///
    /// # Errors
    ///
    /// If something else follows, or if it is not valid: bad escapes, lone surrogates, raw control
    /// characters, no UTF-8.
    pub fn string(&mut self) -> Result<JsonStr<'a>, TextError> {
        self.skip_white();
        self.scan_string().and_then(|found| {
            let raw = self.text.get(found.start..found.end).unwrap_or_default();
            match core::str::from_utf8(raw) {
                Ok(raw) => Ok(JsonStr::of_raw(raw, found.escaped)),
                Err(_) => Err(TextError::Syntax { at: found.start }),
            }
        })
    }

    /// Reads a number and gives its text.
    ///
    /// # Errors
    ///
    /// If something else follows, or a number which no `f64` can hold.
    pub fn number(&mut self) -> Result<&'a str, TextError> {
        self.skip_white();
        let start = self.at;
        self.scan_number()?;
        let text = self.text.get(start..self.at).unwrap_or_default();
        let text = core::str::from_utf8(text);
        Ok(text.unwrap_or_else(|_| cannot_happen("a number that is not ASCII", "")))
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
        if may_overflow {
            let text = self.text.get(start..self.at).unwrap_or_default();
            if !number::is_in_range(text) {
                return Err(TextError::Syntax { at: start });
            }
        }
        Ok(())
    }

    /// Reads `true` or `false`.
    ///
    /// # Errors
    ///
    /// If something else follows.
    pub fn bool(&mut self) -> Result<bool, TextError> {
        self.skip_white();
        if self.peek() == Some(b't') {
            self.literal(b"true").map(|()| true)
        } else {
            self.literal(b"false").map(|()| false)
        }
    }

    /// Enters an object; its members are read with [`Members::next`].
    ///
    /// # Errors
    ///
    /// If something else follows, or if `depth` is used up.
    pub fn enter_object(&mut self, depth: usize) -> Result<Members, TextError> {
        self.enter(JsonKind::Object, depth)?;
        Ok(Members::default())
    }

    /// Enters an array; its elements are visited with [`Elements::next`].
    ///
    /// # Errors
    ///
    /// If something else follows, or if `depth` is used up.
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

    /// Passes white space up to the end of the text.
    ///
    /// # Errors
    ///
    /// If there is something else.
    pub fn end(&mut self) -> Result<(), TextError> {
        self.skip_white();
        if self.at < self.text.len() {
            Err(self.syntax())
        } else {
            Ok(())
        }
    }

    /// Passes a value by its quotes and brackets alone, whatever is between them.
    pub(super) fn skip_extent(&mut self) -> Result<&'a [u8], TextError> {
        self.skip_white();
        let rest = self.rest();
        // A delimiter is no value, and the extent of a scalar begins with its first byte unseen.
        if let Some(b',' | b':' | b']' | b'}') | None = rest.first() {
            return Err(self.syntax());
        }
        let Some(length) = Extent::new().scan(rest) else {
            return Err(TextError::Syntax {
                at: self.text.len(),
            });
        };
        self.at += length;
        Ok(rest.get(..length).unwrap_or_default())
    }

    /// The text between this place and a later one.
    pub(super) fn up_to(&self, later: &Self) -> &'a [u8] {
        self.text.get(self.at..later.at).unwrap_or_default()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
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

    /// At least one digit.
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
