//! The header of an object whose text was written here and need not be read again.

use alloc::vec::Vec;
use core::ops::Range;

use super::{Header, PlainLabels};
use crate::decode::json::text::JsonStr;

/// Where the parts of a written object stand in its text.
#[derive(Clone, Debug, Default)]
pub(in crate::decode) struct Written {
    pub(in crate::decode) name: Option<Place>,
    pub(in crate::decode) namespace: Option<Place>,
    pub(in crate::decode) uid: Option<Place>,
    pub(in crate::decode) version: Option<Place>,
    pub(in crate::decode) created: Option<Place>,
    pub(in crate::decode) deleted: Option<Place>,
    pub(in crate::decode) generation: Option<u64>,
    pub(in crate::decode) metadata: Range<usize>,
    /// The member and the comma before it.
    pub(in crate::decode) managed_fields: Option<Range<usize>>,
    pub(in crate::decode) labels: Range<usize>,
    pub(in crate::decode) annotations: Range<usize>,
    pub(in crate::decode) owners: Range<usize>,
    /// The key and the value of each label.
    pub(in crate::decode) pairs: Vec<[Place; 2]>,
}

/// The place of a string, without its quotes.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode) struct Place {
    pub(in crate::decode) start: usize,
    pub(in crate::decode) end: usize,
    pub(in crate::decode) escaped: bool,
}

impl Place {
    fn text(self, json: &[u8]) -> JsonStr<'_> {
        JsonStr::from_raw(part(json, &(self.start..self.end)), self.escaped)
    }
}

impl Written {
    /// Starts another object.
    pub(in crate::decode) fn clear(&mut self) {
        /// The most labels whose memory is kept.
        const KEPT: usize = 1024;
        let mut pairs = core::mem::take(&mut self.pairs);
        pairs.clear();
        pairs.shrink_to(KEPT);
        *self = Self {
            pairs,
            ..Self::default()
        };
    }

    /// What [`Header::read`] would find in the text.
    pub(in crate::decode) fn header<'a>(&self, json: &'a [u8]) -> Header<'a> {
        let labels = part(json, &self.labels);
        let mut plain = PlainLabels::new();
        for (key, value) in self.labels(json) {
            plain.add(key, value);
        }
        let text = |place: Option<Place>| place.map(|place| place.text(json));
        Header {
            api_version: None,
            kind: None,
            namespace: text(self.namespace),
            name: text(self.name),
            uid: text(self.uid),
            version: text(self.version),
            created: text(self.created),
            deleted: text(self.deleted),
            generation: self.generation,
            metadata: self.metadata.clone(),
            managed_fields: self.managed_fields.clone(),
            labels,
            has_plain_labels: plain.are_all_of(labels),
            annotations: part(json, &self.annotations),
            owners: part(json, &self.owners),
        }
    }

    /// The labels, as [`Header::labels`] would read them.
    pub(in crate::decode) fn labels<'a>(
        &self,
        json: &'a [u8],
    ) -> impl Iterator<Item = (JsonStr<'a>, JsonStr<'a>)> {
        let pairs = self.pairs.iter();
        pairs.map(|[key, value]| (key.text(json), value.text(json)))
    }
}

fn part<'a>(json: &'a [u8], range: &Range<usize>) -> &'a [u8] {
    json.get(range.clone()).unwrap_or_default()
}
