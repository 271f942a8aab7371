//! With the vectors of the processor.

use wide::{i8x16, u8x16};

use super::LANES;

/// Marks quotes, backslashes, control characters and non-ASCII bytes.
#[inline(always)]
pub(in super::super) fn special_or_foreign(bytes: &[u8; LANES]) -> u32 {
    let bytes = i8x16::new(bytes.map(u8::cast_signed));
    // As signed numbers, non-ASCII bytes are negative.
    let below = bytes.simd_lt(i8x16::splat(b' '.cast_signed()));
    let quotes = bytes.simd_eq(i8x16::splat(b'"'.cast_signed()));
    let backslashes = bytes.simd_eq(i8x16::splat(b'\\'.cast_signed()));
    (below | quotes | backslashes).to_bitmask()
}

/// Marks the same, and the other characters that the API server escapes.
#[cfg(any(test, feature = "alloc"))]
#[inline(always)]
pub(in super::super) fn escaped_or_foreign(bytes: &[u8; LANES]) -> u32 {
    let bytes = u8x16::new(*bytes);
    let is = |byte| bytes.simd_eq(u8x16::splat(byte));
    let controls = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    let tags = is(b'<') | is(b'>') | is(b'&');
    // Non-ASCII bytes have the high bit, which makes the mask.
    (controls | is(b'"') | is(b'\\') | tags | bytes).to_bitmask()
}

/// Marks quotes and backslashes.
#[inline(always)]
pub(in super::super) fn quotes_and_backslashes(bytes: &[u8; LANES]) -> u32 {
    let bytes = u8x16::new(*bytes);
    let quotes = bytes.simd_eq(u8x16::splat(b'"'));
    let backslashes = bytes.simd_eq(u8x16::splat(b'\\'));
    (quotes | backslashes).to_bitmask()
}

/// Marks non-ASCII bytes, all of them.
#[inline(always)]
pub(in super::super) fn foreign(bytes: &[u8; LANES]) -> u32 {
    u8x16::new(*bytes).to_bitmask()
}
