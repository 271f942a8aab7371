//! The command line, which all programs of the comparison share.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Follows pods with a reflector of kube-rs and prints the cost as one line of JSON.
#[derive(Parser, Debug)]
#[command(name = "bench-kube-rs")]
pub(crate) struct Options {
    /// The URL of the load server.
    #[arg(long, required_unless_present = "kubeconfig")]
    pub(crate) url: Option<String>,
    /// The CA certificates to trust, as PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// A kubeconfig whose current context is used, instead of a URL.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// HOST:PORT of the load server's control interface; by default that of the URL.
    #[arg(long)]
    control: Option<String>,
    /// How the first state is read.
    #[arg(long, value_enum, default_value_t = Strategy::Listwatch)]
    pub(crate) strategy: Strategy,
    /// The number of handlers.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) handlers: u16,
    /// How many events are sent at full speed.
    #[arg(long, default_value_t = 0)]
    pub(crate) churn: u32,
    /// What these events are: modify or delete_add.
    #[arg(long, default_value = "modify")]
    pub(crate) churn_kind: String,
    /// The rate of events in the latency test, per second.
    #[arg(long, default_value_t = 500)]
    pub(crate) lat_rate: u32,
    /// The number of events in the latency test.
    #[arg(long, default_value_t = 0)]
    pub(crate) lat_events: u32,
    /// Whether to measure reads of the store: 0 or 1.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) reads: u8,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Strategy {
    /// A list in pages, followed by a watch.
    Listwatch,
    /// A watch that begins with the state.
    Streaming,
}

impl Options {
    /// Where the load server is told what to send.
    pub(crate) fn control(&self) -> &str {
        let of_url = self.url.as_deref().unwrap_or_default();
        let of_url = of_url.trim_start_matches("http://").trim_end_matches('/');
        self.control.as_deref().unwrap_or(of_url)
    }
}
