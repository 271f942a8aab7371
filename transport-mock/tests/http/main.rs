//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests"
)]

// A client.
mod client;

// Objects, pages, forms, refusals, gzip.
mod objects;

// Watches and streamed lists.
mod watches;

// TLS, HTTP versions, tokens, limits.
mod wire;

// API discovery.
mod discovery;

// Fault scripts.
mod faults;

// The program, and curl.
mod program;
