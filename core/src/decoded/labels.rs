//! The labels of an object.

use core::fmt;

use super::record::Texts;
use super::{Extent, utf8};
use crate::compress::take_varint;

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
    table: &'a [u8],
}

impl<'a> Labels<'a> {
    pub(super) fn new(texts: Texts<'a>, table: Extent) -> Self {
        Self {
            texts,
            table: texts.bytes(table),
        }
    }

    /// The value of the label `key`, if it is set.
    #[must_use]
    pub fn get(self, key: &str) -> Option<&'a str> {
        // Only the value is looked at as text.
        let mut labels = self.iter();
        while let (Some(name), Some(value)) = (labels.bytes(), labels.bytes()) {
            if name == key.as_bytes() {
                return Some(utf8(value));
            }
        }
        None
    }

    /// The number of labels.
    #[must_use]
    pub fn len(self) -> usize {
        self.iter().count()
    }

    /// Whether there are no labels.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.table.is_empty()
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
    /// The next key or value.
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let table = &mut self.labels.table;
        let extent = Extent::from_table([take_varint(table)?, take_varint(table)?]);
        Some(self.labels.texts.bytes(extent))
    }
}

impl<'a> Iterator for LabelIter<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<(&'a str, &'a str)> {
        Some((utf8(self.bytes()?), utf8(self.bytes()?)))
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
