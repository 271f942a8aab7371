//! Fields as most are: a small number, and a short value.

use super::{Field, Message, Value};

/// The lower three bits of the tag of a number, and of a text, bytes or a message.
const NUMBER: u64 = 0;
const BYTES: u64 = 2;

impl<'a> Message<'a> {
    /// A field as most are: a small number, and a short text. Everything else is left to the general way.
    #[inline(always)]
    pub(super) fn short(&mut self) -> Option<Field<'a>> {
        let (tag @ 8.., rest) = short_varint(self.rest)? else {
            return None;
        };
        let (value, rest) = match tag & 7 {
            BYTES => short_text(rest).map(|(text, rest)| (Value::Bytes(text), rest))?,
            NUMBER => short_varint(rest).map(|(number, rest)| (Value::Number(number), rest))?,
            _ => return None,
        };
        self.rest = rest;
        let number = (tag >> 3) as u32;
        Some(Field { number, value })
    }

    /// Takes the next field if it has this number and is short bytes.
    #[inline(always)]
    pub(in crate::decode::protobuf) fn short_bytes(&mut self, number: u32) -> Option<&'a [u8]> {
        let (bytes, rest) = short_text(self.after_tag(number, BYTES)?)?;
        self.rest = rest;
        Some(bytes)
    }

    /// Skips short bytes with larger numbers than this.
    #[inline(always)]
    pub(in crate::decode::protobuf) fn skip_short(&mut self, number: u32) {
        let larger = u64::from(number + 1) << 3;
        while let Some((tag, rest)) = short_varint(self.rest)
            && tag >= larger
            && tag & 7 == BYTES
            && let Some((_, rest)) = short_text(rest)
        {
            self.rest = rest;
        }
    }

    /// Takes the next field if it has this number and is a short number.
    #[inline(always)]
    pub(in crate::decode::protobuf) fn short_number(&mut self, number: u32) -> Option<u64> {
        let (value, rest) = short_varint(self.after_tag(number, NUMBER)?)?;
        self.rest = rest;
        Some(value)
    }

    /// Takes the next field if it is an entry of the map with this number, and a [short one](short_pair).
    #[inline(always)]
    pub(in crate::decode::protobuf) fn short_entry(
        &mut self,
        number: u32,
    ) -> Option<[&'a [u8]; 2]> {
        let (entry, rest) = short_text(self.after_tag(number, BYTES)?)?;
        let pair = short_pair(entry)?;
        self.rest = rest;
        Some(pair)
    }

    /// Takes all such entries that follow, of a map whose number is below 16. `visit` is called with their keys.
    #[inline(always)]
    pub(in crate::decode::protobuf) fn short_entries(
        &mut self,
        number: u32,
        mut visit: impl FnMut(&'a [u8]),
    ) {
        loop {
            // In this loop, the place is in registers.
            let mut rest = self.rest;
            while let Some((key, after)) = shortest_entry(rest, number) {
                visit(key);
                rest = after;
            }
            self.rest = rest;
            let Some([key, _]) = self.short_entry(number) else {
                return;
            };
            visit(key);
        }
    }

    /// What follows the tag of the next field, if it has this number and this shape. Both are constants, so that
    /// one of the two ways is left.
    #[inline(always)]
    fn after_tag(&self, number: u32, shape: u64) -> Option<&'a [u8]> {
        let tag = number << 3 | shape as u32;
        match self.rest {
            [byte, rest @ ..] if tag < 0x80 => (u32::from(*byte) == tag).then_some(rest),
            [low, high, rest @ ..] => {
                let [expected, more, ..] = (tag << 1).to_le_bytes();
                (*low == (expected >> 1 | 0x80) && *high == more).then_some(rest)
            }
            _ => None,
        }
    }
}

/// A number of one or two bytes, as nearly all are, and what follows it.
#[inline(always)]
pub(super) fn short_varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    match bytes {
        [byte @ ..0x80, rest @ ..] => Some((u64::from(*byte), rest)),
        [low, high @ ..0x80, rest @ ..] => {
            Some((u64::from(low & 0x7f) | u64::from(*high) << 7, rest))
        }
        _ => None,
    }
}

/// The text behind a length of one or two bytes, and what follows it.
#[inline(always)]
fn short_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = short_varint(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

/// The key of an entry of the map with this number, which is below 16, if all its lengths take one byte each, and
/// what follows the entry.
#[inline(always)]
fn shortest_entry(bytes: &[u8], number: u32) -> Option<(&[u8], &[u8])> {
    debug_assert!(number < 16, "the tag takes one byte");
    // The tag, a length, the tag of the key and its length are taken together. A key of 128 bytes would not fit.
    let (head, rest) = bytes.split_first_chunk()?;
    let head = u32::from_le_bytes(*head);
    if head & 0x00ff_80ff != 0x000a_0000 | number << 3 | BYTES as u32 {
        return None;
    }
    let length = (head >> 8 & 0x7f) as usize;
    let (entry, rest) = rest.split_at_checked(length.checked_sub(2)?)?;
    let (key, value) = entry.split_at_checked((head >> 24) as usize)?;
    match value {
        [0x12, length, value @ ..] if usize::from(*length) == value.len() => Some((key, rest)),
        _ => None,
    }
}

/// The texts of a message that has only the fields 1 and 2, in this order, and both short: an entry of most
/// maps.
#[inline(always)]
pub(in crate::decode::protobuf) fn short_pair(message: &[u8]) -> Option<[&[u8]; 2]> {
    let [0x0a, rest @ ..] = message else {
        return None;
    };
    let (one, rest) = short_text(rest)?;
    let [0x12, rest @ ..] = rest else {
        return None;
    };
    let (two, rest) = short_text(rest)?;
    rest.is_empty().then_some([one, two])
}

#[cfg(all(test, feature = "alloc"))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// What is taken in a short way is what the general one reads.
    fn check(bytes: &[u8]) {
        for number in [1, 2, 11, 15, 16, 17, 31, 33] {
            let mut general = Message::new(bytes);
            let field = general.next().ok().flatten();
            let field = field.filter(|field| field.number == number);
            let rest = field.map_or(bytes, |_| general.rest());
            let value = field.map(|field| field.value);
            let mut message = Message::new(bytes);
            let taken = message.short_bytes(number);
            if taken.is_some() {
                assert_eq!(taken.map(Value::Bytes), value, "{bytes:?}");
            }
            assert_eq!(message.rest(), if taken.is_some() { rest } else { bytes });
            let mut message = Message::new(bytes);
            let taken = message.short_number(number);
            if taken.is_some() {
                assert_eq!(taken.map(Value::Number), value, "{bytes:?}");
            }
            assert_eq!(message.rest(), if taken.is_some() { rest } else { bytes });
        }
        let mut message = Message::new(bytes);
        let mut keys = Vec::new();
        message.short_entries(11, |key| keys.push(key));
        let (mut one_by_one, mut general) = (Message::new(bytes), Message::new(bytes));
        for key in keys {
            let pair = one_by_one.short_entry(11).unwrap();
            assert_eq!(pair[0], key, "{bytes:?}");
            let entry = general.next().unwrap().unwrap();
            assert_eq!(entry.number, 11, "{bytes:?}");
            let Value::Bytes(entry) = entry.value else {
                unreachable!("{bytes:?}");
            };
            let mut entry = Message::new(entry);
            let fields = [entry.next(), entry.next(), entry.next()];
            let fields = fields.map(|field| field.unwrap().map(|it| (it.number, it.value)));
            let pair = pair.map(Value::Bytes);
            assert_eq!(fields, [Some((1, pair[0])), Some((2, pair[1])), None]);
        }
        assert_eq!(message.rest(), general.rest(), "{bytes:?}");
        assert_eq!(one_by_one.short_entry(11), None, "{bytes:?}");
    }

    #[test]
    fn short_ways_take_what_the_general_one_reads() {
        let long = [&b"\x5a\x89\x01\x0a\x02zz\x12\x82\x01"[..], &[b'x'; 130]].concat();
        for bytes in [
            &b"\x0a\x03abc"[..],
            b"\x10\x07\x10\xac\x02",
            b"\x8a\x01\x02ab\x8a\x01\x00",
            b"\x88\x01\x05",
            b"\x82\x01\x01a",
            b"\xfa\x01\x01a\x8a\x02\x01b",
            b"\x5a\x06\x0a\x01a\x12\x01b\x5a\x05\x0a\x01c\x12\x00\x5a\x04\x0a\x00\x12\x00",
            &[
                &b"\x5a\x05\x0a\x01a\x12\x00"[..],
                &long,
                &long,
                b"\x5a\x05\x0a\x01a\x12\x00\x62\x00",
            ]
            .concat(),
        ] {
            check(bytes);
            let mut changed = bytes.to_vec();
            for at in 0..bytes.len() {
                check(bytes.get(..at).unwrap());
                let kept = *changed.get(at).unwrap();
                for byte in 0..=u8::MAX {
                    *changed.get_mut(at).unwrap() = byte;
                    check(&changed);
                }
                *changed.get_mut(at).unwrap() = kept;
            }
        }
    }

    #[test]
    fn short_fields_are_taken() {
        let bytes = b"\x0a\x01a\x8a\x01\x81\x00b\x38\x05\x88\x01\xac\x02";
        let mut message = Message::new(bytes);
        assert_eq!(message.short_bytes(2), None);
        assert_eq!(message.short_number(1), None);
        assert_eq!(message.short_bytes(1), Some(&b"a"[..]));
        assert_eq!(message.short_bytes(1), None);
        assert_eq!(message.short_bytes(17), Some(&b"b"[..]));
        assert_eq!(message.short_number(7), Some(5));
        assert_eq!(message.short_number(17), Some(300));
        assert_eq!(message.next(), Ok(None));
    }
}
