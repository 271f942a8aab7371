//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Serves generated pods, prints its URLs, and ends with its standard input.
#[derive(Parser, Debug)]
pub(crate) struct Options {
    /// The number of pods.
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) pods: u32,
    /// The number of namespaces.
    #[arg(long, default_value_t = 20)]
    pub(crate) namespaces: usize,
    /// What decides about the pods, the order of their members, and the pieces of answers.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also serves over TLS, and writes the certificate to trust into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_out: Option<PathBuf>,
    /// Compresses lists for clients that accept it.
    #[arg(long)]
    pub(crate) gzip: bool,
}
