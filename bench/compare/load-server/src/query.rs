//! The query of a request.

use std::str::FromStr;

/// Names and values. Nothing that this server understands needs to be unescaped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query<'a>(pub(crate) &'a str);

impl<'a> Query<'a> {
    /// A value that is not empty.
    pub(crate) fn get(self, name: &str) -> Option<&'a str> {
        let pairs = self.0.split('&').filter_map(|pair| pair.split_once('='));
        let mut values = pairs.filter(|(of, value)| *of == name && !value.is_empty());
        values.next().map(|(_, value)| value)
    }

    pub(crate) fn number<T: FromStr>(self, name: &str) -> Option<T> {
        self.get(name)?.parse().ok()
    }

    pub(crate) fn is_true(self, name: &str) -> bool {
        matches!(self.get(name), Some("true" | "1"))
    }
}
