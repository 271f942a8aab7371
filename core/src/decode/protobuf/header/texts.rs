//! Texts: whether they are texts, and UTF-8.

use super::HeaderError;
use super::run::read_pair;
use crate::decode::protobuf::envelope::text;
use crate::decode::protobuf::wire::{Field, Message, Value, short_pair};

/// The bits that no ASCII has.
const HIGH: u128 = u128::from_ne_bytes([0x80; 16]);

/// Reads the texts of a message.
pub(super) struct Texts<'a> {
    message: &'a [u8],
    /// The beginning of the message that is ASCII, so that one check is enough for all texts in it. Short
    /// lengths between them are ASCII, too, and servers write numbers behind the texts.
    ascii: &'a str,
}

impl<'a> Texts<'a> {
    pub(super) fn of(message: &'a [u8]) -> Self {
        let chunks = message.as_chunks().0;
        let high = |chunk: &[u8; 16]| u128::from_le_bytes(*chunk) & HIGH;
        let whole = chunks.iter().take_while(|chunk| high(chunk) == 0).count();
        let part = chunks
            .get(whole)
            .map_or(0, |chunk| high(chunk).trailing_zeros() as usize / 8);
        let ascii = message.get(..16 * whole + part).unwrap_or_default();
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
        if bytes.is_empty() {
            return Ok(None);
        }
        let start = bytes.as_ptr().addr() - self.message.as_ptr().addr();
        let text = self.ascii.get(start..start + bytes.len());
        let text = text.or_else(|| core::str::from_utf8(bytes).ok());
        text.map(Some).ok_or(HeaderError::NotText { field })
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
    let Some(last) = bytes.last_chunk() else {
        return bytes.is_ascii();
    };
    let chunks = bytes.as_chunks().0.iter().chain([last]);
    let all = chunks.fold(0, |all, chunk| all | u128::from_ne_bytes(*chunk));
    all & HIGH == 0
}

/// Checks an entry of a map of texts, except that they are UTF-8. Returns them if it is a [short one](short_pair).
#[inline]
pub(super) fn check_pair<'a>(
    entry: &'a [u8],
    field: &'static str,
) -> Result<Option<[&'a [u8]; 2]>, HeaderError> {
    let short = short_pair(entry);
    if short.is_none() {
        check_texts_of(entry, |number| matches!(number, 1 | 2), field)?;
    }
    Ok(short)
}

/// Checks an owner reference in the same way.
pub(super) fn check_owner(reference: &[u8]) -> Result<(), HeaderError> {
    let is_text = |number| matches!(number, 1 | 3..=5);
    check_texts_of(reference, is_text, "ownerReferences")
}

/// Checks that the texts of an entry are UTF-8.
pub(super) fn check_pair_texts(entry: &[u8]) -> Result<(), HeaderError> {
    let is_text = |text: &[u8]| is_ascii(text) || core::str::from_utf8(text).is_ok();
    match short_pair(entry) {
        Some(pair) if pair.into_iter().all(is_text) => Ok(()),
        _ => read_pair(entry).map(|_| ()),
    }
}

/// Checks that the fields that must be texts are, except that they are UTF-8.
fn check_texts_of(
    message: &[u8],
    must_be_text: impl Fn(u32) -> bool,
    field: &'static str,
) -> Result<(), HeaderError> {
    let mut message = Message::new(message);
    while let Some(Field { number, value }) = message.next()? {
        if !matches!(value, Value::Bytes(_)) && must_be_text(number) {
            return Err(HeaderError::NotText { field });
        }
    }
    Ok(())
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn texts_are_what_utf8_says_wherever_they_stand() {
        const LENGTH: usize = 49;
        let refused = HeaderError::NotText { field: "uid" };
        for at in 0..=LENGTH {
            let mut message = vec![b'x'; LENGTH];
            if let Some(byte) = message.get_mut(at) {
                *byte = 0x80;
            }
            let texts = Texts::of(&message);
            // Only what fills no chunk is not looked at.
            assert_eq!(texts.ascii.len(), at.min(LENGTH / 16 * 16));
            for text in (0..LENGTH).flat_map(|start| (start..=LENGTH).map(move |end| start..end)) {
                let bytes = message.get(text).unwrap_or_default();
                let expected = core::str::from_utf8(bytes).map_err(|_| refused);
                let expected = expected.map(|text| Some(text).filter(|text| !text.is_empty()));
                assert_eq!(texts.read(Value::Bytes(bytes), "uid"), expected);
            }
        }
    }

    #[test]
    fn both_texts_of_an_entry_must_be_utf8() {
        for (entry, is_text) in [
            (&b"\x0a\x01a\x12\x01b"[..], true),
            (b"\x0a\x02\xc3\xa9\x12\x02\xc3\xa9", true),
            (b"\x0a\x02\xc3\xa9\x12\x01\xa9", false),
            (b"\x0a\x01\xc3\x12\x02\xc3\xa9", false),
            (b"\x12\x01\xa9\x0a\x02\xc3\xa9", false),
            (b"\x12\x02\xc3\xa9\x0a\x01a", true),
            // The last one counts, but all must be texts.
            (b"\x0a\x01\xc3\x0a\x01a\x12\x01b", false),
        ] {
            assert_eq!(check_pair_texts(entry).is_ok(), is_text, "{entry:?}");
        }
    }
}
