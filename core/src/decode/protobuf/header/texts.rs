//! Texts: whether they are texts, and UTF-8.

use super::HeaderError;
use super::run::read_pair;
use crate::decode::protobuf::envelope::text;
use crate::decode::protobuf::wire::{Field, Message, Value, short_pair};

/// Reads the texts of a message.
pub(super) struct Texts<'a> {
    message: &'a [u8],
    /// The beginning of the message that is ASCII, so that one check is enough for all texts in it. Short
    /// lengths between them are ASCII, too, and servers write numbers behind the texts.
    ascii: &'a str,
}

impl<'a> Texts<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        let chunks = message.as_chunks::<16>().0.iter();
        let chunks = chunks.take_while(|chunk| is_ascii(*chunk)).count();
        let ascii = message.get(..16 * chunks).unwrap_or_default();
        Self {
            message,
            ascii: core::str::from_utf8(ascii).unwrap_or_default(),
        }
    }

    /// Reads the value of a field of the message.
    #[inline]
    pub(super) fn read(
        &self,
        value: Value<'a>,
        field: &'static str,
    ) -> Result<Option<&'a str>, HeaderError> {
        let Value::Bytes(bytes) = value else {
            return Err(HeaderError::NotText { field });
        };
        let start = bytes.as_ptr().addr() - self.message.as_ptr().addr();
        let text = self.ascii.get(start..start + bytes.len());
        match text.or_else(|| core::str::from_utf8(bytes).ok()) {
            None => Err(HeaderError::NotText { field }),
            Some(text) => Ok(Some(text).filter(|text| !text.is_empty())),
        }
    }
}

pub(super) fn read_text<'a>(
    value: Value<'a>,
    field: &'static str,
) -> Result<Option<&'a str>, HeaderError> {
    text(value).ok_or(HeaderError::NotText { field })
}

/// Does what `is_ascii` of slices does, but looks at the last bytes together, too.
pub(super) fn is_ascii(bytes: &[u8]) -> bool {
    const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);
    let Some(last) = bytes.last_chunk() else {
        return bytes.is_ascii();
    };
    let chunks = bytes.as_chunks().0.iter().chain([last]);
    let all = chunks.fold(0, |all, chunk| all | u128::from_ne_bytes(*chunk));
    all & HIGH == 0
}

/// The numbers of the texts in an entry of a map, and in an owner reference.
pub(super) const PAIR: [u32; 2] = [1, 2];
pub(super) const OWNER: [u32; 4] = [1, 3, 4, 5];

/// Checks an entry of a map of texts, except that they are UTF-8.
pub(super) fn check_pair(entry: &[u8], field: &'static str) -> Result<(), HeaderError> {
    match short_pair(entry) {
        Some(_) => Ok(()),
        None => check_texts_of(entry, &PAIR, field),
    }
}

/// Checks that the texts of an entry are UTF-8.
pub(super) fn check_pair_texts(entry: &[u8]) -> Result<(), HeaderError> {
    let is_text = |text: &[u8]| is_ascii(text) || core::str::from_utf8(text).is_ok();
    match short_pair(entry) {
        Some(pair) if pair.into_iter().all(is_text) => Ok(()),
        _ => read_pair(entry).map(|_| ()),
    }
}

/// Checks that fields with these numbers are texts, except that they are UTF-8.
pub(super) fn check_texts_of(
    message: &[u8],
    texts: &[u32],
    field: &'static str,
) -> Result<(), HeaderError> {
    let mut message = Message::new(message);
    while let Some(Field { number, value }) = message.next()? {
        let is_bytes = matches!(value, Value::Bytes(_));
        if !is_bytes && texts.contains(&number) {
            return Err(HeaderError::NotText { field });
        }
    }
    Ok(())
}
