//! What is shown to people of bytes that are not what we expected.

use core::fmt::{self, Write as _};

use crate::failure::Printable;

/// How much is shown.
const LENGTH: usize = 60;

/// The beginning of bytes, fit for a line of a log.
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

/// A copy of the first bytes of something, shown as one printable line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Beginning {
    bytes: [u8; LENGTH],
    len: usize,
}

impl Beginning {
    /// How many bytes are kept.
    pub(super) const LENGTH: usize = LENGTH;

    pub(super) fn of(text: &[u8]) -> Self {
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
        Excerpt(self.bytes.get(..self.len).unwrap_or_default()).fmt(f)
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
        assert_eq!(Beginning::of(&[b'x'; 100]).to_string(), "x".repeat(60));
        assert_eq!(Beginning::of(b"a\nb").to_string(), "a b");
    }
}
