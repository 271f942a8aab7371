//! From bytes to facts.
//!
//! A decoder is fed the body of an answer in pieces of any size and states one [`Fact`] at a time.
//! Everything that reads JSON text by hand is here, and none of it can fail a call: what cannot be
//! read becomes a rejected object or a failed answer.

// JSON text: skipping values and reading strings, without an allocator.
pub mod json_text;

// Newline frames of a watch across chunk borders.
#[cfg(feature = "alloc")]
pub mod lines;

// The elements of a list's `items` while the bytes arrive.
#[cfg(feature = "alloc")]
pub mod list;

// Key, uid, version and labels of one object, in one pass.
pub mod header;

// One line of a watch: its type and its object.
pub mod envelope;

// Status objects to `Failure`.
pub mod status;

// Unsuccessful answers to `Failure` and a text.
#[cfg(feature = "alloc")]
pub mod answer;

// The forms in which an object's body is kept.
#[cfg(feature = "alloc")]
pub mod form;

// Fields of an object by their paths.
#[cfg(feature = "alloc")]
mod fields;

// The decoder that joins all of the above.
#[cfg(feature = "alloc")]
mod json;

use crate::flow::Fact;
use crate::object::Resource;

#[cfg(feature = "alloc")]
pub use fields::{FieldPath, FieldPathError, Fields, Scalar};
#[cfg(feature = "json")]
pub use form::{Dynamic, Typed};
#[cfg(feature = "alloc")]
pub use form::{Form, Lean, MetadataOnly, WithoutManagedFields};
#[cfg(feature = "alloc")]
pub use json::{JsonDecoder, decode_object};

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
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// Something that turns the body of an answer into facts.
pub trait Decode {
    /// What it decodes objects to.
    type Object: Resource + Clone;

    /// A new body begins; what is left of the one before is forgotten.
    fn begin(&mut self, body: Body);

    /// Takes bytes off the front of `input` up to the end of one fact, and states it. `None` means
    /// that all of `input` was taken and more is needed for the next fact.
    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>>;

    /// The body is over: [`Fact::Closed`], or [`Fact::Failed`] if something was missing.
    fn end(&mut self) -> Fact<'_, Self::Object>;
}

#[cfg(feature = "alloc")]
impl<D: Decode + ?Sized> Decode for alloc::boxed::Box<D> {
    type Object = D::Object;

    fn begin(&mut self, body: Body) {
        (**self).begin(body);
    }

    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>> {
        (**self).decode(input)
    }

    fn end(&mut self) -> Fact<'_, Self::Object> {
        (**self).end()
    }
}
