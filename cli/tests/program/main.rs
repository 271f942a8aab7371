//! `kubectl-informer`, run as a process against the mock server over HTTP.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Runs the program.
mod program;

// A mock server with some pods.
mod cluster;

// A server that says what a test wants it to say.
mod server;

// Files for the program.
mod file;

// A terminal to run the program on.
#[cfg(target_os = "linux")]
#[path = "../../src/top/terminal.rs"]
mod terminal;

// `tail`.
mod tail;

// `top`.
mod top;

// `verify`.
mod verify;

// The help and `completions`.
mod help;
