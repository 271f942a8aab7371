//! Numbers of seven bits a byte, the low ones first. The highest bit says that more follow.

use alloc::vec::Vec;

/// Appends a number.
pub(crate) fn put_varint(to: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Takes a number from the front; `None` if there is none.
pub(crate) fn take_varint(from: &mut &[u8]) -> Option<u32> {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let byte = *from.split_off_first()?;
        number |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
