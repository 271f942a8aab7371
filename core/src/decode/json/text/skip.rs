//! Values that are skipped, and still checked.

use super::arrays::Arrays;
use super::nesting::{Nesting, Outer};
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
    pub(super) fn skip_scalar(&mut self) -> Result<(), TextError> {
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

/// Where a walk is, with the text that is left.
enum Walk<'a> {
    /// Before a value.
    Before(&'a [u8]),
    /// After a value; the arrays and objects around it may end too.
    After(&'a [u8]),
    /// After the outermost value.
    Done(&'a [u8]),
}

/// What is left after the array or object that `left` begins with, `at` bytes into its text.
///
/// An object has hundreds of members, so this is one loop over local variables, which stay in
/// registers. What is rare is in functions of its own, and white space is rare.
fn behind_nested<'a>(
    left: &'a [u8],
    at: usize,
    depth: usize,
    arrays: &mut impl Arrays,
) -> Result<&'a [u8], TextError> {
    let place = Place {
        end: at + left.len(),
    };
    let (mut open, mut outer) = Nesting::new(depth);
    let mut walk = Walk::Before(left);
    loop {
        walk = match walk {
            Walk::Before(left) => begin(left, place, &mut open, &mut outer, arrays)?,
            Walk::After(left) => finish(left, place, &mut open, &mut outer, arrays)?,
            Walk::Done(left) => return Ok(left),
        }
    }
}

/// Passes a scalar, or enters an array or object.
#[inline(always)]
fn begin<'a>(
    left: &'a [u8],
    place: Place,
    open: &mut Nesting,
    outer: &mut Outer,
    arrays: &mut impl Arrays,
) -> Result<Walk<'a>, TextError> {
    match left {
        [b'"', ..] => Ok(Walk::After(match string::short_and_plain(left) {
            Some((_, behind)) => behind,
            None => behind_scalar(left, place)?,
        })),
        [b'{', inside @ ..] => {
            if !open.push(true, outer) {
                return Err(TextError::TooDeep { at: place.of(left) });
            }
            if let [b'}', behind @ ..] = inside {
                return Ok(close(behind, open, outer));
            }
            if let Some(behind) = behind_plain_name(inside) {
                return Ok(Walk::Before(behind));
            }
            match behind_white(inside) {
                [b'}', behind @ ..] => Ok(close(behind, open, outer)),
                name => Ok(Walk::Before(behind_any_name(name, place)?)),
            }
        }
        [b'[', inside @ ..] => {
            if !open.push(false, outer) {
                return Err(TextError::TooDeep { at: place.of(left) });
            }
            arrays.open(place.of(left));
            match behind_white(inside) {
                [b']', behind @ ..] => {
                    arrays.close(false);
                    Ok(close(behind, open, outer))
                }
                element => Ok(Walk::Before(element)),
            }
        }
        _ => match behind_white(left) {
            behind if behind.len() < left.len() => Ok(Walk::Before(behind)),
            _ => Ok(Walk::After(behind_scalar(left, place)?)),
        },
    }
}

/// Goes on to the next member or element, or leaves the innermost array or object.
#[inline(always)]
fn finish<'a>(
    left: &'a [u8],
    place: Place,
    open: &mut Nesting,
    outer: &mut Outer,
    arrays: &mut impl Arrays,
) -> Result<Walk<'a>, TextError> {
    match (left, open.is_object()) {
        ([b',', behind @ ..], true) => Ok(Walk::Before(match behind_plain_name(behind) {
            Some(behind) => behind,
            None => behind_any_name(behind, place)?,
        })),
        ([b',', behind @ ..], false) => {
            arrays.comma();
            Ok(Walk::Before(behind))
        }
        ([b'}', behind @ ..], true) => Ok(close(behind, open, outer)),
        ([b']', behind @ ..], false) => {
            arrays.close(true);
            Ok(close(behind, open, outer))
        }
        _ => match behind_white(left) {
            behind if behind.len() < left.len() => Ok(Walk::After(behind)),
            _ => Err(TextError::Syntax { at: place.of(left) }),
        },
    }
}

/// Leaves the innermost array or object, of which nothing is left.
#[inline(always)]
fn close<'a>(behind: &'a [u8], open: &mut Nesting, outer: &mut Outer) -> Walk<'a> {
    if open.pop(outer) {
        Walk::After(behind)
    } else {
        Walk::Done(behind)
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
