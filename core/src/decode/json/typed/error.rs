//! Why a text does not fit a type, and where.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::{self, Display};

use serde::de;

use super::reader::Text;
use crate::decode::json::text::TextError;

/// Why a JSON text does not fit a type: the path of the value, and what is wrong with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::decode) struct TypeError(Box<Wrong>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Wrong {
    path: String,
    text: String,
}

impl TypeError {
    /// The same error in a member with this name.
    #[cold]
    pub(super) fn in_member(self, name: Text<'_>) -> Self {
        self.under(&name.to_cow())
    }

    /// The same error in this element.
    #[cold]
    pub(super) fn in_element(self, index: usize) -> Self {
        self.under(&format!("[{index}]"))
    }

    /// Puts a step before the path.
    fn under(mut self, step: &str) -> Self {
        let path = &self.0.path;
        let dot = if path.is_empty() || path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.0.path = format!("{step}{dot}{path}");
        self
    }
}

impl Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "{}: ", self.0.path)?;
        }
        f.write_str(&self.0.text)
    }
}

impl core::error::Error for TypeError {}

impl de::Error for TypeError {
    #[cold]
    fn custom<T: Display>(text: T) -> Self {
        Self(Box::new(Wrong {
            path: String::new(),
            text: text.to_string(),
        }))
    }
}

impl From<TextError> for TypeError {
    #[cold]
    fn from(error: TextError) -> Self {
        de::Error::custom(error)
    }
}
