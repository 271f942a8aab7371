//! Writing JSON text.

use alloc::string::String;
use core::fmt::Write as _;

/// Writes a string, with its quotes and with the escapes of the API server.
pub(in crate::decode) fn write_string(to: &mut String, text: &str) {
    to.push('"');
    let mut rest = text;
    while let Some((plain, special, after)) = split(rest) {
        to.push_str(plain);
        match special {
            '"' | '\\' => to.extend(['\\', special]),
            '\n' => to.push_str("\\n"),
            '\r' => to.push_str("\\r"),
            '\t' => to.push_str("\\t"),
            '\u{8}' => to.push_str("\\b"),
            '\u{c}' => to.push_str("\\f"),
            // A `String` takes everything.
            other => drop(write!(to, "\\u{:04x}", u32::from(other))),
        }
        rest = after;
    }
    to.push_str(rest);
    to.push('"');
}

/// Whether a byte may start a character that is escaped. The two characters that end lines in JavaScript
/// start with the byte 0xe2.
#[expect(clippy::indexing_slicing, reason = "the compiler evaluates it")]
const MAY_BE_ESCAPED: [bool; 256] = {
    let mut escaped = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        escaped[byte] = matches!(
            byte as u8,
            ..b' ' | b'"' | b'\\' | b'<' | b'>' | b'&' | 0xe2
        );
        byte += 1;
    }
    escaped
};

/// The text before the first character that is escaped, that character, and the text behind it.
fn split(text: &str) -> Option<(&str, char, &str)> {
    let may_be = |byte: &u8| MAY_BE_ESCAPED.get(usize::from(*byte)) == Some(&true);
    let mut from = 0;
    loop {
        let found = text.as_bytes().get(from..)?.iter().position(may_be)?;
        let (plain, rest) = text.split_at_checked(from + found)?;
        let special = rest.chars().next()?;
        let after = rest.get(special.len_utf8()..)?;
        if special.is_ascii() || matches!(special, '\u{2028}' | '\u{2029}') {
            return Some((plain, special, after));
        }
        from = text.len() - after.len();
    }
}

/// An object whose values are strings.
pub(in crate::decode) fn write_pairs<A: AsRef<str>, B: AsRef<str>>(
    pairs: impl IntoIterator<Item = (A, B)>,
) -> String {
    let mut json = String::from("{");
    for (key, value) in pairs {
        if json.len() > 1 {
            json.push(',');
        }
        write_string(&mut json, key.as_ref());
        json.push(':');
        write_string(&mut json, value.as_ref());
    }
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_written_as_the_server_writes_them() {
        let mut json = String::new();
        write_string(
            &mut json,
            "a\"b\\c\n\r\t\u{8}\u{c}\u{1}\u{7f}<é&→>\u{2027}\u{2028}\u{2029}😀",
        );
        assert_eq!(
            json,
            "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\u{7f}\\u003cé\\u0026→\\u003e\u{2027}\\u2028\\u2029😀\""
        );
    }
}
