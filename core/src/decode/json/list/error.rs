//! Why a body is not a list.

use core::fmt;

use crate::decode::excerpt::{Beginning, Excerpt};

/// Why a body is not a list that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ListError {
    /// The body does not begin with `{`.
    NotAnObject {
        /// How it begins.
        found: Beginning,
    },
    /// The body is the Table that `kubectl get` asks for.
    Table,
    /// The body is a Status.
    Status,
    /// The body is an object without `items`.
    NoItems {
        /// Its kind.
        kind: Option<Beginning>,
    },
    /// `items` is neither an array nor null.
    ItemsNotArray {
        /// How it begins.
        found: Beginning,
    },
    /// There are two members `items`.
    ItemsTwice,
    /// Something else was expected here.
    Unexpected {
        /// The place in the body.
        at: u64,
        /// What was expected.
        expected: &'static str,
        /// What was found.
        found: u8,
    },
    /// Something that the list says about itself is not valid.
    Unreadable {
        /// What it is.
        what: &'static str,
        /// The place in the body.
        at: u64,
    },
    /// Something that the list says about itself is too long to be kept.
    TooLong {
        /// What it is.
        what: &'static str,
        /// The most bytes that are kept.
        longest: usize,
    },
    /// The body ended before the list did.
    Incomplete {
        /// The length of the body.
        bytes: u64,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject { found } => {
                write!(f, "the body is not a JSON object, it begins with: {found}")
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
            Self::ItemsTwice => f.write_str("the list has two members `items`"),
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
                write!(f, "{what} of the list cannot be read: error at byte {at}")
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
