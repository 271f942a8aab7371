//! Values that are skipped, and still checked.

use super::arrays::Arrays;
use super::nesting::Nesting;
use super::string;
use super::{JsonCursor, JsonKind, TextError};

impl<'a> JsonCursor<'a> {
    /// Skips a value and returns its text.
    ///
    /// # Errors
    ///
    /// The value is not valid, or is nested `depth` levels deep or deeper.
    pub fn skip_value(&mut self, depth: usize) -> Result<&'a [u8], TextError> {
        self.skip_counting(depth, &mut ())
    }

    /// Skips a value, returns its text and reports its arrays.
    pub(in crate::decode::json) fn skip_counting(
        &mut self,
        depth: usize,
        arrays: &mut impl Arrays,
    ) -> Result<&'a [u8], TextError> {
        self.skip_white();
        let start = self.at;
        match self.peek() {
            Some(b'{' | b'[') => {
                let behind = behind_nested(self.rest(), start, depth, arrays)?;
                self.at = self.text.len() - behind.len();
            }
            _ => self.skip_scalar()?,
        }
        Ok(self.slice(start..self.at))
    }

    #[inline(always)]
    fn skip_scalar(&mut self) -> Result<(), TextError> {
        match self.kind()? {
            JsonKind::String => self.scan_string().map(|_| ()),
            JsonKind::Number => self.scan_number(),
            JsonKind::Bool => self.bool().map(|_| ()),
            JsonKind::Null => self.literal(b"null"),
            JsonKind::Object | JsonKind::Array => Err(self.syntax()),
        }
    }
}

/// Where in a text a walk is, for those who ask.
#[derive(Clone, Copy)]
struct Place {
    /// The end of the text.
    end: usize,
}

impl Place {
    /// The position of the text that is left.
    #[inline(always)]
    const fn of(self, left: &[u8]) -> usize {
        self.end - left.len()
    }

    fn syntax<T>(self, left: &[u8]) -> Result<T, TextError> {
        Err(TextError::Syntax { at: self.of(left) })
    }

    /// Goes on with a cursor and returns what it leaves.
    fn walk<'a>(
        self,
        left: &'a [u8],
        by: impl FnOnce(&mut JsonCursor<'a>) -> Result<(), TextError>,
    ) -> Result<&'a [u8], TextError> {
        let mut cursor = JsonCursor::new(left);
        match by(&mut cursor) {
            Ok(()) => Ok(cursor.rest()),
            Err(error) => Err(error.behind(self.of(left))),
        }
    }
}

/// What is left after the array or object that `left` begins with, `at` bytes into its text.
///
/// An object has hundreds of members, so this is one loop over local variables, which stay in
/// registers. What is rare is in functions of its own, and white space is rare.
fn behind_nested<'a>(
    mut left: &'a [u8],
    at: usize,
    depth: usize,
    arrays: &mut impl Arrays,
) -> Result<&'a [u8], TextError> {
    let place = Place {
        end: at + left.len(),
    };
    let (mut open, mut outer) = Nesting::new(depth);
    loop {
        // A value begins here.
        match left {
            [b'"', ..] => {
                left = match string::short_and_plain(left) {
                    Some((_, behind)) => behind,
                    None => behind_scalar(left, place)?,
                }
            }
            [b'{', inside @ ..] => {
                if !open.push(true, &mut outer) {
                    return Err(TextError::TooDeep { at: place.of(left) });
                }
                left = inside;
                if left.first() != Some(&b'}') {
                    if let Some(behind) = behind_plain_name(left) {
                        left = behind;
                        continue;
                    }
                    left = behind_white(left);
                    if left.first() != Some(&b'}') {
                        left = behind_any_name(left, place)?;
                        continue;
                    }
                }
                if let [b'}', behind @ ..] = left {
                    left = behind;
                    if !open.pop(&mut outer) {
                        return Ok(left);
                    }
                }
            }
            [b'[', inside @ ..] => {
                if !open.push(false, &mut outer) {
                    return Err(TextError::TooDeep { at: place.of(left) });
                }
                arrays.open(place.of(left));
                left = behind_white(inside);
                let [b']', behind @ ..] = left else {
                    continue;
                };
                arrays.close(false);
                left = behind;
                if !open.pop(&mut outer) {
                    return Ok(left);
                }
            }
            _ => {
                let behind = behind_white(left);
                if behind.len() < left.len() {
                    left = behind;
                    continue;
                }
                left = behind_scalar(left, place)?;
            }
        }
        // It has ended; the arrays and objects around it may end too.
        loop {
            match (left, open.is_object()) {
                ([b',', behind @ ..], true) => {
                    left = match behind_plain_name(behind) {
                        Some(behind) => behind,
                        None => behind_any_name(behind, place)?,
                    };
                    break;
                }
                ([b',', behind @ ..], false) => {
                    left = behind;
                    arrays.comma();
                    break;
                }
                ([b'}', behind @ ..], true) => {
                    left = behind;
                    if !open.pop(&mut outer) {
                        return Ok(left);
                    }
                }
                ([b']', behind @ ..], false) => {
                    left = behind;
                    arrays.close(true);
                    if !open.pop(&mut outer) {
                        return Ok(left);
                    }
                }
                _ => {
                    let behind = behind_white(left);
                    if behind.len() == left.len() {
                        return place.syntax(left);
                    }
                    left = behind;
                }
            }
        }
    }
}

#[inline(never)]
fn behind_white(left: &[u8]) -> &[u8] {
    let mut cursor = JsonCursor::new(left);
    cursor.skip_white();
    cursor.rest()
}

/// What is left after a name and its colon, if the name is short and plain and no white space is there.
#[inline(always)]
fn behind_plain_name(left: &[u8]) -> Option<&[u8]> {
    match string::short_and_plain(left)? {
        (_, [b':', behind @ ..]) => Some(behind),
        _ => None,
    }
}

#[inline(never)]
fn behind_any_name(left: &[u8], place: Place) -> Result<&[u8], TextError> {
    place.walk(left, |cursor| {
        cursor.any_string()?;
        cursor.byte(b':')
    })
}

/// What is left after a string, number, boolean or null.
#[inline(never)]
fn behind_scalar(left: &[u8], place: Place) -> Result<&[u8], TextError> {
    place.walk(left, JsonCursor::skip_scalar)
}
