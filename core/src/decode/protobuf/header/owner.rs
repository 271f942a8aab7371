//! Owner references.

use super::{HeaderError, read_text};
use crate::decode::protobuf::wire::{Message, Value};

/// The parts of an owner reference.
#[derive(Clone, Copy, Default)]
pub(in crate::decode::protobuf) struct Owner<'a> {
    pub(in crate::decode::protobuf) api_version: &'a str,
    pub(in crate::decode::protobuf) kind: &'a str,
    pub(in crate::decode::protobuf) name: &'a str,
    pub(in crate::decode::protobuf) uid: &'a str,
    pub(in crate::decode::protobuf) controller: Option<bool>,
    pub(in crate::decode::protobuf) blocks_deletion: Option<bool>,
}

impl<'a> Owner<'a> {
    pub(in crate::decode::protobuf) fn read(reference: &'a [u8]) -> Result<Self, HeaderError> {
        let mut owner = Self::default();
        let mut message = Message::new(reference);
        while let Some(field) = message.next()? {
            let flag = match field.value {
                Value::Number(number) => Some(number != 0),
                _ => None,
            };
            let to = match field.number {
                1 => &mut owner.kind,
                3 => &mut owner.name,
                4 => &mut owner.uid,
                5 => &mut owner.api_version,
                6 => {
                    owner.controller = flag;
                    continue;
                }
                7 => {
                    owner.blocks_deletion = flag;
                    continue;
                }
                _ => continue,
            };
            *to = read_text(field.value, "ownerReferences")?.unwrap_or_default();
        }
        Ok(owner)
    }
}
