//! The wire format of protobuf: what all messages have in common.

/// Wire types.
const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const FIXED32: u32 = 5;

/// Writes a number in groups of seven bits, the lowest first.
fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn tag(out: &mut Vec<u8>, field: u32, wire_type: u32) {
    varint(out, u64::from(field << 3 | wire_type));
}

/// Writes a field that is a number. Negative ones are sign-extended to ten bytes.
pub(crate) fn integer(out: &mut Vec<u8>, field: u32, value: i64) {
    tag(out, field, VARINT);
    varint(out, value.cast_unsigned());
}

/// Writes a field that is a text, bytes or a message.
pub(crate) fn bytes(out: &mut Vec<u8>, field: u32, value: &[u8]) {
    opening(out, field, value.len());
    out.extend_from_slice(value);
}

/// Writes what precedes a field of `len` bytes.
pub(crate) fn opening(out: &mut Vec<u8>, field: u32, len: usize) {
    tag(out, field, BYTES);
    varint(out, len as u64);
}

/// A field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field<'a> {
    pub(crate) number: u32,
    /// The text, the bytes or the message; empty for numbers.
    pub(crate) bytes: &'a [u8],
    /// The field as it was sent.
    pub(crate) whole: &'a [u8],
}

/// The fields of a message, up to the first that cannot be read.
pub(crate) fn fields(message: &[u8]) -> impl Iterator<Item = Field<'_>> {
    let mut rest = message;
    std::iter::from_fn(move || {
        let start = rest;
        let tag = read_varint(&mut rest)?;
        let len = match u32::try_from(tag & 7).ok()? {
            VARINT => read_varint(&mut rest).map(|_| 0)?,
            FIXED64 => 8,
            BYTES => usize::try_from(read_varint(&mut rest)?).ok()?,
            FIXED32 => 4,
            _ => return None,
        };
        let (bytes, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(Field {
            number: u32::try_from(tag >> 3).ok()?,
            bytes,
            whole: start.get(..start.len() - after.len())?,
        })
    })
}

/// The first field with this number.
pub(crate) fn field(message: &[u8], number: u32) -> Option<&[u8]> {
    let mut fields = fields(message);
    Some(fields.find(|field| field.number == number)?.bytes)
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let mut message = Vec::new();
        integer(&mut message, 1, 300);
        integer(&mut message, 16, -1);
        bytes(&mut message, 2, b"ab");
        assert_eq!(
            message,
            b"\x08\xac\x02\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x02ab"
        );
        let numbers: Vec<u32> = fields(&message).map(|field| field.number).collect();
        assert_eq!(numbers, [1, 16, 2]);
        assert_eq!(field(&message, 2), Some(&b"ab"[..]));
        let copy: Vec<u8> = fields(&message)
            .flat_map(|field| field.whole.to_vec())
            .collect();
        assert_eq!(copy, message);
    }

    #[test]
    fn what_cannot_be_read_ends_the_message() {
        for message in [&b"\x12\x05ab"[..], b"\x08", b"\x0b", &[0xff; 11]] {
            assert_eq!(fields(message).next(), None, "{message:?}");
        }
    }
}
