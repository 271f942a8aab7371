//! Command line flags.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use informer::{FirstState, InformerConfig, QueueKind};

use crate::format::Format;
use crate::scope::Scope;

/// Follow a resource and print every notification of an informer
#[derive(Args)]
pub(crate) struct Flags {
    /// The resource: plural name (pods), kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resource: String,

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

    /// Open the inspector at this address: a page that shows the informer at work
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:0"
    )]
    pub(crate) inspect: Option<String>,

    #[command(flatten)]
    pub(crate) scope: Scope,
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
