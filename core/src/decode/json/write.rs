//! Writing JSON text.

use alloc::vec::Vec;

use super::text::is_plain;

/// Writes a string, with its quotes and with the escapes of the API server. Returns whether it has any.
pub(in crate::decode) fn write_string(to: &mut Vec<u8>, text: &[u8]) -> bool {
    if !is_plain(text) {
        return write_escaped(to, text);
    }
    to.push(b'"');
    to.extend_from_slice(text);
    to.push(b'"');
    false
}

#[cold]
fn write_escaped(to: &mut Vec<u8>, text: &[u8]) -> bool {
    let mut escaped = false;
    to.push(b'"');
    let mut rest = text;
    while let Some((plain, special, after)) = split(rest) {
        escaped = true;
        to.extend_from_slice(plain);
        match special {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', special]),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\t' => to.extend_from_slice(b"\\t"),
            8 => to.extend_from_slice(b"\\b"),
            12 => to.extend_from_slice(b"\\f"),
            // The end of U+2028 and U+2029.
            0xa8 | 0xa9 => to.extend_from_slice(&[b"\\u202", &[hex(special)][..]].concat()),
            other => {
                to.extend_from_slice(b"\\u00");
                to.extend_from_slice(&[hex(other >> 4), hex(other)]);
            }
        }
        rest = after;
    }
    to.extend_from_slice(rest);
    to.push(b'"');
    escaped
}

/// The last digit of a number in base 16.
const fn hex(number: u8) -> u8 {
    match number & 15 {
        digit @ ..10 => b'0' + digit,
        digit => b'a' - 10 + digit,
    }
}

/// Whether a byte may start a character that is escaped. The two characters that end lines in JavaScript
/// start with the byte 0xe2.
const fn may_be_escaped(byte: &u8) -> bool {
    matches!(byte, ..b' ' | b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2)
}

/// The text before the first character that is escaped, the last byte of that character, and the text
/// behind it.
fn split(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.iter().position(may_be_escaped)?;
        let (plain, rest) = text.split_at_checked(at)?;
        match rest {
            [0xe2, 0x80, special @ 0xa8..=0xa9, after @ ..] => {
                return Some((plain, *special, after));
            }
            [0xe2, ..] => from = at + 1,
            [special, after @ ..] => return Some((plain, *special, after)),
            [] => return None,
        }
    }
}

/// An object whose values are strings.
pub(in crate::decode) fn write_pairs<A: AsRef<str>, B: AsRef<str>>(
    to: &mut Vec<u8>,
    pairs: impl IntoIterator<Item = (A, B)>,
) {
    to.push(b'{');
    let start = to.len();
    for (key, value) in pairs {
        if to.len() > start {
            to.push(b',');
        }
        write_string(to, key.as_ref().as_bytes());
        to.push(b':');
        write_string(to, value.as_ref().as_bytes());
    }
    to.push(b'}');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_the_server_writes_them() {
        let mut json = Vec::new();
        let text = "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}<é&→>\u{2027}\u{2028}\u{2029}😀";
        write_string(&mut json, text.as_bytes());
        assert_eq!(
            core::str::from_utf8(&json).unwrap_or_default(),
            "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\u{7f}\\u003cé\\u0026→\\u003e\u{2027}\\u2028\\u2029😀\""
        );
    }
}
