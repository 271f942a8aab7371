//! From an object in protobuf to its record.

use alloc::vec::Vec;
use core::ops::Range;

use super::form::{KeptProtobuf, ProtobufObject};
use super::header::{Header, Run};
use super::time::TimeText;
use super::wire::{Message, written};
use crate::decoded::{Draft, Extent, KeptLength};
use crate::invariant::cannot_happen;

/// Writes what is kept of an object. A text that the kept message contains is not written again.
pub(super) fn write(draft: &mut Draft, object: &ProtobufObject<'_>, kept: &KeptProtobuf) {
    let header = object.header;
    draft.clear();
    let places = match kept {
        KeptProtobuf::Whole { cut } => Some(write_whole(draft, object, cut.clone())),
        KeptProtobuf::Beside { annotations } => {
            write_beside(draft, header, *annotations);
            None
        }
    };
    let places = places.as_ref();
    let uid = write_text(draft, places, header.uid.unwrap_or_default().as_bytes());
    let version = write_text(draft, places, header.version.unwrap_or_default().as_bytes());
    let created = write_time(draft, header.created);
    let deleted = write_time(draft, header.deleted);
    match places {
        Some(places) if header.has_sorted_labels => {
            let labels = places.find(header.labels.bytes);
            draft.meta.labels = labels
                .unwrap_or_else(|| cannot_happen("labels beyond their object", Extent::default()));
        }
        _ => write_labels(draft, places, header.labels),
    }
    draft.meta.uid = uid;
    draft.meta.version = version;
    draft.meta.created = created;
    draft.meta.deleted = deleted;
    draft.meta.generation = header.generation.unwrap_or_default();
    draft.meta.kept = KeptLength::protobuf(draft.meta.text.length());
    draft.meta.size = u32::try_from(object.bytes.len()).unwrap_or(u32::MAX);
}

/// Writes the message without what is cut out of its `metadata`, whose length changes.
fn write_whole<'a>(
    draft: &mut Draft,
    object: &ProtobufObject<'a>,
    cut: Option<Range<usize>>,
) -> Places<'a> {
    let (bytes, header) = (object.bytes, object.header);
    let mut places = Places {
        bytes,
        cut: bytes.len()..bytes.len(),
        moved: 0,
    };
    if let Some(cut) = cut {
        draft.push_bytes(&[part(bytes, 0..header.length_at)]);
        draft.push_number((header.metadata.len() - cut.len()) as u32);
        places.moved = header.metadata.start.saturating_sub(draft.bytes().len());
        draft.push_bytes(&[
            part(bytes, header.metadata.start..cut.start),
            part(bytes, cut.end..bytes.len()),
        ]);
        places.cut = cut;
    } else {
        draft.push_bytes(&[bytes]);
    }
    draft.meta.text = Extent::new(0, draft.bytes().len());
    let metadata = Extent::new(
        header.metadata.start - places.moved,
        header.metadata.len() - places.cut.len(),
    );
    let if_any = |run: Run<'_>| {
        if run.bytes.is_empty() {
            Extent::default()
        } else {
            metadata
        }
    };
    draft.meta.annotations = if_any(header.annotations);
    draft.meta.owners = if_any(header.owners);
    places
}

/// Writes the owner references and perhaps the annotations: fields of `metadata`, which are a message, too.
fn write_beside(draft: &mut Draft, header: &Header<'_>, annotations: bool) {
    if annotations {
        draft.meta.annotations = write_run(draft, header.annotations);
    }
    draft.meta.owners = write_run(draft, header.owners);
    draft.meta.text = Extent::new(0, draft.bytes().len());
}

fn write_run(draft: &mut Draft, run: Run<'_>) -> Extent {
    let start = draft.bytes().len();
    run.each_field(|field| {
        draft.push_bytes(&[field]);
    });
    Extent::new(start, draft.bytes().len() - start)
}

/// Writes a table of labels.
fn write_labels(draft: &mut Draft, places: Option<&Places<'_>>, labels: Run<'_>) {
    for [key, value] in labels.pairs_as_bytes() {
        let key = write_text(draft, places, key);
        let value = write_text(draft, places, value);
        draft.add_label(key, value);
    }
    draft.put_labels();
}

/// Writes bytes of a text, if the kept message does not contain them.
fn write_text(draft: &mut Draft, places: Option<&Places<'_>>, text: &[u8]) -> Extent {
    if text.is_empty() {
        return Extent::default();
    }
    let place = places.and_then(|places| places.find(text));
    place.unwrap_or_else(|| draft.push_bytes(&[text]))
}

fn write_time(draft: &mut Draft, seconds: Option<i64>) -> Extent {
    let text = seconds.and_then(TimeText::new);
    text.map(|text| draft.push_bytes(&[text.as_bytes()]))
        .unwrap_or_default()
}

/// Where texts of `metadata` stand in the kept message.
struct Places<'a> {
    bytes: &'a [u8],
    /// What is cut out.
    cut: Range<usize>,
    /// By how many bytes `metadata` moved, since its length takes fewer.
    moved: usize,
}

impl Places<'_> {
    fn find(&self, text: &[u8]) -> Option<Extent> {
        let start = text
            .as_ptr()
            .addr()
            .checked_sub(self.bytes.as_ptr().addr())?;
        let cut = if start < self.cut.start {
            0
        } else {
            self.cut.len()
        };
        Some(Extent::new(start - self.moved - cut, text.len()))
    }
}

/// The same object without `managedFields`, wherever they stand.
pub(super) fn without_managed_fields(object: &[u8], header: &Header<'_>) -> Vec<u8> {
    let metadata = part(object, header.metadata.clone());
    let mut kept = Vec::with_capacity(metadata.len());
    let mut message = Message::new(metadata);
    let mut start = 0;
    while let Ok(Some(field)) = message.next() {
        let end = message.position();
        if field.number != Header::MANAGED_FIELDS {
            kept.extend_from_slice(part(metadata, start..end));
        }
        start = end;
    }
    let mut buffer = [0; 10];
    let length = written(kept.len() as u64, &mut buffer);
    let after = part(object, header.metadata.end..object.len());
    [part(object, 0..header.length_at), length, &kept, after].concat()
}

fn part(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes
        .get(range)
        .unwrap_or_else(|| cannot_happen("a part beyond its object", &[]))
}
