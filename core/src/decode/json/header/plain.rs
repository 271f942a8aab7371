//! Labels that can be read again without a parser.

use crate::decode::json::text::JsonStr;

/// Finds out whether labels are sorted, no key is repeated, and there are neither escapes nor white space.
/// Servers write them like that.
pub(in crate::decode) struct PlainLabels<'a> {
    last: &'a [u8],
    /// The length of the text, if it is like that so far: an opening brace and, for each label, four quotes, a
    /// colon, and a comma or the closing brace.
    length: Option<usize>,
}

impl<'a> PlainLabels<'a> {
    pub(in crate::decode) const fn new() -> Self {
        Self {
            last: &[],
            length: Some(1),
        }
    }

    pub(in crate::decode) fn add(&mut self, key: JsonStr<'a>, value: JsonStr<'a>) {
        self.length = self.length_with(key, value);
        self.last = key.plain_bytes().unwrap_or_default();
    }

    fn length_with(&self, key: JsonStr<'a>, value: JsonStr<'a>) -> Option<usize> {
        let length = self.length?;
        let (key, value) = (key.plain_bytes()?, value.plain_bytes()?);
        (self.last < key).then_some(length + key.len() + value.len() + 6)
    }

    /// Whether `text` consists of these labels, and there are any.
    pub(in crate::decode) fn are_all_of(&self, text: &[u8]) -> bool {
        self.length == Some(text.len())
    }
}
