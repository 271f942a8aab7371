//! Key, uid, version and labels of one object, in one pass and without an allocator.
//!
//! Decoders are built on [`Header::read`]: ours, and those for machines without an allocator, which
//! copy what they need into storage of a fixed size.
//!
//! ```
//! use informer_core::decode::json::header::Header;
//!
//! /// All that a small device keeps of a Node.
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

use core::fmt;
use core::ops::Range;

#[cfg(feature = "alloc")]
use super::text::MAX_DEPTH;
use super::text::{JsonCursor, JsonKind, JsonStr, Members, TextError};
#[cfg(feature = "alloc")]
use crate::key::ObjectKey;

/// Labels are texts.
const NOT_LABELS: HeaderError = HeaderError::NotText {
    field: "metadata.labels",
};

/// The longest name, and the longest namespace, in bytes. Kubernetes allows 253 and 63 for nearly
/// everything; the few kinds whose names it does not measure stay well below this. What is longer has no
/// key: it is not kept, and not remembered by its name.
pub const MAX_NAME: usize = 4096;

/// The annotation on the bookmark that closes a streamed list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// What every object says about itself, in the words of its own text.
///
/// A member that is `null` counts as missing. Of repeated members the last one counts.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Header<'a> {
    /// `apiVersion`; the objects in a list have none.
    pub api_version: Option<JsonStr<'a>>,
    /// `kind`; the objects in a list have none.
    pub kind: Option<JsonStr<'a>>,
    /// `metadata.namespace`
    pub namespace: Option<JsonStr<'a>>,
    /// `metadata.name`
    pub name: Option<JsonStr<'a>>,
    /// `metadata.uid`
    pub uid: Option<JsonStr<'a>>,
    /// `metadata.resourceVersion`
    pub version: Option<JsonStr<'a>>,
    /// Whether the annotation `k8s.io/initial-events-end` is `"true"`.
    pub initial_events_end: bool,
    /// Where the value of `metadata` stands.
    pub metadata: Range<usize>,
    /// What to cut out to be rid of `metadata.managedFields`: the member and one comma.
    pub managed_fields: Option<Range<usize>>,
    labels: &'a [u8],
}

impl<'a> Header<'a> {
    /// Reads the object that `json` consists of, and checks that all of it is valid JSON.
    ///
    /// # Errors
    ///
    /// If it is not, if it is nested `depth` levels deep or deeper, or if something that is read is
    /// not what Kubernetes says it is. A name may be missing: see [`Header::key`].
    pub fn read(json: &'a [u8], depth: usize) -> Result<Self, HeaderError> {
        let (header, mut behind) = Self::begin(json, depth)?;
        behind.end()?;
        header.complete()
    }

    /// Reads the object that `text` begins with, in the same way, and says how long it is.
    #[cfg(feature = "alloc")]
    pub(super) fn first(text: &'a [u8], depth: usize) -> Result<(Self, usize), HeaderError> {
        let (header, behind) = Self::begin(text, depth)?;
        Ok((header.complete()?, behind.position()))
    }

    fn begin(text: &'a [u8], depth: usize) -> Result<(Self, JsonCursor<'a>), HeaderError> {
        let mut header = Self::default();
        let mut reader = Reader {
            cursor: JsonCursor::new(text),
            strict: true,
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

    /// Whatever can be read of an object that was cut off or is broken. Only quotes and brackets
    /// must be right, and those only before what is looked for.
    ///
    /// ```
    /// use informer_core::decode::json::header::Header;
    ///
    /// let header = Header::of_prefix(br#"{"spec":{"x":01},"metadata":{"name":"a","uid":"12"#);
    /// assert!(header.name.is_some_and(|name| name.eq_str("a")));
    /// assert!(header.uid.is_none());
    /// ```
    #[must_use]
    pub fn of_prefix(json: &'a [u8]) -> Self {
        let mut header = Self::default();
        let mut reader = Reader {
            cursor: JsonCursor::new(json),
            strict: false,
        };
        // An error only tells where reading had to stop.
        let _ = header.fill(&mut reader, usize::MAX);
        header
    }

    /// The labels. A repeated key comes up repeatedly; the last one counts.
    #[must_use]
    pub const fn labels(&self) -> Pairs<'a> {
        Pairs::of(self.labels)
    }

    /// Namespace and name.
    ///
    /// # Errors
    ///
    /// If there is no name, or namespace or name are longer than [`MAX_NAME`].
    #[cfg(feature = "alloc")]
    pub fn key(&self) -> Result<ObjectKey, HeaderError> {
        let name = self.name.filter(|name| !name.is_empty());
        let name = name.ok_or(HeaderError::NoName)?.to_cow();
        let namespace = self.namespace.map(JsonStr::to_cow).unwrap_or_default();
        if name.len() > MAX_NAME || namespace.len() > MAX_NAME {
            return Err(HeaderError::NameTooLong);
        }
        Ok(ObjectKey::new(&namespace, &name))
    }

    /// Whether the object is a Table of `meta.k8s.io`: rows to print instead of an object.
    #[must_use]
    pub fn is_table(&self) -> bool {
        let group = "meta.k8s.io/";
        let is_meta = |version: JsonStr<'_>| version.chars().take(group.len()).eq(group.chars());
        self.kind.is_some_and(|kind| kind.eq_str("Table")) && self.api_version.is_some_and(is_meta)
    }

    fn fill(&mut self, reader: &mut Reader<'a>, depth: usize) -> Result<(), HeaderError> {
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

    fn fill_metadata(&mut self, reader: &mut Reader<'a>, depth: usize) -> Result<(), HeaderError> {
        let inside = depth.saturating_sub(1);
        let mut members = reader.cursor.enter_object(depth)?;
        let mut start = reader.cursor.position();
        let mut managed_is_last = false;
        while let Some(name) = members.next(&mut reader.cursor)? {
            if managed_is_last && let Some(range) = &mut self.managed_fields {
                // Something follows it, so the comma behind it goes and the one before it stays.
                managed_is_last = false;
                range.start = start;
                range.end = members.comma().map_or(range.end, |comma| comma + 1);
            }
            match known_field(name) {
                "name" => self.name = reader.text("metadata.name", inside)?,
                "namespace" => self.namespace = reader.text("metadata.namespace", inside)?,
                "uid" => self.uid = reader.text("metadata.uid", inside)?,
                "resourceVersion" => {
                    self.version = reader.text("metadata.resourceVersion", inside)?;
                }
                "labels" => self.labels = reader.labels(inside)?,
                "annotations" => {
                    self.initial_events_end = reader.is_initial_events_end(inside)?;
                }
                "managedFields" => {
                    start = members.comma().map_or(start, |comma| comma + 1);
                    reader.skip(inside)?;
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

/// The name of a member of `metadata`, unescaped if it is one that we read.
fn known_field(name: JsonStr<'_>) -> &str {
    const READ: [&str; 7] = [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "labels",
        "annotations",
        "managedFields",
    ];
    let escaped = || READ.into_iter().find(|field| name.eq_str(field));
    name.as_plain().or_else(escaped).unwrap_or_default()
}

/// A cursor, and how much it minds.
struct Reader<'a> {
    cursor: JsonCursor<'a>,
    strict: bool,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, depth: usize) -> Result<&'a [u8], TextError> {
        if self.strict {
            self.cursor.skip_value(depth)
        } else {
            self.cursor.skip_extent()
        }
    }

    fn text(
        &mut self,
        field: &'static str,
        depth: usize,
    ) -> Result<Option<JsonStr<'a>>, HeaderError> {
        let kind = self.cursor.kind();
        let start = self.cursor.clone();
        if let Ok(JsonKind::String) = kind {
            match self.cursor.string() {
                Ok(text) => return Ok(Some(text)),
                Err(error) if self.strict => return Err(error.into()),
                Err(_) => self.cursor = start,
            }
        }
        self.skip(depth)?;
        match kind? {
            JsonKind::Null => Ok(None),
            _ if self.strict => Err(HeaderError::NotText { field }),
            _ => Ok(None),
        }
    }

    fn labels(&mut self, depth: usize) -> Result<&'a [u8], HeaderError> {
        let before = self.cursor.clone();
        let kind = self.cursor.kind()?;
        if !self.strict || kind != JsonKind::Object {
            let text = self.skip(depth)?;
            return match kind {
                JsonKind::Null => Ok(&[]),
                _ if self.strict => Err(NOT_LABELS),
                _ => Ok(text),
            };
        }
        let mut any_not_text = false;
        let mut members = self.cursor.enter_object(depth)?;
        while members.next(&mut self.cursor)?.is_some() {
            any_not_text |= self.cursor.kind()? != JsonKind::String;
            self.cursor.skip_value(depth.saturating_sub(1))?;
        }
        if any_not_text {
            return Err(NOT_LABELS);
        }
        Ok(before.up_to(&self.cursor))
    }

    fn is_initial_events_end(&mut self, depth: usize) -> Result<bool, HeaderError> {
        let mut is_end = false;
        // A bookmark that is broken is no bookmark, so there is nothing to rescue here.
        if !self.strict || self.cursor.kind()? != JsonKind::Object {
            self.skip(depth)?;
            return Ok(is_end);
        }
        let mut members = self.cursor.enter_object(depth)?;
        while let Some(name) = members.next(&mut self.cursor)? {
            let is_mark = name.eq_str(INITIAL_EVENTS_END);
            if is_mark {
                is_end = false;
            }
            if is_mark && self.cursor.kind()? == JsonKind::String {
                is_end = self.cursor.string()?.eq_str("true");
            } else {
                self.cursor.skip_value(depth.saturating_sub(1))?;
            }
        }
        Ok(is_end)
    }
}

/// The members of a JSON object whose values are strings: labels, annotations.
///
/// ```
/// use informer_core::decode::json::header::Pairs;
///
/// let mut pairs = Pairs::of(br#"{"app": "web", "broken": 1, "tier": "db"}"#);
/// assert!(pairs.next().is_some_and(|(key, value)| key.eq_str("app") && value.eq_str("web")));
/// assert!(pairs.next().is_some_and(|(key, _)| key.eq_str("tier")));
/// assert!(pairs.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Pairs<'a> {
    cursor: JsonCursor<'a>,
    members: Option<Members>,
}

impl<'a> Pairs<'a> {
    /// The members of the object `json`; none if it is something else. What is not valid ends them.
    #[must_use]
    pub const fn of(json: &'a [u8]) -> Self {
        Self {
            cursor: JsonCursor::new(json),
            members: None,
        }
    }

    /// The members of the member `name` of the object `json`.
    #[cfg(feature = "alloc")]
    pub(in crate::decode) fn of_member(json: &'a [u8], name: &str) -> Self {
        Self::of(member(json, name).ok().flatten().unwrap_or_default())
    }

    fn step(&mut self) -> Result<Option<(JsonStr<'a>, Option<JsonStr<'a>>)>, TextError> {
        let members = match &mut self.members {
            Some(members) => members,
            none => none.insert(self.cursor.enter_object(usize::MAX)?),
        };
        let Some(name) = members.next(&mut self.cursor)? else {
            return Ok(None);
        };
        if self.cursor.kind()? == JsonKind::String {
            return Ok(Some((name, Some(self.cursor.string()?))));
        }
        self.cursor.skip_value(usize::MAX)?;
        Ok(Some((name, None)))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (JsonStr<'a>, JsonStr<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.step() {
                Ok(Some((name, Some(value)))) => return Some((name, value)),
                Ok(Some((_, None))) => {}
                Ok(None) | Err(_) => {
                    self.cursor = JsonCursor::new(&[]);
                    return None;
                }
            }
        }
    }
}

/// The text of the member `name` of the object `json`.
#[cfg(feature = "alloc")]
fn member<'a>(json: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, TextError> {
    let mut found = None;
    let mut cursor = JsonCursor::new(json);
    let mut members = cursor.enter_object(MAX_DEPTH)?;
    while let Some(key) = members.next(&mut cursor)? {
        let value = cursor.skip_value(MAX_DEPTH)?;
        if key.eq_str(name) {
            found = Some(value);
        }
    }
    Ok(found)
}

/// Why an object cannot be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HeaderError {
    /// It is something else than an object.
    NotAnObject,
    /// It is not valid JSON, or nested too deeply.
    Text(TextError),
    /// There is no `metadata`, or it is not an object.
    NoMetadata,
    /// There is no `metadata.name`, or it is empty.
    NoName,
    /// `metadata.name` or `metadata.namespace` is longer than [`MAX_NAME`].
    NameTooLong,
    /// Something that must be a string, or consist of strings, is something else.
    NotText {
        /// What it is.
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
