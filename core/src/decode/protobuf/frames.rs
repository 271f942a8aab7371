//! Framing of a watch: four bytes with the length of an event, and the event.

use crate::decode::frame::{Assembly, Buffer, Frame};

/// How many bytes state the length.
const PREFIX: u8 = 4;

/// Splits a stream of bytes into frames of bounded length, whatever the pieces.
///
/// A frame within one piece of input is returned as a slice of it. Only a frame that crosses pieces
/// is copied. If a frame exceeds the limit, its start is kept and the rest is skipped. A frame of
/// more than twice the limit is given up at once, without its bytes. Memory is taken for bytes that
/// arrived, not for those that a length announces.
///
/// ```
/// use informer_core::decode::protobuf::frames::Frames;
///
/// let mut frames = Frames::<Vec<u8>>::new(6);
/// let mut input = &b"\0\0\0\x03one\0\0\0\x03t"[..];
/// assert_eq!(frames.next(&mut input).map(|frame| frame.bytes), Some(&b"one"[..]));
/// assert!(frames.next(&mut input).is_none());
///
/// let mut input = &b"wo\0\0\0\x0alonger now"[..];
/// assert_eq!(frames.next(&mut input).map(|frame| frame.bytes), Some(&b"two"[..]));
/// let frame = frames.next(&mut input).unwrap();
/// assert!(frame.oversized);
/// assert_eq!(frame.bytes, b"longer");
///
/// assert!(frames.next(&mut &b"\0\0\0\x0d"[..]).is_some_and(|frame| frame.endless));
/// ```
#[derive(Clone, Debug)]
pub struct Frames<B> {
    parts: Assembly<B>,
    /// How many bytes of the length were read.
    prefix: u8,
    length: u32,
    handed_out: bool,
}

impl<B: Buffer> Frames<B> {
    /// Accepts frames of at most `longest` bytes.
    #[must_use]
    pub const fn new(longest: usize) -> Self {
        Self {
            parts: Assembly::new(longest),
            prefix: 0,
            length: 0,
            handed_out: false,
        }
    }

    /// Drops an incomplete frame.
    pub fn reset(&mut self) {
        self.parts.clear();
        self.prefix = 0;
        self.length = 0;
        self.handed_out = false;
    }

    /// The length that the frame states.
    #[must_use]
    pub const fn length(&self) -> u32 {
        self.length
    }

    /// Takes bytes from the front of `input` up to the end of one frame, and returns the frame.
    /// `None` means that it took all of `input`. After an endless frame, do not use what follows.
    pub fn next<'a, 'i: 'a>(&'a mut self, input: &mut &'i [u8]) -> Option<Frame<'a>> {
        if self.handed_out {
            self.reset();
        }
        if self.prefix == 0
            && let Some((length, rest)) = input.split_first_chunk()
        {
            self.length = u32::from_be_bytes(*length);
            self.prefix = PREFIX;
            *input = rest;
        }
        while self.prefix < PREFIX {
            let byte = input.split_off_first()?;
            self.length = self.length << 8 | u32::from(*byte);
            self.prefix += 1;
        }
        let length = usize::try_from(self.length).unwrap_or(usize::MAX);
        if self.parts.is_endless(length) {
            self.handed_out = true;
            return Some(Frame {
                bytes: &[],
                oversized: true,
                endless: true,
            });
        }
        let missing = length.saturating_sub(self.parts.length());
        let Some(part) = input.split_off(..missing) else {
            self.parts.push(input);
            *input = &[];
            return None;
        };
        self.handed_out = true;
        if self.parts.is_empty() {
            return Some(self.parts.frame_of(part));
        }
        self.parts.push(part);
        Some(self.parts.frame())
    }
}

#[cfg(all(test, feature = "alloc"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn a_frame_in_one_piece_is_not_copied() {
        let mut frames = Frames::<Vec<u8>>::new(100);
        let mut input = &b"\0\0\0\x03abc\0\0\0\0"[..];
        let start = input.as_ptr().wrapping_add(4);
        assert_eq!(frames.next(&mut input).unwrap().bytes.as_ptr(), start);
        assert_eq!(frames.parts.buffer().capacity(), 0);
        assert_eq!(frames.next(&mut input).unwrap().bytes, b"");
        assert_eq!(frames.next(&mut input), None);
    }

    #[test]
    fn memory_is_taken_for_bytes_that_arrived() {
        let mut frames = Frames::<Vec<u8>>::new(1 << 30);
        assert_eq!(frames.next(&mut &b"\x3f\xff\xff\xffabc"[..]), None);
        assert!(frames.parts.buffer().capacity() < 100);
    }

    #[test]
    fn memory_stays_bounded_and_is_released() {
        let mut frames = Frames::<Vec<u8>>::new(1 << 20);
        // 2,000,000 bytes
        assert_eq!(frames.next(&mut &b"\x00\x1e\x84\x80"[..]), None);
        let part = vec![b'x'; 100_000];
        for _ in 0..19 {
            assert_eq!(frames.next(&mut &part[..]), None);
            assert!(frames.parts.buffer().capacity() <= 1 << 20);
        }
        let frame = frames.next(&mut &part[..]).unwrap();
        assert!(frame.oversized && !frame.endless);
        assert_eq!(frame.bytes.len(), 1 << 20);
        assert_eq!(frames.next(&mut &b"\0\0\0\x01"[..]), None);
        assert!(frames.parts.buffer().capacity() <= 64 << 10);
        assert_eq!(frames.next(&mut &b"y"[..]).unwrap().bytes, b"y");
    }
}
