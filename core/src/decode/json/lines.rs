//! Framing of a watch: one event per line.

use memchr::memchr;

use crate::decode::frame::{Assembly, Buffer, Frame};
use crate::invariant::cannot_happen;

/// Splits a stream of bytes into lines of bounded length, whatever the pieces.
///
/// A line within one piece of input is returned as a slice of it. Only a line that crosses pieces is
/// copied. If a line exceeds the limit, its start is kept and the rest is skipped, up to twice the
/// limit: a sender could otherwise keep the reader busy forever. Blank lines and the `\r` of `\r\n` are
/// left out. Too many blank lines in a row count as an endless line.
///
/// ```
/// use informer_core::decode::json::lines::Lines;
///
/// let mut lines = Lines::<Vec<u8>>::new(6);
/// let mut input = &b"one\ntw"[..];
/// assert_eq!(lines.next(&mut input).map(|frame| frame.bytes), Some(&b"one"[..]));
/// assert!(lines.next(&mut input).is_none());
///
/// let mut input = &b"o\nlonger than six\n"[..];
/// assert_eq!(lines.next(&mut input).map(|frame| frame.bytes), Some(&b"two"[..]));
/// let frame = lines.next(&mut input).unwrap();
/// assert!(frame.oversized);
/// assert_eq!(frame.bytes, b"longer");
///
/// // Reading stops at twice the limit, because the line may never end.
/// let frame = lines.next(&mut &b"more than twice as long"[..]).unwrap();
/// assert!(frame.endless);
/// ```
#[derive(Clone, Debug)]
pub struct Lines<B> {
    parts: Assembly<B>,
    handed_out: bool,
    /// Bytes of blank lines since the last line.
    blank: usize,
}

impl<B: Buffer> Lines<B> {
    /// Accepts lines of at most `longest` bytes, not counting the line end.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        Self {
            parts: Assembly::new(longest),
            handed_out: false,
            blank: 0,
        }
    }

    /// Drops an incomplete line.
    pub fn reset(&mut self) {
        self.parts.clear();
        self.handed_out = false;
        self.blank = 0;
    }

    /// Takes bytes from the front of `input` up to the end of one line, and returns the line.
    /// `None` means that it took all of `input`. After an endless line, do not use what follows.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Frame<'a>> {
        if self.handed_out {
            self.reset();
        }
        loop {
            let Some(end) = memchr(b'\n', input) else {
                self.parts.push(input);
                *input = &[];
                if !self.parts.frame().endless {
                    return None;
                }
                self.handed_out = true;
                break;
            };
            let (line, rest) = split_off(input, end);
            *input = rest;
            let whole = self.parts.is_empty();
            let frame = if whole {
                self.parts.frame_of(line)
            } else {
                self.parts.push(line);
                self.parts.frame()
            };
            if is_blank(without_return(frame)) {
                self.blank = self.blank.saturating_add(frame.bytes.len() + 1);
                self.parts.clear();
                if !self.parts.is_endless(self.blank) {
                    continue;
                }
                self.handed_out = true;
                return Some(Frame {
                    bytes: &[],
                    oversized: true,
                    endless: true,
                });
            }
            self.blank = 0;
            if whole {
                return Some(without_return(self.parts.frame_of(line)));
            }
            self.handed_out = true;
            break;
        }
        Some(without_return(self.parts.frame()))
    }
}

/// The text before the line end at `end`, and the text after it.
fn split_off(input: &[u8], end: usize) -> (&[u8], &[u8]) {
    match input.split_at_checked(end) {
        Some((line, [_, rest @ ..])) => (line, rest),
        _ => cannot_happen("a line end beyond the input", (input, &[])),
    }
}

fn without_return(frame: Frame<'_>) -> Frame<'_> {
    match frame.bytes.strip_suffix(b"\r") {
        // The last kept byte of an oversized line is not the end of the line.
        Some(bytes) if !frame.oversized => Frame { bytes, ..frame },
        _ => frame,
    }
}

const fn is_blank(frame: Frame<'_>) -> bool {
    frame.bytes.trim_ascii().is_empty() && !frame.oversized
}

#[cfg(all(test, feature = "alloc"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn a_line_in_one_piece_is_not_copied() {
        let mut lines = Lines::<Vec<u8>>::new(100);
        let mut input = &b"abc\ndef\n"[..];
        let start = input.as_ptr();
        assert_eq!(lines.next(&mut input).unwrap().bytes.as_ptr(), start);
        assert_eq!(lines.parts.buffer().capacity(), 0);
    }

    #[test]
    fn memory_stays_bounded_and_is_released() {
        let mut lines = Lines::<Vec<u8>>::new(1 << 20);
        for _ in 0..20 {
            assert_eq!(lines.next(&mut &vec![b'x'; 100_000][..]), None);
            assert!(lines.parts.buffer().capacity() <= 1 << 20);
        }
        let frame = lines.next(&mut &b"\n"[..]).unwrap();
        assert!(frame.oversized);
        assert_eq!(frame.bytes.len(), 1 << 20);
        assert_eq!(lines.next(&mut &b"y"[..]), None);
        assert!(lines.parts.buffer().capacity() <= 64 << 10);
        assert_eq!(lines.next(&mut &b"\n"[..]).unwrap().bytes, b"y");
    }

    #[test]
    #[cfg(feature = "heapless")]
    fn a_fixed_buffer_limits_a_line_like_a_limit() {
        let mut bounded = Lines::<Vec<u8>>::new(5);
        let mut inline = Lines::<heapless::Vec<u8, 5>>::new(100);
        let text = b"one\nlonger\nfives\n\nsixsix\nmuch longer than five\n";
        for pieces in 1..text.len() {
            for piece in text.chunks(pieces) {
                let (mut a, mut b) = (piece, piece);
                loop {
                    let frame = bounded.next(&mut a);
                    assert_eq!(inline.next(&mut b), frame);
                    if frame.is_none() {
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn endless_blank_lines_are_given_up() {
        let mut lines = Lines::<Vec<u8>>::new(100);
        for _ in 0..20 {
            // As many blank lines as allowed, again and again, with a line between them.
            assert_eq!(lines.next(&mut &b"\n\r\n\n"[..].repeat(45)[..]), None);
            assert_eq!(lines.next(&mut &b"y\n"[..]).unwrap().bytes, b"y");
        }
        for (blank, count) in [(&b"\n"[..], 201), (b" \r\n", 67), (b"      \n", 29)] {
            let mut lines = Lines::<Vec<u8>>::new(100);
            for _ in 1..count {
                for byte in blank {
                    assert_eq!(lines.next(&mut &[*byte][..]), None);
                }
            }
            assert!(
                lines
                    .next(&mut { blank })
                    .is_some_and(|frame| frame.endless)
            );
        }
    }

    #[test]
    fn a_carriage_return_counts_only_at_the_end() {
        let input = &b"a\rb\r\n\r\n\n\rc\n"[..];
        let mut lines = Lines::<Vec<u8>>::new(10);
        let mut whole = input;
        assert_eq!(lines.next(&mut whole).unwrap().bytes, b"a\rb");
        assert_eq!(lines.next(&mut whole).unwrap().bytes, b"\rc");
        assert_eq!(lines.next(&mut whole), None);
        let mut single = input
            .chunks(1)
            .filter_map(|mut byte| lines.next(&mut byte).map(|frame| frame.bytes.to_vec()));
        assert_eq!(single.next().unwrap(), b"a\rb");
        assert_eq!(single.next().unwrap(), b"\rc");
        assert_eq!(single.next(), None);
        // The end of the kept part of a longer line does not count.
        let mut lines = Lines::<Vec<u8>>::new(3);
        let mut longer = &b"ab\rcd\n"[..];
        assert_eq!(lines.next(&mut longer).unwrap().bytes, b"ab\r");
    }
}
