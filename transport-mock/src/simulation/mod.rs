//! Whole informers against a server that misbehaves, from seeds.
//!
//! A [`World`] is a server, a wire with [faults](crate::fault), a clock, several informers with
//! listeners, and an oracle that checks everything they are told. One seed decides all of it. A world
//! that finds something wrong stops there and says what and where.
//!
//! ```
//! use informer_transport_mock::simulation::World;
//!
//! let outcome = World::new(7).run();
//! assert_eq!(outcome.violation, None);
//! assert!(outcome.tally.notifications > 0);
//! ```

// What is written down as it happens, and what was wrong.
mod log;

// What happened how often.
mod tally;

// Every state that the server ever had.
mod record;

// Which objects an informer is to have.
mod interest;

// What one listener was told, and whether it can be true.
mod ledger;

// Whether each full state was asked for with reason.
mod relists;

// Whether the server is asked too often.
mod requests;

// What a store shows.
mod view;

// Mistakes made on purpose.
mod tamper;

// Mistakes made on purpose on the wire.
mod tampered_wire;

// One informer with its transport and its listeners.
mod station;

// What a seed decides before it begins.
mod setup;

// What the server's users do.
mod writes;

// All of it together.
mod world;

use std::sync::Arc;

use informer_core::Object;
use informer_core::decode::form::LeanBody;

pub use log::Violation;
pub use tally::Tally;
pub use tamper::{Mutant, UnknownMutant};
pub use world::{Outcome, World};

/// What the informers of a simulation hold.
type Pod = Arc<Object<LeanBody>>;
