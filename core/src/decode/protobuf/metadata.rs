//! Owner references and annotations in protobuf; `metadata` as JSON.

use alloc::vec::Vec;
use core::ops::Range;

use super::header::{Header, Owner, Run};
use super::time::TimeText;
use super::wire::{Message, Value};
use crate::decode::json::header::{Place, Written};
use crate::decode::json::write::write_string;
use crate::metadata::OwnerReference;

/// Calls `visit` with every owner reference of these fields of `metadata`.
pub(in crate::decode) fn each_owner(metadata: &[u8], visit: &mut dyn FnMut(OwnerReference<'_>)) {
    for owner in Run::owners(metadata).values() {
        let Ok(owner) = Owner::read(owner) else {
            continue; // All were read when the object was made.
        };
        let mut reference =
            OwnerReference::new(owner.api_version, owner.kind, owner.name, owner.uid);
        reference.controller = owner.controller == Some(true);
        visit(reference);
    }
}

/// The annotations among these fields of `metadata`. If a key is repeated, the last value counts.
pub(in crate::decode) fn annotations(metadata: &[u8]) -> impl Iterator<Item = (&str, &str)> {
    Run::annotations(metadata).pairs()
}

/// Writes `{"metadata":{…}}` as a server writes it in JSON, and notes where its parts stand.
pub(super) fn write_json(
    to: &mut Vec<u8>,
    written: &mut Written,
    header: &Header<'_>,
    managed_fields: &[u8],
) {
    written.clear();
    to.extend_from_slice(br#"{"metadata":"#);
    let start = to.len();
    write_metadata(to, written, header, managed_fields);
    written.metadata = start..to.len();
    to.push(b'}');
}

/// Writes the members in the order of the server, which leaves out what is empty.
fn write_metadata(
    to: &mut Vec<u8>,
    written: &mut Written,
    header: &Header<'_>,
    managed_fields: &[u8],
) {
    let mut object = Members::new(to);
    written.name = object.text("name", header.name);
    object.text("generateName", header.generate_name);
    written.namespace = object.text("namespace", header.namespace);
    object.text("selfLink", header.self_link);
    written.uid = object.text("uid", header.uid);
    written.version = object.text("resourceVersion", header.version);
    written.generation = header.generation.filter(|number| *number > 0);
    object.number("generation", written.generation);
    written.created = object.time("creationTimestamp", header.created);
    written.deleted = object.time("deletionTimestamp", header.deleted);
    object.number("deletionGracePeriodSeconds", header.grace_period);
    written.labels = object.pairs("labels", header.labels, |pair| written.pairs.push(pair));
    written.annotations = object.pairs("annotations", header.annotations, |_| ());
    written.owners = object.array("ownerReferences", header.owners, write_owner);
    object.array("finalizers", header.finalizers, |to, text| {
        write_string(to, text);
    });
    let managed_fields = Run::managed_fields(managed_fields);
    let start = object.to.len();
    let value = object.array("managedFields", managed_fields, write_entry);
    written.managed_fields = (!value.is_empty()).then_some(start..value.end);
    object.end();
}

fn write_owner(to: &mut Vec<u8>, reference: &[u8]) {
    let owner = Owner::read(reference).unwrap_or_default();
    let mut object = Members::new(to);
    for (name, text) in [
        ("apiVersion", owner.api_version),
        ("kind", owner.kind),
        ("name", owner.name),
        ("uid", owner.uid),
    ] {
        write_string(object.member(name), text.as_bytes());
    }
    object.flag("controller", owner.controller);
    object.flag("blockOwnerDeletion", owner.blocks_deletion);
    object.end();
}

/// Writes an entry of `managedFields`. What it cannot read is left out.
fn write_entry(to: &mut Vec<u8>, entry: &[u8]) {
    const TEXTS: [(u32, &str); 3] = [(1, "manager"), (2, "operation"), (3, "apiVersion")];
    let text = |wanted: u32| {
        let bytes = last_bytes(entry, wanted)?;
        let text = core::str::from_utf8(bytes).ok();
        text.filter(|text| !text.is_empty())
    };
    let mut object = Members::new(to);
    for (number, name) in TEXTS {
        object.text(name, text(number));
    }
    object.time("time", last_bytes(entry, 4).and_then(Header::seconds_of));
    object.text("fieldsType", text(6));
    // The fields are JSON already.
    let fields = last_bytes(entry, 7).and_then(|fields| last_bytes(fields, 1));
    let fields = fields.and_then(|fields| core::str::from_utf8(fields).ok());
    if let Some(fields) = fields.filter(|fields| is_object(fields)) {
        object
            .member("fieldsV1")
            .extend_from_slice(fields.as_bytes());
    }
    object.text("subresource", text(8));
    object.end();
}

fn is_object(json: &str) -> bool {
    use crate::decode::json::text::validate;
    json.starts_with('{') && validate(json.as_bytes(), 100).is_ok()
}

/// The last field with this number.
fn last_bytes(message: &[u8], number: u32) -> Option<&[u8]> {
    let mut message = Message::new(message);
    let mut last = None;
    while let Ok(Some(field)) = message.next() {
        if let Value::Bytes(bytes) = field.value
            && field.number == number
        {
            last = Some(bytes);
        }
    }
    last
}

/// Writes a string, and returns its place.
fn write_placed(to: &mut Vec<u8>, text: &[u8]) -> Place {
    let start = to.len() + 1;
    let escaped = write_string(to, text);
    let end = to.len() - 1;
    Place {
        start,
        end,
        escaped,
    }
}

fn write_number(to: &mut Vec<u8>, mut number: u64) {
    let start = to.len();
    loop {
        let [digit, ..] = (number % 10).to_le_bytes();
        to.push(b'0' + digit);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    to.get_mut(start..).unwrap_or_default().reverse();
}

/// The members of a JSON object that is being written.
struct Members<'a> {
    to: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Members<'a> {
    fn new(to: &'a mut Vec<u8>) -> Self {
        to.push(b'{');
        let start = to.len();
        Self { to, start }
    }

    /// Begins a member. Its value must follow.
    fn member(&mut self, name: &str) -> &mut Vec<u8> {
        if self.to.len() > self.start {
            self.to.push(b',');
        }
        self.to.push(b'"');
        self.to.extend_from_slice(name.as_bytes());
        self.to.extend_from_slice(b"\":");
        self.to
    }

    fn text(&mut self, name: &str, text: Option<&str>) -> Option<Place> {
        text.map(|text| write_placed(self.member(name), text.as_bytes()))
    }

    fn time(&mut self, name: &str, seconds: Option<i64>) -> Option<Place> {
        let text = seconds.and_then(TimeText::new)?;
        Some(write_placed(self.member(name), text.as_bytes()))
    }

    fn number(&mut self, name: &str, number: Option<u64>) {
        if let Some(number) = number {
            write_number(self.member(name), number);
        }
    }

    fn flag(&mut self, name: &str, flag: Option<bool>) {
        if let Some(flag) = flag {
            let text: &[u8] = if flag { b"true" } else { b"false" };
            self.member(name).extend_from_slice(text);
        }
    }

    /// Returns where the value stands; empty if there is none.
    fn pairs(
        &mut self,
        name: &str,
        pairs: Run<'_>,
        mut note: impl FnMut([Place; 2]),
    ) -> Range<usize> {
        if pairs.bytes.is_empty() {
            return 0..0;
        }
        let to = self.member(name);
        let start = to.len();
        let object = Members::new(to);
        for [key, value] in pairs.pairs_as_bytes() {
            if object.to.len() > object.start {
                object.to.push(b',');
            }
            let key = write_placed(object.to, key);
            object.to.push(b':');
            note([key, write_placed(object.to, value)]);
        }
        object.end();
        start..self.to.len()
    }

    /// Returns where the value stands; empty if there is none.
    fn array(
        &mut self,
        name: &str,
        values: Run<'_>,
        write: fn(&mut Vec<u8>, &[u8]),
    ) -> Range<usize> {
        if values.bytes.is_empty() {
            return 0..0;
        }
        let to = self.member(name);
        let start = to.len();
        to.push(b'[');
        for value in values.values() {
            if to.len() > start + 1 {
                to.push(b',');
            }
            write(to, value);
        }
        to.push(b']');
        start..to.len()
    }

    fn end(self) {
        self.to.push(b'}');
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::decode::json;
    use crate::decode::protobuf::wire::written;
    use alloc::format;
    use alloc::vec;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let length = written(bytes.len() as u64, &mut [0; 10]).to_vec();
        [&[number << 3 | 2][..], &length, bytes].concat()
    }

    /// What is noted while the text is written is what reading the text finds.
    fn check(fields: &[Vec<u8>], managed_fields: bool) {
        let metadata = fields.concat();
        let object = field(1, &metadata);
        let header = Header::read(&object).unwrap();
        let (mut json, mut written) = (Vec::new(), Written::default());
        // What an object before this one has left.
        written.pairs.push([write_placed(&mut vec![], b"x"); 2]);
        let kept = if managed_fields { &metadata[..] } else { &[] };
        write_json(&mut json, &mut written, &header, kept);
        let noted = written.header(&json);
        let read = json::header::Header::read(&json, 128).unwrap();
        assert_eq!(format!("{noted:?}"), format!("{read:?}"));
        assert!(written.labels(&json).eq(read.labels()));
        for (one, two) in [(noted.uid, read.uid), (noted.version, read.version)] {
            let plain = [one, two].map(|text| text.and_then(|text| text.as_plain()));
            assert_eq!(plain[0], plain[1]);
        }
        let plain = written.labels(&json).map(|(key, _)| key.as_plain());
        assert!(plain.eq(read.labels().map(|(key, _)| key.as_plain())));
    }

    #[test]
    fn written_text_need_not_be_read() {
        let label = |key: &[u8]| field(11, &[field(1, key), field(2, b"v")].concat());
        let annotation = field(
            12,
            &[field(1, b"note"), field(2, "café\n".as_bytes())].concat(),
        );
        let owner = field(13, &[field(1, b"ReplicaSet"), field(3, b"rs")].concat());
        let managed = [vec![0x8a, 1, 3], field(1, b"m")].concat();
        let fields = [
            field(1, b"a-name-of-more-than-sixteen-bytes"),
            field(3, b"web"),
            field(5, b"u<i>d"),
            field(6, b"7"),
            vec![7 << 3, 4],
            field(8, &[8, 1]),
            label(b"app"),
            label("ti\u{2028}er".as_bytes()),
            label(b"app"),
            annotation,
            owner,
            field(14, b"finalizer"),
            managed,
        ];
        for start in 0..fields.len() {
            for end in start..=fields.len() {
                check(&fields[start..end], end == fields.len());
            }
        }
    }
}
