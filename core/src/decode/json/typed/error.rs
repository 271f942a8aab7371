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
    /// The same error, one level further out.
    #[cold]
    pub(super) fn in_member(mut self, name: Text<'_>) -> Self {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.0.path = format!("{}{dot}{}", name.to_cow(), self.0.path);
        self
    }

    /// The same error, one level further out.
    #[cold]
    pub(super) fn in_element(mut self, index: usize) -> Self {
        let dot = if self.0.path.is_empty() || self.0.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.0.path = format!("[{index}]{dot}{}", self.0.path);
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
