//! The labels, annotations and other repeated fields of `metadata`.

#[cfg(feature = "alloc")]
use super::number;
use super::{HeaderError, read_text};
use crate::decode::protobuf::wire::{Message, Value};

/// The fields of `metadata` from the first to the last one with some number.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::decode::protobuf) struct Run<'a> {
    pub(in crate::decode::protobuf) bytes: &'a [u8],
    pub(super) number: u32,
}

impl<'a> Run<'a> {
    /// Adds these fields of `metadata`.
    #[inline(always)]
    pub(super) fn add(&mut self, metadata: &'a [u8], fields: &'a [u8], number: u32) {
        if self.bytes.is_empty() {
            *self = Self::of(fields, number);
        } else {
            self.extend(metadata, fields);
        }
    }

    #[cold]
    fn extend(&mut self, metadata: &'a [u8], fields: &'a [u8]) {
        let place = |bytes: &[u8]| bytes.as_ptr().addr() - metadata.as_ptr().addr();
        let (start, end) = (place(self.bytes), place(fields) + fields.len());
        self.bytes = metadata.get(start..end).unwrap_or_default();
    }

    /// All fields of this message that have this number.
    const fn of(bytes: &'a [u8], number: u32) -> Self {
        Self { bytes, number }
    }

    #[cfg(feature = "alloc")]
    pub(in crate::decode::protobuf) const fn annotations(metadata: &'a [u8]) -> Self {
        Self::of(metadata, number::ANNOTATIONS)
    }

    #[cfg(feature = "alloc")]
    pub(in crate::decode::protobuf) const fn managed_fields(metadata: &'a [u8]) -> Self {
        Self::of(metadata, number::MANAGED_FIELDS)
    }

    #[cfg(feature = "alloc")]
    pub(in crate::decode::protobuf) const fn owners(metadata: &'a [u8]) -> Self {
        Self::of(metadata, number::OWNERS)
    }

    /// Calls `visit` with the bytes of each field, including its tag.
    #[cfg(feature = "alloc")]
    pub(in crate::decode::protobuf) fn each_field(self, mut visit: impl FnMut(&'a [u8])) {
        let mut message = Message::new(self.bytes);
        let mut start = 0;
        while let Ok(Some(field)) = message.next() {
            let end = message.position();
            if field.number == self.number {
                visit(self.bytes.get(start..end).unwrap_or_default());
            }
            start = end;
        }
    }

    /// The fields, without their tags. They were checked when the header was read.
    pub(in crate::decode::protobuf) fn values(self) -> impl Iterator<Item = &'a [u8]> {
        let mut message = Message::new(self.bytes);
        core::iter::from_fn(move || self.next_in(&mut message))
    }

    fn next_in(self, message: &mut Message<'a>) -> Option<&'a [u8]> {
        while let Ok(Some(field)) = message.next() {
            if let Value::Bytes(bytes) = field.value
                && field.number == self.number
            {
                return Some(bytes);
            }
        }
        None
    }

    /// The keys and values of a map, which are UTF-8: they were checked when the header was read.
    #[cfg(feature = "alloc")]
    pub(in crate::decode::protobuf) fn pairs_as_bytes(self) -> impl Iterator<Item = [&'a [u8]; 2]> {
        let mut message = Message::new(self.bytes);
        core::iter::from_fn(move || {
            let short = message.short_entry(self.number);
            short.or_else(|| self.next_in(&mut message).map(pair_as_bytes))
        })
    }

    /// The keys and values of a map.
    pub(in crate::decode::protobuf) fn pairs(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.values().filter_map(|entry| read_pair(entry).ok())
    }
}

#[cfg(feature = "alloc")]
fn pair_as_bytes(entry: &[u8]) -> [&[u8]; 2] {
    let mut pair = [&[][..]; 2];
    let mut message = Message::new(entry);
    while let Ok(Some(field)) = message.next() {
        if let (Value::Bytes(bytes), Some(to)) =
            (field.value, pair.get_mut(field.number as usize - 1))
        {
            *to = bytes;
        }
    }
    pair
}

/// An entry of a map of texts.
pub(super) fn read_pair(entry: &[u8]) -> Result<(&str, &str), HeaderError> {
    const KEY: u32 = 1;
    const VALUE: u32 = 2;
    let (mut key, mut value) = (None, None);
    let mut message = Message::new(entry);
    while let Some(field) = message.next()? {
        let to = match field.number {
            KEY => &mut key,
            VALUE => &mut value,
            _ => continue,
        };
        *to = read_text(field.value, "")?;
    }
    Ok((key.unwrap_or_default(), value.unwrap_or_default()))
}
