//! Owner references and annotations in protobuf; `metadata` as JSON.

use alloc::vec::Vec;

use super::header::{Header, Owner, Run};
use super::time::TimeText;
use super::wire::{Message, Value};
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

/// Writes `{"metadata":{…}}` as a server writes it in JSON.
pub(super) fn write_json(to: &mut Vec<u8>, header: &Header<'_>, managed_fields: &[u8]) {
    to.extend_from_slice(br#"{"metadata":"#);
    write_metadata(to, header, managed_fields);
    to.push(b'}');
}

/// Writes the members in the order of the server, which leaves out what is empty.
fn write_metadata(to: &mut Vec<u8>, header: &Header<'_>, managed_fields: &[u8]) {
    let mut object = Members::new(to);
    object.text("name", header.name);
    object.text("generateName", header.generate_name);
    object.text("namespace", header.namespace);
    object.text("selfLink", header.self_link);
    object.text("uid", header.uid);
    object.text("resourceVersion", header.version);
    object.number("generation", header.generation.filter(|number| *number > 0));
    object.time("creationTimestamp", header.created);
    object.time("deletionTimestamp", header.deleted);
    object.number("deletionGracePeriodSeconds", header.grace_period);
    object.pairs("labels", header.labels);
    object.pairs("annotations", header.annotations);
    object.array("ownerReferences", header.owners, write_owner);
    object.array("finalizers", header.finalizers, write_string);
    object.array(
        "managedFields",
        Run::managed_fields(managed_fields),
        write_entry,
    );
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

    fn text(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            write_string(self.member(name), text.as_bytes());
        }
    }

    fn time(&mut self, name: &str, seconds: Option<i64>) {
        let text = seconds.and_then(TimeText::new);
        self.text(name, text.as_ref().map(TimeText::as_str));
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

    fn pairs(&mut self, name: &str, pairs: Run<'_>) {
        if pairs.bytes.is_empty() {
            return;
        }
        let object = Members::new(self.member(name));
        for [key, value] in pairs.pairs_as_bytes() {
            if object.to.len() > object.start {
                object.to.push(b',');
            }
            write_string(object.to, key);
            object.to.push(b':');
            write_string(object.to, value);
        }
        object.end();
    }

    fn array(&mut self, name: &str, values: Run<'_>, write: fn(&mut Vec<u8>, &[u8])) {
        if values.bytes.is_empty() {
            return;
        }
        let to = self.member(name);
        to.push(b'[');
        let start = to.len();
        for value in values.values() {
            if to.len() > start {
                to.push(b',');
            }
            write(to, value);
        }
        to.push(b']');
    }

    fn end(self) {
        self.to.push(b'}');
    }
}
