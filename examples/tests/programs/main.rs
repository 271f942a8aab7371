//! Every example is run, and what it prints is what `examples/README.md` shows.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Runs an example, and knows what the README says about it.
mod program;

// The stages of an informer.
mod by_hand;

// Which cluster: flags, and what is wrong with them.
mod cluster;

// What all programs do about flags and clusters that are of no use.
mod flags;

// The first program that anybody runs.
mod quickstart;

// The demonstrations: each shows one part of an informer.
mod demonstrations;

// An index behind HTTP, asked over a socket.
mod indexer_http;

// Controllers, other runtimes, other transports.
mod beyond;

// An informer for the command line.
mod tail;
