//! JSON strings: finding their end, checking them, and comparing them without unescaping.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;

use super::{TextError, part, utf8};
use crate::invariant::cannot_happen;

/// `scan` checks every escape.
const BAD_ESCAPE: &str = "a bad escape in a checked string";

/// The contents of a valid JSON string, still escaped.
///
/// ```
/// use informer_core::decode::json::text::JsonCursor;
///
/// let text = JsonCursor::new(br#""tab:\t \ud83d\ude00""#).string()?;
/// assert_eq!(text.raw(), r"tab:\t \ud83d\ude00");
/// assert!(text.eq_str("tab:\t 😀"));
/// assert_eq!(text.chars().count(), 7);
/// assert_eq!(text.to_cow(), "tab:\t 😀");
/// # Ok::<(), informer_core::decode::json::text::TextError>(())
/// ```
#[derive(Clone, Copy)]
pub struct JsonStr<'a> {
    /// Valid UTF-8.
    raw: &'a [u8],
    escaped: bool,
}

impl<'a> JsonStr<'a> {
    pub(in crate::decode::json) const fn from_raw(raw: &'a [u8], escaped: bool) -> Self {
        Self { raw, escaped }
    }

    /// The escaped text between the quotes.
    #[must_use]
    pub fn raw(self) -> &'a str {
        utf8(self.raw)
    }

    /// The string, if it contains no escapes.
    #[must_use]
    pub fn as_plain(self) -> Option<&'a str> {
        self.plain_bytes().map(utf8)
    }

    /// The bytes of the string, if it contains no escapes. They are not checked again.
    pub(in crate::decode::json) const fn plain_bytes(self) -> Option<&'a [u8]> {
        if self.escaped { None } else { Some(self.raw) }
    }

    /// Whether the string is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.raw.is_empty()
    }

    /// Whether the unescaped string equals `other`.
    #[must_use]
    pub fn eq_str(self, other: &str) -> bool {
        match self.plain_bytes() {
            Some(plain) => plain == other.as_bytes(),
            None => self.chars().eq(other.chars()),
        }
    }

    /// The unescaped characters.
    #[must_use]
    pub fn chars(self) -> Chars<'a> {
        Chars {
            raw: self.raw().chars(),
        }
    }

    /// Whether the unescaped string contains `part`.
    #[must_use]
    pub fn contains(self, part: &str) -> bool {
        let length = part.chars().count();
        let mut rest = self.chars();
        loop {
            if rest.clone().take(length).eq(part.chars()) {
                return true;
            }
            if rest.next().is_none() {
                return false;
            }
        }
    }

    /// The unescaped string. Allocates only if there are escapes.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn to_cow(self) -> Cow<'a, str> {
        match self.as_plain() {
            Some(plain) => Cow::Borrowed(plain),
            None => Cow::Owned(self.chars().collect()),
        }
    }
}

impl PartialEq for JsonStr<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.chars().eq(other.chars())
    }
}

impl Eq for JsonStr<'_> {}

impl fmt::Display for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        match self.as_plain() {
            Some(plain) => f.write_str(plain),
            None => self
                .chars()
                .try_for_each(|character| f.write_char(character)),
        }
    }
}

impl fmt::Debug for JsonStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.raw())
    }
}

/// The unescaped characters of a JSON string.
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    raw: core::str::Chars<'a>,
}

impl Chars<'_> {
    fn unit(&mut self) -> u32 {
        let mut unit = 0;
        for digit in self.raw.by_ref().take(4) {
            let digit = digit.to_digit(16);
            unit = unit << 4 | digit.unwrap_or_else(|| cannot_happen(BAD_ESCAPE, 0));
        }
        unit
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        match self.raw.next()? {
            '\\' => {}
            plain => return Some(plain),
        }
        let escape = self.raw.next();
        let escape = escape.unwrap_or_else(|| cannot_happen(BAD_ESCAPE, '\\'));
        Some(match escape {
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let mut code = self.unit();
                if let 0xd800..0xdc00 = code {
                    // `scan` has checked that the second half follows, as `\uXXXX`.
                    self.raw.nth(1);
                    code = 0x10000 + ((code & 0x3ff) << 10 | self.unit() & 0x3ff);
                }
                let bad = || cannot_happen(BAD_ESCAPE, char::REPLACEMENT_CHARACTER);
                char::from_u32(code).unwrap_or_else(bad)
            }
            itself => itself,
        })
    }
}

/// The position of a valid string.
pub(super) struct Scanned {
    /// After the opening quote.
    pub(super) start: usize,
    /// At the closing quote.
    pub(super) end: usize,
    pub(super) escaped: bool,
}

/// Finds the end of the string with its opening quote at `at`.
///
/// Most strings in Kubernetes objects are short and plain, and an object has hundreds of them.
#[inline]
pub(super) fn scan(text: &[u8], at: usize) -> Result<Scanned, TextError> {
    let Some((b'"', rest)) = text.get(at..).and_then(<[u8]>::split_first) else {
        return Err(TextError::Syntax { at });
    };
    let start = at + 1;
    match short_and_plain(rest) {
        Some(length) => Ok(Scanned {
            start,
            end: start + length,
            escaped: false,
        }),
        None => scan_any(text, start),
    }
}

/// The position after the string with its opening quote at `at`, if it is short and plain.
#[inline(always)]
pub(super) fn plain_end(text: &[u8], at: usize) -> Option<usize> {
    let (b'"', rest) = text.get(at..)?.split_first()? else {
        return None;
    };
    Some(at + 2 + short_and_plain(rest)?)
}

/// The length of a string that ends within three words and has no special characters.
#[inline(always)]
fn short_and_plain(bytes: &[u8]) -> Option<usize> {
    let (words, _) = bytes.first_chunk::<24>()?.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let special = special_bytes(word) | word & HIGH;
        if special != 0 {
            length += special.trailing_zeros() as usize / 8;
            return (bytes.get(length) == Some(&b'"')).then_some(length);
        }
        length += 8;
    }
    None
}

/// Finds the end of any string. `start` is after its opening quote.
fn scan_any(text: &[u8], start: usize) -> Result<Scanned, TextError> {
    let mut end = start;
    let mut escaped = false;
    let mut ascii = true;
    loop {
        let plain = plain_prefix(part(text, end..text.len()));
        end += plain.length;
        ascii &= plain.ascii;
        match text.get(end) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = true;
                end = scan_escape(text, end)?;
            }
            _ => return Err(TextError::Syntax { at: end }),
        }
    }
    if !ascii {
        check_utf8(text, start, end)?;
    }
    Ok(Scanned {
        start,
        end,
        escaped,
    })
}

/// Escapes are ASCII and stand for whole characters. So the raw text is valid UTF-8 exactly if the
/// unescaped string is.
#[cold]
fn check_utf8(text: &[u8], start: usize, end: usize) -> Result<(), TextError> {
    match core::str::from_utf8(part(text, start..end)) {
        Ok(_) => Ok(()),
        Err(error) => Err(TextError::Syntax {
            at: start + error.valid_up_to(),
        }),
    }
}

/// One in each byte of a word.
pub(super) const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// Marks the zero bytes. A false mark can only be above a true one.
pub(super) const fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGH
}

/// Marks quotes, backslashes and control characters. A false mark can only be above a true one.
const fn special_bytes(word: u64) -> u64 {
    // With this bit flipped, the quote comes right after the control characters.
    let quotes_and_controls = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
    let backslashes = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (quotes_and_controls | backslashes) & !word & HIGH
}

struct Plain {
    length: usize,
    /// False if there may be non-ASCII bytes.
    ascii: bool,
}

/// The number of bytes before the first quote, backslash or control character.
///
/// For short strings, one check of eight bytes at a time is faster than several vectorised
/// searches.
fn plain_prefix(bytes: &[u8]) -> Plain {
    let mut length = 0;
    let mut seen = 0;
    let (words, tail) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        seen |= word;
        let special = special_bytes(word);
        if special != 0 {
            length += special.trailing_zeros() as usize / 8;
            return Plain {
                length,
                ascii: seen & HIGH == 0,
            };
        }
        length += 8;
    }
    for byte in tail {
        if let b'"' | b'\\' | 0..0x20 = byte {
            break;
        }
        seen |= u64::from(*byte);
        length += 1;
    }
    Plain {
        length,
        ascii: seen & HIGH == 0,
    }
}

/// Checks the escape with its backslash at `at`, and returns the position after it.
fn scan_escape(text: &[u8], at: usize) -> Result<usize, TextError> {
    let lone = Err(TextError::Syntax { at });
    match text.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match hex_unit(text, at + 2)? {
            0xdc00..0xe000 => lone,
            0xd800..0xdc00 => {
                if text.get(at + 6..at + 8) != Some(br"\u") {
                    return lone;
                }
                match hex_unit(text, at + 8)? {
                    0xdc00..0xe000 => Ok(at + 12),
                    _ => lone,
                }
            }
            _ => Ok(at + 6),
        },
        _ => lone,
    }
}

fn hex_unit(text: &[u8], at: usize) -> Result<u32, TextError> {
    let digits = text.get(at..at + 4).ok_or(TextError::Syntax { at })?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit)
            .to_digit(16)
            .ok_or(TextError::Syntax { at })?;
        Ok(unit << 4 | digit)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use alloc::{format, vec};

    #[test]
    fn a_special_byte_is_found_at_every_offset_of_a_word() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for before in [
                b'a', b'!', b'#', b'[', b']', b' ', 0x7f, 0x80, 0xa2, 0xdc, 0xff,
            ] {
                for length in 0..40 {
                    let mut bytes = vec![before; length];
                    bytes.push(special);
                    bytes.extend([b'"'; 9]);
                    let plain = plain_prefix(&bytes);
                    assert_eq!(plain.length, length, "{special:#x} after {before:#x}");
                    bytes.extend([b'"'; 24]);
                    let is_plain = before < 0x80 && special == b'"' && length < 24;
                    let found = short_and_plain(&bytes);
                    // With non-ASCII bytes it may return `None`, but never a wrong length.
                    if before < 0x80 || length > 0 {
                        assert_eq!(
                            found,
                            is_plain.then_some(length),
                            "{special:#x} at {length}"
                        );
                    }
                    assert!(plain.ascii == (before < 0x80) || length == 0);
                }
            }
        }
    }

    #[test]
    fn errors_in_strings_name_the_position() {
        for (text, at) in [
            (&b"\"ab\nc\""[..], 3),
            (b"\"ab", 3),
            (br#""ab\x""#, 3),
            (br#""\ud800""#, 1),
            (br#""\ud800\u0041""#, 1),
            (br#""\udc00""#, 1),
            (br#""\u12"#, 3),
            (b"\"ab\xff\"", 3),
            (b"\"ab\xc3\\u00a9\"", 3),
        ] {
            assert_eq!(
                scan(text, 0).err(),
                Some(TextError::Syntax { at }),
                "{text:?}"
            );
        }
    }

    #[test]
    fn escapes_are_displayed_unescaped() {
        let found = JsonStr::from_raw(r#"\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00é"#.as_bytes(), true);
        assert_eq!(format!("{found}"), "\"\\/\u{8}\u{c}\n\r\tA😀é");
        assert!(found == JsonStr::from_raw(r#"\u0022\\/\b\f\n\r\tA😀\u00e9"#.as_bytes(), true));
        assert!(!found.eq_str("\"\\/"));
        assert_eq!(found.as_plain(), None);
    }
}
