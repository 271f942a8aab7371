//! Lists and watches in JSON.
//!
//! You can use the parts in your own decoder, most of them without an allocator: framing
//! ([`lines`], [`list`]), the [`envelope`] of an event, the [`header`] of an object, its `form`,
//! and the [`status`] of a failure.

// JSON text: skip values and read strings, without an allocator.
pub mod text;

// The lines of a watch.
pub mod lines;

// The elements of a list, while the bytes arrive.
pub mod list;

// One line of a watch: its type and its object.
pub mod envelope;

// Key, uid, version and labels of an object, in one pass.
pub mod header;

// What a form receives of an object.
#[cfg(feature = "alloc")]
pub mod form;

// Fields by path, in JSON text.
#[cfg(feature = "alloc")]
pub(super) mod fields;

// Owner references.
#[cfg(feature = "alloc")]
pub(super) mod owners;

// Writing JSON text.
#[cfg(feature = "alloc")]
pub(super) mod write;

// From an object to its record.
#[cfg(feature = "alloc")]
pub(super) mod record;

// Typed values, by serde.
#[cfg(feature = "json")]
pub(super) mod typed;

// Status objects.
pub mod status;

// All of the above together.
#[cfg(feature = "alloc")]
pub(super) mod reading;
