//! One line of a watch: its type and its object.

use core::fmt;

use memchr::memchr;

use super::text::{JsonCursor, JsonKind, JsonStr, TextError};

/// The type of a watch event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "`Unknown` covers new types")]
pub enum EventType<'a> {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
    /// `BOOKMARK`
    Bookmark,
    /// `ERROR`
    Error,
    /// Any other type.
    Unknown(JsonStr<'a>),
}

impl<'a> EventType<'a> {
    fn from_name(name: JsonStr<'a>) -> Self {
        let known = [
            ("ADDED", Self::Added),
            ("MODIFIED", Self::Modified),
            ("DELETED", Self::Deleted),
            ("BOOKMARK", Self::Bookmark),
            ("ERROR", Self::Error),
        ];
        known
            .into_iter()
            .find_map(|(text, event)| name.eq_str(text).then_some(event))
            .unwrap_or(Self::Unknown(name))
    }
}

/// One event of a watch: a line with a type and an object.
///
/// ```
/// use informer_core::decode::json::envelope::{Envelope, EventType};
///
/// let envelope = Envelope::read(br#"{"type":"ADDED","object":{"kind":"Pod"}}"#)?;
/// assert_eq!(envelope.event, EventType::Added);
/// assert_eq!(envelope.object, br#"{"kind":"Pod"}"#);
/// # Ok::<(), informer_core::decode::json::envelope::EnvelopeError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// The type of the event.
    pub event: EventType<'a>,
    /// The text of the object, not checked; empty if there is none.
    pub object: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads a line. Its members may come in any order.
    ///
    /// # Errors
    ///
    /// The line is not a JSON object with a `type`. Of the object inside, only quotes and brackets
    /// are checked.
    pub fn read(line: &'a [u8]) -> Result<Self, EnvelopeError> {
        let mut cursor = JsonCursor::new(line);
        if cursor.kind() != Ok(JsonKind::Object) {
            return Err(EnvelopeError::NotAnObject);
        }
        let mut found = Found::default();
        found.fill(&mut cursor)?;
        cursor.end()?;
        found.envelope().ok_or(EnvelopeError::NoType)
    }

    /// Reads a line of the usual shape, without looking for the end of the object.
    ///
    /// If `object` in the result is one valid JSON object, [`read`](Self::read) returns the same.
    /// If not, call `read`. This saves a pass if you validate the object anyway.
    #[must_use]
    pub fn guess(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":"#)?;
        let end = memchr(b'"', rest.get(1..)?)? + 2;
        let (name, rest) = rest.split_at_checked(end)?;
        let event = EventType::from_name(JsonCursor::new(name).string().ok()?);
        let object = rest.strip_prefix(br#","object":"#)?;
        let object = without_white(object).strip_suffix(b"}")?;
        // White space around the object belongs to the line, not to the object.
        let is_bare = object.starts_with(b"{") && object.ends_with(b"}");
        is_bare.then_some(Self { event, object })
    }

    /// Reads what it can of a line that is cut or broken: its type, and the start of its object.
    #[must_use]
    pub fn from_prefix(line: &'a [u8]) -> Option<Self> {
        let mut found = Found::default();
        // The error only says where reading stopped.
        let _ = found.fill(&mut JsonCursor::new(line));
        found.envelope()
    }
}

/// Removes the white space of JSON from the end.
const fn without_white(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b' ' | b'\t' | b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}

#[derive(Default)]
struct Found<'a> {
    event: Option<EventType<'a>>,
    object: &'a [u8],
}

impl<'a> Found<'a> {
    fn fill(&mut self, cursor: &mut JsonCursor<'a>) -> Result<(), TextError> {
        let mut members = cursor.enter_object(usize::MAX)?;
        while let Some(name) = members.next(cursor)? {
            if name.eq_str("type") {
                self.event = None;
                if cursor.kind()? == JsonKind::String {
                    self.event = Some(EventType::from_name(cursor.string()?));
                } else {
                    cursor.skip_extent()?;
                }
            } else if name.eq_str("object") {
                cursor.skip_white();
                // If the end of the object is missing, take the rest.
                self.object = cursor.rest();
                self.object = cursor.skip_extent()?;
            } else {
                cursor.skip_extent()?;
            }
        }
        Ok(())
    }

    fn envelope(self) -> Option<Envelope<'a>> {
        let object = self.object;
        self.event.map(|event| Envelope { event, object })
    }
}

/// Why a line is not an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The line is not a JSON object.
    NotAnObject,
    /// The line is not valid JSON.
    Text(TextError),
    /// `type` is missing or not a string.
    NoType,
}

impl From<TextError> for EnvelopeError {
    fn from(error: TextError) -> Self {
        Self::Text(error)
    }
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("not a JSON object"),
            Self::Text(error) => error.fmt(f),
            Self::NoType => f.write_str("`type` is missing or not a string"),
        }
    }
}

impl core::error::Error for EnvelopeError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Text(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_any_order_and_the_last_one_counts() {
        let line =
            br#" { "object" : {"a":"}"} , "x":[1], "type" : "ADDED", "type":"DELET\u0045D" } "#;
        let envelope = Envelope::read(line).unwrap();
        assert_eq!(envelope.event, EventType::Deleted);
        assert_eq!(envelope.object, br#"{"a":"}"}"#);
        assert_eq!(Envelope::guess(line), None);
    }

    #[test]
    fn a_guess_equals_a_reading_of_a_usual_line() {
        for line in [
            &br#"{"type":"MODIFIED","object":{"a":[{}]}}"#[..],
            b"{\"type\":\"BOOKMARK\",\"object\":{}} \r",
            br#"{"type":"PATCHED","object":{}}"#,
        ] {
            assert_eq!(Envelope::guess(line), Envelope::read(line).ok(), "{line:?}");
        }
    }

    #[test]
    fn a_line_of_another_shape_is_not_guessed() {
        for line in [
            &br#"{"type":"ADDED","object": {}}"#[..],
            br#"{"type":"ADDED","object":{} }"#,
            b"{\"type\":\"ADDED\",\"object\":{}}\x0c",
        ] {
            assert_eq!(Envelope::guess(line), None, "{line:?}");
        }
    }

    #[test]
    fn an_unknown_type_is_kept() {
        let envelope = Envelope::read(br#"{"type":"PATCHED","object":{}}"#).unwrap();
        let EventType::Unknown(name) = envelope.event else {
            unreachable!("{envelope:?}");
        };
        assert!(name.eq_str("PATCHED"));
    }

    #[test]
    fn a_line_that_is_not_an_event_says_why() {
        for (line, error) in [
            (&b"<html>"[..], EnvelopeError::NotAnObject),
            (b"[]", EnvelopeError::NotAnObject),
            (b"{}", EnvelopeError::NoType),
            (br#"{"type":1,"object":{}}"#, EnvelopeError::NoType),
            (
                br#"{"type":"ADDED"} x"#,
                TextError::Syntax { at: 17 }.into(),
            ),
            (
                br#"{"type":"ADDED","object":{"#,
                TextError::Syntax { at: 26 }.into(),
            ),
        ] {
            assert_eq!(Envelope::read(line), Err(error), "{line:?}");
        }
    }

    #[test]
    fn a_cut_line_has_a_type_and_the_start_of_its_object() {
        let envelope =
            Envelope::from_prefix(br#"{"type":"DELETED","object":{"metadata":{"na"#).unwrap();
        assert_eq!(envelope.event, EventType::Deleted);
        assert_eq!(envelope.object, br#"{"metadata":{"na"#);
        assert_eq!(Envelope::from_prefix(br#"{"type":"DELE"#), None);
    }
}
