//! Owner references, in JSON text.

use alloc::borrow::Cow;
use alloc::vec::Vec;

use super::text::{JsonCursor, JsonKind, MAX_DEPTH, TextError};
use super::write::write_pairs;
use crate::invariant::cannot_happen;
use crate::metadata::OwnerReference;

/// Calls `visit` with every owner reference of an array, which was checked when the object was made.
pub(in crate::decode) fn each_in_text(json: &[u8], visit: &mut dyn FnMut(OwnerReference<'_>)) {
    if read(json, visit).is_err() {
        cannot_happen("owner references that are not valid JSON", ());
    }
}

/// Something that is not a reference is skipped: the server has none.
fn read(json: &[u8], visit: &mut dyn FnMut(OwnerReference<'_>)) -> Result<(), TextError> {
    let mut cursor = JsonCursor::new(json);
    if cursor.kind()? != JsonKind::Array {
        return Ok(());
    }
    let mut elements = cursor.enter_array(MAX_DEPTH)?;
    while elements.next(&mut cursor)? {
        if cursor.kind()? == JsonKind::Object {
            visit(reference(&mut cursor)?);
        } else {
            cursor.skip_value(MAX_DEPTH)?;
        }
    }
    Ok(())
}

fn reference<'a>(cursor: &mut JsonCursor<'a>) -> Result<OwnerReference<'a>, TextError> {
    let mut owner = OwnerReference::new("", "", "", "");
    let mut members = cursor.enter_object(MAX_DEPTH)?;
    while let Some(name) = members.next(cursor)? {
        let kind = cursor.kind()?;
        let mut text = |to: &mut Cow<'a, str>| -> Result<(), TextError> {
            if kind == JsonKind::String {
                *to = cursor.string()?.to_cow();
            } else {
                cursor.skip_value(MAX_DEPTH)?;
            }
            Ok(())
        };
        match &*name.to_cow() {
            "apiVersion" => text(&mut owner.api_version)?,
            "kind" => text(&mut owner.kind)?,
            "name" => text(&mut owner.name)?,
            "uid" => text(&mut owner.uid)?,
            "controller" if kind == JsonKind::Bool => owner.controller = cursor.bool()?,
            _ => {
                cursor.skip_value(MAX_DEPTH)?;
            }
        }
    }
    Ok(owner)
}

/// An array of owner references.
pub(in crate::decode) fn write_owners<'a>(
    owners: impl IntoIterator<Item = OwnerReference<'a>>,
) -> Vec<u8> {
    let mut json = Vec::from(b"[");
    for owner in owners {
        if json.len() > 1 {
            json.push(b',');
        }
        let texts = [
            ("apiVersion", &*owner.api_version),
            ("kind", &owner.kind),
            ("name", &owner.name),
            ("uid", &owner.uid),
        ];
        write_pairs(&mut json, texts);
        if owner.controller {
            json.pop();
            json.extend_from_slice(br#","controller":true}"#);
        }
    }
    json.push(b']');
    json
}
