//! Caches compared with the server, in virtual time. Over HTTP: `over_http/verifies.rs`. On a real server: `e2e`, at
//! the end of every scenario.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// A mock server, virtual time, and informers.
#[path = "../world/mod.rs"]
mod world;

// Informers to compare.
mod rig;

// Clients of servers that misbehave.
mod clients;

// A cache and its server have the same objects.
mod same;

// What differs, and why.
mod differences;

// Versions that the server has discarded.
mod expired;

// Why a cache cannot be compared.
mod failures;
