//! How long the arrays are that a walk passes.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

/// Watches a walk pass arrays.
pub(in crate::decode::json) trait Arrays {
    /// An array opens with the bracket at `at`.
    fn open(&mut self, at: usize);
    /// One of its elements has been passed, and another one follows.
    fn comma(&mut self);
    /// The innermost array closes; `last` counts one more element.
    fn close(&mut self, last: bool);
}

/// Watches nothing.
impl Arrays for () {
    #[inline]
    fn open(&mut self, _: usize) {}
    #[inline]
    fn comma(&mut self) {}
    #[inline]
    fn close(&mut self, _: bool) {}
}

/// An array of a text.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::decode) struct ArrayLength {
    /// Where its bracket stands.
    pub(in crate::decode) at: u32,
    /// How many elements it has.
    pub(in crate::decode) length: u32,
}

/// The most lengths whose memory is kept for the next text.
#[cfg(feature = "alloc")]
const KEPT: usize = 1024;

/// The lengths of the arrays of a text, in the order in which they open. It keeps its memory for the
/// next text: as much as the text with the most arrays needs. An array takes at least three bytes of a
/// text and eight here, so that is usually a fraction of the text, and never six times as much.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug)]
pub(in crate::decode) struct ArrayLengths {
    found: Vec<ArrayLength>,
    /// Those that are still open, by their places in `found`.
    open: Vec<usize>,
}

#[cfg(feature = "alloc")]
impl ArrayLengths {
    pub(in crate::decode) const fn new() -> Self {
        Self {
            found: Vec::new(),
            open: Vec::new(),
        }
    }

    /// Forgets all of them: another text begins.
    pub(in crate::decode) fn clear(&mut self) {
        self.found.clear();
        self.found.shrink_to(KEPT);
        self.open.clear();
        self.open.shrink_to(KEPT);
    }

    /// What was found.
    pub(in crate::decode) fn found(&self) -> &[ArrayLength] {
        &self.found
    }

    fn count(&mut self) {
        let innermost = self.open.last().and_then(|at| self.found.get_mut(*at));
        if let Some(array) = innermost {
            array.length += 1;
        }
    }
}

#[cfg(feature = "alloc")]
impl Arrays for ArrayLengths {
    fn open(&mut self, at: usize) {
        self.open.push(self.found.len());
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.found.push(ArrayLength { at, length: 0 });
    }

    fn comma(&mut self) {
        self.count();
    }

    fn close(&mut self, last: bool) {
        if last {
            self.count();
        }
        self.open.pop();
    }
}
