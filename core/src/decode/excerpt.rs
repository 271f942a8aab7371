//! The start of unexpected bytes, for messages.

use core::fmt::{self, Write as _};

use crate::failure::Printable;
use crate::invariant::cannot_happen;

/// How many bytes are quoted.
const LENGTH: usize = 60;

/// The start of some bytes, displayed on one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excerpt<'a>(pub(super) &'a [u8]);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.get(..LENGTH).unwrap_or(self.0).utf8_chunks() {
            write!(f, "{}", Printable(chunk.valid()))?;
            if !chunk.invalid().is_empty() {
                f.write_char('.')?;
            }
        }
        Ok(())
    }
}

/// A copy of the first bytes of a text, displayed on one printable line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    bytes: [u8; LENGTH],
    len: usize,
}

impl Beginning {
    /// How many bytes are kept.
    pub(super) const LENGTH: usize = LENGTH;

    pub(super) fn new(text: &[u8]) -> Self {
        let mut bytes = [0; LENGTH];
        for (to, from) in bytes.iter_mut().zip(text) {
            *to = *from;
        }
        let len = text.len().min(LENGTH);
        Self { bytes, len }
    }
}

impl fmt::Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes.get(..self.len);
        Excerpt(bytes.unwrap_or_else(|| cannot_happen("an excerpt beyond its bound", &[]))).fmt(f)
    }
}

impl fmt::Debug for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn an_excerpt_is_one_printable_line() {
        assert_eq!(
            Excerpt(b"a\n\x1b[1mb\xff\xfec").to_string(),
            r"a \u{1b}[1mb..c"
        );
        assert_eq!(Excerpt(&[b'x'; 100]).to_string(), "x".repeat(60));
        assert_eq!(format!("{}", Excerpt(b"")), "");
        assert_eq!(Beginning::new(&[b'x'; 100]).to_string(), "x".repeat(60));
        assert_eq!(Beginning::new(b"a\nb").to_string(), "a b");
    }
}
