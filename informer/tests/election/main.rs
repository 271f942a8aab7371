//! Elections on the mock server, in virtual time. Over HTTP: `over_http/elects.rs`. On a real server, against
//! client-go: `e2e`. The machine alone, in simulated worlds: `core/tests/election.rs`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Replicas, their lines to the server, and time.
mod place;

// How leadership begins and ends.
mod terms;

// What happens at the end of a replica.
mod ends;

// Many faults, many minutes.
mod faults;

// What is in the Lease.
mod leases;

// What people read.
mod words;
