//! Runs every example and compares its output with `examples/README.md`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests"
)]

// Runs an example, and reads its expected output from the README.
mod program;

// The stages of an informer.
mod by_hand;

// The cluster flags.
mod cluster;

// How all programs handle invalid flags and unusable clusters.
mod flags;

// The quickstart.
mod quickstart;

// The program that stands alone.
mod ten_lines;

// Demonstrations of single parts of an informer.
mod demonstrations;

// An index behind HTTP.
mod indexer_http;

// Controllers, other runtimes, other transports.
mod beyond;

// A resource of the command line.
mod tail;
