//! From bytes to facts.
//!
//! You feed a decoder the body of an answer in pieces of any size. It returns one [`Fact`] at a
//! time. Input never makes a call fail: unreadable data becomes a rejected object or a failed
//! answer.
//!
//! Each [`Encoding`] has a module with its framing, header, form and status: [`json`] and [`protobuf`].
//! This module holds what they share: facts and messages, limits, forms, and the class of a failure.

// Lists and watches in JSON.
pub mod json;

// Lists and watches in protobuf.
pub mod protobuf;

// Frames, reassembled from pieces.
pub mod frame;

// The start of unexpected bytes, for messages.
mod excerpt;

// From a Status to a `Failure`.
mod status;

// From unsuccessful answers to a `Failure` and a message.
#[cfg(feature = "alloc")]
pub mod answer;

// Forms: what to keep of an object.
#[cfg(feature = "alloc")]
pub mod form;

// Typed and dynamic objects, decoded by serde.
#[cfg(feature = "json")]
mod typed;

// Bodies kept as text.
#[cfg(feature = "alloc")]
mod body;

// Owner references and annotations.
#[cfg(feature = "alloc")]
mod metadata;

// Fields of an object by path.
#[cfg(feature = "alloc")]
mod fields;

// Whole objects as JSON.
#[cfg(feature = "json")]
mod to_json;

// Facts and messages, the same for every encoding.
#[cfg(feature = "alloc")]
mod facts;

// Picks the decoder by the encoding of an answer.
#[cfg(feature = "alloc")]
mod decoder;

// Keys that name their cluster.
#[cfg(feature = "alloc")]
mod cluster;

use crate::encoding::Encoding;
use crate::flow::Fact;
pub use crate::limits::InvalidLimit;
use crate::object::Resource;

#[cfg(feature = "alloc")]
pub use cluster::InCluster;
#[cfg(feature = "alloc")]
pub use decoder::Decoder;
pub use excerpt::Beginning;
#[cfg(feature = "alloc")]
pub use fields::{FieldPath, Fields, Leaf, ParseFieldPathError, Scalar, numbers as known};
#[cfg(feature = "alloc")]
pub use form::{As, Form, Keep, Lean, MetadataOnly, Packed};
#[cfg(feature = "json")]
pub use form::{Dynamic, Typed};
#[cfg(feature = "alloc")]
pub use json::reading::decode_object;
#[cfg(feature = "json")]
pub use to_json::ToJson;

/// The kind of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the protocol has two kinds")]
pub enum Body {
    /// A List object.
    List,
    /// A watch: one event per line.
    Watch,
}

/// Limits on the memory that a server can make a decoder use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::exhaustive_structs, reason = "users set the public fields")]
pub struct Limits {
    /// The most bytes of one object. The default is 16 MiB, about ten times what etcd stores. A
    /// value that is too small hides real objects.
    ///
    /// A larger object is skipped and reported as rejected. An object of more than twice the limit
    /// fails the answer, because its end may never come. In a list this takes at least 32 MiB.
    pub object_bytes: usize,
    /// The deepest nesting of one object. The default is 128, as in serde_json.
    pub depth: usize,
}

impl Limits {
    /// The default limits.
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

/// The type that a list states for its elements. Both fields are `None` for an object of a watch,
/// which states its own type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the TypeMeta of Kubernetes")]
pub struct TypeMeta<'a> {
    /// The `apiVersion` of the list.
    pub api_version: Option<&'a str>,
    /// The `kind` of the list without the suffix `List`.
    pub kind: Option<&'a str>,
}

/// Turns the body of an answer into facts.
pub trait Decode {
    /// The type of a decoded object.
    type Object: Resource + Clone;

    /// Starts a new body in this encoding and drops what is left of the previous one. If the
    /// decoder does not support the encoding, the only fact of the body is a [`Fact::Failed`] that
    /// says so.
    fn begin(&mut self, body: Body, encoding: Encoding);

    /// Takes bytes from the front of `input` up to the end of one fact, and returns the fact.
    /// `None` means that it took all of `input` and needs more.
    fn decode(&mut self, input: &mut &[u8]) -> Option<Fact<'_, Self::Object>>;

    /// Ends the body. Returns [`Fact::Closed`], or [`Fact::Failed`] if something is missing.
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
