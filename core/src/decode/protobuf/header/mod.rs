//! Key, uid, version and labels of an object, in one pass and without an allocator.

// The labels, annotations and other repeated fields.
mod run;

// Owner references.
mod owner;

// Fields as servers write them.
mod usual;

// Texts: whether they are texts, and UTF-8.
mod texts;

// Points in time, as seconds.
mod time;

#[cfg(feature = "alloc")]
use alloc::string::String;
use core::fmt;
use core::ops::Range;

pub(super) use owner::Owner;
pub(super) use run::Run;
use texts::{check_owner, check_pair, check_pair_texts, is_ascii, read_text};
use time::read_time;
use usual::taken;

use super::wire::{Field, Message, Shape, Value, WireError, length_of_varint};
use crate::decode::json::header::{INITIAL_EVENTS_END, MAX_NAME};
#[cfg(feature = "alloc")]
use crate::key::ObjectKey;

/// Every object has its metadata here.
const METADATA: u32 = 1;

/// Field numbers of `ObjectMeta`.
mod number {
    pub(super) const NAME: u32 = 1;
    pub(super) const GENERATE_NAME: u32 = 2;
    pub(super) const NAMESPACE: u32 = 3;
    pub(super) const SELF_LINK: u32 = 4;
    pub(super) const UID: u32 = 5;
    pub(super) const VERSION: u32 = 6;
    pub(super) const GENERATION: u32 = 7;
    pub(super) const CREATED: u32 = 8;
    pub(super) const DELETED: u32 = 9;
    pub(super) const GRACE_PERIOD: u32 = 10;
    pub(super) const LABELS: u32 = 11;
    pub(super) const ANNOTATIONS: u32 = 12;
    pub(super) const OWNERS: u32 = 13;
    pub(super) const FINALIZERS: u32 = 14;
    pub(super) const MANAGED_FIELDS: u32 = 17;
}

/// What every object says about itself, borrowed from its bytes.
///
/// An empty text counts as missing. If a field is repeated, the last one counts.
///
/// ```
/// use informer_core::decode::protobuf::header::Header;
///
/// // metadata: name `a`, namespace `web`, a label
/// let object = b"\x0a\x15\x0a\x01a\x1a\x03web\x5a\x0b\x0a\x03app\x12\x04shop\x12\x00";
/// let header = Header::read(object)?;
/// assert_eq!((header.namespace, header.name), (Some("web"), Some("a")));
/// assert_eq!(header.labels().next(), Some(("app", "shop")));
/// # Ok::<(), informer_core::decode::protobuf::header::HeaderError>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Header<'a> {
    /// `metadata.namespace`
    pub namespace: Option<&'a str>,
    /// `metadata.name`
    pub name: Option<&'a str>,
    /// `metadata.uid`
    pub uid: Option<&'a str>,
    /// `metadata.resourceVersion`
    pub version: Option<&'a str>,
    /// `metadata.creationTimestamp`, in seconds since 1970.
    pub created: Option<i64>,
    /// `metadata.deletionTimestamp`, in seconds since 1970.
    pub deleted: Option<i64>,
    /// `metadata.generation`
    pub generation: Option<u64>,
    /// The range of the message `metadata` in the object.
    pub metadata: Range<usize>,
    /// The range of the fields `metadata.managedFields` in the object. If other fields stand between
    /// them, it is not contiguous: see [`is_scattered`](Self::is_scattered).
    pub managed_fields: Option<Range<usize>>,
    /// Where the length of `metadata` stands in the object.
    pub(super) length_at: usize,
    pub(super) generate_name: Option<&'a str>,
    pub(super) self_link: Option<&'a str>,
    pub(super) grace_period: Option<u64>,
    pub(super) labels: Run<'a>,
    /// Whether the labels stand together, are sorted, and each has a key and then a value. Servers write them
    /// so, and objects read them so.
    pub(super) has_sorted_labels: bool,
    pub(super) annotations: Run<'a>,
    pub(super) owners: Run<'a>,
    pub(super) finalizers: Run<'a>,
    scattered: bool,
    /// Whether labels, annotations, owner references or finalizers may have texts that are not ASCII.
    has_foreign_texts: bool,
}

impl<'a> Header<'a> {
    #[cfg(feature = "alloc")]
    pub(super) const MANAGED_FIELDS: u32 = number::MANAGED_FIELDS;

    /// The seconds of a message `Time`.
    #[cfg(feature = "alloc")]
    pub(super) fn seconds_of(time: &[u8]) -> Option<i64> {
        let mut seconds = None;
        read_time(time, &mut seconds).ok()?;
        seconds
    }

    /// Reads the message of an object.
    ///
    /// # Errors
    ///
    /// The bytes are not a message, `metadata` is missing or repeated, or a field of it does not have
    /// the type that Kubernetes defines. A missing name is not an error here: see [`Header::key`].
    pub fn read(object: &'a [u8]) -> Result<Self, HeaderError> {
        let mut header = Self::default();
        header.read_from(object)?;
        Ok(header)
    }

    /// Reads it into an empty header.
    pub(super) fn read_from(&mut self, object: &'a [u8]) -> Result<(), HeaderError> {
        let mut message = Message::new(object);
        let mut found = false;
        // As servers write it: `metadata`, and then fields with larger numbers.
        if let Some(metadata) = message.short_bytes(METADATA) {
            self.read_metadata(metadata, 1, message.position())?;
            found = true;
            message.skip_short(METADATA);
        }
        loop {
            let field = message.rest();
            let start = message.position();
            let Some(Field { number, value }) = message.next()? else {
                break;
            };
            if number != METADATA {
                continue;
            }
            let metadata = read_message(value)?;
            if core::mem::replace(&mut found, true) {
                return Err(HeaderError::MetadataTwice);
            }
            let length_at = start + length_of_varint(field);
            self.read_metadata(metadata, length_at, message.position())?;
        }
        if !found {
            return Err(HeaderError::NoMetadata);
        }
        Ok(())
    }

    /// Reads `metadata`, which ends here in the object and has its length there.
    fn read_metadata(
        &mut self,
        metadata: &'a [u8],
        length_at: usize,
        end: usize,
    ) -> Result<(), HeaderError> {
        self.length_at = length_at;
        self.metadata = end - metadata.len()..end;
        self.fill(metadata)
    }

    /// Reads what it can of an object that is cut or broken.
    #[must_use]
    pub fn from_prefix(object: &'a [u8]) -> Self {
        let mut header = Self::default();
        let mut message = Message::new(object);
        while let Ok(Some(tag)) = message.tag() {
            let value = message.value(tag);
            let metadata = match (&value, tag.shape) {
                (Ok(Value::Bytes(bytes)), _) => *bytes,
                (Err(WireError::Truncated), Shape::Bytes) => message.rest(),
                _ => &[],
            };
            if tag.number == METADATA {
                // The error only says where reading stopped. What follows is not looked at: an object that
                // repeats its metadata is broken, too.
                let _ = header.fill(metadata);
                break;
            }
            if value.is_err() {
                break;
            }
        }
        header
    }

    /// The labels, in the order of the bytes. If a key is repeated, the last value counts.
    pub fn labels(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.labels.pairs()
    }

    /// The annotations, in the same way.
    pub fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.annotations.pairs()
    }

    /// Whether the annotation `k8s.io/initial-events-end` is `"true"`.
    #[must_use]
    pub fn ends_initial_events(&self) -> bool {
        let marks = self
            .annotations()
            .filter(|(key, _)| *key == INITIAL_EVENTS_END);
        marks.last().is_some_and(|(_, mark)| mark == "true")
    }

    /// Whether other fields stand between those of `managedFields`. No server writes it.
    #[must_use]
    pub const fn is_scattered(&self) -> bool {
        self.scattered
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
    #[inline]
    pub(in crate::decode) fn key_in(&self, buffer: &mut String) -> Result<ObjectKey, HeaderError> {
        let name = self.name.ok_or(HeaderError::NoName)?;
        let namespace = self.namespace.unwrap_or_default();
        if name.len() > MAX_NAME || namespace.len() > MAX_NAME {
            return Err(HeaderError::NameTooLong);
        }
        Ok(ObjectKey::new_in(buffer, namespace, name))
    }

    fn fill(&mut self, metadata: &'a [u8]) -> Result<(), HeaderError> {
        let mut message = Message::new(metadata);
        self.take_texts(&mut message);
        loop {
            self.take_runs(metadata, &mut message)?;
            if message.rest().is_empty() {
                break;
            }
            self.read_field(metadata, &mut message)?;
        }
        if self.has_foreign_texts {
            self.check_texts()?;
        }
        Ok(())
    }

    /// Reads a field of `metadata`, however it is written.
    fn read_field(
        &mut self,
        metadata: &'a [u8],
        message: &mut Message<'a>,
    ) -> Result<(), HeaderError> {
        let (before, start) = (message.rest(), message.position());
        let Some(Field { number, value }) = message.next()? else {
            return Ok(());
        };
        let field = taken(before, message);
        self.has_foreign_texts = true;
        match number {
            number::NAME => self.name = read_text(value, "name")?,
            number::GENERATE_NAME => self.generate_name = read_text(value, "generateName")?,
            number::NAMESPACE => self.namespace = read_text(value, "namespace")?,
            number::SELF_LINK => self.self_link = read_text(value, "selfLink")?,
            number::UID => self.uid = read_text(value, "uid")?,
            number::VERSION => self.version = read_text(value, "resourceVersion")?,
            number::GENERATION => self.generation = read_count(value),
            number::CREATED => read_time(read_message(value)?, &mut self.created)?,
            number::DELETED => read_time(read_message(value)?, &mut self.deleted)?,
            number::GRACE_PERIOD => self.grace_period = read_count(value),
            number::LABELS => {
                check_pair(read_message(value)?, "labels")?;
                self.has_sorted_labels = false;
                self.labels.add(metadata, field, number);
            }
            number::ANNOTATIONS => {
                check_pair(read_message(value)?, "annotations")?;
                self.annotations.add(metadata, field, number);
            }
            number::OWNERS => {
                check_owner(read_message(value)?)?;
                self.owners.add(metadata, field, number);
            }
            number::FINALIZERS => {
                read_message(value)?;
                self.finalizers.add(metadata, field, number);
            }
            number::MANAGED_FIELDS => self.extend_managed_fields(start..message.position()),
            _ => {}
        }
        Ok(())
    }

    /// Checks that all texts are UTF-8. Tags and lengths are usually ASCII like the texts between them, so that
    /// one look at all of them is enough.
    fn check_texts(&self) -> Result<(), HeaderError> {
        for (run, field) in [
            (self.labels, "labels"),
            (self.annotations, "annotations"),
            (self.owners, "ownerReferences"),
            (self.finalizers, "finalizers"),
        ] {
            if is_ascii(run.bytes) {
                continue;
            }
            for value in run.values() {
                let checked = match run.number {
                    number::OWNERS => Owner::read(value).map(|_| ()),
                    number::FINALIZERS => read_text(Value::Bytes(value), field).map(|_| ()),
                    _ => check_pair_texts(value),
                };
                checked.map_err(|error| error.in_field(field))?;
            }
        }
        Ok(())
    }

    /// Adds a field at this place of `metadata`.
    fn extend_managed_fields(&mut self, field: Range<usize>) {
        let base = self.metadata.start;
        let field = base + field.start..base + field.end;
        match &mut self.managed_fields {
            Some(range) => {
                self.scattered |= range.end != field.start;
                range.end = field.end;
            }
            none => *none = Some(field),
        }
    }
}

const fn read_message(value: Value<'_>) -> Result<&[u8], HeaderError> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(HeaderError::NotAMessage),
    }
}

/// A number that is not negative.
fn read_count(value: Value<'_>) -> Option<u64> {
    match value {
        Value::Number(number) => i64::try_from(number).ok().map(i64::cast_unsigned),
        _ => None,
    }
}

/// Why an object cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HeaderError {
    /// The bytes are not a message.
    Wire(WireError),
    /// `metadata` or a part of it is not a message.
    NotAMessage,
    /// `metadata` is missing.
    NoMetadata,
    /// `metadata` occurs twice.
    MetadataTwice,
    /// `metadata.name` is missing or empty.
    NoName,
    /// `metadata.name` or `metadata.namespace` is longer than [`MAX_NAME`].
    NameTooLong,
    /// A field of `metadata` that must be a text, or consist of texts, is something else.
    NotText {
        /// The field.
        field: &'static str,
    },
}

impl HeaderError {
    /// Says in which field a text was expected.
    const fn in_field(self, field: &'static str) -> Self {
        match self {
            Self::NotText { .. } => Self::NotText { field },
            other => other,
        }
    }
}

impl From<WireError> for HeaderError {
    fn from(error: WireError) -> Self {
        Self::Wire(error)
    }
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wire(error) => error.fmt(f),
            Self::NotAMessage => f.write_str("`metadata` or a part of it is not a message"),
            Self::NoMetadata => f.write_str("`metadata` is missing"),
            Self::MetadataTwice => f.write_str("`metadata` occurs twice"),
            Self::NoName => f.write_str("`metadata.name` is missing or empty"),
            Self::NameTooLong => write!(
                f,
                "`metadata.name` or `metadata.namespace` is longer than {MAX_NAME} bytes"
            ),
            Self::NotText { field } => write!(f, "`metadata.{field}` is not UTF-8 text"),
        }
    }
}

impl core::error::Error for HeaderError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Wire(error) => Some(error),
            _ => None,
        }
    }
}
