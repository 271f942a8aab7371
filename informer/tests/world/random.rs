//! Seeded random numbers.

/// An xorshift generator, good enough to choose what a test does next.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(
            seed.wrapping_mul(0x2545_f491_4f6c_dd1d)
                .wrapping_add(0x1234_5677),
        )
    }

    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let drawn = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        drawn as usize % bound
    }
}
