//! Everything that is kept of an object except its key, in one allocation.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::Object;
use super::aside::Aside;
use super::head::Head;
use super::meta::{Extent, KeptLength, Meta};
use crate::compress::{Dictionary, put_varint};
use crate::invariant::cannot_happen;
use crate::key::ObjectKey;

/// An object: what has a fixed size, and then its texts.
pub(super) type Record<K> = triomphe::HeaderSlice<Header<K>, [u8]>;

/// The part of a record that has a fixed size.
pub(super) struct Header<K> {
    pub(super) key: ObjectKey,
    pub(super) head: Head<K>,
    pub(super) body: K,
}

/// What extents point into.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    own: &'a [u8],
    dictionary: &'a [u8],
}

impl<'a> Texts<'a> {
    pub(crate) fn bytes(self, extent: Extent) -> &'a [u8] {
        let (texts, start) = if extent.start & Extent::IN_DICTIONARY == 0 {
            (self.own, extent.start)
        } else {
            (self.dictionary, extent.start & !Extent::IN_DICTIONARY)
        };
        let start = start as usize;
        let bytes = texts.get(start..start + extent.length());
        bytes.unwrap_or_else(|| cannot_happen("an extent beyond its record", &[]))
    }
}

/// What [`Texts`] belong to.
pub(super) trait HasTexts {
    fn texts(&self) -> Texts<'_>;
    fn text(&self) -> Extent;
    fn meta(&self) -> Meta;
    fn before_text(&self) -> &[u8];
    fn has_same_text(&self, other: &Self) -> bool;
}

impl<K> HasTexts for Record<K> {
    fn texts(&self) -> Texts<'_> {
        let dictionary = self.header.head.dictionary().map(|it| &**it);
        Texts {
            own: &self.slice,
            dictionary: dictionary.map(Dictionary::texts).unwrap_or_default(),
        }
    }

    /// The place of the kept text, packed or not.
    fn text(&self) -> Extent {
        self.header.head.text(self.slice.len())
    }

    fn meta(&self) -> Meta {
        self.header.head.meta(self.slice.len())
    }

    /// What stands before the kept text.
    fn before_text(&self) -> &[u8] {
        let before = self.slice.get(..self.text().start());
        before.unwrap_or_else(|| cannot_happen("a text beyond its record", &[]))
    }

    /// Whether the kept texts are the same, as far as it shows without unpacking them. The same text is
    /// always packed into the same bytes, after the same head and with the same dictionary.
    fn has_same_text(&self, other: &Self) -> bool {
        let (one, two) = (&self.header.head, &other.header.head);
        if one.kept().encoding() != two.kept().encoding() {
            return false;
        }
        let same_dictionary = match (one.dictionary(), two.dictionary()) {
            (Some(one), Some(two)) => {
                Arc::ptr_eq(one, two) && self.before_text() == other.before_text()
            }
            (one, two) => one.is_none() && two.is_none(),
        };
        same_dictionary && self.texts().bytes(self.text()) == other.texts().bytes(other.text())
    }
}

/// A record that is being written. It keeps its memory for the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft {
    bytes: Vec<u8>,
    labels: Vec<(Extent, Extent)>,
    dictionary: Option<Arc<Dictionary>>,
    /// Where the text of a key is put together.
    pub(crate) key: String,
    pub(crate) meta: Meta,
}

impl Draft {
    /// How many labels are searched for a text that was written before.
    const SEARCHED: usize = 16;

    /// The most memory that is kept for the next record.
    const KEPT: usize = 64 * 1024;

    pub(crate) const fn new() -> Self {
        Self {
            bytes: Vec::new(),
            labels: Vec::new(),
            dictionary: None,
            key: String::new(),
            meta: Meta::EMPTY,
        }
    }

    /// A draft of the same record.
    pub(super) fn of<K>(record: &Record<K>) -> Self {
        Self {
            bytes: record.slice.to_vec(),
            labels: Vec::new(),
            dictionary: record.header.head.dictionary().cloned(),
            key: String::new(),
            meta: record.meta(),
        }
    }

    /// Starts a packed record with what `object` says about itself. A label that `find` finds in the
    /// dictionary is not written again. The packed text must follow.
    pub(crate) fn begin_packed<K>(
        &mut self,
        object: &Object<K>,
        dictionary: &Arc<Dictionary>,
        find: impl Fn(&[u8]) -> Option<usize>,
    ) {
        self.clear();
        self.dictionary = Some(Arc::clone(dictionary));
        self.copy_meta(object, |text| {
            let start = find(text)?;
            Some(Extent::new(start, text.len()).in_dictionary())
        });
    }

    /// Starts a record with another text for `object`, in JSON.
    pub(super) fn begin_changed<K>(&mut self, object: &Object<K>, text: &str) {
        self.clear();
        self.meta.text = self.push(text);
        self.copy_meta(object, |_| None);
        self.meta.kept = KeptLength::json(text.len());
    }

    /// Copies all except the kept text. Texts stay texts, so nothing checks them as UTF-8 again.
    fn copy_meta<K>(&mut self, object: &Object<K>, find: impl Fn(&[u8]) -> Option<Extent>) {
        let meta = object.record.meta();
        let mut copy = |extent| self.push_bytes(&[object.bytes(extent)]);
        self.meta = Meta {
            uid: copy(meta.uid),
            version: copy(meta.version),
            created: copy(meta.created),
            deleted: copy(meta.deleted),
            labels: Extent::EMPTY,
            text: self.meta.text,
            ..meta
        };
        for pair in object.labels().pairs() {
            let [key, value] = pair.map(|text| {
                let found = find(text).or_else(|| self.find(text));
                found.unwrap_or_else(|| self.push_bytes(&[text]))
            });
            self.add_label(key, value);
        }
        self.put_labels();
    }

    /// A text that a label before has as well: applications are often named twice. Only the first labels are
    /// looked at, so that many labels take no more than their share of time.
    fn find(&self, text: &[u8]) -> Option<Extent> {
        let texts = self.texts();
        let labels = self.labels.iter().take(Self::SEARCHED);
        let mut written = labels.flat_map(|(key, value)| [*key, *value]);
        written.find(|extent| extent.length() == text.len() && texts.bytes(*extent) == text)
    }

    /// Starts another record.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(Self::KEPT);
        self.labels.clear();
        self.dictionary = None;
        self.meta = Meta::EMPTY;
    }

    /// Appends a text.
    pub(crate) fn push(&mut self, text: &str) -> Extent {
        self.push_bytes(&[text.as_bytes()])
    }

    /// Appends these bytes, as one text.
    pub(crate) fn push_bytes(&mut self, parts: &[&[u8]]) -> Extent {
        let start = self.bytes.len();
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        Extent::new(start, self.bytes.len() - start)
    }

    /// Appends a number as messages of protobuf have it.
    pub(crate) fn push_number(&mut self, number: u32) {
        put_varint(&mut self.bytes, number);
    }

    /// Keeps these annotations and owner references, in JSON, as the text beside a body that may not have
    /// them.
    pub(crate) fn push_metadata(&mut self, annotations: &[u8], owners: &[u8]) {
        self.meta.text = self.push_bytes(&[annotations, owners]);
        self.meta.kept = KeptLength::json(self.meta.text.length());
        self.meta.annotations = Extent::new(0, annotations.len());
        self.meta.owners = Extent::new(annotations.len(), owners.len());
    }

    /// Adds a label. [`put_labels`](Self::put_labels) must follow.
    pub(crate) fn add_label(&mut self, key: Extent, value: Extent) {
        self.labels.push((key, value));
    }

    /// Writes the table of labels: start and length of each key and each value as varints, sorted by key.
    /// If a key is repeated, the last value counts.
    pub(crate) fn put_labels(&mut self) {
        let mut labels = core::mem::take(&mut self.labels);
        let texts = self.texts();
        let key = |label: &(Extent, Extent)| texts.bytes(label.0);
        if !labels.is_sorted_by(|one, two| key(one) < key(two)) {
            labels.sort_by(|one, two| key(one).cmp(key(two)));
            labels.reverse();
            labels.dedup_by(|one, two| key(one) == key(two));
            labels.reverse();
        }
        let start = self.bytes.len();
        for (key, value) in labels.drain(..) {
            for number in [key, value].map(Extent::in_table).as_flattened() {
                put_varint(&mut self.bytes, *number);
            }
        }
        self.meta.labels = Extent::new(start, self.bytes.len() - start);
        self.labels = labels;
    }

    /// Replaces the labels.
    pub(super) fn set_labels<A: AsRef<str>, B: AsRef<str>>(
        &mut self,
        labels: impl IntoIterator<Item = (A, B)>,
    ) {
        for (key, value) in labels {
            let key = self.push(key.as_ref());
            let value = self.push(value.as_ref());
            self.add_label(key, value);
        }
        self.put_labels();
    }

    /// Makes the object.
    pub(crate) fn finish<K>(&mut self, key: ObjectKey, body: K) -> Object<K> {
        self.finish_with(key, body, None)
    }

    /// Makes the object, with what stands beside its record.
    pub(crate) fn finish_with<K>(
        &mut self,
        key: ObjectKey,
        body: K,
        aside: Option<Arc<Aside<K>>>,
    ) -> Object<K> {
        let header = Header {
            key,
            head: Head::new(&self.meta, self.bytes.len(), self.dictionary.take(), aside),
            body,
        };
        Object {
            record: triomphe::Arc::from_header_and_slice(header, &self.bytes),
        }
    }

    /// What was written.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn texts(&self) -> Texts<'_> {
        let dictionary = self.dictionary.as_deref();
        Texts {
            own: &self.bytes,
            dictionary: dictionary.map(Dictionary::texts).unwrap_or_default(),
        }
    }
}
