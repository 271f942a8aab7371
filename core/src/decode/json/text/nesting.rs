//! The open arrays and objects, in a fixed amount of memory.

use super::MAX_DEPTH;
use crate::invariant::cannot_happen;

const TOO_DEEP: &str = "a level beyond the bound on nesting";

/// The number of levels in one word. The highest bit stays free, so that a level more still fits.
const LEVELS: usize = u64::BITS as usize - 2;

/// A word without levels.
const EMPTY: u64 = 1;

/// The open arrays and objects, one bit each.
///
/// The innermost levels are apart from the ones around them, so that a walk keeps them in registers:
/// it passes hundreds of brackets, and hardly any text is deeper than one word.
#[derive(Clone, Copy)]
pub(super) struct Nesting {
    /// The lowest bit is the innermost level; it is set for an object. The highest set bit stands
    /// before all of them.
    levels: u64,
    /// The word has room while `levels` is smaller.
    full: u64,
}

/// The levels around the innermost ones, one full word at a time.
pub(super) struct Outer {
    words: [u64; MAX_DEPTH / LEVELS + 1],
    used: usize,
    bound: usize,
}

impl Nesting {
    /// Nothing is open yet. `depth` levels are one too many.
    pub(super) fn new(depth: usize) -> (Self, Outer) {
        let outer = Outer {
            words: [EMPTY; MAX_DEPTH / LEVELS + 1],
            used: 0,
            bound: depth.min(MAX_DEPTH),
        };
        (outer.word(EMPTY), outer)
    }

    /// Opens an array or object; `false` if that is one level too many.
    #[inline(always)]
    pub(super) fn push(&mut self, is_object: bool, outer: &mut Outer) -> bool {
        let levels = self.levels << 1 | u64::from(is_object);
        if levels < self.full {
            self.levels = levels;
            return true;
        }
        match outer.push(*self, is_object) {
            Some(next) => *self = next,
            None => return false,
        }
        true
    }

    /// Closes the innermost level; `false` if it was the last one.
    #[inline(always)]
    pub(super) fn pop(&mut self, outer: &mut Outer) -> bool {
        self.levels >>= 1;
        if self.levels > EMPTY {
            return true;
        }
        *self = outer.pop();
        self.levels > EMPTY
    }

    /// Whether the innermost level is an object. One must be open.
    #[inline(always)]
    pub(super) const fn is_object(self) -> bool {
        self.levels & 1 == 1
    }
}

impl Outer {
    /// A word as the innermost one.
    fn word(&self, levels: u64) -> Nesting {
        let around = self.used * LEVELS + 1;
        let room = self.bound.saturating_sub(around).min(LEVELS);
        Nesting {
            levels,
            full: EMPTY << (room + 1),
        }
    }

    #[cold]
    fn push(&mut self, full: Nesting, is_object: bool) -> Option<Nesting> {
        let before = self.used * LEVELS + full.levels.ilog2() as usize;
        if before + 1 >= self.bound {
            return None;
        }
        match self.words.get_mut(self.used) {
            Some(word) => *word = full.levels,
            None => cannot_happen(TOO_DEEP, ()),
        }
        self.used += 1;
        Some(self.word(EMPTY << 1 | u64::from(is_object)))
    }

    #[cold]
    fn pop(&mut self) -> Nesting {
        let Some(used) = self.used.checked_sub(1) else {
            return self.word(EMPTY);
        };
        self.used = used;
        let levels = self.words.get(used).copied();
        self.word(levels.unwrap_or_else(|| cannot_happen(TOO_DEEP, EMPTY)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_remembered() {
        let is_object = |level: usize| level.is_multiple_of(3) || level.is_multiple_of(62);
        let (mut open, mut outer) = Nesting::new(MAX_DEPTH);
        for level in 0..MAX_DEPTH - 1 {
            assert!(open.push(is_object(level), &mut outer));
            assert_eq!(open.is_object(), is_object(level));
        }
        assert!(!open.push(true, &mut outer), "the bound is reached");
        for level in (0..MAX_DEPTH - 1).rev() {
            assert_eq!(open.is_object(), is_object(level), "at {level}");
            assert_eq!(open.pop(&mut outer), level > 0);
        }
    }

    #[test]
    fn every_bound_is_kept() {
        for bound in 0..=MAX_DEPTH + 1 {
            let (mut open, mut outer) = Nesting::new(bound);
            let fit = (0..).take_while(|_| open.push(false, &mut outer)).count();
            assert_eq!(fit, bound.min(MAX_DEPTH).saturating_sub(1));
        }
    }
}
