//! Lists and watches in protobuf, without a generated schema.
//!
//! Only what every kind has in common is read, by its field numbers: the envelope, `metadata` of
//! lists and objects, and Status objects. Everything else is skipped by its length and kept as it
//! is.
//!
//! As for [JSON](super::json), you can use the parts in your own decoder, most of them without an
//! allocator: framing ([`frames`], [`list`]), the [`envelope`] of an object or an event, the
//! [`header`] of an object, its `form`, and the [`status`] of a failure.
//!
//! What the reader does where encoders have a choice:
//!
//! * Unknown fields and groups are skipped. A number of more than 64 bits, an invalid tag or a
//!   length beyond its message makes the message unreadable.
//! * If a single field is repeated, the last one counts. If a nested message is repeated, its
//!   fields are merged. Only an object whose `metadata` is repeated is rejected: no encoder writes
//!   it, and nobody could cut `managedFields` out of it.
//! * The texts of `metadata` must be UTF-8. The texts of all other fields are not looked at.

// Tags, numbers and lengths.
pub mod wire;

// The messages of a watch.
pub mod frames;

// The elements of a list, while the bytes arrive.
pub mod list;

// What surrounds an object: its type, and the type of an event.
pub mod envelope;

// The type that was read last.
#[cfg(feature = "alloc")]
mod known;

// Key, uid, version and labels of an object, in one pass.
pub mod header;

// Points in time, as text.
#[cfg(feature = "alloc")]
mod time;

// Status objects.
pub mod status;

// What a form receives of an object.
#[cfg(feature = "alloc")]
pub mod form;

// Owner references and annotations; metadata as JSON.
#[cfg(feature = "alloc")]
pub(super) mod metadata;

// Fields by the numbers of a path.
#[cfg(feature = "alloc")]
pub(super) mod fields;

// Typed objects, by prost.
#[cfg(feature = "prost")]
mod typed;

// From an object to its record.
#[cfg(feature = "alloc")]
mod record;

// All of the above together.
#[cfg(feature = "alloc")]
pub(super) mod reading;

#[cfg(feature = "alloc")]
pub use reading::decode_object;
#[cfg(feature = "prost")]
pub use typed::{AsProst, Prost};
