//! What can be asked for: the flags that all programs in the benchmark have, and `--form`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Follows the pods of a load server with our informer and prints what it cost, as one line of JSON.
#[derive(Parser, Clone, PartialEq, Eq, Debug)]
#[command(name = "bench-informer")]
pub(crate) struct Options {
    /// The URL of the load server.
    #[arg(long)]
    pub(crate) url: String,
    /// HOST:PORT at which the load server is told what to do; by default that of the URL.
    #[arg(long)]
    control: Option<String>,
    /// The certificates to trust, as PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// How the first state is read.
    #[arg(long, value_enum, default_value_t = Strategy::Listwatch)]
    pub(crate) strategy: Strategy,
    /// In which form pods are kept.
    #[arg(long, value_enum, default_value_t = Form::Lean)]
    pub(crate) form: Form,
    /// How many handlers are told of changes.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) handlers: u16,
    /// How many events are sent as fast as they can be.
    #[arg(long, default_value_t = 0)]
    pub(crate) churn: u32,
    /// What these events are.
    #[arg(long, value_enum, default_value_t = ChurnKind::Modify)]
    pub(crate) churn_kind: ChurnKind,
    /// How many events a second are sent to find out how long one takes.
    #[arg(long, default_value_t = 2000)]
    pub(crate) lat_rate: u32,
    /// How many events are sent at that rate.
    #[arg(long, default_value_t = 0)]
    pub(crate) lat_events: u32,
    /// Whether the store is read, too: 0 or 1.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) reads: u8,
}

impl Options {
    /// Where the load server is told what to do.
    pub(crate) fn control(&self) -> &str {
        let of_url = || self.url.trim_start_matches("http://").trim_end_matches('/');
        self.control.as_deref().unwrap_or_else(of_url)
    }
}

#[derive(ValueEnum, serde::Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strategy {
    /// By a list, followed by a watch.
    Listwatch,
    /// By a watch that begins with the state.
    Streaming,
}

#[derive(ValueEnum, serde::Serialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    /// As `Pod` of `k8s-openapi`.
    #[cfg(feature = "typed")]
    Typed,
    /// As `Pod` of `k8s-openapi`, without `managedFields`.
    #[cfg(feature = "typed")]
    Slim,
    /// As the text that the server sent, without `managedFields`.
    Lean,
    /// The text of the metadata, without `managedFields`.
    Metadata,
}

impl Form {
    /// Whether pods come without `managedFields`.
    pub(crate) const fn is_without_managed_fields(self) -> bool {
        #[cfg(feature = "typed")]
        if matches!(self, Self::Typed) {
            return false;
        }
        true
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChurnKind {
    /// One pod after the other is modified.
    Modify,
    /// One pod after the other is deleted and comes back.
    #[value(name = "delete_add")]
    DeleteAdd,
}

impl ChurnKind {
    /// As the load server has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Modify => "modify",
            Self::DeleteAdd => "delete_add",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_of_the_harness_are_understood() {
        let line = "bench-informer --strategy streaming --handlers 8 --churn 10 --churn-kind delete_add \
                    --lat-rate 500 --lat-events 20 --reads 0 --url https://127.0.0.1:2 \
                    --control 127.0.0.1:1 --ca ca.pem --form metadata";
        let options = Options::try_parse_from(line.split_whitespace());
        let expected = Options {
            url: "https://127.0.0.1:2".to_owned(),
            control: Some("127.0.0.1:1".to_owned()),
            ca: Some("ca.pem".into()),
            strategy: Strategy::Streaming,
            form: Form::Metadata,
            handlers: 8,
            churn: 10,
            churn_kind: ChurnKind::DeleteAdd,
            lat_rate: 500,
            lat_events: 20,
            reads: 0,
        };
        assert_eq!(options.ok(), Some(expected));
    }

    #[test]
    fn the_control_is_at_the_url_if_nothing_else_is_said() {
        let options = Options::try_parse_from(["", "--url", "http://127.0.0.1:7/"]);
        assert_eq!(
            options.as_ref().map(Options::control).ok(),
            Some("127.0.0.1:7")
        );
    }
}
