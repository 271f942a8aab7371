//! Coloured lines on a terminal, plain lines in a pipe or with `NO_COLOR`.

use std::io::{ErrorKind, Write};
use std::process;

use anstyle::{AnsiColor, Style};
use informer_core::failure::Printable;

/// Titles.
const TITLE: Style = Style::new().bold();
/// Less important text.
pub const FAINT: Style = Style::new().dimmed();
/// Added objects.
pub const ADDED: Style = AnsiColor::Green.on_default();
/// Updated objects.
pub const UPDATED: Style = AnsiColor::Yellow.on_default();
/// Deleted objects.
pub const DELETED: Style = AnsiColor::Red.on_default();
/// Results.
pub const ANSWER: Style = AnsiColor::Cyan.on_default();

/// Escapes characters that a terminal would interpret, for text from others.
#[must_use]
pub fn printable(text: &str) -> String {
    Printable(text).to_string()
}

/// Formats text in a style.
#[must_use]
pub fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// Prints a title.
pub fn title(text: &str) {
    line(styled(TITLE, text));
}

/// Prints a line in a single write, so that lines of different tasks do not mix. Ends the program if the
/// reader of a pipe is gone.
pub fn line(text: impl std::fmt::Display) {
    let text = format!("{text}\n");
    if let Err(error) = anstream::stdout().lock().write_all(text.as_bytes()) {
        process::exit(i32::from(error.kind() != ErrorKind::BrokenPipe));
    }
}
