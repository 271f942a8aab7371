//! What a form receives of an object in protobuf.

use alloc::borrow::Cow;
use core::ops::Range;

use super::header::Header;
use super::record;
use crate::decode::TypeMeta;

/// An object of a list or a watch: its message and its header.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProtobufObject<'a> {
    /// The message of the object. Its fields are framed correctly; only those of `metadata` were
    /// looked at.
    pub bytes: &'a [u8],
    /// The header of the object.
    pub header: &'a Header<'a>,
    /// The type of the object, which the list or the event states.
    pub type_meta: TypeMeta<'a>,
    /// Whether `managedFields` are not cut out.
    keeps_managed_fields: bool,
}

impl<'a> ProtobufObject<'a> {
    /// Creates an object whose header was read with [`Header::read`].
    #[must_use]
    pub const fn new(bytes: &'a [u8], header: &'a Header<'a>, type_meta: TypeMeta<'a>) -> Self {
        Self {
            bytes,
            header,
            type_meta,
            keeps_managed_fields: false,
        }
    }

    /// The same object. `managedFields` are kept if this form says so, or one around it.
    pub(in crate::decode) const fn keeping_managed_fields(self, keep: bool) -> Self {
        Self {
            keeps_managed_fields: self.keeps_managed_fields || keep,
            ..self
        }
    }

    /// Keeps the whole message, without `managedFields`.
    #[must_use]
    #[inline]
    pub fn whole(self) -> KeptProtobuf {
        KeptProtobuf::Whole { cut: self.cut() }
    }

    /// The message without `managedFields`, if they are not kept.
    #[must_use]
    pub fn message(self) -> Cow<'a, [u8]> {
        match self.cut() {
            None => Cow::Borrowed(self.bytes),
            Some(_) => Cow::Owned(record::without_managed_fields(self.bytes, self.header)),
        }
    }

    /// What is cut out of the message.
    #[inline]
    pub(super) fn cut(self) -> Option<Range<usize>> {
        let cut = self.header.managed_fields.clone();
        cut.filter(|_| !self.keeps_managed_fields)
    }
}

/// What an object keeps of its message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum KeptProtobuf {
    /// The whole message.
    #[non_exhaustive]
    Whole {
        /// The fields `managedFields`, which are cut out.
        cut: Option<Range<usize>>,
    },
    /// Only what stands beside a body of another type.
    #[non_exhaustive]
    Beside {
        /// Whether that includes annotations.
        annotations: bool,
    },
}

impl KeptProtobuf {
    /// Keeps at least the annotations.
    #[must_use]
    pub fn and_annotations(self) -> Self {
        match self {
            Self::Beside { .. } => Self::Beside { annotations: true },
            whole => whole,
        }
    }
}

impl Default for KeptProtobuf {
    fn default() -> Self {
        Self::Beside { annotations: false }
    }
}
