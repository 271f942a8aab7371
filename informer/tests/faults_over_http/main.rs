//! Whatever goes wrong between an informer and a server, in the end the store is that of the server,
//! and handlers were told exactly what happened: every object that vanished, and nothing twice.
//!
//! The front door over hyper, against the mock over HTTP, with a wire between that misbehaves.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

// A wire on which things go wrong.
mod wire;

// What a server has.
#[path = "../world/view.rs"]
#[allow(unreachable_pub, reason = "it is a module of other tests, too")]
mod view;

// An informer that is looked at closely.
mod followed;

// A watch that breaks.
mod broken;

// Requests that are answered, but not as they should be.
mod refused;

// Connections that many share.
mod go_away;

// Who is trusted, and who we are.
mod trust;
