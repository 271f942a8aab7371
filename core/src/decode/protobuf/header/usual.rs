//! Fields of `metadata` as servers write them: short, and in the order of their numbers.

use super::texts::{check_owner, is_ascii};
use super::time::short_time;
use super::{Header, HeaderError, number};
use crate::decode::protobuf::wire::Message;

impl<'a> Header<'a> {
    /// Takes the texts at the beginning and what follows up to the labels, as far as it is written as servers
    /// write it. What is left is read in the general way, all of it if a text is not UTF-8.
    pub(super) fn take_texts(&mut self, message: &mut Message<'a>) {
        let bytes = message.rest();
        let name = message.short_bytes(number::NAME);
        let generate_name = message.short_bytes(number::GENERATE_NAME);
        let namespace = message.short_bytes(number::NAMESPACE);
        let self_link = message.short_bytes(number::SELF_LINK);
        let uid = message.short_bytes(number::UID);
        let version = message.short_bytes(number::VERSION);
        // Tags and lengths are usually ASCII like the texts between them, so that one check is enough.
        let taken = bytes.get(..message.position()).unwrap_or_default();
        let Ok(taken) = core::str::from_utf8(taken) else {
            *message = Message::new(bytes);
            return;
        };
        let text = |bytes: Option<&[u8]>| {
            let text = bytes.filter(|bytes| !bytes.is_empty())?;
            let start = text.as_ptr().addr() - taken.as_ptr().addr();
            taken.get(start..start + text.len())
        };
        self.name = text(name);
        self.generate_name = text(generate_name);
        self.namespace = text(namespace);
        self.self_link = text(self_link);
        self.uid = text(uid);
        self.version = text(version);
        self.generation = message.short_number(number::GENERATION);
        self.created = take_time(message, number::CREATED);
        self.deleted = take_time(message, number::DELETED);
        self.grace_period = message.short_number(number::GRACE_PERIOD);
    }

    /// Takes labels, annotations, owner references, finalizers and `managedFields` that follow one another.
    #[inline(always)]
    pub(super) fn take_runs(
        &mut self,
        metadata: &'a [u8],
        message: &mut Message<'a>,
    ) -> Result<(), HeaderError> {
        let before = message.rest();
        let (mut last, mut is_sorted) = (None, true);
        message.short_entries(number::LABELS, |key| {
            is_sorted &= last.is_none_or(|last| is_less(last, key));
            last = Some(key);
        });
        if last.is_some() {
            self.has_sorted_labels = is_sorted && self.labels.bytes.is_empty();
            let taken = taken(before, message);
            self.labels.add(metadata, taken, number::LABELS);
        }
        let labels = message.rest();
        message.short_entries(number::ANNOTATIONS, |_| ());
        if message.rest().len() < labels.len() {
            let taken = taken(labels, message);
            self.annotations.add(metadata, taken, number::ANNOTATIONS);
        }
        let annotations = message.rest();
        while let Some(owner) = message.short_bytes(number::OWNERS) {
            check_owner(owner)?;
        }
        if message.rest().len() < annotations.len() {
            let taken = taken(annotations, message);
            self.owners.add(metadata, taken, number::OWNERS);
        }
        let owners = message.rest();
        while message.short_bytes(number::FINALIZERS).is_some() {}
        if message.rest().len() < owners.len() {
            let taken = taken(owners, message);
            self.finalizers.add(metadata, taken, number::FINALIZERS);
        }
        self.has_foreign_texts |= !is_ascii(taken(before, message));
        let start = message.position();
        while message.short_bytes(number::MANAGED_FIELDS).is_some() {}
        if message.position() > start {
            self.extend_managed_fields(start..message.position());
        }
        Ok(())
    }
}

/// What was read since this was left.
#[inline(always)]
pub(super) fn taken<'a>(before: &'a [u8], message: &Message<'a>) -> &'a [u8] {
    let length = before.len() - message.rest().len();
    before.get(..length).unwrap_or_default()
}

fn take_time(message: &mut Message<'_>, number: u32) -> Option<i64> {
    let mut next = message.clone();
    let seconds = short_time(next.short_bytes(number)?)?;
    *message = next;
    Some(seconds)
}

/// Whether it comes before the other. Mostly the first byte tells.
#[inline(always)]
fn is_less(one: &[u8], two: &[u8]) -> bool {
    one.first() < two.first() || one < two
}

#[cfg(all(test, feature = "alloc"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::decode::protobuf::wire::{Field, Value, length_of_varint, written};
    use alloc::vec;
    use alloc::vec::Vec;
    use core::fmt::Debug;

    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let mut tag = [0; 10];
        let mut length = [0; 10];
        let tag = written(u64::from(number) << 3 | 2, &mut tag);
        [tag, written(bytes.len() as u64, &mut length), bytes].concat()
    }

    fn entry(number: u8, key: &str, value: &str) -> Vec<u8> {
        let entry = [field(1, key.as_bytes()), field(2, value.as_bytes())];
        field(number, &entry.concat())
    }

    /// The fields of `metadata` as a server writes them, with this text in the annotations: once alone, and once
    /// many times.
    fn fields(text: &str) -> Vec<Vec<u8>> {
        let owner = [
            field(1, b"Set"),
            field(3, b"s"),
            field(4, b"u"),
            field(5, b"v1"),
            vec![6 << 3, 1, 7 << 3, 0],
        ];
        vec![
            field(1, b"shop-1"),
            field(2, b"shop-"),
            field(3, b"web"),
            field(4, b""),
            field(5, b"uid"),
            field(6, b"41"),
            vec![7 << 3, 2],
            field(8, b"\x08\xc5\xc3\xf4\xd7\x06\x10\x00"),
            field(9, b"\x08\xf2\xc3\xf4\xd7\x06\x10\x00"),
            vec![10 << 3, 30],
            entry(11, "app", "shop"),
            entry(11, "apps", ""),
            entry(11, "tier", "db"),
            entry(12, "note", text),
            entry(12, "a", &text.repeat(65)),
            entry(12, "b", "y"),
            field(13, &owner.concat()),
            field(14, b"hold"),
            field(17, b"\x0a\x01m"),
            field(17, b"\x0a\x01n"),
        ]
    }

    /// Reads an object field by field, with `read_field` only.
    fn read_plainly(object: &[u8]) -> Result<Header<'_>, HeaderError> {
        let mut header = Header::default();
        let (mut message, mut found) = (Message::new(object), false);
        loop {
            let (start, before) = (message.position(), message.rest());
            let metadata = match message.next()? {
                None if found => return Ok(header),
                None => return Err(HeaderError::NoMetadata),
                Some(Field { number: 1, value }) => value,
                Some(_) => continue,
            };
            let Value::Bytes(metadata) = metadata else {
                return Err(HeaderError::NotAMessage);
            };
            if core::mem::replace(&mut found, true) {
                return Err(HeaderError::MetadataTwice);
            }
            header.length_at = start + length_of_varint(before);
            header.metadata = message.position() - metadata.len()..message.position();
            let mut fields = Message::new(metadata);
            while !fields.rest().is_empty() {
                header.read_field(metadata, &mut fields)?;
            }
            header.check_texts()?;
        }
    }

    /// All that a header says.
    fn facts(header: Header<'_>) -> impl PartialEq + Debug {
        let Header {
            namespace,
            name,
            uid,
            version,
            created,
            deleted,
            generation,
            metadata,
            managed_fields,
            length_at,
            generate_name,
            self_link,
            grace_period,
            labels,
            has_sorted_labels,
            annotations,
            owners,
            finalizers,
            scattered,
            has_foreign_texts: _,
        } = header;
        let keys: Vec<_> = labels.pairs().map(|(key, _)| key).collect();
        assert!(!has_sorted_labels || keys.is_sorted_by(|one, two| one < two));
        let runs = [labels, annotations, owners, finalizers].map(|run| (run.bytes, run.number));
        let texts = [namespace, name, uid, version, generate_name, self_link];
        let numbers = (created, deleted, generation, grace_period);
        let places = (metadata, managed_fields, length_at, scattered);
        (runs, texts, numbers, places)
    }

    /// Checks that both ways read the same.
    fn check(object: &[u8]) {
        let (read, plainly) = (Header::read(object), read_plainly(object));
        assert_eq!(read.map(facts), plainly.map(facts), "{object:?}");
    }

    fn object(fields: &[Vec<u8>]) -> Vec<u8> {
        let parts = [&fields.concat()[..], b"spec", b"status"];
        let numbered = parts.iter().zip(1..);
        let parts: Vec<_> = numbered.map(|(part, number)| field(number, part)).collect();
        parts.concat()
    }

    #[test]
    fn usual_fields_need_no_general_way() {
        let fields = fields("é");
        let bytes = fields.concat();
        let (mut header, mut message) = (Header::default(), Message::new(&bytes));
        header.take_texts(&mut message);
        assert_eq!(message.position(), fields[..10].concat().len());
        header.take_runs(&bytes, &mut message).unwrap();
        assert_eq!(message.rest(), b"");
        assert!(header.has_sorted_labels);
        assert!(header.has_foreign_texts);
        check(&object(&fields));
    }

    #[test]
    fn fields_in_any_order_are_the_same_in_both_ways() {
        let fields = fields("é");
        for at in 0..fields.len() {
            let mut less = fields.clone();
            let taken = less.remove(at);
            check(&object(&less));
            for to in 0..=less.len() {
                let mut more = fields.clone();
                more.insert(to, taken.clone());
                check(&object(&more));
                let mut moved = less.clone();
                moved.insert(to, taken.clone());
                check(&object(&moved));
            }
        }
    }

    #[test]
    fn changed_bytes_are_the_same_in_both_ways() {
        // Behind an unknown field, all is read in the general way.
        for (text, unknown) in [("e", 0), ("é", 0), ("é", 2)] {
            let mut fields = fields(text);
            fields.insert(10, [0x7a, 0][..unknown].to_vec());
            let bytes = object(&fields);
            for at in 0..bytes.len() {
                check(&bytes[..at]);
                let mut changed = bytes.clone();
                for byte in 0..=u8::MAX {
                    changed[at] = byte;
                    check(&changed);
                }
                changed.remove(at);
                check(&changed);
                for byte in [0, 1, 0x0a, 0x5a, 0x7f, 0x80, 0x8a, 0xff] {
                    changed.insert(at, byte);
                    check(&changed);
                    changed.remove(at);
                }
            }
        }
    }

    #[test]
    fn texts_that_are_read_in_the_general_way_must_be_utf8() {
        // A label with a tag that is longer than necessary.
        let broken = b"\x0a\x0a\x7a\x00\xda\x00\x05\x0a\x01\xff\x12\x00";
        let error = Header::read(broken).err();
        assert!(
            matches!(error, Some(HeaderError::NotText { .. })),
            "{error:?}"
        );
    }

    #[test]
    fn labels_are_sorted_if_each_key_is_less_than_the_next() {
        for (keys, sorted) in [
            (&["a"][..], true),
            (&["a", "b"], true),
            (&["b", "a"], false),
            (&["a", "a"], false),
            (&["a", "aa", "ab", "b"], true),
            (&["ab", "aa"], false),
            (&["aa", "a"], false),
            (&["", "a"], true),
            (&["a", ""], false),
            (&["a", "c", "b", "d"], false),
        ] {
            let labels = |keys: &[&str]| {
                let labels = keys.iter().map(|key| entry(11, key, "v"));
                object(&[labels.collect::<Vec<_>>().concat()])
            };
            let has_sorted = |object: &[u8]| Header::read(object).unwrap().has_sorted_labels;
            assert_eq!(has_sorted(&labels(keys)), sorted, "{keys:?}");
            // With lengths of two bytes.
            let long: Vec<_> = keys.iter().map(|key| (*key).repeat(130)).collect();
            let long: Vec<_> = long.iter().map(|key| &key[..]).collect();
            assert_eq!(has_sorted(&labels(&long)), sorted, "{keys:?}");
        }
    }
}
