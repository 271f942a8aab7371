//! One line of a watch: its type and its object.
//!
//! ```
//! use informer_core::decode::json::envelope::{Envelope, EventType};
//!
//! let envelope = Envelope::read(br#"{"type":"ADDED","object":{"kind":"Pod"}}"#)?;
//! assert_eq!(envelope.event, EventType::Added);
//! assert_eq!(envelope.object, br#"{"kind":"Pod"}"#);
//! # Ok::<(), informer_core::decode::json::envelope::EnvelopeError>(())
//! ```

use core::fmt;

use memchr::memchr;

use super::text::{JsonCursor, JsonKind, JsonStr, TextError};

/// What an event says about its object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a new type is an `Unknown` one")]
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
    /// Anything else.
    Unknown(JsonStr<'a>),
}

impl<'a> EventType<'a> {
    fn of(name: JsonStr<'a>) -> Self {
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

/// One event of a watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// What happened.
    pub event: EventType<'a>,
    /// The text of the object, not looked into; empty if there is none.
    pub object: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Reads a line, its members in any order.
    ///
    /// # Errors
    ///
    /// If the line is not a JSON object with a `type`. The object within is judged by its quotes and
    /// brackets alone: if something else is wrong with it, that is not a matter of the envelope.
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

    /// Reads a line of the shape that every server sends, without looking for the end of the object.
    ///
    /// If the result's `object` is one valid JSON object, then [`read`](Self::read) would give the
    /// same; if it is not, ask `read`. Whoever validates the object anyway saves a pass.
    #[must_use]
    pub fn guess(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(br#"{"type":"#)?;
        let end = memchr(b'"', rest.get(1..)?)? + 2;
        let (name, rest) = rest.split_at_checked(end)?;
        let event = EventType::of(JsonCursor::new(name).string().ok()?);
        let object = rest.strip_prefix(br#","object":"#)?;
        let object = without_white(object).strip_suffix(b"}")?;
        // White space around the object belongs to the line, not to the object.
        let is_bare = object.starts_with(b"{") && object.ends_with(b"}");
        is_bare.then_some(Self { event, object })
    }

    /// What can be read of a line that was cut off or is broken: its type, and the beginning of its
    /// object.
    #[must_use]
    pub fn of_prefix(line: &'a [u8]) -> Option<Self> {
        let mut found = Found::default();
        // An error only tells where reading had to stop.
        let _ = found.fill(&mut JsonCursor::new(line));
        found.envelope()
    }
}

/// `text` without the white space of JSON at its end.
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
                    self.event = Some(EventType::of(cursor.string()?));
                } else {
                    cursor.skip_extent()?;
                }
            } else if name.eq_str("object") {
                cursor.skip_white();
                // All that is left, should the end of the object be missing.
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

/// Why a line is no event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// The line is something else than an object.
    NotAnObject,
    /// The line is not valid JSON.
    Text(TextError),
    /// There is no `type`, or it is not a string.
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
    fn a_guess_equals_the_reading_of_a_usual_line() {
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
    fn a_type_that_is_not_known_is_kept() {
        let envelope = Envelope::read(br#"{"type":"PATCHED","object":{}}"#).unwrap();
        let EventType::Unknown(name) = envelope.event else {
            unreachable!("{envelope:?}");
        };
        assert!(name.eq_str("PATCHED"));
    }

    #[test]
    fn what_is_no_event_says_why() {
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
    fn a_cut_line_still_has_a_type_and_the_beginning_of_its_object() {
        let envelope =
            Envelope::of_prefix(br#"{"type":"DELETED","object":{"metadata":{"na"#).unwrap();
        assert_eq!(envelope.event, EventType::Deleted);
        assert_eq!(envelope.object, br#"{"metadata":{"na"#);
        assert_eq!(Envelope::of_prefix(br#"{"type":"DELE"#), None);
    }
}
