//! Frames: the lines or elements of a body, reassembled if they arrive in pieces.

#[cfg(feature = "heapless")]
use crate::invariant::cannot_happen;

/// Reading a frame stops at this multiple of its limit.
const ENDLESS_FACTOR: usize = 2;

/// A line of a watch or an element of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Frame<'a> {
    /// The bytes; if the frame is oversized, as many of the first bytes as are kept.
    pub bytes: &'a [u8],
    /// Whether the frame is longer than allowed.
    pub oversized: bool,
    /// Whether the frame is so long that reading stopped before its end.
    pub endless: bool,
}

/// Memory for a frame that arrives in pieces, and for the metadata of a list.
///
/// `Vec<u8>` allocates. `heapless::Vec<u8, N>` (feature `heapless`) keeps the bytes inline. A frame
/// beyond the capacity counts as oversized.
pub trait Buffer: AsRef<[u8]> {
    /// An empty buffer.
    const EMPTY: Self;

    /// The most bytes that it can ever hold.
    const CAPACITY: usize;

    /// Appends bytes. Callers never exceed `most` bytes in total, nor the capacity.
    fn append(&mut self, bytes: &[u8], most: usize);

    /// Removes all bytes.
    fn clear(&mut self);
}

#[cfg(feature = "alloc")]
impl Buffer for alloc::vec::Vec<u8> {
    const EMPTY: Self = Self::new();
    const CAPACITY: usize = usize::MAX;

    fn append(&mut self, bytes: &[u8], most: usize) {
        let needed = self.len() + bytes.len();
        if needed > self.capacity() {
            // Double the capacity, as a vector does, but stay within the limit.
            let goal = (self.capacity() * 2).min(most).max(needed);
            self.reserve_exact(goal - self.len());
        }
        self.extend_from_slice(bytes);
    }

    /// Releases the memory of a large frame.
    fn clear(&mut self) {
        const KEPT: usize = 64 << 10;
        self.clear();
        if self.capacity() > KEPT {
            *self = Self::new();
        }
    }
}

#[cfg(feature = "heapless")]
impl<const N: usize> Buffer for heapless::Vec<u8, N> {
    const EMPTY: Self = Self::new();
    const CAPACITY: usize = N;

    fn append(&mut self, bytes: &[u8], _: usize) {
        if self.extend_from_slice(bytes).is_err() {
            cannot_happen("more bytes than a buffer can hold", ());
        }
    }

    fn clear(&mut self) {
        self.clear();
    }
}

/// The parts of one frame, joined up to a limit.
#[derive(Clone, Debug)]
pub(super) struct Assembly<B> {
    buffer: B,
    longest: usize,
    /// The full length of the frame so far.
    length: usize,
}

impl<B: Buffer> Assembly<B> {
    pub(super) const fn new(longest: usize) -> Self {
        Self {
            buffer: B::EMPTY,
            longest: capped::<B>(longest),
            length: 0,
        }
    }

    /// Starts a new frame.
    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.buffer.clear();
    }

    /// Starts a new frame with another limit.
    pub(super) fn begin(&mut self, longest: usize) {
        self.clear();
        self.longest = capped::<B>(longest);
    }

    pub(super) fn push(&mut self, part: &[u8]) {
        self.length = self.length.saturating_add(part.len());
        let room = self.longest.saturating_sub(self.buffer.as_ref().len());
        let part = part.get(..room).unwrap_or(part);
        self.buffer.append(part, self.longest);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The length of the frame so far.
    pub(super) const fn length(&self) -> usize {
        self.length
    }

    /// The most bytes of a frame that are kept.
    pub(super) const fn longest(&self) -> usize {
        self.longest
    }

    #[cfg(test)]
    pub(super) const fn buffer(&self) -> &B {
        &self.buffer
    }

    /// The joined frame.
    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            bytes: self.buffer.as_ref(),
            oversized: self.length > self.longest,
            endless: self.is_endless(self.length),
        }
    }

    /// The frame that `whole` would become.
    pub(super) fn frame_of<'i>(&self, whole: &'i [u8]) -> Frame<'i> {
        Frame {
            bytes: whole.get(..self.longest).unwrap_or(whole),
            oversized: whole.len() > self.longest,
            endless: self.is_endless(whole.len()),
        }
    }

    pub(super) const fn is_endless(&self, length: usize) -> bool {
        length > self.longest.saturating_mul(ENDLESS_FACTOR)
    }
}

/// `longest`, or the capacity of the buffer if that is smaller.
pub(super) const fn capped<B: Buffer>(longest: usize) -> usize {
    if longest > B::CAPACITY {
        B::CAPACITY
    } else {
        longest
    }
}
