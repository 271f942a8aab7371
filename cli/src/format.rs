//! The output format.

use clap::ValueEnum;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Columns, for people
    Table,
    /// One JSON object per line, for programs
    Json,
}
