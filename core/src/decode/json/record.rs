//! From an object in JSON to its record.

use super::form::{JsonObject, KeptJson};
use super::text::JsonStr;
use crate::decoded::{Draft, Extent, KeptLength};

/// Writes what is kept of an object with these labels. A text that the kept JSON contains is not written again.
pub(in crate::decode) fn write<'a>(
    draft: &mut Draft,
    object: JsonObject<'a>,
    labels: impl Iterator<Item = (JsonStr<'a>, JsonStr<'a>)>,
    kept: &KeptJson,
) {
    let header = object.header;
    let [before, after] = kept.parts(object.json);
    draft.clear();
    draft.meta.text = draft.push_bytes(&[before, after]);
    draft.meta.annotations = place(header.annotations, object.json, kept).unwrap_or_default();
    draft.meta.owners = place(header.owners, object.json, kept).unwrap_or_default();
    if draft.meta.text.length() == 0 {
        let annotations = if kept.annotations {
            header.annotations
        } else {
            &[]
        };
        draft.push_metadata(annotations, header.owners);
    }
    let mut text = |text: Option<JsonStr<'_>>| write_text(draft, text, object.json, kept);
    let (uid, version) = (text(header.uid), text(header.version));
    let (created, deleted) = (text(header.created), text(header.deleted));
    let plain = header
        .has_plain_labels
        .then(|| place(header.labels, object.json, kept));
    if let Some(place) = plain.flatten() {
        draft.meta.labels = place;
    } else {
        for (key, value) in labels {
            let key = write_text(draft, Some(key), object.json, kept);
            let value = write_text(draft, Some(value), object.json, kept);
            draft.add_label(key, value);
        }
        draft.put_labels();
    }
    draft.meta.uid = uid;
    draft.meta.version = version;
    draft.meta.created = created;
    draft.meta.deleted = deleted;
    draft.meta.generation = header.generation.unwrap_or_default();
    draft.meta.kept = KeptLength::json(draft.meta.text.length());
    draft.meta.size = u32::try_from(object.json.len()).unwrap_or(u32::MAX);
}

fn write_text(
    draft: &mut Draft,
    text: Option<JsonStr<'_>>,
    json: &[u8],
    kept: &KeptJson,
) -> Extent {
    let Some(text) = text else {
        return Extent::default();
    };
    let kept = text.plain_bytes().and_then(|text| place(text, json, kept));
    kept.unwrap_or_else(|| draft.push(&text.to_cow()))
}

/// Where a part of `json` stands in the kept text.
fn place(part: &[u8], json: &[u8], kept: &KeptJson) -> Option<Extent> {
    let start = part.as_ptr().addr().checked_sub(json.as_ptr().addr())?;
    let start = kept.place(start..start + part.len())?;
    Some(Extent::new(start, part.len()))
}
