//! Uids and generated names. A real server draws them at random; here they come from a seed.

use core::fmt::Write as _;

use crate::random::Random;

/// The letters of generated names, as on the real server: no vowels and no look-alikes.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The longest prefix of a generated name that leaves room for the suffix in a DNS label.
const MAX_BASE: usize = 58;

/// A seeded source of uids and name suffixes.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    random: Random,
}

impl Names {
    pub(crate) const fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
        }
    }

    /// A version 4 uid (RFC 4122).
    pub(crate) fn uid(&mut self) -> String {
        let (high, low) = (self.random.draw(), self.random.draw());
        let high = (high & !0xf000) | 0x4000;
        let low = (low & !(0b11 << 62)) | (0b10 << 62);
        format!(
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xffff,
            low >> 48,
            low & 0xffff_ffff_ffff
        )
    }

    /// `base` and five letters.
    pub(crate) fn generate(&mut self, base: &str) -> String {
        let end = base
            .char_indices()
            .map(|(at, c)| at + c.len_utf8())
            .take_while(|end| *end <= MAX_BASE)
            .last()
            .unwrap_or(0);
        let mut name = base.get(..end).unwrap_or(base).to_owned();
        for _ in 0..5 {
            let letter = self.random.draw() % LETTERS.len() as u64;
            let letter = LETTERS.get(letter as usize).copied().unwrap_or(b'x');
            // Writing to a String cannot fail.
            let _ = name.write_char(char::from(letter));
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_decides() {
        let (mut a, mut b, mut c) = (Names::new(1), Names::new(1), Names::new(2));
        let first = a.uid();
        assert_eq!(first, b.uid());
        assert_ne!(first, a.uid());
        assert_ne!(first, c.uid());
    }

    #[test]
    fn uids_have_their_version_and_variant() {
        let mut names = Names::new(7);
        for _ in 0..100 {
            let uid = names.uid();
            assert_eq!(uid.len(), 36);
            assert_eq!(uid.as_bytes()[14], b'4');
            assert!(matches!(uid.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
        }
    }

    #[test]
    fn long_bases_are_cut() {
        let mut names = Names::new(7);
        assert_eq!(names.generate("web-").len(), 9);
        assert_eq!(names.generate(&"a".repeat(80)).len(), 63);
    }
}
