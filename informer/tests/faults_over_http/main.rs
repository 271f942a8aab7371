//! Faults between an informer and a server. Afterwards the cache equals the state of the server, and
//! handlers got every deletion and nothing twice.
//!
//! The informers use hyper against the mock server over HTTP, through a proxy that injects faults. The tests of
//! `transport-kube` run the same modules with another `client`.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Clients over hyper.
mod client;

// A proxy that injects faults.
mod wire;

// The objects of a server.
#[path = "../world/view.rs"]
#[allow(unreachable_pub, reason = "other tests use this module, too")]
mod view;

// An informer that is checked against the server.
mod followed;

// Watches that break.
mod broken;

// Bad answers.
mod refused;

// Shared connections and GOAWAY.
mod go_away;

// Files that change.
mod files;

// Changing tokens.
mod tokens;

// Unknown certificate authorities.
mod trust;

// Changing certificate authorities.
mod authorities;

// Writes.
mod writes;
