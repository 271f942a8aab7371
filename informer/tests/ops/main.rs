//! The operations port, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "tests"
)]

// A server, informers, and a client that sends any bytes.
mod place;

// Captured log events.
#[allow(dead_code, unreachable_pub, reason = "other tests use the rest of it")]
#[path = "../world/logged.rs"]
mod logged;

// `/livez` and `/readyz`.
mod health;

// `/status`, `/timeline`, `/metrics` and `/`.
mod data;

// `/object`, `/select` and `/dump`.
mod objects;

// Bodies, and Secrets.
mod bodies;

// `/events`.
mod feed;

// What a port keeps alive.
mod lifetimes;

// Addresses, hosts, origins, tokens.
mod guard;

// Sockets with a path.
#[cfg(unix)]
mod unix;

// Requests that mean harm.
mod hostile;

// The page in a real browser.
mod browser;
