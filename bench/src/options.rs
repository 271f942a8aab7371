//! The command line: the flags of all programs in the benchmark, and `--form`.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Follows the pods of a load server with our informer and prints the cost as one line of JSON.
#[derive(Parser, Clone, PartialEq, Eq, Debug)]
#[command(name = "bench-informer")]
pub(crate) struct Options {
    /// The URL of the load server.
    #[arg(long, required_unless_present = "kubeconfig")]
    pub(crate) url: Option<String>,
    /// A kubeconfig whose current context is used, instead of a URL.
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// HOST:PORT of the load server's control interface; by default that of the URL.
    #[arg(long)]
    control: Option<String>,
    /// The CA certificates to trust, as PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// How the first state is read.
    #[arg(long, value_enum, default_value_t = Strategy::Listwatch)]
    pub(crate) strategy: Strategy,
    /// The form in which pods are stored.
    #[arg(long, value_enum, default_value_t = Form::Lean)]
    pub(crate) form: Form,
    /// The number of handlers.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) handlers: u16,
    /// How many events are sent at full speed.
    #[arg(long, default_value_t = 0)]
    pub(crate) churn: u32,
    /// What these events are.
    #[arg(long, value_enum, default_value_t = ChurnKind::Modify)]
    pub(crate) churn_kind: ChurnKind,
    /// The rate of events in the latency test, per second.
    #[arg(long, default_value_t = 2000)]
    pub(crate) lat_rate: u32,
    /// The number of events in the latency test.
    #[arg(long, default_value_t = 0)]
    pub(crate) lat_events: u32,
    /// Whether to measure reads of the store: 0 or 1.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(0..=1))]
    pub(crate) reads: u8,
}

impl Options {
    /// The address of the control interface.
    pub(crate) fn control(&self) -> &str {
        let of_url = self.url.as_deref().unwrap_or_default();
        let of_url = of_url.trim_start_matches("http://").trim_end_matches('/');
        self.control.as_deref().unwrap_or(of_url)
    }
}

#[derive(ValueEnum, serde::Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Strategy {
    /// A list, followed by a watch.
    #[default]
    Listwatch,
    /// A watch that begins with the state.
    Streaming,
}

#[derive(ValueEnum, serde::Serialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Form {
    /// `Pod` of `k8s-openapi`.
    #[cfg(feature = "typed")]
    Typed,
    /// `Pod` of `k8s-openapi`, with `managedFields`.
    #[cfg(feature = "typed")]
    Full,
    /// The text that the server sent, without `managedFields`.
    #[default]
    Lean,
    /// The same, packed.
    Packed,
    /// The message that the server sent, without `managedFields`. The load server has no protobuf.
    LeanProtobuf,
    /// The same, packed.
    PackedProtobuf,
    /// The text of the metadata, without `managedFields`.
    Metadata,
    /// Nothing: the answer is received, decrypted, inflated and thrown away.
    Received,
    /// The same, in protobuf.
    ReceivedProtobuf,
}

impl Form {
    /// Whether pods are stored with `managedFields`.
    pub(crate) const fn keeps_managed_fields(self) -> bool {
        #[cfg(feature = "typed")]
        if matches!(self, Self::Full) {
            return true;
        }
        false
    }

    /// Whether the server is asked for protobuf.
    pub(crate) const fn is_protobuf(self) -> bool {
        matches!(
            self,
            Self::LeanProtobuf | Self::PackedProtobuf | Self::ReceivedProtobuf
        )
    }
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChurnKind {
    /// Modifies one pod after the other.
    Modify,
    /// Deletes and re-creates one pod after the other.
    #[value(name = "delete_add")]
    DeleteAdd,
}

impl ChurnKind {
    /// The load server's name for it.
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
    fn the_flags_of_the_harness_are_parsed() {
        let line = "bench-informer --strategy streaming --handlers 8 --churn 10 --churn-kind delete_add \
                    --lat-rate 500 --lat-events 20 --reads 0 --url https://127.0.0.1:2 \
                    --control 127.0.0.1:1 --ca ca.pem --form metadata";
        let options = Options::try_parse_from(line.split_whitespace());
        let expected = Options {
            url: Some("https://127.0.0.1:2".to_owned()),
            kubeconfig: None,
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
    fn the_control_address_defaults_to_the_url() {
        let options = Options::try_parse_from(["", "--url", "http://127.0.0.1:7/"]);
        assert_eq!(
            options.as_ref().map(Options::control).ok(),
            Some("127.0.0.1:7")
        );
    }
}
