//! What an object says about itself.

use core::ops::Range;

use crate::encoding::Encoding;
use crate::invariant::cannot_happen;

/// What an object says about itself. An empty extent means that it does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Meta {
    pub(crate) uid: Extent,
    pub(crate) version: Extent,
    pub(crate) created: Extent,
    pub(crate) deleted: Extent,
    /// The table of labels: see [`Draft::put_labels`](super::Draft::put_labels). Or the labels themselves, if they
    /// stand in the kept text as [`Labels`](super::Labels) can read them.
    pub(crate) labels: Extent,
    /// The text that is kept beside the body, packed or not: JSON or a message of protobuf.
    pub(crate) text: Extent,
    pub(crate) kept: KeptLength,
    /// Where the annotations stand in the unpacked text: an object of JSON, or fields of `metadata` among
    /// which they are.
    pub(crate) annotations: Extent,
    /// The owner references in the same way; in JSON they are an array.
    pub(crate) owners: Extent,
    pub(crate) generation: u64,
    pub(crate) size: u32,
}

/// The place of a text in a record, or in the dictionary of the record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Extent {
    pub(super) start: u32,
    pub(super) length: u32,
}

/// How long the kept text is if it is not packed, and its encoding: one number, since every object has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeptLength(u32);

impl KeptLength {
    const NONE: Self = Self(0);

    /// Every length is below this bit.
    const PROTOBUF: u32 = 1 << 31;

    /// The same bit of a [`short`](Self::short) one.
    const SHORT_PROTOBUF: u16 = 1 << 15;

    pub(crate) fn json(length: usize) -> Self {
        Self(u32::try_from(length).unwrap_or_default())
    }

    pub(crate) fn protobuf(length: usize) -> Self {
        Self(Self::json(length).0 | Self::PROTOBUF)
    }

    pub(crate) const fn length(self) -> usize {
        (self.0 & !Self::PROTOBUF) as usize
    }

    /// The same in half the room, if it is short enough.
    pub(super) fn short(self) -> Option<u16> {
        let length = u16::try_from(self.0 & !Self::PROTOBUF).ok()?;
        let fits = length & Self::SHORT_PROTOBUF == 0;
        fits.then_some(length | (self.0 >> 16) as u16 & Self::SHORT_PROTOBUF)
    }

    pub(super) fn from_short(short: u16) -> Self {
        let length = u32::from(short & !Self::SHORT_PROTOBUF);
        Self(length | u32::from(short & Self::SHORT_PROTOBUF) << 16)
    }

    pub(crate) const fn encoding(self) -> Encoding {
        if self.0 & Self::PROTOBUF == 0 {
            Encoding::Json
        } else {
            Encoding::Protobuf
        }
    }
}

impl Meta {
    pub(super) const EMPTY: Self = Self {
        uid: Extent::EMPTY,
        version: Extent::EMPTY,
        created: Extent::EMPTY,
        deleted: Extent::EMPTY,
        labels: Extent::EMPTY,
        text: Extent::EMPTY,
        kept: KeptLength::NONE,
        annotations: Extent::EMPTY,
        owners: Extent::EMPTY,
        generation: 0,
        size: 0,
    };
}

impl Extent {
    pub(super) const EMPTY: Self = Self {
        start: 0,
        length: 0,
    };

    /// The bit of `start` that says that the text stands in the dictionary.
    pub(super) const IN_DICTIONARY: u32 = 1 << 31;

    /// Everything of a record is below this.
    pub(crate) const LARGEST: usize = Self::IN_DICTIONARY as usize;

    pub(crate) fn new(start: usize, length: usize) -> Self {
        if start > u32::MAX as usize || length > u32::MAX as usize {
            return cannot_happen("a record beyond its largest size", Self::default());
        }
        Self {
            start: start as u32,
            length: length as u32,
        }
    }

    /// A text in the dictionary.
    pub(crate) const fn in_dictionary(self) -> Self {
        Self {
            start: self.start | Self::IN_DICTIONARY,
            ..self
        }
    }

    /// An extent that was written into a table: see [`in_table`](Self::in_table).
    pub(super) const fn from_table([start, length]: [u32; 2]) -> Self {
        Self {
            start: start.rotate_right(1),
            length,
        }
    }

    /// The numbers to write into a table, with the bit for the dictionary where it takes no room.
    pub(super) const fn in_table(self) -> [u32; 2] {
        [self.start.rotate_left(1), self.length]
    }

    pub(super) const fn range(self) -> Range<usize> {
        self.start()..self.start() + self.length()
    }

    pub(crate) const fn start(self) -> usize {
        self.start as usize
    }

    pub(crate) const fn length(self) -> usize {
        self.length as usize
    }
}
