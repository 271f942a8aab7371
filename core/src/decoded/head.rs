//! What a record keeps besides key, body and texts.

use alloc::boxed::Box;
use alloc::sync::Arc;

use super::aside::Aside;
use super::labels::Notation;
use super::meta::{Extent, KeptLength, Meta};
use crate::compress::Dictionary;

/// The [`Meta`] of a record, and what stands beside the record.
///
/// Nearly every object is short and has at most one thing beside its record. Then all of this takes 40 bytes,
/// and the numbers need no decoding. Any other object has an allocation more.
pub(super) enum Head<K> {
    Plain(Narrow),
    /// The kept text is packed, and stands at the end of the record.
    Packed(Narrow, Arc<Dictionary>),
    Beside(Narrow, Arc<Aside<K>>),
    Wide(Box<Wide<K>>),
}

/// Whatever the numbers are and whatever stands beside the record.
pub(super) struct Wide<K> {
    meta: Meta,
    dictionary: Option<Arc<Dictionary>>,
    aside: Option<Arc<Aside<K>>>,
}

/// A [`Meta`] of small numbers. The end of the text is not in it: an unpacked text is as long as [`KeptLength`]
/// says, and a packed one ends with the record.
#[derive(Clone, Copy)]
pub(super) struct Narrow {
    uid: u16,
    version: u16,
    uid_length: u8,
    version_length: u8,
    created: Time,
    deleted: Time,
    labels: Place,
    text: u16,
    kept: u16,
    annotations: Place,
    owners: Place,
    generation: u16,
    size: u16,
}

/// An [`Extent`] of small numbers.
#[derive(Clone, Copy)]
struct Place {
    start: u16,
    length: u16,
}

/// Where a time starts. Every time that a server writes is as long.
#[derive(Clone, Copy)]
struct Time(u16);

impl Place {
    /// Both numbers must take two bytes.
    const fn cut(extent: Extent) -> Self {
        Self {
            start: extent.start as u16,
            length: extent.length as u16,
        }
    }

    fn extent(self) -> Extent {
        extent(self.start, self.length)
    }
}

impl Time {
    const NONE: Self = Self(u16::MAX);

    const LENGTH: u16 = "2026-11-18T10:00:00Z".len() as u16;

    /// The start must take two bytes.
    fn cut(extent: Extent) -> Option<Self> {
        if extent.length == 0 {
            return Some(Self::NONE);
        }
        let time = Self(extent.start as u16);
        (extent.length == u32::from(Self::LENGTH) && time.0 != Self::NONE.0).then_some(time)
    }

    fn extent(self) -> Extent {
        if self.0 == Self::NONE.0 {
            return Extent::default();
        }
        extent(self.0, Self::LENGTH)
    }
}

impl Narrow {
    /// `None` if a number is too large. `end` is where the text must end, unless it is as long as
    /// [`KeptLength`] says.
    #[inline]
    fn new(meta: &Meta, end: Option<usize>) -> Option<Self> {
        let text = meta.text.range();
        let same_end = text.end == end.unwrap_or_else(|| text.start + meta.kept.length());
        if !same_end || !has_short_numbers(meta) {
            return None;
        }
        Some(Self {
            uid: meta.uid.start as u16,
            version: meta.version.start as u16,
            uid_length: u8::try_from(meta.uid.length).ok()?,
            version_length: u8::try_from(meta.version.length).ok()?,
            created: Time::cut(meta.created)?,
            deleted: Time::cut(meta.deleted)?,
            labels: Place::cut(meta.labels),
            text: meta.text.start as u16,
            kept: meta.kept.short()?,
            annotations: Place::cut(meta.annotations),
            owners: Place::cut(meta.owners),
            generation: meta.generation as u16,
            size: meta.size as u16,
        })
    }

    fn uid(&self) -> Extent {
        extent(self.uid, u16::from(self.uid_length))
    }

    fn version(&self) -> Extent {
        extent(self.version, u16::from(self.version_length))
    }

    /// The labels of a packed object stand before its text.
    fn labels(&self) -> (Extent, Notation) {
        let labels = self.labels.extent();
        let text = Extent {
            start: self.text.into(),
            length: self.kept().length() as u32,
        };
        (labels, Notation::of(labels, text, self.kept().encoding()))
    }

    fn kept(&self) -> KeptLength {
        KeptLength::from_short(self.kept)
    }

    fn text(&self, end: Option<usize>) -> Extent {
        let start = usize::from(self.text);
        let length = end.map_or_else(|| self.kept().length(), |end| end.saturating_sub(start));
        Extent::new(start, length)
    }

    fn meta(&self, end: Option<usize>) -> Meta {
        Meta {
            uid: self.uid(),
            version: self.version(),
            created: self.created.extent(),
            deleted: self.deleted.extent(),
            labels: self.labels.extent(),
            text: self.text(end),
            kept: self.kept(),
            annotations: self.annotations.extent(),
            owners: self.owners.extent(),
            generation: self.generation.into(),
            size: self.size.into(),
        }
    }
}

impl<K> Head<K> {
    /// `length` is that of all texts of the record.
    pub(super) fn new(
        meta: &Meta,
        length: usize,
        dictionary: Option<Arc<Dictionary>>,
        aside: Option<Arc<Aside<K>>>,
    ) -> Self {
        let end = dictionary.is_some().then_some(length);
        match (Narrow::new(meta, end), dictionary, aside) {
            (Some(narrow), None, None) => Self::Plain(narrow),
            (Some(narrow), None, Some(aside)) => Self::Beside(narrow, aside),
            (Some(narrow), Some(dictionary), None) => Self::Packed(narrow, dictionary),
            (_, dictionary, aside) => Self::wide(meta, dictionary, aside),
        }
    }

    #[cold]
    fn wide(
        meta: &Meta,
        dictionary: Option<Arc<Dictionary>>,
        aside: Option<Arc<Aside<K>>>,
    ) -> Self {
        Self::Wide(Box::new(Wide {
            meta: *meta,
            dictionary,
            aside,
        }))
    }

    const fn narrow(&self) -> Result<&Narrow, &Wide<K>> {
        match self {
            Self::Plain(narrow) | Self::Packed(narrow, _) | Self::Beside(narrow, _) => Ok(narrow),
            Self::Wide(wide) => Err(wide),
        }
    }

    fn get<T>(&self, narrow: impl FnOnce(&Narrow) -> T, wide: impl FnOnce(&Meta) -> T) -> T {
        match self.narrow() {
            Ok(it) => narrow(it),
            Err(it) => wide(&it.meta),
        }
    }

    pub(super) fn uid(&self) -> Extent {
        self.get(Narrow::uid, |wide| wide.uid)
    }

    pub(super) fn version(&self) -> Extent {
        self.get(Narrow::version, |wide| wide.version)
    }

    pub(super) fn created(&self) -> Extent {
        self.get(|narrow| narrow.created.extent(), |wide| wide.created)
    }

    pub(super) fn deleted(&self) -> Extent {
        self.get(|narrow| narrow.deleted.extent(), |wide| wide.deleted)
    }

    /// The place of the labels, and what stands there.
    pub(super) fn labels(&self) -> (Extent, Notation) {
        self.get(Narrow::labels, |wide| {
            let notation = Notation::of(wide.labels, wide.text, wide.kept.encoding());
            (wide.labels, notation)
        })
    }

    pub(super) fn annotations(&self) -> Extent {
        self.get(
            |narrow| narrow.annotations.extent(),
            |wide| wide.annotations,
        )
    }

    pub(super) fn owners(&self) -> Extent {
        self.get(|narrow| narrow.owners.extent(), |wide| wide.owners)
    }

    pub(super) fn kept(&self) -> KeptLength {
        self.get(Narrow::kept, |wide| wide.kept)
    }

    pub(super) fn generation(&self) -> u64 {
        self.get(|narrow| narrow.generation.into(), |wide| wide.generation)
    }

    pub(super) fn size(&self) -> u32 {
        self.get(|narrow| narrow.size.into(), |wide| wide.size)
    }

    /// The place of the kept text. `length` is that of all texts of the record.
    pub(super) fn text(&self, length: usize) -> Extent {
        self.get(|narrow| narrow.text(self.end(length)), |wide| wide.text)
    }

    pub(super) fn meta(&self, length: usize) -> Meta {
        self.get(|narrow| narrow.meta(self.end(length)), |wide| *wide)
    }

    /// Where the text ends, if it is packed.
    fn end(&self, length: usize) -> Option<usize> {
        self.dictionary().map(|_| length)
    }

    /// The kept text is packed with it.
    pub(super) fn dictionary(&self) -> Option<&Arc<Dictionary>> {
        match self {
            Self::Packed(_, dictionary) => Some(dictionary),
            Self::Wide(wide) => wide.dictionary.as_ref(),
            Self::Plain(_) | Self::Beside(..) => None,
        }
    }

    pub(super) fn aside(&self) -> Option<&Arc<Aside<K>>> {
        match self {
            Self::Beside(_, aside) => Some(aside),
            Self::Wide(wide) => wide.aside.as_ref(),
            Self::Plain(_) | Self::Packed(..) => None,
        }
    }

    /// Replaces what stands beside the record, whose texts together have this length.
    pub(super) fn set_aside(&mut self, aside: Arc<Aside<K>>, length: usize) {
        let (meta, dictionary) = (self.meta(length), self.dictionary().cloned());
        *self = Self::new(&meta, length, dictionary, Some(aside));
    }
}

/// Whether all numbers take two bytes. The length of the text is not asked for: its end is known.
#[inline]
fn has_short_numbers(meta: &Meta) -> bool {
    let places = [
        meta.uid,
        meta.version,
        meta.created,
        meta.deleted,
        meta.labels,
        meta.annotations,
        meta.owners,
    ];
    let numbers = places
        .iter()
        .fold(meta.text.start | meta.size, |all, place| {
            all | place.start | place.length
        });
    (u64::from(numbers) | meta.generation) <= u16::MAX.into()
}

fn extent(start: u16, length: u16) -> Extent {
    Extent {
        start: start.into(),
        length: length.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The length of all texts of a record.
    const LENGTH: usize = 40_000;

    fn ordinary(is_packed: bool) -> Meta {
        // An unpacked text need not end with the record.
        let text = if is_packed { LENGTH - 2_000 } else { 1_000 };
        Meta {
            uid: Extent::new(100, 36),
            version: Extent::new(200, 7),
            created: Extent::new(300, 20),
            deleted: Extent::new(400, 20),
            labels: Extent::new(500, 80),
            text: Extent::new(text, 2_000),
            kept: KeptLength::protobuf(if is_packed { 9_000 } else { 2_000 }),
            annotations: Extent::new(600, 90),
            owners: Extent::new(700, 95),
            generation: 5,
            size: 12_345,
        }
    }

    /// Checks that everything comes back.
    fn head_of(meta: &Meta, is_packed: bool, has_aside: bool) -> Head<()> {
        let dictionary = is_packed.then(|| Arc::new(Dictionary::new(b"text")));
        let aside = has_aside.then(|| {
            Arc::new(Aside {
                labels: None,
                annotations: None,
            })
        });
        let head = Head::new(meta, LENGTH, dictionary, aside);
        assert_eq!(head.meta(LENGTH), *meta);
        let places = [head.uid(), head.version(), head.created(), head.deleted()];
        assert_eq!(places, [meta.uid, meta.version, meta.created, meta.deleted]);
        let places = [head.labels().0, head.annotations(), head.owners()];
        assert_eq!(places, [meta.labels, meta.annotations, meta.owners]);
        assert_eq!((head.text(LENGTH), head.kept()), (meta.text, meta.kept));
        assert_eq!(
            (head.generation(), head.size()),
            (meta.generation, meta.size)
        );
        assert_eq!(head.dictionary().is_some(), is_packed);
        assert_eq!(head.aside().is_some(), has_aside);
        head
    }

    #[test]
    fn nearly_every_head_is_narrow() {
        assert_eq!(size_of::<Head<()>>(), 32 + size_of::<usize>());
        for is_packed in [false, true] {
            for has_aside in [false, true] {
                let head = head_of(&ordinary(is_packed), is_packed, has_aside);
                assert_eq!(matches!(head, Head::Wide(_)), is_packed && has_aside);
            }
        }
        assert!(matches!(
            head_of(&Meta::EMPTY, false, false),
            Head::Plain(_)
        ));
    }

    /// One number of a meta.
    type Number = fn(&mut Meta) -> &mut u32;

    /// Calls `check` with the meta in which one number is this one.
    fn each_with(number: u32, is_packed: bool, mut check: impl FnMut(&str, &Meta)) {
        let numbers: [(&str, Number); 13] = [
            ("start of uid", |meta| &mut meta.uid.start),
            ("start of version", |meta| &mut meta.version.start),
            ("start of created", |meta| &mut meta.created.start),
            ("start of deleted", |meta| &mut meta.deleted.start),
            ("start of labels", |meta| &mut meta.labels.start),
            ("start of annotations", |meta| &mut meta.annotations.start),
            ("start of owners", |meta| &mut meta.owners.start),
            ("length of labels", |meta| &mut meta.labels.length),
            ("length of annotations", |meta| &mut meta.annotations.length),
            ("length of owners", |meta| &mut meta.owners.length),
            ("length of uid", |meta| &mut meta.uid.length),
            ("length of version", |meta| &mut meta.version.length),
            ("size", |meta| &mut meta.size),
        ];
        for (name, number_of) in numbers {
            let mut meta = ordinary(is_packed);
            *number_of(&mut meta) = number;
            check(name, &meta);
        }
        let mut meta = ordinary(is_packed);
        meta.generation = number.into();
        check("generation", &meta);
        meta = ordinary(is_packed);
        meta.kept = KeptLength::protobuf(number as usize);
        check("kept", &meta);
        if !is_packed {
            meta.text.length = number;
            check("text", &meta);
            meta.text.start = number;
            check("start of the text", &meta);
        }
    }

    #[test]
    fn a_number_that_is_too_large_makes_a_head_wide() {
        let wide = |number: u32, is_packed| {
            let mut wide = Vec::new();
            each_with(number, is_packed, |name, meta| {
                if matches!(head_of(meta, is_packed, false), Head::Wide(_)) {
                    wide.push(alloc::string::String::from(name));
                }
            });
            wide
        };
        let lengths = ["length of uid", "length of version"];
        assert_eq!(wide(255, true), [""; 0]);
        assert_eq!(wide(256, true), lengths);
        assert_eq!(wide(0x7FFF, true), lengths);
        assert_eq!(wide(0x8000, true), [lengths[0], lengths[1], "kept"]);
        let times = ["start of created", "start of deleted"];
        assert_eq!(
            wide(0xFFFF, true),
            [times[0], times[1], lengths[0], lengths[1], "kept"]
        );
        assert_eq!(wide(0x1_0000, true).len(), 15);
        assert_eq!(wide(0x7FFF_FFFF, true).len(), 15);
        // The end of an unpacked text is known only if it is as long as was noted.
        assert_eq!(wide(2_000, false), lengths);
        assert_eq!(wide(2_001, false), [lengths[0], lengths[1], "kept"]);
        assert_eq!(wide(0x1_0000, false).len(), 17);
    }

    #[test]
    fn a_time_of_another_length_makes_a_head_wide() {
        for length in [1, 19, 20, 21, 255, 276, 65_556] {
            for deleted in [false, true] {
                let mut meta = ordinary(false);
                let time = Extent::new(300, length);
                *(if deleted {
                    &mut meta.deleted
                } else {
                    &mut meta.created
                }) = time;
                let is_wide = matches!(head_of(&meta, false, false), Head::Wide(_));
                assert_eq!(is_wide, length != 20);
            }
        }
    }
}
