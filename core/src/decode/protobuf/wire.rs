//! The wire format of protobuf: messages are fields, and a field is a tag and a value.

// Short fields, without the general reader.
mod short;

use core::fmt;

pub(super) use short::short_pair;
use short::short_varint;

/// The largest number of a field.
const MAX_NUMBER: u64 = (1 << 29) - 1;

/// Reads the fields of a message, one after the other.
///
/// ```
/// use informer_core::decode::protobuf::wire::{Message, Value};
///
/// // Field 1 is the text `ab`, field 2 the number 300.
/// let mut message = Message::new(b"\x0a\x02ab\x10\xac\x02");
/// let field = message.next()?.unwrap();
/// assert_eq!((field.number, field.value), (1, Value::Bytes(b"ab")));
/// let field = message.next()?.unwrap();
/// assert_eq!((field.number, field.value), (2, Value::Number(300)));
/// assert_eq!(message.next(), Ok(None));
/// # Ok::<(), informer_core::decode::protobuf::wire::WireError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Message<'a> {
    rest: &'a [u8],
    length: usize,
}

/// A field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the wire format has no more")]
pub struct Field<'a> {
    /// The number of the field in the schema.
    pub number: u32,
    /// Its value.
    pub value: Value<'a>,
}

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the wire format has no more")]
pub enum Value<'a> {
    /// A number or a bool.
    Number(u64),
    /// A text, bytes or a nested message.
    Bytes(&'a [u8]),
    /// A number of fixed size or a group. They are skipped.
    Other,
}

/// How the value of a field is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    Number,
    Fixed(u64),
    Bytes,
    GroupStart,
    GroupEnd,
}

/// The number of a field, and how its value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tag {
    pub(super) number: u32,
    pub(super) shape: Shape,
}

impl Tag {
    pub(super) fn from_number(tag: u64) -> Result<Self, WireError> {
        let shape = match tag & 7 {
            0 => Shape::Number,
            1 => Shape::Fixed(8),
            2 => Shape::Bytes,
            3 => Shape::GroupStart,
            4 => Shape::GroupEnd,
            5 => Shape::Fixed(4),
            _ => return Err(WireError::InvalidTag),
        };
        match u32::try_from(tag >> 3) {
            Ok(number @ 1..) if tag >> 3 <= MAX_NUMBER => Ok(Self { number, shape }),
            _ => Err(WireError::InvalidTag),
        }
    }
}

impl<'a> Message<'a> {
    /// The message in these bytes.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self {
            rest: bytes,
            length: bytes.len(),
        }
    }

    /// Reads the next field; `None` at the end.
    ///
    /// # Errors
    ///
    /// The bytes are not a message. It stays at the field that cannot be read.
    #[expect(
        clippy::should_implement_trait,
        reason = "an error ends the message, so it is no iterator"
    )]
    #[inline(always)]
    pub fn next(&mut self) -> Result<Option<Field<'a>>, WireError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        if let Some(field) = self.short() {
            return Ok(Some(field));
        }
        let (field, rest) = any(self.rest)?;
        self.rest = rest;
        Ok(Some(field))
    }

    /// How many bytes were read.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// What was not read yet.
    pub(super) const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The number of a field that [`next`](Self::next) cannot read, if that can be read, and what is there of its
    /// value.
    #[cold]
    pub(super) fn broken_field(&self) -> Option<(u32, &'a [u8])> {
        let mut message = self.clone();
        let tag = message.tag().ok()??;
        // The error only says where reading stopped.
        let _ = message.value(tag);
        Some((tag.number, message.rest))
    }

    #[inline(always)]
    pub(super) fn tag(&mut self) -> Result<Option<Tag>, WireError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        Tag::from_number(take_varint(&mut self.rest)?).map(Some)
    }

    /// Reads the value after a tag. If it is cut, what is there of it is left as the [rest](Self::rest).
    #[inline(always)]
    pub(super) fn value(&mut self, tag: Tag) -> Result<Value<'a>, WireError> {
        match tag.shape {
            Shape::Number => Ok(Value::Number(take_varint(&mut self.rest)?)),
            Shape::Bytes => {
                let length = take_varint(&mut self.rest)?;
                self.take(length).map(Value::Bytes)
            }
            Shape::Fixed(length) => self.take(length).map(|_| Value::Other),
            Shape::GroupStart => self.skip_group().map(|()| Value::Other),
            Shape::GroupEnd => Err(WireError::InvalidTag),
        }
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], WireError> {
        let length = usize::try_from(length).map_err(|_| WireError::Truncated)?;
        self.rest.split_off(..length).ok_or(WireError::Truncated)
    }

    /// Groups are counted and not entered, so that nesting takes no memory.
    fn skip_group(&mut self) -> Result<(), WireError> {
        let mut depth = 1_usize;
        while depth > 0 {
            let tag = self.tag()?.ok_or(WireError::Truncated)?;
            match tag.shape {
                Shape::GroupStart => depth += 1,
                Shape::GroupEnd => depth -= 1,
                _ => {
                    self.value(tag)?;
                }
            }
        }
        Ok(())
    }
}

/// Reads a field in the general way. What follows it is returned, so that [`Message::next`] can keep its place
/// in registers.
#[inline(never)]
fn any(bytes: &[u8]) -> Result<(Field<'_>, &[u8]), WireError> {
    let mut message = Message::new(bytes);
    let tag = message.tag()?.ok_or(WireError::Truncated)?;
    let value = message.value(tag)?;
    let number = tag.number;
    Ok((Field { number, value }, message.rest))
}

#[inline(always)]
fn take_varint(bytes: &mut &[u8]) -> Result<u64, WireError> {
    let Some((number, rest)) = short_varint(bytes) else {
        return take_long_varint(bytes);
    };
    *bytes = rest;
    Ok(number)
}

#[inline(never)]
fn take_long_varint(bytes: &mut &[u8]) -> Result<u64, WireError> {
    let mut varint = Varint::new();
    loop {
        let byte = bytes.split_off_first().ok_or(WireError::Truncated)?;
        if let Some(number) = varint.push(*byte)? {
            return Ok(number);
        }
    }
}

/// How many bytes the number has that these bytes begin with.
pub(super) fn length_of_varint(bytes: &[u8]) -> usize {
    1 + bytes.iter().take_while(|byte| **byte >= 0x80).count()
}

/// A number that arrives byte by byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Varint {
    number: u64,
    bits: u32,
}

impl Varint {
    pub(super) const fn new() -> Self {
        Self { number: 0, bits: 0 }
    }

    /// Adds a byte, and returns the number after its last one.
    pub(super) fn push(&mut self, byte: u8) -> Result<Option<u64>, WireError> {
        const LAST: u32 = 63;
        if self.bits == LAST && byte > 1 {
            return Err(WireError::NumberTooLarge);
        }
        self.number |= u64::from(byte & 0x7f) << self.bits;
        if byte < 0x80 {
            return Ok(Some(self.number));
        }
        self.bits += 7;
        Ok(None)
    }

    /// Whether a byte was added.
    pub(super) const fn has_begun(self) -> bool {
        self.bits > 0
    }
}

/// The bytes of a number.
#[cfg(feature = "alloc")]
pub(super) fn written(mut number: u64, buffer: &mut [u8; 10]) -> &[u8] {
    let mut length = 0;
    for byte in buffer.iter_mut() {
        length += 1;
        let [low, ..] = number.to_le_bytes();
        number >>= 7;
        if number == 0 {
            *byte = low;
            break;
        }
        *byte = low | 0x80;
    }
    buffer.get(..length).unwrap_or_default()
}

/// Why bytes are not a message.
// As large as what shares memory with it in a `Result`, a pointer: a smaller one would make the compiler take
// every pointer apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
#[non_exhaustive]
pub enum WireError {
    /// A number, a value or a group goes beyond the end of its message.
    Truncated,
    /// A number has more than 64 bits.
    NumberTooLarge,
    /// A tag has no valid field number or type, or ends a group that did not begin.
    InvalidTag,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "a field goes beyond the end of its message",
            Self::NumberTooLarge => "a number has more than 64 bits",
            Self::InvalidTag => "a field has no valid number or type",
        })
    }
}

impl core::error::Error for WireError {}

#[cfg(all(test, feature = "alloc"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn fields(bytes: &[u8]) -> Result<Vec<Field<'_>>, WireError> {
        let mut message = Message::new(bytes);
        let mut fields = Vec::new();
        while let Some(field) = message.next()? {
            fields.push(field);
        }
        Ok(fields)
    }

    const fn other(number: u32) -> Field<'static> {
        Field {
            number,
            value: Value::Other,
        }
    }

    #[test]
    fn numbers_have_at_most_64_bits() {
        let number = |bytes: &[u8]| take_varint(&mut { bytes });
        assert_eq!(number(b"\x00"), Ok(0));
        assert_eq!(number(b"\x7f"), Ok(127));
        assert_eq!(number(b"\xac\x02"), Ok(300));
        assert_eq!(
            number(b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
            Ok(u64::MAX)
        );
        // Longer than necessary is allowed, up to ten bytes.
        assert_eq!(number(b"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00"), Ok(1));
        for (bytes, error) in [
            (&b""[..], WireError::Truncated),
            (b"\x80", WireError::Truncated),
            (
                b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02",
                WireError::NumberTooLarge,
            ),
            (
                b"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00",
                WireError::NumberTooLarge,
            ),
        ] {
            assert_eq!(number(bytes), Err(error), "{bytes:?}");
        }
    }

    #[test]
    fn a_written_number_is_read_again() {
        let mut shift = 0;
        while shift < 64 {
            for number in [1 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut buffer = [0; 10];
                let bytes = written(number, &mut buffer);
                assert_eq!(take_varint(&mut { bytes }), Ok(number));
                let shortest = (64 - number.leading_zeros()).div_ceil(7).max(1);
                assert_eq!(bytes.len(), shortest as usize);
            }
            shift += 1;
        }
    }

    #[test]
    fn fields_of_every_type_are_skipped() {
        // 8 and 4 bytes; a group with a nested group and a text.
        let bytes = b"\x09........\x15....\x1b\x0a\x01x\x23\x24\x1c\x28\x01";
        let number = Field {
            number: 5,
            value: Value::Number(1),
        };
        assert_eq!(
            fields(bytes),
            Ok(vec![other(1), other(2), other(3), number])
        );
    }

    #[test]
    fn bytes_that_are_no_message_say_why() {
        for (bytes, error) in [
            (&b"\x0a"[..], WireError::Truncated),
            (b"\x0a\x05abc", WireError::Truncated),
            (
                b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                WireError::Truncated,
            ),
            (b"\x09.......", WireError::Truncated),
            (b"\x15...", WireError::Truncated),
            (b"\x1b\x0a\x01x", WireError::Truncated),
            (b"\x1c", WireError::InvalidTag),
            (b"\x0e", WireError::InvalidTag),
            (b"\x0f", WireError::InvalidTag),
            // Field 0, and the first number that is too large.
            (b"\x02\x00", WireError::InvalidTag),
            (b"\x80\x80\x80\x80\x10\x00", WireError::InvalidTag),
        ] {
            assert_eq!(fields(bytes), Err(error), "{bytes:?}");
        }
        assert!(
            fields(b"\xf8\xff\xff\xff\x0f\x00").is_ok(),
            "the largest number"
        );
    }

    #[test]
    fn deep_groups_take_no_memory() {
        let deep = [vec![0x0b; 1 << 20], vec![0x0c; 1 << 20]].concat();
        assert_eq!(fields(&deep), Ok(vec![other(1)]));
    }
}
