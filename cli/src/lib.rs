#![doc = include_str!("../README.md")]
//!
//! # Features
//!
//! | feature | what it adds |
//! | --- | --- |
//! | `k8s-openapi` | `tail --form typed`: objects as Rust types, with a warning for those that do not fit |
#![forbid(unsafe_code)]

// The command line.
mod command;

// The flags that select a cluster.
mod cluster;

// The flags that select objects.
mod scope;

// How the program ends.
mod outcome;

// Signals that end the program.
mod stop;

// Text from others, and colours.
mod screen;

// The output format.
mod format;

// JSON lines.
mod json;

// What a status means, in words.
mod words;

// Waits for the first state.
mod settle;

// `tail`: every notification of an informer.
mod tail;

// `top`: informers at work.
mod top;

// `verify`: compares caches with the server.
mod verify;

// `completions`: scripts for shells.
mod completions;

use std::process::ExitCode;

use clap::Parser as _;

use command::Program;

/// Runs `kubectl-informer` with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    command::run(Program::parse())
}
