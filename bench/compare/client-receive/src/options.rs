//! The command line: of the flags of all programs, those that `bench/real` passes.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Receives the first state of all pods with the usual HTTP client, throws it away, and prints the cost as one
/// line of JSON.
#[derive(Parser, Debug)]
#[command(name = "bench-receive")]
pub(crate) struct Options {
    /// A kubeconfig whose current context is used.
    #[arg(long, value_name = "FILE")]
    pub(crate) kubeconfig: PathBuf,
    /// How the first state is read.
    #[arg(long, value_enum, default_value_t = Strategy::Listwatch)]
    pub(crate) strategy: Strategy,
    /// Asks for protobuf instead of JSON.
    #[arg(long)]
    pub(crate) protobuf: bool,
    /// Reads of the store: there is none, so only 0.
    #[arg(long = "reads", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=0))]
    _reads: u8,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    /// A list.
    Listwatch,
    /// A watch that begins with the state.
    Streaming,
}

impl Strategy {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Listwatch => "listwatch",
            Self::Streaming => "streaming",
        }
    }
}
