//! Sixteen bytes of text in one step.
//!
//! Each function returns one bit for each byte, the first byte in the lowest bit. Where bytes are
//! looked for, only the lowest set bit is sure: the ones above it may be false.

// With the vectors of the processor.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors;

// In words of eight bytes, for the other processors.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
mod words;

#[cfg(all(
    any(test, feature = "alloc"),
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(super) use vectors::escaped_or_foreign;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use vectors::{foreign, quotes_and_backslashes, special_or_foreign};
#[cfg(all(
    any(test, feature = "alloc"),
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
pub(super) use words::escaped_or_foreign;
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) use words::{foreign, quotes_and_backslashes, special_or_foreign};

/// How many bytes are looked at in one step.
pub(super) const LANES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    type Marks = fn(&[u8; LANES]) -> u32;

    /// The position of the lowest mark.
    fn lowest(marks: u32) -> Option<u32> {
        (marks != 0).then(|| marks.trailing_zeros())
    }

    #[test]
    fn both_ways_mark_the_same_first_byte() {
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..0x20 | 0x80..);
        let is_escaped = |byte: &u8| is_special(byte) || matches!(byte, b'<' | b'>' | b'&');
        agree(is_escaped, [escaped_or_foreign, words::escaped_or_foreign]);
        let is_quote = |byte: &u8| matches!(byte, b'"' | b'\\');
        agree(is_special, [special_or_foreign, words::special_or_foreign]);
        agree(
            is_quote,
            [quotes_and_backslashes, words::quotes_and_backslashes],
        );
        agree(|byte| !byte.is_ascii(), [foreign, words::foreign]);
    }

    fn agree(is_marked: impl Fn(&u8) -> bool, ways: [Marks; 2]) {
        // Every byte in every lane, among bytes that differ from the marked ones in one bit.
        for around in [
            b'a',
            b' ',
            b'!',
            b'#',
            b'=',
            b'\'',
            b'\\' ^ 1,
            0x7f,
            0x80,
            0xa2,
            0xdc,
        ] {
            for lane in 0..LANES {
                for byte in 0..=u8::MAX {
                    let mut bytes = [around; LANES];
                    if let Some(place) = bytes.get_mut(lane) {
                        *place = byte;
                    }
                    let first = bytes.iter().position(&is_marked);
                    for marks in ways {
                        let found = lowest(marks(&bytes)).map(|at| at as usize);
                        assert_eq!(found, first, "{byte:#x} in {lane} among {around:#x}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_foreign_byte_is_marked() {
        for marks in [foreign, words::foreign] {
            assert_eq!(marks(&[0x80; LANES]), 0xffff);
            assert_eq!(marks(b"\xffaaaaaa\xc3\xa9aaaaaa\x80"), 0x8181);
        }
    }
}
