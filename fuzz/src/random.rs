//! Seeded random numbers.

/// SplitMix64: small, and every seed is a good one.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator seeded by `bytes` alone.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        // FNV-1a.
        let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        Self(bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }

    pub(crate) const fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(crate) const fn below(&mut self, bound: usize) -> usize {
        ((self.draw() as u128 * bound as u128) >> 64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// Cuts `bytes` into pieces of 1 to `longest` bytes.
    pub(crate) fn cut<'a>(&mut self, mut bytes: &'a [u8], longest: usize) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let length = (1 + self.below(longest)).min(bytes.len());
            let (piece, rest) = bytes.split_at(length);
            pieces.push(piece);
            bytes = rest;
        }
        pieces
    }
}
