//! The labels of an object.

use core::fmt;

use super::record::Texts;
use super::{Extent, utf8};
use crate::compress::take_varint;
use crate::encoding::Encoding;

/// The labels of an object, sorted by key.
///
/// ```
/// use informer_core::{Object, ObjectKey};
///
/// let labels = [("tier", "db"), ("app", "web"), ("tier", "web")];
/// let pod = Object::builder(ObjectKey::new("web", "a")).labels(labels).body(());
/// assert_eq!(pod.labels().get("app"), Some("web"));
/// // If a key is repeated, the last value counts, as in a JSON object.
/// assert_eq!(pod.labels().get("tier"), Some("web"));
/// assert_eq!(pod.labels().get("zone"), None);
/// assert_eq!(pod.labels().len(), 2);
/// ```
#[derive(Clone, Copy)]
pub struct Labels<'a> {
    texts: Texts<'a>,
    /// They are sorted, and no key is repeated.
    bytes: &'a [u8],
    notation: Notation,
}

/// What the bytes of labels are.
#[derive(Clone, Copy)]
pub(super) enum Notation {
    /// A table, as a [`Draft`](super::Draft) writes it.
    Table,
    /// An object of JSON that is not empty, without white space and without escapes.
    Json,
    /// Fields of a message.
    Protobuf,
}

impl Notation {
    /// What the bytes at `labels` are, in a record with this text.
    pub(super) const fn of(labels: Extent, text: Extent, encoding: Encoding) -> Self {
        if labels.start() < text.start() || text.range().end <= labels.start() {
            return Self::Table;
        }
        match encoding {
            Encoding::Json => Self::Json,
            Encoding::Protobuf => Self::Protobuf,
        }
    }
}

impl<'a> Labels<'a> {
    pub(super) fn new(texts: Texts<'a>, place: Extent, notation: Notation) -> Self {
        Self {
            texts,
            bytes: texts.bytes(place),
            notation,
        }
    }

    /// The value of the label `key`, if it is set.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'a str> {
        // Only the value is looked at as text.
        let mut labels = self.pairs();
        let found = labels.find(|[name, _]| *name == key.as_bytes());
        found.map(|[_, value]| utf8(value))
    }

    /// The number of labels.
    #[must_use]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there are no labels.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The keys and values as bytes. They are not checked as UTF-8 again.
    pub(super) fn pairs(self) -> impl Iterator<Item = [&'a [u8]; 2]> {
        let mut labels = self.iter();
        core::iter::from_fn(move || labels.next_pair())
    }

    /// The keys and values, sorted by key.
    #[must_use]
    pub const fn iter(self) -> LabelIter<'a> {
        LabelIter { labels: self }
    }
}

/// The keys and values of [`Labels`].
#[derive(Clone)]
pub struct LabelIter<'a> {
    /// Those that are left.
    labels: Labels<'a>,
}

impl<'a> LabelIter<'a> {
    fn next_pair(&mut self) -> Option<[&'a [u8]; 2]> {
        let bytes = &mut self.labels.bytes;
        match self.labels.notation {
            Notation::Table => Some([self.next_text()?, self.next_text()?]),
            // The brace or comma, or the colon, before each string. The last brace has no string behind it.
            Notation::Json => Some([take_string(bytes)?, take_string(bytes)?]),
            Notation::Protobuf => {
                // Each label is a message, behind a tag and a length, of two fields.
                take_varint(bytes)?;
                take_varint(bytes)?;
                Some([take_field(bytes)?, take_field(bytes)?])
            }
        }
    }

    /// The next key or value of a table.
    fn next_text(&mut self) -> Option<&'a [u8]> {
        let table = &mut self.labels.bytes;
        let extent = Extent::from_table([take_varint(table)?, take_varint(table)?]);
        Some(self.labels.texts.bytes(extent))
    }
}

/// Takes a string of JSON without escapes, and the byte before it.
fn take_string<'a>(json: &mut &'a [u8]) -> Option<&'a [u8]> {
    json.split_off(..2)?;
    let end = memchr::memchr(b'"', json)?;
    let text = json.split_off(..end)?;
    json.split_off_first()?;
    Some(text)
}

/// Takes a field of protobuf that is a text: a tag, a length and the text.
fn take_field<'a>(message: &mut &'a [u8]) -> Option<&'a [u8]> {
    take_varint(message)?;
    let length = take_varint(message)?;
    message.split_off(..length as usize)
}

impl<'a> Iterator for LabelIter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        let [key, value] = self.next_pair()?;
        Some((utf8(key), utf8(value)))
    }
}

impl<'a> IntoIterator for Labels<'a> {
    type Item = (&'a str, &'a str);
    type IntoIter = LabelIter<'a>;

    fn into_iter(self) -> LabelIter<'a> {
        self.iter()
    }
}

impl PartialEq for Labels<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Labels<'_> {}

impl fmt::Debug for Labels<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(*self).finish()
    }
}

impl fmt::Debug for LabelIter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.labels.fmt(f)
    }
}
