//! The large parts of an object, which are passed without being read.

#[cfg(feature = "alloc")]
use crate::decode::json::text::Familiar;
use crate::decode::json::text::{Arrays, JsonCursor, TextError};

/// A part of an object of which only the place matters here.
#[derive(Clone, Copy, Debug)]
pub(in crate::decode::json) enum Part {
    ManagedFields,
    Spec,
    Status,
}

/// Passes the parts of objects, and checks them.
pub(in crate::decode::json) trait Parts {
    fn pass(
        &mut self,
        part: Part,
        cursor: &mut JsonCursor<'_>,
        depth: usize,
        arrays: &mut impl Arrays,
    ) -> Result<(), TextError>;
}

/// Walks each part.
impl Parts for () {
    fn pass(
        &mut self,
        _: Part,
        cursor: &mut JsonCursor<'_>,
        depth: usize,
        arrays: &mut impl Arrays,
    ) -> Result<(), TextError> {
        cursor.skip_counting(depth, arrays).map(drop)
    }
}

/// Parts of earlier objects. Those that are `None` are walked.
#[cfg(feature = "alloc")]
#[derive(Clone, Debug, Default)]
pub(in crate::decode::json) struct EarlierParts {
    pub(in crate::decode::json) managed_fields: Option<Familiar>,
    pub(in crate::decode::json) spec: Option<Familiar>,
    pub(in crate::decode::json) status: Option<Familiar>,
}

#[cfg(feature = "alloc")]
impl Parts for EarlierParts {
    fn pass(
        &mut self,
        part: Part,
        cursor: &mut JsonCursor<'_>,
        depth: usize,
        arrays: &mut impl Arrays,
    ) -> Result<(), TextError> {
        let earlier = match part {
            Part::ManagedFields => &mut self.managed_fields,
            Part::Spec => &mut self.spec,
            Part::Status => &mut self.status,
        };
        match earlier {
            Some(earlier) => cursor.skip_familiar(depth, arrays, earlier),
            None => cursor.skip_counting(depth, arrays).map(drop),
        }
    }
}
