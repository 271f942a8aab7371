//! Key, uid, version and labels of an object, in one pass and without an allocator.
//!
//! Build a decoder on [`Header::read`]. Without an allocator, copy what you need into storage of
//! fixed size.
//!
//! ```
//! use informer_core::decode::json::header::Header;
//!
//! /// What a small device keeps of a Node.
//! struct Node {
//!     name: [u8; 16],
//!     in_zone_a: bool,
//! }
//!
//! fn decode(json: &[u8]) -> Option<Node> {
//!     let header = Header::read(json, 32).ok()?;
//!     let mut name = [0; 16];
//!     let plain = header.name?.as_plain()?.as_bytes();
//!     name.get_mut(..plain.len())?.copy_from_slice(plain);
//!     let in_zone_a = header
//!         .labels()
//!         .any(|(key, value)| key.eq_str("zone") && value.eq_str("a"));
//!     Some(Node { name, in_zone_a })
//! }
//!
//! let node = decode(br#"{"metadata":{"name":"n1","labels":{"zone":"a"}},"spec":{}}"#).unwrap();
//! assert_eq!(&node.name[..2], b"n1");
//! assert!(node.in_zone_a);
//! assert!(decode(br#"{"metadata":{"name":"n1"},"spec":{]}"#).is_none());
//! ```

// The labels and annotations of an object.
mod pairs;

// The large parts of an object, which are only passed.
mod parts;

// Labels that can be read again without a parser.
mod plain;

// Fields of an object, read strictly or leniently.
mod reader;

// An object whose text was written, not read.
#[cfg(feature = "alloc")]
mod written;

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::fmt;
use core::ops::Range;

pub use pairs::Pairs;
#[cfg(feature = "alloc")]
pub(super) use parts::EarlierParts;
use parts::{Part, Parts};
pub(in crate::decode) use plain::PlainLabels;
use reader::Reader;
#[cfg(feature = "alloc")]
pub(in crate::decode) use written::{Place, Written};

use super::text::{Arrays, JsonCursor, JsonKind, JsonStr, TextError, last_member};
#[cfg(feature = "alloc")]
use crate::key::ObjectKey;

/// Labels must be strings.
const NOT_LABELS: HeaderError = HeaderError::NotText {
    field: "metadata.labels",
};

/// The longest name or namespace, in bytes.
///
/// Kubernetes allows 253 and 63 bytes for nearly every kind, and the few other kinds stay well
/// below this. A longer name makes no key, so the object is rejected.
pub const MAX_NAME: usize = 4096;

/// The annotation on the bookmark that ends a streamed list.
pub(in crate::decode) const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What every object says about itself, borrowed from its text.
///
/// A `null` member counts as missing. If a member is repeated, the last one counts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Header<'a> {
    /// `apiVersion`; missing on objects in a list.
    pub api_version: Option<JsonStr<'a>>,
    /// `kind`; missing on objects in a list.
    pub kind: Option<JsonStr<'a>>,
    /// `metadata.namespace`
    pub namespace: Option<JsonStr<'a>>,
    /// `metadata.name`
    pub name: Option<JsonStr<'a>>,
    /// `metadata.uid`
    pub uid: Option<JsonStr<'a>>,
    /// `metadata.resourceVersion`
    pub version: Option<JsonStr<'a>>,
    /// `metadata.creationTimestamp`
    pub created: Option<JsonStr<'a>>,
    /// `metadata.deletionTimestamp`
    pub deleted: Option<JsonStr<'a>>,
    /// `metadata.generation`
    pub generation: Option<u64>,
    /// The range of the value of `metadata` in the text.
    pub metadata: Range<usize>,
    /// The range to cut to remove `metadata.managedFields`: the member and one comma.
    pub managed_fields: Option<Range<usize>>,
    pub(super) labels: &'a [u8],
    /// Whether the labels are sorted, no key is repeated, and there are neither escapes nor white space.
    pub(super) has_plain_labels: bool,
    pub(super) annotations: &'a [u8],
    pub(super) owners: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the object in `json` and checks that the whole text is valid JSON.
    ///
    /// # Errors
    ///
    /// The text is not valid JSON, is nested `depth` levels deep or deeper, or a field does not
    /// have the type that Kubernetes defines. A missing name is not an error here: see
    /// [`Header::key`].
    pub fn read(json: &'a [u8], depth: usize) -> Result<Self, HeaderError> {
        Self::read_noting(json, depth, &mut (), &mut ())
    }

    /// Does the same, counts the elements of arrays, and passes the large parts of the object in its own way.
    pub(super) fn read_noting(
        json: &'a [u8],
        depth: usize,
        arrays: &mut impl Arrays,
        parts: &mut impl Parts,
    ) -> Result<Self, HeaderError> {
        let (header, mut behind) = Self::begin(json, depth, arrays, parts)?;
        behind.end()?;
        header.complete()
    }

    /// Reads the object at the start of `text` in the same way, and returns its length.
    #[cfg(feature = "alloc")]
    pub(super) fn first(
        text: &'a [u8],
        depth: usize,
        arrays: &mut impl Arrays,
        parts: &mut impl Parts,
    ) -> Result<(Self, usize), HeaderError> {
        let (header, behind) = Self::begin(text, depth, arrays, parts)?;
        Ok((header.complete()?, behind.position()))
    }

    fn begin(
        text: &'a [u8],
        depth: usize,
        arrays: &mut impl Arrays,
        parts: &mut impl Parts,
    ) -> Result<(Self, JsonCursor<'a>), HeaderError> {
        let mut header = Self::default();
        let mut reader = Reader {
            cursor: JsonCursor::new(text),
            strict: true,
            arrays,
            parts,
        };
        if reader.cursor.kind() != Ok(JsonKind::Object) {
            return Err(HeaderError::NotAnObject);
        }
        header.fill(&mut reader, depth)?;
        Ok((header, reader.cursor))
    }

    fn complete(self) -> Result<Self, HeaderError> {
        if self.metadata.is_empty() {
            return Err(HeaderError::NoMetadata);
        }
        Ok(self)
    }

    /// Reads what it can of an object that is cut or broken. Quotes and brackets must match up to
    /// the fields that are read; nothing else is checked.
    ///
    /// ```
    /// use informer_core::decode::json::header::Header;
    ///
    /// let header = Header::from_prefix(br#"{"spec":{"x":01},"metadata":{"name":"a","uid":"12"#);
    /// assert!(header.name.is_some_and(|name| name.eq_str("a")));
    /// assert!(header.uid.is_none());
    /// ```
    #[must_use]
    pub fn from_prefix(json: &'a [u8]) -> Self {
        let mut header = Self::default();
        let mut reader = Reader {
            cursor: JsonCursor::new(json),
            strict: false,
            arrays: &mut (),
            parts: &mut (),
        };
        // The error only says where reading stopped.
        let _ = header.fill(&mut reader, usize::MAX);
        header
    }

    /// The labels, in the order of the text. If a key is repeated, the last value counts.
    #[must_use]
    pub const fn labels(&self) -> Pairs<'a> {
        Pairs::new(self.labels)
    }

    /// Whether the annotation `k8s.io/initial-events-end` is `"true"`. Only bookmarks have it, so it is not
    /// looked for in every object.
    #[must_use]
    pub fn ends_initial_events(&self) -> bool {
        let mark = last_member(self.annotations, INITIAL_EVENTS_END);
        let mark = mark
            .ok()
            .flatten()
            .map(|mark| JsonCursor::new(mark).string());
        mark.is_some_and(|mark| mark.is_ok_and(|mark| mark.eq_str("true")))
    }

    /// The namespace and name.
    ///
    /// # Errors
    ///
    /// There is no name, or the namespace or name is longer than [`MAX_NAME`].
    #[cfg(feature = "alloc")]
    pub fn key(&self) -> Result<ObjectKey, HeaderError> {
        self.key_in(&mut String::new())
    }

    /// The same key, put together in a buffer that keeps its memory.
    #[cfg(feature = "alloc")]
    pub(in crate::decode) fn key_in(&self, buffer: &mut String) -> Result<ObjectKey, HeaderError> {
        let name = self.name.filter(|name| !name.is_empty());
        let name = name.ok_or(HeaderError::NoName)?.to_cow();
        let namespace = self.namespace.map(JsonStr::to_cow).unwrap_or_default();
        if name.len() > MAX_NAME || namespace.len() > MAX_NAME {
            return Err(HeaderError::NameTooLong);
        }
        Ok(ObjectKey::new_in(buffer, &namespace, &name))
    }

    /// Whether the object is a Table of `meta.k8s.io`: rows for printing, not an object.
    #[must_use]
    pub fn is_table(&self) -> bool {
        let group = "meta.k8s.io/";
        let is_meta = |version: JsonStr<'_>| version.chars().take(group.len()).eq(group.chars());
        self.kind.is_some_and(|kind| kind.eq_str("Table")) && self.api_version.is_some_and(is_meta)
    }

    fn fill(
        &mut self,
        reader: &mut Reader<'a, '_, impl Arrays, impl Parts>,
        depth: usize,
    ) -> Result<(), HeaderError> {
        let inside = depth.saturating_sub(1);
        let mut members = reader.cursor.enter_object(depth)?;
        while let Some(name) = members.next(&mut reader.cursor)? {
            if name.eq_str("metadata") {
                self.forget_metadata();
                if reader.cursor.kind()? == JsonKind::Object {
                    let start = reader.cursor.position();
                    self.fill_metadata(reader, inside)?;
                    self.metadata = start..reader.cursor.position();
                } else {
                    reader.skip(inside)?;
                }
            } else if name.eq_str("kind") {
                self.kind = reader.text("kind", inside)?;
            } else if name.eq_str("apiVersion") {
                self.api_version = reader.text("apiVersion", inside)?;
            } else if name.eq_str("spec") {
                reader.pass(Part::Spec, inside)?;
            } else if name.eq_str("status") {
                reader.pass(Part::Status, inside)?;
            } else {
                reader.skip(inside)?;
            }
        }
        Ok(())
    }

    fn forget_metadata(&mut self) {
        *self = Self {
            api_version: self.api_version,
            kind: self.kind,
            ..Self::default()
        };
    }

    fn fill_metadata(
        &mut self,
        reader: &mut Reader<'a, '_, impl Arrays, impl Parts>,
        depth: usize,
    ) -> Result<(), HeaderError> {
        let inside = depth.saturating_sub(1);
        let mut members = reader.cursor.enter_object(depth)?;
        let mut start = reader.cursor.position();
        let mut managed_is_last = false;
        while let Some(name) = members.next(&mut reader.cursor)? {
            if managed_is_last && let Some(range) = &mut self.managed_fields {
                // A member follows, so cut the comma after `managedFields` and keep the one before.
                managed_is_last = false;
                range.start = start;
                range.end = members.comma().map_or(range.end, |comma| comma + 1);
            }
            match known_field(name) {
                b"name" => self.name = reader.text("metadata.name", inside)?,
                b"namespace" => self.namespace = reader.text("metadata.namespace", inside)?,
                b"uid" => self.uid = reader.text("metadata.uid", inside)?,
                b"resourceVersion" => {
                    self.version = reader.text("metadata.resourceVersion", inside)?;
                }
                b"labels" => (self.labels, self.has_plain_labels) = reader.labels(inside)?,
                b"annotations" => {
                    let annotations = reader.skip(inside)?;
                    // A broken bookmark is not usable, so they are not read leniently.
                    self.annotations = if reader.strict { annotations } else { &[] };
                }
                b"ownerReferences" => self.owners = reader.skip(inside)?,
                b"creationTimestamp" => self.created = reader.any_text(inside)?,
                b"deletionTimestamp" => self.deleted = reader.any_text(inside)?,
                b"generation" => {
                    let text = core::str::from_utf8(reader.skip(inside)?);
                    self.generation = text.ok().and_then(|text| text.parse().ok());
                }
                b"managedFields" => {
                    start = members.comma().map_or(start, |comma| comma + 1);
                    reader.pass(Part::ManagedFields, inside)?;
                    let cut = members.comma().unwrap_or(start);
                    self.managed_fields = Some(cut..reader.cursor.position());
                    managed_is_last = true;
                }
                _ => {
                    reader.skip(inside)?;
                }
            }
        }
        Ok(())
    }
}

/// The name of a member of `metadata`; unescaped if this module reads that member.
fn known_field(name: JsonStr<'_>) -> &[u8] {
    const READ: [&str; 11] = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "labels",
        "annotations",
        "managedFields",
        "ownerReferences",
        "creationTimestamp",
        "deletionTimestamp",
        "generation",
    ];
    let escaped = || READ.into_iter().find(|field| name.eq_str(field));
    let escaped = || escaped().map(str::as_bytes);
    name.plain_bytes().or_else(escaped).unwrap_or_default()
}

/// Why an object cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HeaderError {
    /// The text is not a JSON object.
    NotAnObject,
    /// The text is not valid JSON, or is nested too deeply.
    Text(TextError),
    /// `metadata` is missing or not an object.
    NoMetadata,
    /// `metadata.name` is missing or empty.
    NoName,
    /// `metadata.name` or `metadata.namespace` is longer than [`MAX_NAME`].
    NameTooLong,
    /// A field that must be a string, or consist of strings, is something else.
    NotText {
        /// The field.
        field: &'static str,
    },
}

impl From<TextError> for HeaderError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::Text(error) => error.fmt(f),
            Self::NoMetadata => f.write_str("`metadata` is missing or not an object"),
            Self::NoName => f.write_str("`metadata.name` is missing or empty"),
            Self::NameTooLong => write!(
                f,
                "`metadata.name` or `metadata.namespace` is longer than {MAX_NAME} bytes"
            ),
            Self::NotText {
                field: "metadata.labels",
            } => f.write_str("a value in `metadata.labels` is not a string"),
            Self::NotText { field } => write!(f, "`{field}` is not a string"),
        }
    }
}

impl core::error::Error for HeaderError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Text(error) => Some(error),
            _ => None,
        }
    }
}
