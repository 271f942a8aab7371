//! What is in an object or array that a cursor has entered, one after the other.

use super::{JsonCursor, JsonStr, TextError};

/// The members of an object that a cursor has entered.
#[derive(Clone, Debug, Default)]
pub struct Members {
    begun: bool,
    comma: Option<usize>,
}

impl Members {
    /// Goes to the value of the next member and gives its name; `None` when the object has ended.
    /// The value of the member before must have been passed.
    ///
    /// # Errors
    ///
    /// If the text is not valid.
    pub fn next<'a>(
        &mut self,
        cursor: &mut JsonCursor<'a>,
    ) -> Result<Option<JsonStr<'a>>, TextError> {
        cursor.skip_white();
        if cursor.peek() == Some(b'}') {
            cursor.at += 1;
            return Ok(None);
        }
        if self.begun {
            self.comma = Some(cursor.at);
            cursor.byte(b',')?;
        }
        self.begun = true;
        let name = cursor.string()?;
        cursor.byte(b':')?;
        Ok(Some(name))
    }

    /// Where the comma before the present member stands; `None` for the first member.
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
    /// Goes to the next element; `false` when the array has ended. The element before must have been
    /// passed.
    ///
    /// # Errors
    ///
    /// If the text is not valid.
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
