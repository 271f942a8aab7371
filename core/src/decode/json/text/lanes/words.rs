//! In words of eight bytes.

use super::LANES;

/// One in each byte of a word.
const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES << 7;

/// Marks quotes, backslashes, control characters and non-ASCII bytes.
pub(in super::super) fn special_or_foreign(bytes: &[u8; LANES]) -> u32 {
    marks(bytes, |word| {
        // With this bit flipped, the quote comes right after the control characters.
        let quotes_and_controls = (word ^ (ONES * 0x02)).wrapping_sub(ONES * 0x21);
        (quotes_and_controls | below_zero(word, b'\\')) & !word | word
    })
}

/// Marks the same, and the other characters that the API server escapes.
#[cfg(any(test, feature = "alloc"))]
pub(in super::super) fn escaped_or_foreign(bytes: &[u8; LANES]) -> u32 {
    let tags = |word| below_zero(word, b'<') | below_zero(word, b'>');
    special_or_foreign(bytes) | marks(bytes, |word| (tags(word) | below_zero(word, b'&')) & !word)
}

/// Marks quotes and backslashes.
pub(in super::super) fn quotes_and_backslashes(bytes: &[u8; LANES]) -> u32 {
    marks(bytes, |word| {
        (below_zero(word, b'"') | below_zero(word, b'\\')) & !word
    })
}

/// Marks non-ASCII bytes, all of them.
pub(in super::super) fn foreign(bytes: &[u8; LANES]) -> u32 {
    marks(bytes, |word| word)
}

/// Sets the high bit of the bytes that equal `byte`; also of some others, above those or non-ASCII.
const fn below_zero(word: u64, byte: u8) -> u64 {
    (word ^ (ONES * byte as u64)).wrapping_sub(ONES)
}

/// Gathers the high bits.
fn marks(bytes: &[u8; LANES], of: impl Fn(u64) -> u64) -> u32 {
    let gather = |word: &[u8; 8]| {
        let high = (of(u64::from_le_bytes(*word)) & HIGH) >> 7;
        (high.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    };
    let words = bytes.as_chunks().0.iter().map(gather);
    words.rev().fold(0, |marks, word| marks << 8 | word)
}
