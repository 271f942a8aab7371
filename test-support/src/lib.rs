//! What the tests of several crates share. It depends on the core alone, so that the core's own
//! integration tests can use it, too.
//!
//! The simulation of `informer-transport-mock` does not use it: that crate is published, this one is
//! not. Its ledger judges notifications by every state that its server ever had.

// A notification in one line.
mod words;

// Whether notifications add up, and to what.
mod fold;

// The same for a handler, which must not panic.
mod folded;

// Numbers from a seed.
mod random;

// How often somebody was woken.
mod woken;

pub use fold::{Fold, Strictness, View, stamp, view};
pub use folded::Folded;
pub use random::Random;
pub use woken::Woken;
pub use words::{shown, words};
