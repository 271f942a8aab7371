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
        if let Some(end) = string::plain_end(self.text, start) {
            self.at = end;
            return Ok(self.slice(start..end));
        }
        let mut open = Nesting::new(depth);
        loop {
            if !self.begin_value(&mut open, arrays)? {
                continue;
            }
            // A value has ended; the arrays and objects around it may end too.
            loop {
                let Some(in_object) = open.innermost() else {
                    return Ok(self.slice(start..self.at));
                };
                match (self.peek(), in_object) {
                    (Some(b','), true) => {
                        self.at += 1;
                        self.skip_name()?;
                        break;
                    }
                    (Some(b','), false) => {
                        self.at += 1;
                        arrays.comma();
                        break;
                    }
                    (Some(b'}'), true) => {
                        self.at += 1;
                        open.pop();
                    }
                    (Some(b']'), false) => {
                        self.at += 1;
                        open.pop();
                        arrays.close(true);
                    }
                    (Some(b' ' | b'\n' | b'\r' | b'\t'), _) => self.at += 1,
                    _ => return Err(self.syntax()),
                }
            }
        }
    }

    /// Skips a scalar or an empty array or object and returns `true`. Otherwise moves to the first
    /// value inside, pushes a level to `open` and returns `false`.
    #[inline(always)]
    fn begin_value(
        &mut self,
        open: &mut Nesting,
        arrays: &mut impl Arrays,
    ) -> Result<bool, TextError> {
        if let Some(end) = string::plain_end(self.text, self.at) {
            self.at = end;
            return Ok(true);
        }
        let kind = self.kind()?;
        let close = match kind {
            JsonKind::Object => b'}',
            JsonKind::Array => b']',
            _ => return self.skip_scalar(kind).map(|()| true),
        };
        if !open.push(kind == JsonKind::Object) {
            return Err(TextError::TooDeep { at: self.at });
        }
        if kind == JsonKind::Array {
            arrays.open(self.at);
        }
        self.at += 1;
        self.skip_white();
        if self.peek() == Some(close) {
            self.at += 1;
            open.pop();
            if kind == JsonKind::Array {
                arrays.close(false);
            }
            return Ok(true);
        }
        if kind == JsonKind::Object {
            self.skip_name()?;
        }
        Ok(false)
    }

    #[inline(never)]
    fn skip_scalar(&mut self, kind: JsonKind) -> Result<(), TextError> {
        match kind {
            JsonKind::String => self.scan_string().map(|_| ()),
            JsonKind::Number => self.scan_number(),
            JsonKind::Bool => self.bool().map(|_| ()),
            _ => self.literal(b"null"),
        }
    }

    /// Skips the name of a member and the colon after it.
    ///
    /// Nearly every name is short and plain, and its colon follows at once. This much is inlined, so that
    /// the constants of the search stay in registers.
    #[inline(always)]
    fn skip_name(&mut self) -> Result<(), TextError> {
        if let Some(end) = string::plain_end(self.text, self.at)
            && self.text.get(end) == Some(&b':')
        {
            self.at = end + 1;
            return Ok(());
        }
        self.skip_any_name()
    }

    #[inline(never)]
    fn skip_any_name(&mut self) -> Result<(), TextError> {
        self.skip_white();
        self.scan_string()?;
        self.byte(b':')
    }
}
