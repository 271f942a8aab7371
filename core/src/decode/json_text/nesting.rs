//! Which arrays and objects a cursor is in, in a fixed amount of memory.

use super::MAX_DEPTH;

/// Which arrays and objects are open, one bit each.
pub(super) struct Nesting {
    objects: [u64; MAX_DEPTH / 64],
    levels: usize,
    bound: usize,
}

impl Nesting {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            objects: [0; MAX_DEPTH / 64],
            levels: 0,
            bound: depth.min(MAX_DEPTH),
        }
    }

    pub(super) fn push(&mut self, is_object: bool) -> bool {
        let Some(word) = self.objects.get_mut(self.levels / 64) else {
            return false;
        };
        let bit = 1 << (self.levels % 64);
        *word = if is_object { *word | bit } else { *word & !bit };
        self.levels += 1;
        self.levels < self.bound
    }

    pub(super) const fn pop(&mut self) {
        self.levels = self.levels.saturating_sub(1);
    }

    /// Whether the innermost one is an object.
    pub(super) fn innermost(&self) -> Option<bool> {
        let level = self.levels.checked_sub(1)?;
        let word = self.objects.get(level / 64)?;
        Some(word >> (level % 64) & 1 == 1)
    }
}
