//! Every example is run, and what it prints is what `examples/README.md` shows.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

// Runs an example, and knows what the README says about it.
mod program;

// The stages of an informer.
mod by_hand;

// Which cluster: flags, and what is wrong with them.
mod cluster;

// Controllers, other runtimes, other transports.
mod beyond;
