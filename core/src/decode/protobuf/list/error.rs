//! Why a body is not a list.

use core::fmt;

use crate::decode::excerpt::Beginning;
use crate::decode::protobuf::envelope::EnvelopeError;

/// Why a body is not a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ListError {
    /// The body does not start with the bytes that protobuf of Kubernetes starts with.
    NoMagic {
        /// The start of the body.
        found: Beginning,
    },
    /// The body is a Status.
    Status,
    /// The body has another kind.
    NotAList {
        /// The kind, if the body states it before its contents.
        kind: Option<Beginning>,
    },
    /// A part of the body is not valid protobuf.
    Unreadable {
        /// The part.
        what: &'static str,
        /// The position in the body.
        at: u64,
        /// What is wrong.
        error: EnvelopeError,
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
            Self::NoMagic { found } => write!(
                f,
                "the body is not protobuf of Kubernetes; it starts with: {found}"
            ),
            Self::Status => f.write_str("the body is a Status, not a list"),
            Self::NotAList { kind: Some(kind) } => {
                write!(f, "the body is not a list: it has kind `{kind}`")
            }
            Self::NotAList { kind: None } => {
                f.write_str("the body is not a list: it does not state its kind")
            }
            Self::Unreadable { what, at, error } => {
                write!(f, "cannot read {what} of the list at byte {at}: {error}")
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
