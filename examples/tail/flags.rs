//! Command line flags.

use std::fmt;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, ValueEnum};
use informer::selector::{FieldSelector, LabelSelector};
use informer::{FirstState, InformerConfig, InvalidTarget, QueueKind};
use informer_core::transport::check_namespace;
use informer_examples::ClusterArgs;

/// Follow a resource of a cluster and print every notification of an informer
#[derive(Parser)]
#[command(name = "tail")]
pub(crate) struct Flags {
    /// The resource: plural name (pods), kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resource: String,

    /// Follow only this namespace [default: the namespace of the context]
    #[arg(short, long, value_parser = namespace, conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,

    /// Follow all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Follow only objects with matching labels, for example app=web,tier!=db
    #[arg(
        short = 'l',
        long = "selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) labels: LabelSelector,

    /// Follow only objects with matching fields, for example spec.nodeName=node-1
    #[arg(
        long = "field-selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) fields: FieldSelector,

    /// How to read the full state
    #[arg(long, value_enum, default_value_t = Strategy::Streaming)]
    strategy: Strategy,

    /// Which queue to use between the server and the cache
    #[arg(long, value_enum, default_value_t = Queue::Delta)]
    queue: Queue,

    /// The form in which to keep objects
    #[arg(long, value_enum, default_value_t = Form::Lean)]
    pub(crate) form: Form,

    /// The output format
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Strategy {
    /// With a watch that starts with the full state
    Streaming,
    /// With a list, page by page
    #[value(name = "listwatch")]
    ListWatch,
}

#[derive(Clone, Copy, ValueEnum)]
enum Queue {
    /// Changes grouped by object
    Delta,
    /// Changes in the order they arrived
    #[value(name = "inorder")]
    InOrder,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Form {
    /// As Rust types, for common kinds; objects that do not fit are left out with a warning
    Typed,
    /// As the server sent them
    Lean,
    /// Metadata only; the server sends nothing else
    Metadata,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Columns, for people
    Table,
    /// One JSON object per line, for programs
    Json,
}

/// Rejects invalid namespaces while the flags are parsed.
fn namespace(name: &str) -> Result<String, InvalidTarget> {
    check_namespace(name)?;
    Ok(name.to_owned())
}

impl Flags {
    /// The configuration of the informer.
    pub(crate) fn behaviour(&self) -> InformerConfig {
        let mut config = InformerConfig::new();
        config.reflector.first_state = match self.strategy {
            Strategy::Streaming => FirstState::Streamed,
            Strategy::ListWatch => FirstState::Listed,
        };
        config.queue = match self.queue {
            Queue::Delta => QueueKind::DeltaFifo,
            Queue::InOrder => QueueKind::InOrder,
        };
        config
    }
}

/// Ends the program because the flags do not fit the resource.
pub(crate) fn refuse(reason: &impl fmt::Display) -> ! {
    Flags::command()
        .error(ErrorKind::ValueValidation, reason)
        .exit()
}
