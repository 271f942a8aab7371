//! Test tools that several crates share.
//!
//! It depends only on the core, so that the core's integration tests can use it. The simulation in
//! `informer-transport-mock` does not use it, because that crate is published and this one is not. Its
//! ledger checks notifications against every state that its server ever had.

// A notification in one line.
mod words;

// Checks that notifications are consistent, and sums them up.
mod fold;

// A fold for handlers, which must not panic.
mod folded;

// Random numbers from a seed.
mod random;

// A waker that counts.
mod woken;

// Objects, lists and events in protobuf, from JSON.
pub mod protobuf;

pub use fold::{Fold, Strictness, View, stamp, view};
pub use folded::Folded;
pub use random::Random;
pub use woken::Woken;
pub use words::{shown, words};
