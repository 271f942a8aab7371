//! Lists and watches in JSON.
//!
//! The parts can be used alone, and those that are read without an allocator, by decoders of your own:
//! framing ([`lines`], [`list`]), the [`envelope`] of an event, the [`header`] of an object, its
//! `form` and the [`status`] of a failure.

// JSON text: skipping values and reading strings, without an allocator.
pub mod text;

// Newline frames of a watch across chunk borders.
pub mod lines;

// The elements of a list's `items` while the bytes arrive.
pub mod list;

// One line of a watch: its type and its object.
pub mod envelope;

// Key, uid, version and labels of one object, in one pass.
pub mod header;

// What a form sees of an object.
#[cfg(feature = "alloc")]
pub mod form;

// Fields of a text by their paths.
#[cfg(feature = "alloc")]
pub(super) mod fields;

// Status objects.
pub mod status;

// All of the above, joined.
#[cfg(feature = "alloc")]
pub(super) mod reading;
