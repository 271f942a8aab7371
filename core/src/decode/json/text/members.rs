//! The members of objects and the elements of arrays.

use super::{JsonCursor, JsonStr, MAX_DEPTH, TextError};

/// The members of an object that a cursor has entered.
#[derive(Clone, Debug, Default)]
pub struct Members {
    begun: bool,
    comma: Option<usize>,
}

impl Members {
    /// Moves to the value of the next member and returns its name; `None` at the end of the object.
    /// Skip or read the previous value first.
    ///
    /// # Errors
    ///
    /// The text is not valid.
    pub fn next<'a>(
        &mut self,
        cursor: &mut JsonCursor<'a>,
    ) -> Result<Option<JsonStr<'a>>, TextError> {
        if !self.more(cursor)? {
            return Ok(None);
        }
        let name = cursor.string()?;
        cursor.byte(b':')?;
        Ok(Some(name))
    }

    /// Goes to the name of the next member; `false` when the object has ended.
    #[inline]
    pub(in crate::decode::json) fn more(
        &mut self,
        cursor: &mut JsonCursor<'_>,
    ) -> Result<bool, TextError> {
        cursor.skip_white();
        if cursor.peek() == Some(b'}') {
            cursor.at += 1;
            return Ok(false);
        }
        if self.begun {
            self.comma = Some(cursor.at);
            cursor.byte(b',')?;
        }
        self.begun = true;
        Ok(true)
    }

    /// The position of the comma before the current member; `None` for the first member.
    #[must_use]
    pub const fn comma(&self) -> Option<usize> {
        self.comma
    }
}

/// The elements of an array that a cursor has entered.
#[derive(Clone, Debug, Default)]
pub struct Elements {
    begun: bool,
}

impl Elements {
    /// Moves to the next element; `false` at the end of the array. Skip or read the previous
    /// element first.
    ///
    /// # Errors
    ///
    /// The text is not valid.
    pub fn next(&mut self, cursor: &mut JsonCursor<'_>) -> Result<bool, TextError> {
        cursor.skip_white();
        if cursor.peek() == Some(b']') {
            cursor.at += 1;
            return Ok(false);
        }
        if self.begun {
            cursor.byte(b',')?;
        }
        self.begun = true;
        Ok(true)
    }
}

/// The text of the member `name` of the object `json`. If it is repeated, the last one counts.
pub(in crate::decode) fn last_member<'a>(
    json: &'a [u8],
    name: &str,
) -> Result<Option<&'a [u8]>, TextError> {
    let mut found = None;
    let mut cursor = JsonCursor::new(json);
    let mut members = cursor.enter_object(MAX_DEPTH)?;
    while let Some(member) = members.next(&mut cursor)? {
        let value = cursor.skip_extent()?;
        if member.eq_str(name) {
            found = Some(value);
        }
    }
    Ok(found)
}
