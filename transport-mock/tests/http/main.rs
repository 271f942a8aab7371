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

// TLS, versions of HTTP, tokens, bounds.
mod wire;

// What is served.
mod discovery;

// What goes wrong.
mod faults;

// The program, and curl.
mod program;
