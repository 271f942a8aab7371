//! Command line flags.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::format::Format;
use crate::scope::Scope;

/// Watch informers at work: phase, freshness, objects, events per second, failures
///
/// Each resource is followed by an informer that keeps metadata only. On a terminal, the screen is renewed
/// every second until you press q or Ctrl-C; the arrow keys scroll. Anywhere else, one table is printed when
/// the first state of each resource is known, or after 30 seconds.
#[derive(Args)]
pub(crate) struct Flags {
    /// The resources: plural name (pods), kind (Pod) or PLURAL.VERSION.GROUP (deployments.v1.apps)
    #[arg(value_name = "RESOURCE", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) resources: Vec<String>,

    /// Print one table and end
    #[arg(long)]
    once: bool,

    /// The output format; json is one object per line, printed once
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub(crate) output: Format,

    #[command(flatten)]
    pub(crate) scope: Scope,
}

impl Flags {
    /// Whether to look once instead of again and again.
    pub(crate) fn is_once(&self) -> bool {
        self.once || self.output == Format::Json
    }
}
