//! Random numbers, and the words that clusters are full of.

/// A generator after Steele, Lea and Flood (splitmix).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

/// Letters and digits of generated names: no vowels, as Kubernetes does it.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

impl Random {
    /// The numbers of one thing in the world of a seed.
    #[must_use]
    pub fn new(seed: u64, thing: u64) -> Self {
        let mut random = Self {
            state: seed.wrapping_mul(0xD6E8_FEB8_6659_FD93) ^ thing,
        };
        random.state ^= random.number().rotate_left(17);
        random
    }

    /// Any number.
    pub const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub const fn below(&mut self, end: u64) -> u64 {
        match self.number().checked_rem(end) {
            Some(number) => number,
            None => 0,
        }
    }

    /// A number from `range`.
    pub fn within(&mut self, range: &std::ops::RangeInclusive<u64>) -> u64 {
        range.start() + self.below(1 + range.end().saturating_sub(*range.start()))
    }

    /// Whether something with this probability happens.
    pub const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn one_of<T: Copy + Default>(&mut self, things: &[T]) -> T {
        let at = self.below(things.len() as u64);
        things.get(at as usize).copied().unwrap_or_default()
    }

    /// A word as in generated names.
    pub fn word(&mut self, length: u32) -> String {
        word(0, self.number(), length)
    }

    /// Hexadecimal digits.
    pub fn hex(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            text.push_str(&format!("{:016x}", self.number()));
        }
        text.truncate(length);
        text
    }

    /// A UID.
    pub fn uid(&mut self) -> String {
        let digits = self.hex(30);
        let part = |from: usize, to: usize| digits.get(from..to).unwrap_or_default();
        format!(
            "{}-{}-4{}-a{}-{}",
            part(0, 8),
            part(8, 12),
            part(12, 15),
            part(15, 18),
            part(18, 30)
        )
    }

    /// A time within some months.
    pub fn time(&mut self) -> String {
        let (month, day) = (1 + self.below(9), 1 + self.below(28));
        let (hour, minute, second) = (self.below(24), self.below(60), self.below(60));
        format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

/// The word with a number in a series: another one for each number below 27 to the power of
/// `length`. Another `series` gives other words.
pub(crate) fn word(number: u64, series: u64, length: u32) -> String {
    let words = 27_u128.pow(length);
    // 27 is a power of three, so a step that three does not divide visits every number.
    let step = (0x9E37_79B9_7F4A_7C15 % words) / 3 * 3 + 1;
    let mut rest = (u128::from(number) * step + u128::from(series)) % words;
    let mut text = String::new();
    for _ in 0..length {
        let letter = LETTERS.get((rest % 27) as usize).copied();
        text.push(char::from(letter.unwrap_or(b'x')));
        rest /= 27;
    }
    text
}
