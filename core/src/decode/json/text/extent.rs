//! The end of a value, by quotes and brackets alone.

use memchr::memchr2;

use super::lanes::{LANES, quotes_and_backslashes};
use super::part;

/// Finds the end of one value in text that arrives in pieces.
///
/// It looks at quotes and brackets only. The text between them may be invalid, and a closing
/// bracket of either kind closes the innermost level. So a broken object can be skipped without
/// losing what follows.
#[derive(Clone, Debug)]
pub(in crate::decode::json) struct Extent {
    state: State,
    depth: usize,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Begin,
    Scalar,
    Between,
    Text,
    Escape,
}

impl Extent {
    /// Expects the first byte of a value: neither white space nor a delimiter.
    pub(in crate::decode::json) const fn new() -> Self {
        Self {
            state: State::Begin,
            depth: 0,
        }
    }

    /// How many of these bytes belong to the value; `None` if it continues. The end of a scalar is
    /// found only when something else follows.
    pub(in crate::decode::json) fn scan(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && let Some(first) = rest.first()
        {
            match self.state {
                State::Begin => match first {
                    b'"' => {
                        at += 1;
                        self.state = State::Text;
                    }
                    b'{' | b'[' => self.state = State::Between,
                    _ => self.state = State::Scalar,
                },
                State::Scalar => return Some(at + rest.iter().position(ends_scalar)?),
                State::Between => {
                    at += self.scan_between(rest)?;
                    if self.depth == 0 {
                        return Some(at);
                    }
                    self.state = State::Text;
                }
                State::Text => {
                    let special = quote_or_backslash(rest)?;
                    at += special + 1;
                    if rest.get(special) == Some(&b'\\') {
                        self.state = State::Escape;
                    } else if self.depth == 0 {
                        return Some(at);
                    } else {
                        self.state = State::Between;
                    }
                }
                State::Escape => {
                    at += 1;
                    self.state = State::Text;
                }
            }
        }
        None
    }

    /// Moves behind the bracket that closes the value, or behind the next opening quote.
    fn scan_between(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            match byte {
                b'"' => return Some(at + 1),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// The position of the first quote or backslash.
///
/// Most strings are so short that starting a vectorised search costs more than it saves.
fn quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    for lanes in bytes.as_chunks().0.iter().take(2) {
        let found = quotes_and_backslashes(lanes);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize);
        }
        at += LANES;
    }
    Some(at + memchr2(b'"', b'\\', part(bytes, at..bytes.len()))?)
}

const fn ends_scalar(byte: &u8) -> bool {
    matches!(
        byte,
        b',' | b':' | b']' | b'}' | b'[' | b'{' | b'"' | b' ' | b'\n' | b'\r' | b'\t'
    )
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_end_does_not_depend_on_the_pieces() {
        for (text, end) in [
            (&br#"{"a":["]\"}",{}]},7"#[..], 17),
            (br#"["\\"]]"#, 6),
            (br#""a\"b" "#, 6),
            (b"-1.5e3}", 6),
            (b"null,", 4),
            (br#"{"broken":[}]..."#, 13),
        ] {
            for border in 0..text.len() {
                let mut extent = Extent::new();
                let found = extent
                    .scan(&text[..border])
                    .or_else(|| extent.scan(&text[border..]).map(|length| border + length));
                assert_eq!(found, Some(end), "{} at {border}", text.escape_ascii());
            }
        }
    }

    #[test]
    fn an_incomplete_value_has_no_end() {
        for text in [&b"{\"a\":1"[..], b"\"abc\\\"", b"12", b"", b"[[]"] {
            assert_eq!(Extent::new().scan(text), None, "{}", text.escape_ascii());
        }
    }
}
