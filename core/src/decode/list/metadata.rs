//! What a list says about itself in its `metadata`.

use alloc::string::String;

use crate::decode::json_text::{Cursor, Kind, TextError};

/// How deep a list's `metadata` may be; more than any server needs.
pub(super) const DEPTH: usize = 128;

#[derive(Clone, Default, Debug)]
pub(super) struct Metadata {
    pub(super) version: String,
    pub(super) next: Option<String>,
    pub(super) remaining: Option<u64>,
}

impl Metadata {
    pub(super) const fn new() -> Self {
        Self {
            version: String::new(),
            next: None,
            remaining: None,
        }
    }

    pub(super) fn read(text: &[u8]) -> Result<Self, TextError> {
        let mut metadata = Self::default();
        let mut cursor = Cursor::new(text);
        if cursor.kind()? == Kind::Null {
            cursor.skip_value(DEPTH)?;
            return cursor.end().map(|()| metadata);
        }
        let mut members = cursor.enter_object(DEPTH)?;
        while let Some(name) = members.next(&mut cursor)? {
            if name.eq_str("resourceVersion") {
                metadata.version = read_text(&mut cursor)?.unwrap_or_default();
            } else if name.eq_str("continue") {
                metadata.next = read_text(&mut cursor)?.filter(|token| !token.is_empty());
            } else if name.eq_str("remainingItemCount") {
                let count = cursor.skip_value(DEPTH - 1)?;
                metadata.remaining = core::str::from_utf8(count).unwrap_or_default().parse().ok();
            } else {
                cursor.skip_value(DEPTH - 1)?;
            }
        }
        cursor.end().map(|()| metadata)
    }
}

/// A string, or nothing for `null`.
pub(super) fn read_text(cursor: &mut Cursor<'_>) -> Result<Option<String>, TextError> {
    if cursor.kind()? == Kind::Null {
        return cursor.skip_value(1).map(|_| None);
    }
    cursor.string().map(|text| Some(text.to_cow().into_owned()))
}
