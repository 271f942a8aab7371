//! Frames: the parts of a body that belong together, put together again if they arrive in pieces.

#[cfg(feature = "heapless")]
use crate::invariant::cannot_happen;

/// A frame that has grown beyond its bound this many times is given up.
const PATIENCE: usize = 2;

/// Something that stood in a body: a line, an element of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "this is all there is to say")]
pub struct Frame<'a> {
    /// Its bytes; if it is oversized, as many of its first bytes as may be kept.
    pub bytes: &'a [u8],
    /// Whether it was longer than allowed.
    pub oversized: bool,
    /// Whether it was too long to wait for its end. Such a line is handed out
    /// before it ends.
    pub endless: bool,
}

/// Memory for a frame that crosses a border of pieces, and for what a list says about itself.
///
/// `Vec<u8>` takes it from the allocator, and `heapless::Vec<u8, N>` (feature `heapless`) has it inline.
/// A frame beyond the capacity is as good as one beyond the bound that the reader was given.
pub trait Buffer: AsRef<[u8]> {
    /// A buffer without bytes.
    const EMPTY: Self;

    /// The most bytes that it can ever hold.
    const CAPACITY: usize;

    /// Appends bytes. It is never asked to hold more than `most` bytes, nor more than its capacity.
    fn append(&mut self, bytes: &[u8], most: usize);

    /// Drops all bytes.
    fn clear(&mut self);
}

#[cfg(feature = "alloc")]
impl Buffer for alloc::vec::Vec<u8> {
    const EMPTY: Self = Self::new();
    const CAPACITY: usize = usize::MAX;

    fn append(&mut self, bytes: &[u8], most: usize) {
        let needed = self.len() + bytes.len();
        if needed > self.capacity() {
            // Doubling, as a vector does, but never beyond the bound.
            let goal = (self.capacity() * 2).min(most).max(needed);
            self.reserve_exact(goal - self.len());
        }
        self.extend_from_slice(bytes);
    }

    /// Gives back the memory of a large frame.
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

/// The parts of one frame, put together up to a bound.
#[derive(Clone, Debug)]
pub(super) struct Assembly<B> {
    buffer: B,
    longest: usize,
    /// How long the frame really is.
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

    /// Begins a new frame.
    pub(super) fn clear(&mut self) {
        self.length = 0;
        self.buffer.clear();
    }

    /// Begins a new frame with another bound.
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

    /// How long the frame is so far.
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

    /// What was put together.
    pub(super) fn frame(&self) -> Frame<'_> {
        Frame {
            bytes: self.buffer.as_ref(),
            oversized: self.length > self.longest,
            endless: self.is_endless(self.length),
        }
    }

    /// What `whole` would become if it were put together.
    pub(super) fn frame_of<'i>(&self, whole: &'i [u8]) -> Frame<'i> {
        Frame {
            bytes: whole.get(..self.longest).unwrap_or(whole),
            oversized: whole.len() > self.longest,
            endless: self.is_endless(whole.len()),
        }
    }

    pub(super) const fn is_endless(&self, length: usize) -> bool {
        length > self.longest.saturating_mul(PATIENCE)
    }
}

/// `longest`, or what fits into the buffer.
const fn capped<B: Buffer>(longest: usize) -> usize {
    if longest > B::CAPACITY {
        B::CAPACITY
    } else {
        longest
    }
}
