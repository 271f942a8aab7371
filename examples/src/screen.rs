//! Coloured lines on a terminal, plain ones in a pipe or where `NO_COLOR` is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use informer_core::failure::Printable;

/// Titles.
pub const TITLE: Style = Style::new().bold();
/// What is of less interest.
pub const FAINT: Style = Style::new().dimmed();
/// What is new.
pub const ADDED: Style = AnsiColor::Green.on_default();
/// What has changed.
pub const UPDATED: Style = AnsiColor::Yellow.on_default();
/// What is gone.
pub const DELETED: Style = AnsiColor::Red.on_default();
/// What one asked for.
pub const ANSWER: Style = AnsiColor::Cyan.on_default();

/// What somebody else has named or said, without what a terminal would obey.
#[must_use]
pub fn printable(text: &str) -> String {
    Printable(text).to_string()
}

/// A text in a style.
#[must_use]
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a line. It is written at once, so that lines of several tasks do not mix.
///
/// # Errors
/// Nobody reads any more.
pub fn line(text: impl std::fmt::Display) -> io::Result<()> {
    anstream::stdout()
        .lock()
        .write_all(format!("{text}\n").as_bytes())
}
