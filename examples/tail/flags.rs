//! What can be asked for.

use std::fmt;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser, ValueEnum};
use informer::selector::{FieldSelector, LabelSelector};
use informer::{FirstState, InformerConfig, InvalidTarget, QueueKind};
use informer_core::transport::check_namespace;
use informer_examples::ClusterArgs;

/// Follow a resource of a cluster, and print what an informer tells its handlers
#[derive(Parser)]
#[command(name = "tail")]
pub(crate) struct Flags {
    /// A plural name (pods), a kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resource: String,

    /// Follow this namespace [default: that of the context]
    #[arg(short, long, value_parser = namespace, conflicts_with = "all_namespaces")]
    pub(crate) namespace: Option<String>,

    /// Follow all namespaces
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,

    /// Only objects with such labels, such as app=web,tier!=db
    #[arg(
        short = 'l',
        long = "selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) labels: LabelSelector,

    /// Only objects with such fields, such as spec.nodeName=node-1
    #[arg(
        long = "field-selector",
        value_name = "SELECTOR",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) fields: FieldSelector,

    /// How the full state is read
    #[arg(long, value_enum, default_value_t = Strategy::Streaming)]
    strategy: Strategy,

    /// Which queue lies between the server and the store
    #[arg(long, value_enum, default_value_t = Queue::Delta)]
    queue: Queue,

    /// What is kept of each object
    #[arg(long, value_enum, default_value_t = Form::Lean)]
    pub(crate) form: Form,

    /// What is printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Strategy {
    /// By a watch that begins with it
    Streaming,
    /// By a list, page by page
    #[value(name = "listwatch")]
    ListWatch,
}

#[derive(Clone, Copy, ValueEnum)]
enum Queue {
    /// Changes grouped by object
    Delta,
    /// Changes as they came
    #[value(name = "inorder")]
    InOrder,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Form {
    /// As a Rust type, for the usual kinds: what does not fit is left out, and said
    Typed,
    /// As the server sent it
    Lean,
    /// The metadata alone; the server sends nothing else
    Metadata,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// Columns for people
    Table,
    /// A JSON object a line for programs
    Json,
}

/// A name that no namespace can have is refused before anybody is asked for it.
fn namespace(name: &str) -> Result<String, InvalidTarget> {
    check_namespace(name)?;
    Ok(name.to_owned())
}

impl Flags {
    /// How the informer shall behave.
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

/// Ends the program: the flags contradict what the server says about the resource.
pub(crate) fn refuse(reason: &impl fmt::Display) -> ! {
    Flags::command()
        .error(ErrorKind::ValueValidation, reason)
        .exit()
}
