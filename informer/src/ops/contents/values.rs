//! The values of indices as text: text as it is, other bytes in hexadecimal digits.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use informer_core::Object;
use informer_core::indexer::{ByIndex, IndexFn, UnknownIndex};
use informer_core::storage::Heap;
use informer_indexers::shared::Snapshot;

/// The values under which an index files an object. An index function is user code, which may panic; then
/// the object has none.
pub(super) fn of<K>(index: &IndexFn<Object<K>>, object: &Object<K>) -> Vec<String> {
    let mut values = Vec::new();
    let file = || index.values(object, &mut |value| values.push(text(value)));
    let _ = catch_unwind(AssertUnwindSafe(file));
    values
}

/// The objects under a value, in the text that [`of`] shows.
pub(super) fn find<'a, K>(
    snapshot: &'a Snapshot<Object<K>>,
    index: &str,
    value: &str,
) -> Result<ByIndex<'a, Object<K>, Heap>, UnknownIndex> {
    let bytes = bytes(value).filter(|bytes| text(bytes) == value);
    match bytes {
        Some(bytes) => snapshot.by_index(index, bytes.as_slice()),
        None => snapshot.by_index(index, value),
    }
}

fn text(value: &[u8]) -> String {
    match str::from_utf8(value) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => value.iter().fold("0x".to_owned(), |mut digits, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        }),
    }
}

/// The bytes of hexadecimal digits after `0x`.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("0x")?.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_shown_as_it_is_and_bytes_in_digits() {
        assert_eq!(text(b"web"), "web");
        assert_eq!(text("café".as_bytes()), "café");
        assert_eq!(text(&300_u16.to_be_bytes()), "0x012c");
        assert_eq!(bytes("0x012c").as_deref(), Some(&[1, 44][..]));
        assert_eq!(bytes("0x01é"), None);
        assert_eq!(bytes("web"), None);
    }
}
