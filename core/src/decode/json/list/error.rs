//! Why a body is not a list.

use core::fmt;

use crate::decode::excerpt::{Beginning, Excerpt};

/// Why a body is not a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ListError {
    /// The body does not start with `{`.
    NotAnObject {
        /// The start of the body.
        found: Beginning,
    },
    /// The body is a Table, which `kubectl get` asks for.
    Table,
    /// The body is a Status.
    Status,
    /// The body is an object without `items`.
    NoItems {
        /// The kind of the object.
        kind: Option<Beginning>,
    },
    /// `items` is neither an array nor null.
    ItemsNotArray {
        /// The start of the value.
        found: Beginning,
    },
    /// `items` occurs twice.
    ItemsTwice,
    /// Invalid JSON.
    Unexpected {
        /// The position in the body.
        at: u64,
        /// What was expected.
        expected: &'static str,
        /// The byte that was found.
        found: u8,
    },
    /// A field of the list, outside of `items`, is not valid.
    Unreadable {
        /// The field.
        what: &'static str,
        /// The position in the body.
        at: u64,
    },
    /// A part of the list is too long.
    TooLong {
        /// The part.
        what: &'static str,
        /// The most bytes that it may have.
        longest: usize,
    },
    /// The body ended before the list was complete.
    Incomplete {
        /// The length of the body.
        bytes: u64,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject { found } => {
                write!(f, "the body is not a JSON object; it starts with: {found}")
            }
            Self::Table => f.write_str(
                "the body is a Table of meta.k8s.io, not a list; ask for plain `application/json`",
            ),
            Self::Status => f.write_str("the body is a Status, not a list"),
            Self::NoItems { kind: Some(kind) } => {
                write!(
                    f,
                    "the body is not a list: it has kind `{kind}` and no `items`"
                )
            }
            Self::NoItems { kind: None } => {
                f.write_str("the body is not a list: it has neither `kind` nor `items`")
            }
            Self::ItemsNotArray { found } => {
                write!(f, "`items` of the list is not an array but {found}")
            }
            Self::ItemsTwice => f.write_str("the list contains `items` twice"),
            Self::Unexpected {
                at,
                expected,
                found,
            } => write!(
                f,
                "the list is not valid JSON: expected {expected} at byte {at}, found `{}`",
                Excerpt(&[*found])
            ),
            Self::Unreadable { what, at } => {
                write!(f, "cannot read {what} of the list: error at byte {at}")
            }
            Self::TooLong { what, longest } => {
                write!(f, "{what} of the list is longer than {longest} bytes")
            }
            Self::Incomplete { bytes } => {
                write!(f, "the list ended at byte {bytes}, before it was complete")
            }
        }
    }
}

impl core::error::Error for ListError {}
