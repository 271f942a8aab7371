//! Packing the texts of objects: about a seventh to a tenth of the memory, and some microseconds to read
//! one again.
//!
//! ```
//! use informer_core::decode::{Packed, decode_object};
//! use informer_core::pack::Packer;
//!
//! let mut packer = Packer::new();
//! let mut memory = 0;
//! for number in 0..100 {
//!     let json = format!(
//!         r#"{{"metadata":{{"name":"pod-{number}"}},"spec":{{"nodeName":"node-{number}",
//!         "containers":[{{"name":"main","image":"example.com/shop:1.7"}}]}}}}"#
//!     );
//!     let mut pod = decode_object(&mut Packed, json.as_bytes())?;
//!     packer.pack(&mut pod);
//!     assert_eq!(pod.json()?, json);
//!     memory += pod.packed_size();
//! }
//! assert!(memory < 100 * 40);
//! # Ok::<(), informer_core::decode::form::BodyError>(())
//! ```

use alloc::sync::{Arc, Weak};
use alloc::vec::Vec;
use core::fmt;

use crate::compress::{Around, Dictionary, Encoder};
use crate::decode::form::PackedBody;
use crate::decoded::{Draft, Object};
use crate::encoding::Encoding;

/// The first dictionary has at least this many bytes.
const FIRST_LESSON: usize = 1024;

/// A dictionary grows or changes by at most this many bytes at a time.
const LARGEST_LESSON: usize = Dictionary::LARGEST / 4;

/// The most dictionaries that objects may share. With more, no new one is made.
const MOST_DICTIONARIES: usize = 16;

/// After how many objects a dictionary of the largest size may be replaced.
const LASTS: u32 = 4096;

/// Packs objects, and learns from them what they have in common.
///
/// The first objects become a dictionary, which the objects after them share. Objects that it does not
/// fit go into the next one. An object stays as it was packed until it changes. There are at most 16
/// dictionaries of 64 KiB, and each is freed with its last object.
///
/// The same objects in the same order are packed into the same bytes.
pub struct Packer {
    current: Option<(Arc<Dictionary>, Encoder)>,
    /// All dictionaries that may be in use.
    made: Vec<Weak<Dictionary>>,
    /// Texts that the current dictionary does not fit.
    lesson: Vec<u8>,
    /// How many objects were packed with the current dictionary.
    packed: u32,
    /// The usual ratio of packed to unpacked texts, in 1/65536.
    usual: u32,
    draft: Draft,
    /// Head and text of an object, for the encoder.
    source: Vec<u8>,
    written: Vec<u8>,
}

impl Packer {
    /// Creates a packer that has not learned anything.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            current: None,
            made: Vec::new(),
            lesson: Vec::new(),
            packed: 0,
            usual: 0,
            draft: Draft::new(),
            source: Vec::new(),
            written: Vec::new(),
        }
    }

    /// How many dictionaries are in use.
    #[must_use]
    pub fn dictionaries(&self) -> usize {
        let in_use = |made: &&Weak<Dictionary>| made.strong_count() > 0;
        self.made.iter().filter(in_use).count()
    }

    /// Packs an object. It stays as it is if it is packed already, if nothing was learned yet, or if it
    /// would become larger.
    pub fn pack<K>(&mut self, object: &mut Object<PackedBody<K>>) {
        if object.is_packed() {
            return;
        }
        let text = object.kept_bytes();
        let Some((dictionary, encoder)) = &mut self.current else {
            self.learn(text);
            return;
        };
        let draft = &mut self.draft;
        let around = match object.encoding() {
            Encoding::Json => Around::Quotes,
            Encoding::Protobuf => Around::Length,
        };
        draft.begin_packed(object, dictionary, |label| {
            encoder.find(dictionary, label, around)
        });
        self.source.clear();
        self.source.extend_from_slice(draft.bytes());
        let head = self.source.len();
        self.source.extend_from_slice(text);
        self.written.clear();
        encoder.encode(dictionary, &self.source, head, &mut self.written);
        if self.is_strange(text.len()) {
            self.learn(text);
        }
        if self.written.len() < text.len() {
            self.draft.meta.text = self.draft.push_bytes(&[&self.written]);
            *object = self.draft.finish(object.key().clone(), *object.body());
        }
        self.source.shrink_to(LARGEST_LESSON);
        self.written.shrink_to(LARGEST_LESSON);
    }

    /// Whether the last text was packed worse than usual; much worse, if the dictionary cannot grow.
    fn is_strange(&mut self, length: usize) -> bool {
        let ratio = (self.written.len() << 16) / length.max(1);
        let ratio = u32::try_from(ratio).unwrap_or(u32::MAX / 2);
        let usual = if self.usual == 0 { ratio } else { self.usual };
        self.usual = usual - usual / 64 + ratio / 64;
        self.packed = self.packed.saturating_add(1);
        ratio
            > if self.is_full() {
                usual + usual / 2
            } else {
                usual
            }
    }

    /// Whether the dictionary can grow no more.
    fn is_full(&self) -> bool {
        self.known().len() > Dictionary::LARGEST - LARGEST_LESSON
    }

    fn known(&self) -> &[u8] {
        let current = self.current.as_ref();
        current
            .map(|(dictionary, _)| dictionary.texts())
            .unwrap_or_default()
    }

    /// Adds a text to the lesson. If that is enough, makes a new dictionary of the lesson and of what fits of
    /// the current one.
    fn learn(&mut self, text: &[u8]) {
        let known = self.known();
        let enough = known.len().clamp(FIRST_LESSON, LARGEST_LESSON);
        let room = Dictionary::LARGEST - enough;
        if self.lesson.len() < enough {
            let part = text.get(..LARGEST_LESSON).unwrap_or(text);
            self.lesson.extend_from_slice(part);
        }
        if self.lesson.len() < enough || self.is_full() && self.packed < LASTS {
            return;
        }
        self.made.retain(|dictionary| dictionary.strong_count() > 0);
        if self.made.len() < MOST_DICTIONARIES {
            let known = self.known();
            let texts = [&self.lesson, known.get(..room).unwrap_or(known)].concat();
            let dictionary = Arc::new(Dictionary::new(&texts));
            self.made.push(Arc::downgrade(&dictionary));
            let encoder = Encoder::new(&dictionary);
            self.current = Some((dictionary, encoder));
            self.packed = 0;
        }
        self.lesson.clear();
    }
}

impl Default for Packer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Packer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packer")
            .field("dictionaries", &self.dictionaries())
            .field("packed", &self.packed)
            .finish_non_exhaustive()
    }
}
