//! The open arrays and objects, in a fixed amount of memory.

use super::MAX_DEPTH;
use crate::invariant::cannot_happen;

const TOO_DEEP: &str = "a level beyond the bound on nesting";

/// The number of levels in one word.
const LEVELS: usize = u64::BITS as usize;

/// The open arrays and objects, one bit each.
pub(super) struct Nesting {
    /// The innermost levels. The lowest bit is the innermost one; it is set for an object.
    inner: u64,
    /// The levels around them, one word at a time. Hardly any text is that deep.
    outer: [u64; MAX_DEPTH / LEVELS],
    levels: usize,
    bound: usize,
}

impl Nesting {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            inner: 0,
            outer: [0; MAX_DEPTH / LEVELS],
            levels: 0,
            bound: depth.min(MAX_DEPTH),
        }
    }

    pub(super) fn push(&mut self, is_object: bool) -> bool {
        if self.levels.is_multiple_of(LEVELS) {
            match self.outer.get_mut(self.levels / LEVELS) {
                Some(full) => *full = self.inner,
                None => cannot_happen(TOO_DEEP, ()),
            }
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.levels += 1;
        self.levels < self.bound
    }

    pub(super) fn pop(&mut self) {
        self.levels = self.levels.saturating_sub(1);
        self.inner >>= 1;
        if self.levels.is_multiple_of(LEVELS) {
            let full = self.outer.get(self.levels / LEVELS).copied();
            self.inner = full.unwrap_or_else(|| cannot_happen(TOO_DEEP, 0));
        }
    }

    /// Whether the innermost level is an object; `None` if no level is open.
    pub(super) fn innermost(&self) -> Option<bool> {
        (self.levels > 0).then_some(self.inner & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_remembered() {
        let is_object = |level: usize| level.is_multiple_of(3) || level.is_multiple_of(64);
        let mut open = Nesting::new(MAX_DEPTH);
        for level in 0..MAX_DEPTH - 1 {
            assert!(open.push(is_object(level)));
            assert_eq!(open.innermost(), Some(is_object(level)));
        }
        assert!(!open.push(true), "the bound is reached");
        open.pop();
        for level in (0..MAX_DEPTH - 1).rev() {
            assert_eq!(open.innermost(), Some(is_object(level)), "at {level}");
            open.pop();
        }
        assert_eq!(open.innermost(), None);
    }
}
