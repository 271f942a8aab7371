//! Fields by the numbers of a path, in protobuf.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::header::Header;
use super::metadata::write_json;
use super::wire::{Message, Value};
use crate::decode::fields::{Leaf, Scalar};
use crate::decode::json::header::Written;

/// Calls `visit` with every scalar at the end of the path. Every occurrence of a field is entered, so lists
/// need nothing special. An empty text counts as missing, since servers leave it out in JSON.
pub(in crate::decode) fn each_in_message(
    message: &[u8],
    numbers: &[u32],
    leaf: Leaf,
    visit: &mut dyn FnMut(Scalar<'_>),
) {
    let [number, numbers @ ..] = numbers else {
        return;
    };
    let mut message = Message::new(message);
    while let Ok(Some(field)) = message.next() {
        if field.number != *number {
            continue;
        }
        match (field.value, leaf) {
            (Value::Bytes(bytes), _) if !numbers.is_empty() => {
                each_in_message(bytes, numbers, leaf, visit);
            }
            (Value::Bytes(bytes), Leaf::Text) => match core::str::from_utf8(bytes) {
                Ok(text) if !text.is_empty() => visit(Scalar::Text(text.into())),
                _ => {}
            },
            (Value::Number(number), Leaf::Integer) => {
                visit(Scalar::Number(number.cast_signed().to_string().into()));
            }
            (Value::Number(number), Leaf::Bool) => visit(Scalar::Bool(number != 0)),
            _ => {}
        }
    }
}

/// `{"metadata":{…}}` of an object that was kept as a message.
pub(in crate::decode) fn metadata_as_json(message: &[u8]) -> String {
    let mut json = Vec::new();
    if let Ok(header) = Header::read(message) {
        let metadata = message.get(header.metadata.clone());
        write_json(
            &mut json,
            &mut Written::default(),
            &header,
            metadata.unwrap_or_default(),
        );
    }
    String::from_utf8(json).unwrap_or_default()
}
