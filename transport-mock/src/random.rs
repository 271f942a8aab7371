//! Seeded random numbers.

/// SplitMix64: small, and every seed is a good one.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Any number.
    pub(crate) const fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        // The high half of the product is uniform up to a bias of bound / 2^64.
        ((self.draw() as u128 * bound as u128) >> 64) as u64
    }

    /// The same for indices.
    pub(crate) fn index(&mut self, bound: usize) -> usize {
        usize::try_from(self.below(bound as u64)).unwrap_or(0)
    }

    pub(crate) const fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// A random element.
    pub(crate) fn pick<T: Copy + Default>(&mut self, from: &[T]) -> T {
        let at = self.index(from.len());
        from.get(at).copied().unwrap_or_default()
    }

    /// Another, independent generator.
    pub(crate) const fn fork(&mut self) -> Self {
        Self::new(self.draw())
    }

    /// Shuffles `items`.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_numbers_within_bounds() {
        let (mut a, mut b) = (Random::new(1), Random::new(1));
        for bound in 1..200 {
            let drawn = a.below(bound);
            assert!(drawn < bound);
            assert_eq!(drawn, b.below(bound));
        }
        assert_eq!(a.below(0), 0);
        assert_ne!(Random::new(1).draw(), Random::new(2).draw());
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
