//! Framing of a watch: one event per line, whatever the borders of the pieces in which it arrives.
//!
//! ```
//! use informer_core::decode::json::lines::Lines;
//!
//! let mut lines = Lines::<Vec<u8>>::new(6);
//! let mut input = &b"one\ntw"[..];
//! assert_eq!(lines.next(&mut input).map(|frame| frame.bytes), Some(&b"one"[..]));
//! assert!(lines.next(&mut input).is_none());
//!
//! let mut input = &b"o\nlonger than six\n"[..];
//! assert_eq!(lines.next(&mut input).map(|frame| frame.bytes), Some(&b"two"[..]));
//! let frame = lines.next(&mut input).unwrap();
//! assert!(frame.oversized);
//! assert_eq!(frame.bytes, b"longer");
//!
//! // Nobody waits for the end of a line that has none in sight.
//! let frame = lines.next(&mut &b"more than twice as long"[..]).unwrap();
//! assert!(frame.endless);
//! ```

use memchr::memchr;

use crate::decode::frame::{Assembly, Buffer, Frame};
use crate::invariant::cannot_happen;

/// Cuts a stream of bytes into lines of bounded length.
///
/// A line that lies in one piece of input is handed out as a slice of it; only a line that crosses a
/// border is put together in memory. Of a line beyond the bound the beginning is kept, the rest is
/// passed over, up to a point: a sender who never ends a line would otherwise be listened to for ever.
/// Blank lines are left out, and so is the `\r` of `\r\n`; blank lines without end are an endless line.
#[derive(Clone, Debug)]
pub struct Lines<B> {
    parts: Assembly<B>,
    handed_out: bool,
    /// How many bytes of blank lines have passed since the last line.
    blank: usize,
}

impl<B: Buffer> Lines<B> {
    /// Lines of at most `longest` bytes, the line end not counted.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        Self {
            parts: Assembly::new(longest),
            handed_out: false,
            blank: 0,
        }
    }

    /// Forgets a line that has begun.
    pub fn reset(&mut self) {
        self.parts.clear();
        self.handed_out = false;
        self.blank = 0;
    }

    /// Takes bytes off the front of `input` up to the end of one line, and gives the line. `None`
    /// means that all of `input` was taken. Behind an endless line, what follows means nothing.
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
                let (bytes, oversized, endless) = (&[][..], true, true);
                return Some(Frame {
                    bytes,
                    oversized,
                    endless,
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

/// What stands before the line end at `end`, and what follows it.
fn split_off(input: &[u8], end: usize) -> (&[u8], &[u8]) {
    match input.split_at_checked(end) {
        Some((line, [_, rest @ ..])) => (line, rest),
        _ => cannot_happen("a line end beyond the input", (input, &[])),
    }
}

fn without_return(frame: Frame<'_>) -> Frame<'_> {
    match frame.bytes.strip_suffix(b"\r") {
        // The last byte that was kept of an oversized line is not its end.
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
    fn memory_stays_within_the_bound_and_is_given_back() {
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
    fn a_buffer_of_fixed_size_bounds_a_line_as_a_limit_does() {
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
    fn blank_lines_without_end_are_not_listened_to() {
        let mut lines = Lines::<Vec<u8>>::new(100);
        for _ in 0..20 {
            // As many as there may be, again and again, as long as something comes between them.
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
        // Not at the end of what was kept of a longer line.
        let mut lines = Lines::<Vec<u8>>::new(3);
        let mut longer = &b"ab\rcd\n"[..];
        assert_eq!(lines.next(&mut longer).unwrap().bytes, b"ab\r");
    }
}
