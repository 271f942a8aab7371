//! The labels and annotations of an object.

use crate::decode::json::text::{JsonCursor, JsonKind, JsonStr, Members, TextError};

/// The members of a JSON object whose values are strings, such as labels and annotations.
///
/// ```
/// use informer_core::decode::json::header::Pairs;
///
/// let mut pairs = Pairs::new(br#"{"app": "web", "broken": 1, "tier": "db"}"#);
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
    /// The members of the object `json`; none if it is not an object. Invalid JSON ends the
    /// iteration.
    #[must_use]
    pub const fn new(json: &'a [u8]) -> Self {
        Self {
            cursor: JsonCursor::new(json),
            members: None,
        }
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
