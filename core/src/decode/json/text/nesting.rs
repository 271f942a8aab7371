//! Which arrays and objects a cursor is in, in a fixed amount of memory.

use super::MAX_DEPTH;

/// The levels of which one word tells.
const LEVELS: usize = u64::BITS as usize;

/// Which arrays and objects are open, one bit each.
pub(super) struct Nesting {
    /// The innermost levels; the lowest bit tells of the innermost one, and is set for an object.
    inner: u64,
    /// The levels around them, by the word. Hardly any text gets that deep.
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
        if self.levels.is_multiple_of(LEVELS)
            && let Some(full) = self.outer.get_mut(self.levels / LEVELS)
        {
            *full = self.inner;
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.levels += 1;
        self.levels < self.bound
    }

    pub(super) fn pop(&mut self) {
        self.levels = self.levels.saturating_sub(1);
        self.inner >>= 1;
        if self.levels.is_multiple_of(LEVELS) {
            let full = self.outer.get(self.levels / LEVELS);
            self.inner = full.copied().unwrap_or_default();
        }
    }

    /// Whether the innermost one is an object.
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
