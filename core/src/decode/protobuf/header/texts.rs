//! Texts: whether they are texts, and UTF-8.

use super::HeaderError;
use super::run::read_pair;
use crate::decode::protobuf::envelope::text;
use crate::decode::protobuf::wire::{Field, Message, Value, short_pair};

pub(super) fn read_text<'a>(
    value: Value<'a>,
    field: &'static str,
) -> Result<Option<&'a str>, HeaderError> {
    text(value).ok_or(HeaderError::NotText { field })
}

/// The same as `is_ascii` of slices, which takes the last bytes one by one. Here the last 64 are looked at together,
/// also if some of them were looked at before.
pub(super) fn is_ascii(bytes: &[u8]) -> bool {
    const STEP: usize = 64;
    match bytes.last_chunk::<STEP>() {
        Some(last) => bytes.as_chunks::<STEP>().0.as_flattened().is_ascii() && last.is_ascii(),
        None => bytes.is_ascii(),
    }
}

/// Checks an entry of a map of texts, except that they are UTF-8.
#[inline]
pub(super) fn check_pair(entry: &[u8], field: &'static str) -> Result<(), HeaderError> {
    match short_pair(entry) {
        Some(_) => Ok(()),
        None => check_texts_of(entry, |number| matches!(number, 1 | 2), field),
    }
}

/// Checks an owner reference in the same way.
#[inline(always)]
pub(super) fn check_owner(reference: &[u8]) -> Result<(), HeaderError> {
    let mut message = Message::new(reference);
    // As servers write it, nothing is left behind these.
    message.short_bytes(1);
    message.short_bytes(3);
    message.short_bytes(4);
    message.short_bytes(5);
    message.short_number(6);
    message.short_number(7);
    match message.rest() {
        [] => Ok(()),
        rest => check_texts_of_owner(rest),
    }
}

fn check_texts_of_owner(fields: &[u8]) -> Result<(), HeaderError> {
    let is_text = |number| matches!(number, 1 | 3..=5);
    check_texts_of(fields, is_text, "ownerReferences")
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

    #[test]
    fn an_owner_is_checked_however_it_is_written() {
        let owner = b"\x0a\x02RS\x1a\x01s\x22\x02u1\x2a\x02v1\x30\x01\x38\x01";
        for at in 0..owner.len() {
            let cut = owner.get(..at).unwrap_or_default();
            assert_eq!(check_owner(cut), check_texts_of_owner(cut), "{cut:?}");
            for byte in 0..=u8::MAX {
                let mut changed = *owner;
                if let Some(place) = changed.get_mut(at) {
                    *place = byte;
                }
                let expected = check_texts_of_owner(&changed);
                assert_eq!(check_owner(&changed), expected, "{changed:?}");
            }
        }
    }

    #[test]
    fn ascii_is_told_whatever_the_length() {
        let mut bytes = [b'x'; 200];
        for length in 0..=bytes.len() {
            let text = bytes.get(..length).unwrap_or_default();
            assert!(is_ascii(text));
        }
        for at in 0..bytes.len() {
            let mut set = |byte| {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
            };
            set(0x80);
            for length in 0..=200 {
                let text = bytes.get(..length).unwrap_or_default();
                assert_eq!(is_ascii(text), length <= at, "{at} {length}");
            }
            if let Some(place) = bytes.get_mut(at) {
                *place = b'x';
            }
        }
    }
}
