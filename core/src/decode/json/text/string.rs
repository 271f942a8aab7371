//! JSON strings: finding their end, checking them, and comparing them without unescaping.

#[cfg(feature = "alloc")]
use alloc::borrow::Cow;
use core::fmt;

#[cfg(feature = "alloc")]
use super::lanes::escaped_or_foreign;
use super::lanes::{LANES, foreign, special_or_foreign};
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

/// Whether a text is ASCII and the API server writes it without escapes.
#[cfg(feature = "alloc")]
pub(in crate::decode::json) fn is_plain(text: &[u8]) -> bool {
    let is_plain = |bytes: &[u8; LANES]| escaped_or_foreign(bytes) == 0;
    if let Some(last) = text.last_chunk() {
        return text.as_chunks().0.iter().all(is_plain) && is_plain(last);
    }
    let mut bytes = [b' '; LANES];
    if let Some(beginning) = bytes.get_mut(..text.len()) {
        beginning.copy_from_slice(text);
    }
    is_plain(&bytes)
}

/// The contents of the string that `text` begins with, and the text behind it; `None` unless the
/// string is shorter than two steps, ASCII and without escapes, and enough text follows.
///
/// Most strings in Kubernetes objects are so, and an object has hundreds of them.
#[inline(always)]
pub(super) fn short_and_plain(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let [b'"', contents @ ..] = text.first_chunk::<{ 2 * LANES + 2 }>()? else {
        return None;
    };
    let [first, second] = contents.as_chunks().0 else {
        return None;
    };
    let mut special = special_or_foreign(first);
    if special == 0 {
        special = special_or_foreign(second) << LANES;
    }
    // If there is none, this is the first byte, which is not a quote then.
    let length = special.trailing_zeros() as usize % (2 * LANES);
    if contents.get(length) != Some(&b'"') {
        return None;
    }
    Some((text.get(1..=length)?, text.get(length + 2..)?))
}

/// Finds the end of the string with its opening quote at `at`.
pub(super) fn scan(text: &[u8], at: usize) -> Result<Scanned, TextError> {
    match text.get(at) {
        Some(b'"') => scan_any(text, at + 1),
        _ => Err(TextError::Syntax { at }),
    }
}

/// Finds the end of any string. `start` is after its opening quote.
fn scan_any(text: &[u8], start: usize) -> Result<Scanned, TextError> {
    let mut end = start;
    let mut escaped = false;
    let mut ascii = true;
    loop {
        let Some(rest) = text.get(end..) else {
            return Err(TextError::Syntax { at: end });
        };
        let plain = plain_prefix(rest);
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

struct Plain {
    length: usize,
    /// False if there may be non-ASCII bytes.
    ascii: bool,
}

/// The number of bytes before the first quote, backslash or control character.
fn plain_prefix(bytes: &[u8]) -> Plain {
    let mut length = 0;
    let mut ascii = true;
    let (steps, tail) = bytes.as_chunks();
    for lanes in steps {
        let foreign = foreign(lanes);
        ascii &= foreign == 0;
        let special = special_or_foreign(lanes) & !foreign;
        if special != 0 {
            length += special.trailing_zeros() as usize;
            return Plain { length, ascii };
        }
        length += LANES;
    }
    for byte in tail {
        if let b'"' | b'\\' | 0..0x20 = byte {
            break;
        }
        ascii &= byte.is_ascii();
        length += 1;
    }
    Plain { length, ascii }
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
    fn a_special_byte_is_found_at_every_offset() {
        for special in [b'"', b'\\', 0, 0x1f, b'\n'] {
            for before in [
                b'a', b'!', b'#', b'[', b']', b' ', 0x7f, 0x80, 0xa2, 0xdc, 0xff,
            ] {
                for length in 0..3 * LANES {
                    let mut text = vec![b'"'];
                    text.extend(vec![before; length]);
                    text.push(special);
                    for _ in 0..2 * LANES {
                        let plain = plain_prefix(&text[1..]);
                        assert_eq!(plain.length, length, "{special:#x} after {before:#x}");
                        assert!(!plain.ascii || before < 0x80 || length == 0);
                        let is_short = special == b'"'
                            && length < 2 * LANES
                            && text.len() >= 2 * LANES + 2
                            && (before < 0x80 || length == 0);
                        let (contents, behind) = text[1..].split_at(length);
                        let expected = is_short.then_some((contents, &behind[1..]));
                        assert_eq!(short_and_plain(&text), expected);
                        text.push(b'"');
                    }
                }
            }
        }
    }

    #[test]
    fn non_ascii_bytes_are_checked_wherever_they_are() {
        for length in 0..3 * LANES {
            for at in 0..length {
                let mut text = vec![b'"'];
                text.extend(vec![b'a'; length]);
                text.extend(b"\", and more text behind it than two steps look at");
                text[1 + at] = 0xff;
                assert_eq!(short_and_plain(&text), None);
                let found = scan(&text, 0).err();
                assert_eq!(found, Some(TextError::Syntax { at: 1 + at }));
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
