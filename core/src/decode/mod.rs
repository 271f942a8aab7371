//! From bytes to facts.
//!
//! A decoder is fed the body of an answer in pieces of any size and states one [`Fact`] at a time.
//! None of it can fail a call: what cannot be read becomes a rejected object or a failed answer.
//!
//! An [`Encoding`] is a folder with its framing, header, form and status: [`json`]. What all of them
//! have in common is here: facts and their wording, limits, forms, the class of a failure.

// Lists and watches in JSON.
pub mod json;

// Parts of a body that belong together, across chunk borders.
pub mod frame;

// The beginning of something that is not what we expected.
mod excerpt;

// What a Status says to `Failure`.
mod status;

// Unsuccessful answers to `Failure` and a text.
#[cfg(feature = "alloc")]
pub mod answer;

// The forms in which an object's body is kept.
#[cfg(feature = "alloc")]
pub mod form;

// Bodies that are kept as they came.
#[cfg(feature = "alloc")]
mod body;

// Fields of an object by their paths.
#[cfg(feature = "alloc")]
mod fields;

// Facts, in the same words for every encoding.
#[cfg(feature = "alloc")]
mod facts;

// What decodes an answer, by its encoding.
#[cfg(feature = "alloc")]
mod decoder;

use core::fmt;

use crate::encoding::Encoding;
use crate::flow::Fact;
use crate::object::Resource;

#[cfg(feature = "alloc")]
pub use body::{LeanBody, MetadataBody, TextBody};
#[cfg(feature = "alloc")]
pub use decoder::Decoder;
pub use excerpt::Beginning;
#[cfg(feature = "alloc")]
pub use fields::{FieldPath, FieldPathError, Fields, Scalar};
#[cfg(feature = "json")]
pub use form::{Dynamic, Typed};
#[cfg(feature = "alloc")]
pub use form::{Form, Lean, MetadataOnly, WithoutManagedFields};
#[cfg(feature = "alloc")]
pub use json::reading::decode_object;

/// What kind of body follows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "these are the two kinds the protocol knows"
)]
pub enum Body {
    /// One List object.
    List,
    /// One event per line.
    Watch,
}

/// Bounds on what a server may make a decoder hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "public fields are its interface")]
pub struct Limits {
    /// The most bytes of one object. A larger one is skipped and reported as rejected; one more than
    /// twice as large ends a watch, and one above 32 MiB and twice as large a list, as its end may never
    /// come. Default 16 MiB, an order above what etcd
    /// stores; too small a value hides real objects.
    pub object_bytes: usize,
    /// The deepest nesting of one object. Default 128, as serde_json has it.
    pub depth: usize,
}

impl Limits {
    /// The defaults.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            object_bytes: 16 << 20,
            depth: 128,
        }
    }

    #[cfg(feature = "alloc")]
    const fn check(&self) -> Result<(), InvalidLimit> {
        if self.object_bytes == 0 {
            return Err(InvalidLimit("object_bytes"));
        }
        if self.depth == 0 || self.depth > json::text::MAX_DEPTH {
            return Err(InvalidLimit("depth"));
        }
        Ok(())
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// This one of the [`Limits`] is zero or too large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidLimit(&'static str);

impl fmt::Display for InvalidLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the limit `{}` is zero or too large", self.0)
    }
}

impl core::error::Error for InvalidLimit {}

/// What a list tells about the type of its elements; all unknown for an object of a watch, which
/// tells it itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "this is what Kubernetes calls TypeMeta"
)]
pub struct TypeMeta<'a> {
    /// `apiVersion` of the list.
    pub api_version: Option<&'a str>,
    /// `kind` of the list without its ending `List`.
    pub kind: Option<&'a str>,
}

/// Something that turns the body of an answer into facts.
pub trait Decode {
    /// What it decodes objects to.
    type Object: Resource + Clone;

    /// A new body begins, in this encoding; what is left of the one before is forgotten. If the decoder
    /// does not know the encoding, the only fact of the body is a [`Fact::Failed`] that says so.
    fn begin(&mut self, body: Body, encoding: Encoding);

    /// Takes bytes off the front of `input` up to the end of one fact, and states it. `None` means
    /// that all of `input` was taken and more is needed for the next fact.
    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>>;

    /// The body is over: [`Fact::Closed`], or [`Fact::Failed`] if something was missing.
    fn end(&mut self) -> Fact<'_, Self::Object>;
}

#[cfg(feature = "alloc")]
impl<D: Decode + ?Sized> Decode for alloc::boxed::Box<D> {
    type Object = D::Object;

    fn begin(&mut self, body: Body, encoding: Encoding) {
        (**self).begin(body, encoding);
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>> {
        (**self).decode(input)
    }

    fn end(&mut self) -> Fact<'_, Self::Object> {
        (**self).end()
    }
}
