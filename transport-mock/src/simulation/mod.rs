//! Seeded simulations: whole informers against a misbehaving server.
//!
//! A [`World`] is a server, a wire with [faults](crate::fault), a clock, several informers with
//! listeners, and an oracle that checks every notification. One seed decides everything. A world
//! stops at the first violation and reports it.
//!
//! ```
//! use informer_transport_mock::simulation::World;
//!
//! let outcome = World::new(7).run();
//! assert_eq!(outcome.violation, None);
//! assert!(outcome.tally.notifications > 0);
//! ```

// The trace of a run.
mod log;

// Counts.
mod tally;

// Every state that the server ever had.
mod record;

// The objects that an informer follows.
mod interest;

// Checks notifications.
mod ledger;

// Checks that each relist has a cause.
mod relists;

// Checks the request rate.
mod requests;

// Store contents.
mod view;

// Deliberate bugs.
mod tamper;

// Deliberate bugs on the wire.
mod tampered_wire;

// One source of an informer.
mod line;

// One informer with its sources and its listeners.
mod station;

// Sources that come and go.
mod sources;

// What a seed decides in advance.
mod setup;

// Random writes.
mod writes;

// The whole simulation.
mod world;

use informer_core::Object;
use informer_core::decode::form::LeanBody;

pub use log::Violation;
pub use tally::Tally;
pub use tamper::{Mutant, UnknownMutant};
pub use world::{Outcome, World};

/// What the informers of a simulation store.
type Pod = Object<LeanBody>;
