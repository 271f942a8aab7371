//! Faults between an informer and a server. Afterwards the cache equals the state of the server, and
//! handlers got every deletion and nothing twice.
//!
//! The informers use hyper against the mock server over HTTP, through a proxy that injects faults.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

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

// Changing certificate authorities and tokens.
mod trust;
